// Which tasks give way to a plan: those that it leaves where they are, although
// something more urgent waits by it that could have their room.
//
// Passes place the more urgent first.  A packing decides anew on what they
// placed, but for tasks with terms that it does not heed: by its plan other
// tasks may wait than by the passes, and one of them for such a task.  What is
// less urgent than all that is planned is placed anew after it, and so must be
// such tasks among it.
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
// one of them has to stay, because others may stand where they do for its sake.
// `patterns`: what machines are to hold.  REQUIRES: the state is as it was when
// the packing was described, and the eligibility is fresh.
std::optional<std::vector<TaskId>> FindWhoGivesWay(
    const RoundPacking& packing, const MachinePatterns& patterns,
    RoundContext* context);

}  // namespace sluice

#endif  // SLUICE_CORE_RIGHT_OF_WAY_H_
