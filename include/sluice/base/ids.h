// Strong identifiers: a task is not a machine, and the compiler knows it.
//
// A TaskId is the uid that the client gave the task, or, where clients name
// tasks otherwise, dealt by the state.  The others are dealt by the state in
// the order of arrival, but for kinds of work and types of machines.  All
// survive a restart, so that "lowest id first" means the same before and after
// it.

#ifndef SLUICE_BASE_IDS_H_
#define SLUICE_BASE_IDS_H_

#include <compare>
#include <cstdint>
#include <functional>
#include <ostream>

namespace sluice {

template <class Tag, class Rep>
struct Id {
  using rep = Rep;
  Rep value = 0;

  friend auto operator<=>(const Id&, const Id&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Id& id) {
    return H::combine(std::move(h), id.value);
  }
  friend std::ostream& operator<<(std::ostream& out, const Id& id) {
    return out << id.value;
  }
};

using TaskId = Id<struct TaskTag, uint64_t>;
using JobId = Id<struct JobTag, uint32_t>;
using MachineId = Id<struct MachineTag, uint32_t>;
// A kind of work, by a fingerprint of what tasks of it have in common
// (state/class_histories.h); no client sees it.
using WorkKindId = Id<struct WorkKindTag, uint64_t>;
// What equal machines have in common, by a fingerprint of it
// (state/speed_histories.h); 0: nobody asks.
using MachineTypeId = Id<struct MachineTypeTag, uint64_t>;
// 0: none, what the clients of the contract state.
using FeedId = Id<struct FeedTag, uint32_t>;

}  // namespace sluice

#endif  // SLUICE_BASE_IDS_H_
