#include "constraints/label_match.h"

#include <algorithm>
#include <charconv>
#include <compare>
#include <vector>

#include "base/strings.h"

namespace sluice {
namespace {

// Of a list, and of a key or value, that is shown to people.
constexpr size_t kShownParts = 3;
constexpr size_t kShownBytes = 128;

// REQUIRES: `list` is ascending.
bool IsListed(const std::string& value, const std::vector<std::string>& list) {
  return std::ranges::binary_search(list, value);
}

// A label to the one bound; nothing where they are not two integers.
std::optional<std::strong_ordering> Compare(
    const std::string* value, const std::vector<std::string>& bounds) {
  if (value == nullptr || bounds.size() != 1) return std::nullopt;
  const std::optional<int64_t> number = ParseInt64(*value);
  const std::optional<int64_t> bound = ParseInt64(bounds[0]);
  if (!number.has_value() || !bound.has_value()) return std::nullopt;
  return *number <=> *bound;
}

bool FieldHolds(const LabelRequirement& requirement, const Machine& machine) {
  const bool is_supported = requirement.key == kMetadataName &&
                            (requirement.op == LabelOperator::kIn ||
                             requirement.op == LabelOperator::kNotIn) &&
                            requirement.values.size() == 1;
  return is_supported && Holds(requirement, &machine.name);
}

bool LabelHolds(const LabelRequirement& requirement, const Machine& machine) {
  return Holds(requirement, machine.FindLabel(requirement.key));
}

// What `text` makes of the first parts, with `separator` in between.
template <class Part, class Text>
std::string Join(std::span<const Part> parts, std::string_view separator,
                 Text text) {
  std::string joined;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) joined += separator;
    if (i == kShownParts) return joined + "...";
    joined += text(parts[i]);
  }
  return joined;
}

std::string ShownText(const std::string& text) {
  return Printable(text, kShownBytes);
}

std::string ValuesText(const LabelRequirement& requirement) {
  return Join(std::span(requirement.values), ",", ShownText);
}

// Pointers: one requirement may have thousands of values.
using Requirements = std::vector<const LabelRequirement*>;

std::string RequirementsText(const Requirements& requirements) {
  if (requirements.empty()) return "(empty term)";
  return Join(std::span(requirements), " and ",
              [](const LabelRequirement* it) { return RequirementText(*it); });
}

template <class Predicate>
Requirements Select(std::span<const LabelRequirement> requirements,
                    Predicate is_shown) {
  Requirements selected;
  for (const LabelRequirement& requirement : requirements) {
    if (is_shown(requirement)) selected.push_back(&requirement);
  }
  return selected;
}

Requirements MissingLabels(std::span<const LabelRequirement> labels,
                           const Machine& machine) {
  return Select(labels,
                [&](const auto& label) { return !LabelHolds(label, machine); });
}

Requirements MissingFields(std::span<const LabelRequirement> fields,
                           const Machine& machine) {
  return Select(fields,
                [&](const auto& field) { return !FieldHolds(field, machine); });
}

std::string RequirementsText(Requirements labels, const Requirements& fields) {
  labels.insert(labels.end(), fields.begin(), fields.end());
  return RequirementsText(labels);
}

// Whether it is satisfied by just one label.
bool NamesALabel(const LabelRequirement& requirement) {
  return requirement.op == LabelOperator::kExists ||
         (requirement.op == LabelOperator::kIn &&
          requirement.values.size() == 1);
}

}  // namespace

std::optional<int64_t> ParseInt64(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [parsed_end, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || parsed_end != end) return std::nullopt;
  return number;
}

bool Holds(const LabelRequirement& requirement, const std::string* value) {
  const std::vector<std::string>& values = requirement.values;
  switch (requirement.op) {
    case LabelOperator::kIn:
      return value != nullptr && IsListed(*value, values);
    case LabelOperator::kNotIn:
      return value == nullptr || !IsListed(*value, values);
    case LabelOperator::kExists:
      return value != nullptr;
    case LabelOperator::kDoesNotExist:
      return value == nullptr;
    case LabelOperator::kGreaterThan:
      return Compare(value, values) == std::strong_ordering::greater;
    case LabelOperator::kLessThan:
      return Compare(value, values) == std::strong_ordering::less;
    case LabelOperator::kInvalid:
      return false;
  }
  return false;
}

bool Matches(const NodeTerm& term, const Machine& machine) {
  if (term.labels.empty() && term.fields.empty()) return false;
  return std::ranges::all_of(
             term.labels,
             [&](const auto& label) { return LabelHolds(label, machine); }) &&
         std::ranges::all_of(term.fields, [&](const auto& field) {
           return FieldHolds(field, machine);
         });
}

std::string RequirementText(const LabelRequirement& requirement) {
  const std::string key = ShownText(requirement.key);
  const std::string values = ValuesText(requirement);
  const bool is_one_value = requirement.values.size() == 1;
  switch (requirement.op) {
    case LabelOperator::kIn:
      return is_one_value ? StrCat(key, "=", values)
                          : StrCat(key, " in (", values, ")");
    case LabelOperator::kNotIn:
      return is_one_value ? StrCat(key, "!=", values)
                          : StrCat(key, " notin (", values, ")");
    case LabelOperator::kExists:
      return key;
    case LabelOperator::kDoesNotExist:
      return StrCat("!", key);
    case LabelOperator::kGreaterThan:
      return StrCat(key, " > ", values);
    case LabelOperator::kLessThan:
      return StrCat(key, " < ", values);
    case LabelOperator::kInvalid:
      return StrCat(key, " (", values, ")");
  }
  return key;
}

std::string TermsText(std::span<const NodeTerm> terms) {
  constexpr auto kAll = [](const LabelRequirement&) { return true; };
  return Join(terms, " or ", [&](const NodeTerm& term) {
    return RequirementsText(Select(term.labels, kAll),
                            Select(term.fields, kAll));
  });
}

std::string LacksText(std::span<const LabelRequirement> labels,
                      const Machine& machine) {
  const Requirements missing = MissingLabels(labels, machine);
  const bool is_one_label = missing.size() == 1 && NamesALabel(*missing[0]);
  return StrCat(is_one_label ? "lacks the label " : "lacks a match for ",
                RequirementsText(missing));
}

std::string LacksText(std::span<const NodeTerm> terms, const Machine& machine) {
  if (terms.size() == 1 && MissingFields(terms[0].fields, machine).empty()) {
    return LacksText(terms[0].labels, machine);
  }
  return StrCat("lacks a match for ",
                Join(terms, " or ", [&](const NodeTerm& term) {
                  return RequirementsText(MissingLabels(term.labels, machine),
                                          MissingFields(term.fields, machine));
                }));
}

}  // namespace sluice
