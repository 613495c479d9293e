// How many tasks of a job run on a machine.
//
// Counted when asked: most jobs have no two tasks on any machine that a round
// uses.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_CORE_SIBLINGS_H_
#define SLUICE_CORE_SIBLINGS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/placements.h"
#include "state/cluster_state.h"

namespace sluice {

class Siblings {
 public:
  // Both must outlive this.  Each task looked at is charged to `looks_left`.
  Siblings(const ClusterState& state, int64_t* looks_left)
      : state_(state), looks_left_(*looks_left) {}

  // The indices of the placements that share a machine with another task of
  // their job, by job, then machine; not all if that takes too many looks.
  std::vector<size_t> FindCrowded(std::span<const Placement> placements);
  // Tasks that are told to leave do not count.
  int64_t Count(JobId job, MachineId machine);
  // So many came since, or with a minus left.
  void Note(JobId job, MachineId machine, int64_t count);

 private:
  const ClusterState& state_;
  int64_t& looks_left_;
  absl::flat_hash_set<JobId> known_;  // Jobs of which every task is counted.
  absl::flat_hash_map<std::pair<JobId, MachineId>, int64_t> counts_;
};

}  // namespace sluice

#endif  // SLUICE_CORE_SIBLINGS_H_
