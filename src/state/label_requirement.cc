#include "sluice/state/label_requirement.h"

#include <algorithm>
#include <charconv>
#include <compare>

namespace sluice {
namespace {

// REQUIRES: `list` is ascending.
bool IsListed(const std::string& value, const std::vector<std::string>& list) {
  return std::ranges::binary_search(list, value);
}

// Compares a label with the only bound; nullopt unless both are integers.
std::optional<std::strong_ordering> Compare(
    const std::string* value, const std::vector<std::string>& bounds) {
  if (value == nullptr || bounds.size() != 1) return std::nullopt;
  const std::optional<int64_t> number = ParseInt64(*value);
  const std::optional<int64_t> bound = ParseInt64(bounds[0]);
  if (!number.has_value() || !bound.has_value()) return std::nullopt;
  return *number <=> *bound;
}

}  // namespace

std::string LabelRequirement::Fault() const {
  bool is_sound = false;
  switch (op) {
    case LabelOperator::kIn:
    case LabelOperator::kNotIn:
      is_sound = !values.empty();
      break;
    case LabelOperator::kExists:
    case LabelOperator::kDoesNotExist:
      is_sound = values.empty();
      break;
    case LabelOperator::kGreaterThan:
    case LabelOperator::kLessThan:
      is_sound = values.size() == 1 && ParseInt64(values[0]).has_value();
      break;
    case LabelOperator::kInvalid:
      is_sound = values.size() == 1;
      break;
  }
  return is_sound ? "" : "values: its operator cannot have these";
}

const std::string* FindLabel(const LabelPairs& labels, std::string_view key) {
  const auto it = std::ranges::lower_bound(
      labels, key, {},
      [](const auto& label) -> std::string_view { return label.first; });
  return it != labels.end() && it->first == key ? &it->second : nullptr;
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

}  // namespace sluice
