// Who would have to be stopped before a gang may start, or have as many tasks
// again as it needs: the last resort where packings find nobody.
//
// Its tasks are looked at one after the other (core/displacement.h), as if
// those before had come and their victims had left: the cheapest place for
// each.  Where the tasks have to be near each other, that is tried in each
// domain by itself, too: the first of them would choose the cheapest place
// rather than one with room for the others.
//
// Threads: a pure function; confined to the core thread.

#ifndef SLUICE_CORE_GANG_DISPLACEMENT_H_
#define SLUICE_CORE_GANG_DISPLACEMENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "constraints/constraint_set.h"
#include "core/gangs.h"
#include "core/round_stats.h"
#include "core/stoppable_tasks.h"
#include "network/eligibility.h"
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

// For as many of the tasks as can come, if these are `minimum` at least.
// `tasks`: in the order in which they are to be placed.  `first`: the machine
// to begin with.  REQUIRES: the state's peers are in sync, and the eligibility
// is fresh.
std::optional<GangDisplacement> FindForGang(const GangSubject& subject,
                                            std::span<const Task* const> tasks,
                                            int64_t minimum, size_t first,
                                            int64_t* looks_left);

}  // namespace sluice

#endif  // SLUICE_CORE_GANG_DISPLACEMENT_H_
