#include "constraints/label_match.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"
#include "constraints/shown_text.h"

namespace sluice {
namespace {

bool FieldHolds(const LabelRequirement& requirement, const Machine& machine) {
  if (requirement.values.size() != 1) return false;
  const bool is_in = requirement.op == LabelOperator::kIn;
  if (requirement.key == kMachineId) {
    return is_in && (requirement.values[0] == machine.uuid ||
                     requirement.values[0] == machine.name);
  }
  return requirement.key == kMetadataName &&
         (is_in || requirement.op == LabelOperator::kNotIn) &&
         Holds(requirement, &machine.name);
}

bool LabelHolds(const LabelRequirement& requirement, const Machine& machine) {
  return Holds(requirement, machine.FindLabel(requirement.key));
}

std::string ValuesText(const LabelRequirement& requirement) {
  return JoinShown(std::span(requirement.values), ",", ShownText);
}

// Pointers: one requirement may have thousands of values.
using Requirements = std::vector<const LabelRequirement*>;

std::string RequirementsText(const Requirements& requirements) {
  if (requirements.empty()) return "(empty term)";
  return JoinShown(
      std::span(requirements), " and ",
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

// True if exactly one label satisfies it.
bool NamesALabel(const LabelRequirement& requirement) {
  return requirement.op == LabelOperator::kExists ||
         (requirement.op == LabelOperator::kIn &&
          requirement.values.size() == 1);
}

}  // namespace

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
  std::string key = ShownText(requirement.key);
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

std::string RequirementsText(std::span<const LabelRequirement> requirements) {
  return RequirementsText(
      Select(requirements, [](const LabelRequirement&) { return true; }));
}

std::string TermsText(std::span<const NodeTerm> terms) {
  constexpr auto kAll = [](const LabelRequirement&) { return true; };
  return JoinShown(terms, " or ", [&](const NodeTerm& term) {
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
                JoinShown(terms, " or ", [&](const NodeTerm& term) {
                  return RequirementsText(MissingLabels(term.labels, machine),
                                          MissingFields(term.fields, machine));
                }));
}

}  // namespace sluice
