// Conditions on labels as they are stored, and back.
//
// Errors are kDataLoss: for what these never are in the state.
//
// Threads: pure functions.

#ifndef SLUICE_PERSIST_STORED_REQUIREMENTS_H_
#define SLUICE_PERSIST_STORED_REQUIREMENTS_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/strings.h"
#include "sluice/state/label_requirement.h"
#include "sluice/v1/store.pb.h"

namespace sluice {

using StoredRequirementList =
    google::protobuf::RepeatedPtrField<v1::StoredRequirement>;

inline absl::Status Damaged(std::string_view what) {
  return absl::DataLossError(std::string(what));
}

// `what` is a plural.  Two neighbors for which `is_wrong` holds are not
// ascending: no item comes twice, unless that is to be right.
template <class Items, class Projection = std::identity,
          class Wrong = std::ranges::greater_equal>
absl::Status CheckAscending(std::string_view what, const Items& items,
                            Projection projection = {}, Wrong is_wrong = {}) {
  if (std::ranges::adjacent_find(items, is_wrong, projection) == items.end()) {
    return absl::OkStatus();
  }
  return Damaged(StrCat(what, " of it are out of order"));
}

// `number` as one of the enum's values, which are 0 to `last`.
template <class Enum>
absl::StatusOr<Enum> ToEnum(std::string_view what, int32_t number, Enum last) {
  if (number >= 0 && number <= static_cast<int32_t>(last)) {
    return static_cast<Enum>(number);
  }
  return Damaged(StrCat(what, " of it is none: ", number));
}

v1::StoredRequirement Encode(const LabelRequirement& requirement);
absl::StatusOr<LabelRequirement> Decode(const v1::StoredRequirement& stored);

StoredRequirementList Encode(const std::vector<LabelRequirement>& requirements);
absl::StatusOr<std::vector<LabelRequirement>> Decode(
    const StoredRequirementList& stored);

}  // namespace sluice

#endif  // SLUICE_PERSIST_STORED_REQUIREMENTS_H_
