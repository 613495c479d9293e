// How hard a packing looks for a good solution.
//
// Threads: values.

#ifndef SLUICE_PACKING_PACKING_EFFORT_H_
#define SLUICE_PACKING_PACKING_EFFORT_H_

#include <cstddef>
#include <cstdint>
#include <limits>

namespace sluice {

// With more groups, prices are found for coarse ones, and there are no dives.
inline constexpr size_t kPackingGroupsMax = 400;
// With more classes, and tasks that must wait, a relaxation takes longer than
// it is worth.
inline constexpr size_t kPackingClassesMax = 80;

struct PackingEffort {
  int64_t work_max = 0;  // In units of some ten nanoseconds.
  // With more groups or classes than these, a search takes a few machines at a
  // time, until its work is spent: how much of `work_max` it may use then, and
  // a seed for the order of the machines.
  int64_t nearby_max = std::numeric_limits<int64_t>::max();
  uint64_t seed = 1;
  // Whether it goes on when a search hardly finds more: its decisions cannot be
  // taken back.
  bool is_thorough = false;
  // If false, the bound of the solution is not needed, and 0 will do.
  bool wants_bound = true;
};

}  // namespace sluice

#endif  // SLUICE_PACKING_PACKING_EFFORT_H_
