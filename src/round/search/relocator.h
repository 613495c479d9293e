// Moves one task of a round to the best of the places that it is offered.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_ROUND_SEARCH_RELOCATOR_H_
#define SLUICE_ROUND_SEARCH_RELOCATOR_H_

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "cost/policy_set.h"
#include "round/context/work_budget.h"
#include "round/search/movable_placements.h"
#include "round/search/suitability.h"

namespace sluice {

// The best place so far for a task.
struct Choice {
  Seeker seeker;
  Liking liking = {};
  MachineId machine = {};
};

class Relocator {
 public:
  // All must outlive this.
  Relocator(const PolicySet& policies, MovablePlacements* placements,
            Suitability* suitability, Allowance* work)
      : policies_(policies),
        placements_(*placements),
        suitability_(*suitability),
        work_(*work) {}

  // Lets `choose` look for a better place than the task's own, and puts it
  // there.  Returns whether it moved.
  bool Move(size_t index, absl::FunctionRef<void(Choice*)> choose);
  // Returns whether the machine is the best so far.
  bool Consider(const Machine& machine, Choice* choice);

 private:
  const PolicySet& policies_;
  MovablePlacements& placements_;
  Suitability& suitability_;
  Allowance& work_;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_SEARCH_RELOCATOR_H_
