// How a plan leaves the required spreads of those that are to come: who comes
// and who leaves is noted, and counts as if that had happened.
//
// A spread is looked at for those that come.  Those that run already stay where
// they are, whatever becomes of it.
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_CORE_PLANNED_SPREADS_H_
#define SLUICE_CORE_PLANNED_SPREADS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/container/btree_map.h"
#include "constraints/constraint_set.h"
#include "constraints/topology_spread.h"
#include "sluice/base/ids.h"
#include "sluice/state/task.h"
#include "state/cluster_state.h"

namespace sluice {

class PlannedSpreads {
 public:
  // What is passed must outlive this; machines must not change meanwhile.
  // REQUIRES: the state's peers are in sync.
  PlannedSpreads(const ClusterState& state, const ConstraintSet& constraints)
      : state_(&state), constraints_(&constraints) {}

  // Tasks of the class may come: its required spreads are looked at.
  void Watch(const ClassKey& key);
  bool Watches(const ClassKey& key) const {
    return by_rules_.contains(key.rules->id);
  }
  // Whether there is no spread to look at.
  bool empty() const { return by_rules_.empty(); }
  // A task that runs is no longer there as things are, either.
  void Withdraw(const Task& running);
  // Nobody comes or leaves.
  void Reset();

  // So many of the class come to the machine; less than 0: do not come.
  void Come(const ClassKey& key, MachineId machine, int64_t count = 1);
  // A task that runs leaves; with -1 it stays after all.
  void Leave(const Task& running, int64_t count = 1);

  // Whether one of those that come to the machine may be there once all have
  // come and left.
  bool Allow(const ClassKey& key, MachineId machine) const;
  // The highest priority of those that come to the task's domain, and may not
  // be there if this one of those that leave stays; nothing if all may.
  std::optional<uint32_t> HighestAgainst(const Task& leaving) const;

 private:
  struct Spread {
    TopologySpread before;  // As things are, and
    TopologySpread after;   // once all have come and left.
    // By domain, how many come, by priority, and how many leave.
    std::vector<std::map<uint32_t, int64_t>> coming;
    std::vector<int64_t> leaving;
  };

  const ClusterState* state_;
  const ConstraintSet* constraints_;
  absl::btree_map<uint32_t, std::vector<Spread>> by_rules_;  // By their id.
};

}  // namespace sluice

#endif  // SLUICE_CORE_PLANNED_SPREADS_H_
