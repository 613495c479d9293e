// Eviction: running tasks leave machines whose NoExecute taints they do not
// tolerate, or no longer do.
//
// The semantics are those of Kubernetes' taint eviction, which does the same
// for all pods; --evict_on_no_execute is for clusters without it.  A taint that
// no toleration matches evicts at once.  A taint that is tolerated for a time
// evicts when that time is over.  The shortest of all matching tolerations
// counts.  The clock starts when the taint appeared, or when the task was
// placed if that was later.  Tasks without a toleration for them bear the
// taints of machines that are not ready or unreachable for five minutes.
// Departed machines are left alone.
//
// Threads: none; confined to the core thread.  Time: an argument.

#ifndef SLUICE_ROUND_LEAVING_EVICTION_H_
#define SLUICE_ROUND_LEAVING_EVICTION_H_

#include <cstdint>
#include <limits>

#include "absl/container/btree_map.h"
#include "sluice/base/ids.h"
#include "sluice/state/machine.h"
#include "sluice/state/task.h"
#include "state/cluster_state.h"

namespace sluice {

inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// When the task must leave a machine with the taints of `machine`, in
// milliseconds since the epoch.  In the past if it must leave at once; kNever
// if it may stay.
int64_t EvictionMs(const Task& task, const Machine& machine);

class Eviction {
 public:
  // `state` must outlive this.
  explicit Eviction(ClusterState* state) : state_(state) {}

  // Preempts each task that must leave by `now_ms` once, and returns how many.
  // A placement that no client knows of is withdrawn instead.
  //
  // It looks only at machines where something changed or is due, so the others
  // cost a round nothing.
  int64_t Run(int64_t now_ms);

 private:
  // Returns when the next task of the machine is due.
  int64_t EvictFrom(const Machine& machine, int64_t now_ms, int64_t* evicted);

  ClusterState* const state_;
  // When to look at a machine again; kNever is left out.
  absl::btree_map<MachineId, int64_t> due_ms_;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_LEAVING_EVICTION_H_
