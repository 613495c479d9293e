// Jobs and the groups that they are part of.
//
// Threads: a free function; confined to the core thread.

#ifndef SLUICE_STATE_JOB_GROUPS_H_
#define SLUICE_STATE_JOB_GROUPS_H_

#include "sluice/base/ids.h"
#include "sluice/state/task.h"
#include "state/cluster_state.h"

namespace sluice {

// Calls change(job) for the job, and for its group if it is part of one.
template <class Change>
void ForJobAndGroup(JobId id, ClusterState::JobMap* jobs, Change change) {
  Job& job = jobs->At(id);
  change(&job);
  if (job.group.has_value()) change(&jobs->At(*job.group));
}

}  // namespace sluice

#endif  // SLUICE_STATE_JOB_GROUPS_H_
