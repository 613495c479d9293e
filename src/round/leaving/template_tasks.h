// One task for each machine from each template (state/templates.h).
//
// Threads: a free function; confined to the core thread.

#ifndef SLUICE_ROUND_LEAVING_TEMPLATE_TASKS_H_
#define SLUICE_ROUND_LEAVING_TEMPLATE_TASKS_H_

#include <cstdint>

#include "constraints/constraint_set.h"
#include "state/cluster_state.h"

namespace sluice {

// Before a round: makes a task for each usable machine that has none yet and
// whose labels and taints the template's rules allow.  Ends tasks whose machine
// or template is gone.  A new task has no choice of machines.  If it fits its
// own and depends on no other task, it is placed at once, unless something more
// urgent waits.  The round decides on the others.  Returns how many were
// placed.  Looks at each machine for each template.
int64_t KeepTemplates(const ConstraintSet& constraints, int64_t now_ms,
                      ClusterState* state);

}  // namespace sluice

#endif  // SLUICE_ROUND_LEAVING_TEMPLATE_TASKS_H_
