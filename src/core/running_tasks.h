// The tasks that run and may be stopped for ones that are more urgent, as a
// packing tells them apart, and the room that they and what leaves hold.
//
// Left alone are tasks of gangs, those that listen on ports of their hosts,
// those that others must be near, what no client knows of yet, what cannot be
// stopped (ClusterState::CanPreempt), and what a disruption budget protects.
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_CORE_RUNNING_TASKS_H_
#define SLUICE_CORE_RUNNING_TASKS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/round_stats.h"
#include "sluice/base/ids.h"
#include "sluice/state/resources.h"
#include "state/cluster_state.h"

namespace sluice {

// Whether the task, which runs, may be stopped for one of `priority`.
bool MayBeStopped(const Task& task, uint32_t priority,
                  const ClusterState& state);

class RunningTasks {
 public:
  struct Class {
    uint32_t priority = 0;
    Resources request;
    int64_t price = 1;  // Of stopping one.
    // How many of them budgets let be stopped.
    int64_t stopped_max = std::numeric_limits<int64_t>::max();
  };

  RunningTasks() = default;
  // Those that may be stopped for a task of `priority`, and that none with
  // these rules must be near.
  RunningTasks(const ClusterState& state, uint32_t priority,
               const std::set<const PlacementRules*>& rules,
               const PreemptionOptions& options);

  bool empty() const { return classes_.empty(); }
  // The most urgent first.
  const std::vector<Class>& classes() const { return classes_; }
  // What the machine would have more of if all of them were gone, and all that
  // was told to leave; null where that is nothing.
  const Resources* FindRoomOn(MachineId machine) const;
  // How many of each class there are on the machine, ascending.
  std::vector<std::pair<size_t, int64_t>> CountOn(MachineId machine) const;
  // Of the class, the one that was placed last first.
  std::vector<TaskId> TasksOn(MachineId machine, size_t of_class) const;

 private:
  struct OnMachine {
    Resources room;
    std::vector<std::pair<size_t, TaskId>> tasks;  // By class.
  };
  std::vector<Class> classes_;
  absl::flat_hash_map<MachineId, OnMachine> machines_;
};

}  // namespace sluice

#endif  // SLUICE_CORE_RUNNING_TASKS_H_
