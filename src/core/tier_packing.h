// What waits in a tier, and what a round has placed of it so far, as a packing
// problem: all of it is decided on at once, whatever its sizes.
//
// Tasks whose place depends on others stay where they are, and so does what a
// client knows of.  Gangs that have started stay whole: nothing is worth
// leaving a task of theirs waiting.
//
// Threads: values and free functions; confined to the core thread.

#ifndef SLUICE_CORE_TIER_PACKING_H_
#define SLUICE_CORE_TIER_PACKING_H_

#include <cstdint>
#include <vector>

#include "core/round_context.h"
#include "packing/packing_problem.h"
#include "sluice/state/task.h"

namespace sluice {

struct TierPacking {
  PackingProblem problem;
  std::vector<ClassKey> classes;                 // Of the problem.
  std::vector<std::vector<MachineId>> machines;  // Of each of its groups.
  std::vector<TaskId> placed;  // What the problem is to place anew.
  // What the tier costs as it is, and what it does at least by what each class
  // likes best.
  PackingCost now;
  PackingCost least;
  LevelCosts misfits;  // The waiting cost of what fits nowhere, in both.
  // Whether there are tasks of the tier that the problem leaves out.
  bool leaves_out = false;
  // Then there is no problem, and `least` may be far too little.
  bool is_too_large = false;
};

enum class TierScope {
  kMovable,  // Tasks that may be placed anew one by one.
  kAll,      // For a bound: whatever holds tasks together only adds to it.
};

// The tasks of the tier that wait, and those that the round has placed: with
// kMovable since it came to the tier.
TierPacking DescribeTier(TierScope scope, const Tier& tier,
                         RoundContext* context);

}  // namespace sluice

#endif  // SLUICE_CORE_TIER_PACKING_H_
