// Errors for damaged records of a store: kDataLoss.
//
// Threads: pure functions.

#ifndef SLUICE_PERSIST_DAMAGE_H_
#define SLUICE_PERSIST_DAMAGE_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/strings.h"
#include "messages/fields.h"

namespace sluice {

inline absl::Status Damaged(std::string_view what) {
  return absl::DataLossError(std::string(what));
}

// `what` is a plural.  Neighbors for which `is_wrong` holds are out of order.
// By default an item that occurs twice is wrong, too.
template <class Items, class Projection = std::identity,
          class Wrong = std::ranges::greater_equal>
absl::Status CheckAscending(std::string_view what, const Items& items,
                            Projection projection = {}, Wrong is_wrong = {}) {
  if (std::ranges::adjacent_find(items, is_wrong, projection) == items.end()) {
    return absl::OkStatus();
  }
  return Damaged(StrCat("its ", what, " are out of order"));
}

// Reads `record` (messages/fields.h).  `what` names it in errors.
template <class Record>
absl::Status DecodeFields(std::string_view what,
                          const google::protobuf::Message& stored,
                          Record* record) {
  const std::string fault = ReadFields(stored, ListsAre::kInOrder, record);
  if (fault.empty()) return absl::OkStatus();
  return Damaged(StrCat("its ", what, ": ", fault));
}

}  // namespace sluice

#endif  // SLUICE_PERSIST_DAMAGE_H_
