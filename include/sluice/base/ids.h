// Strong identifiers: the compiler tells a task from a machine.
//
// The state assigns them, and none ever changes.  A task's id has the number of
// its client's uid if no other task has that id; the others are assigned in the
// order of arrival, except for kinds of work and types of machines.  All
// survive a restart, so "lowest id first" means the same before and after it.

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
// What a client of the scheduler's contract calls a task.  Clients give uids
// out again while tasks that had them still run, so a uid may name different
// tasks at different times.
using TaskUid = Id<struct TaskUidTag, uint64_t>;
using JobId = Id<struct JobTag, uint32_t>;
using MachineId = Id<struct MachineTag, uint32_t>;
// A kind of work: a fingerprint of what its tasks have in common
// (state/class_histories.h).  Clients do not see it.
using WorkKindId = Id<struct WorkKindTag, uint64_t>;
// A type of machines: a fingerprint of what they have in common
// (state/speed_histories.h). 0: no policy asks.
using MachineTypeId = Id<struct MachineTypeTag, uint64_t>;
// 0: no feed; stated by clients of the contract.
using FeedId = Id<struct FeedTag, uint32_t>;

}  // namespace sluice

#endif  // SLUICE_BASE_IDS_H_
