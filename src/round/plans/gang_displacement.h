// Which tasks must be stopped before a gang can start, or reach its minimum
// again: the last resort if packings find no victims.
//
// The tasks of the gang are looked at one after the other
// (round/plans/displacement.h).  Each gets the cheapest place, as if the
// earlier ones had come and their victims had left.  If the tasks must be near
// each other, each domain is also tried by itself: otherwise the first task
// would choose the cheapest place rather than one with room for the others.
//
// Threads: a pure function; confined to the core thread.

#ifndef SLUICE_ROUND_PLANS_GANG_DISPLACEMENT_H_
#define SLUICE_ROUND_PLANS_GANG_DISPLACEMENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "constraints/constraint_set.h"
#include "network/eligibility.h"
#include "round/context/round_stats.h"
#include "round/context/work_budget.h"
#include "round/packing/stoppable_tasks.h"
#include "round/together/gangs.h"
#include "sluice/base/ids.h"
#include "sluice/state/task.h"
#include "state/cluster_state.h"

namespace sluice {

struct GangDisplacement {
  std::vector<std::pair<const Task*, MachineId>> coming = {};
  std::vector<const Task*> victims = {};
  StopPrice price = {};
};

// What is passed must outlive this.
struct GangSubject {
  const ClusterState& state;
  const ConstraintSet& constraints;
  Eligibility& eligibility;
  const Gangs& gangs;
  const PreemptionOptions& options;
};

// For as many of the tasks as can come; nullopt if these are fewer than
// `minimum`.  `tasks`: in placement order.  `first`: the machine to begin with.
// REQUIRES: the state's peers are in sync, and the eligibility is fresh.
std::optional<GangDisplacement> FindForGang(const GangSubject& subject,
                                            std::span<const Task* const> tasks,
                                            int64_t minimum, size_t first,
                                            Allowance* work);

}  // namespace sluice

#endif  // SLUICE_ROUND_PLANS_GANG_DISPLACEMENT_H_
