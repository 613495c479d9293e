// What a plan does to the required spreads of the tasks that are to come.
// Planned arrivals and departures are noted, and count as if they had happened.
//
// Spreads are checked for tasks that come.  Running tasks stay where they are,
// whatever happens to their spreads.
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_ROUND_TOGETHER_PLANNED_SPREADS_H_
#define SLUICE_ROUND_TOGETHER_PLANNED_SPREADS_H_

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

  // Tasks of the class may come: watches its required spreads.
  void Watch(const ClassKey& key);
  bool Watches(const ClassKey& key) const {
    return by_rules_.contains(key.rules->id);
  }
  // True if there is no spread to look at.
  bool empty() const { return by_rules_.empty(); }
  // Removes a running task from the current counts, too.
  void Withdraw(const Task& running);
  // Forgets who comes and leaves.
  void Reset();

  // `count` tasks of the class come to the machine; a negative count takes that
  // back.
  void Come(const ClassKey& key, MachineId machine, int64_t count = 1);
  // A running task leaves; with -1 it stays after all.
  void Leave(const Task& running, int64_t count = 1);

  // True if a task that comes to the machine may be there once all have come
  // and left.
  bool Allow(const ClassKey& key, MachineId machine) const;
  // The highest priority of the tasks that come to the domain of `leaving` and
  // may not be there if it stays; nullopt if all may.
  std::optional<uint32_t> HighestAgainst(const Task& leaving) const;

 private:
  struct Spread {
    TopologySpread before;  // As things are.
    TopologySpread after;   // Once all have come and left.
    // By domain: how many come, by priority, and how many leave.
    std::vector<std::map<uint32_t, int64_t>> coming;
    std::vector<int64_t> leaving;
  };

  const ClusterState* state_;
  const ConstraintSet* constraints_;
  absl::btree_map<uint32_t, std::vector<Spread>> by_rules_;  // By their id.
};

}  // namespace sluice

#endif  // SLUICE_ROUND_TOGETHER_PLANNED_SPREADS_H_
