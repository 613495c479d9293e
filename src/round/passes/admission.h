// Admission: which waiting tasks should get the free capacity.
//
// If demand exceeds capacity, the tasks that are placed first decide which ones
// are left waiting.  Admission treats the cluster as one large machine and
// picks the tasks with the highest waiting cost per unit of resources: a
// fractional knapsack with one dimension per resource (Pisinger and Toth,
// "Knapsack Problems", 1998, Lagrangian relaxation).  The capacity is an upper
// bound on what can be packed, so packing may still refuse some of it.
//
// Threads: a pure function.  Determinism: integers only.

#ifndef SLUICE_ROUND_PASSES_ADMISSION_H_
#define SLUICE_ROUND_PASSES_ADMISSION_H_

#include <cstdint>
#include <span>
#include <vector>

#include "sluice/cost/cost_model.h"
#include "sluice/state/resources.h"

namespace sluice {

// Tasks with the same request and the same waiting cost.
struct AdmissionGroup {
  Resources request;
  Cost waiting_cost = 0;  // Per task.
  int64_t count = 0;
};

// Returns how many tasks of each group to admit.  The sum of their requests is
// within `free` in every resource.
std::vector<int64_t> Admit(std::span<const AdmissionGroup> groups,
                           const Resources& free);

}  // namespace sluice

#endif  // SLUICE_ROUND_PASSES_ADMISSION_H_
