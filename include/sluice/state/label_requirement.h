// Labels, and conditions on one of them.
//
// Kubernetes' rules: if the label is missing, only kNotIn and kDoesNotExist
// hold, and values that cannot be compared do not match.
//
// Threads: values, and free functions without state.

#ifndef SLUICE_STATE_LABEL_REQUIREMENT_H_
#define SLUICE_STATE_LABEL_REQUIREMENT_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

// Labels as text: ascending keys, none twice.
using LabelPairs = std::vector<std::pair<std::string, std::string>>;

enum class LabelOperator : uint8_t {
  kIn = 0,
  kNotIn = 1,
  kExists = 2,
  kDoesNotExist = 3,
  kGreaterThan = 4,
  kLessThan = 5,
  // Never holds: the client's operator is unknown, or its values are invalid.
  kInvalid = 6,
};

// A condition on one label of a machine or task.
struct LabelRequirement {
  std::string key = {};
  LabelOperator op = LabelOperator::kIn;
  // Ascending, without duplicates.  For kGreaterThan and kLessThan: one
  // integer.  For kInvalid: one text that says what is wrong.
  std::vector<std::string> values = {};

  template <class Self, class Visitor>
  static void VisitFields(Self& self, Visitor& visit) {
    visit("key", self.key);
    visit("op", self.op, LabelOperator::kInvalid);
    visit("values", self.values);
  }
  // "" if it is valid; otherwise what is wrong.
  std::string Fault() const;
  friend auto operator<=>(const LabelRequirement&,
                          const LabelRequirement&) = default;
};

// The value of the label `key`; null if there is none.
const std::string* FindLabel(const LabelPairs& labels, std::string_view key);

// True if a label of `value` (null: no such label) meets the requirement.
bool Holds(const LabelRequirement& requirement, const std::string* value);

// A decimal integer of 64 bits, as Go's strconv.ParseInt(text, 10, 64) reads
// it: digits after an optional sign, and nothing else.
std::optional<int64_t> ParseInt64(std::string_view text);

}  // namespace sluice

#endif  // SLUICE_STATE_LABEL_REQUIREMENT_H_
