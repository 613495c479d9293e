// Which tasks give way to a plan: those that a packing leaves where they are,
// and that are less urgent than something that waits by it.
//
// Passes place the more urgent first.  A packing decides anew on what they
// placed, but for tasks with terms that it does not heed: other tasks may wait
// then than before, and one of them for such a task.  So these are taken back,
// too, and placed by the passes of their tier, after all that is more urgent.
//
// Threads: a free function; confined to the core thread.

#ifndef SLUICE_CORE_RIGHT_OF_WAY_H_
#define SLUICE_CORE_RIGHT_OF_WAY_H_

#include <optional>
#include <vector>

#include "core/packing_plan.h"
#include "core/round_context.h"
#include "core/round_packing.h"

namespace sluice {

// The tasks to take back beside those that the packing places anew; nothing if
// one of them is in the way of something more urgent and has to stay, because
// others may stand where they do for its sake.  `patterns`: what machines are
// to hold.  REQUIRES: the state is as it was when the packing was described,
// and the eligibility is fresh.
std::optional<std::vector<TaskId>> FindWhoGivesWay(
    const RoundPacking& packing, const MachinePatterns& patterns,
    RoundContext* context);

}  // namespace sluice

#endif  // SLUICE_CORE_RIGHT_OF_WAY_H_
