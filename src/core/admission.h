// Admission: which of the waiting work the free capacity should go to.
//
// Where demand exceeds capacity, what is placed first decides what is left
// waiting.  Admission treats the cluster as one large machine and looks for the
// tasks whose waiting costs most per unit of what they use: a fractional
// knapsack in as many dimensions as there are resources (Pisinger and Toth,
// "Knapsack Problems", 1998, Lagrangian relaxation).  Its capacity is an upper
// bound of what can be packed, so packing may still refuse some of it.
//
// Threads: a pure function.  Determinism: integers only.

#ifndef SLUICE_CORE_ADMISSION_H_
#define SLUICE_CORE_ADMISSION_H_

#include <cstdint>
#include <span>
#include <vector>

#include "sluice/cost/cost_model.h"
#include "sluice/state/resources.h"

namespace sluice {

// Tasks that ask for the same and whose waiting costs the same.
struct AdmissionGroup {
  Resources request;
  Cost waiting_cost = 0;  // Of one task.
  int64_t count = 0;
};

// Returns how many of each group to admit: the sum of their requests is within
// `free` in every resource.
std::vector<int64_t> Admit(std::span<const AdmissionGroup> groups,
                           const Resources& free);

}  // namespace sluice

#endif  // SLUICE_CORE_ADMISSION_H_
