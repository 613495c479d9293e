// The tasks that run and may be stopped for ones that are more urgent, as a
// packing tells them apart, and the room that they and what leaves hold.
//
// Left alone are tasks of gangs, those that listen on ports of their hosts,
// what no client knows of yet, what cannot be stopped
// (ClusterState::CanPreempt), and what a disruption budget protects.
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_CORE_RUNNING_TASKS_H_
#define SLUICE_CORE_RUNNING_TASKS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "core/disruptions.h"
#include "core/packing_peers.h"
#include "core/round_stats.h"
#include "sluice/base/ids.h"
#include "sluice/state/resources.h"
#include "sluice/state/task.h"
#include "state/cluster_state.h"

namespace sluice {

// Whether the task, which runs, may be stopped for one of `priority`.
bool MayBeStopped(const Task& task, uint32_t priority,
                  const ClusterState& state);

// Whether one of the two says that it keeps away from the other.
bool KeepApart(const ClassKey& a, const ClassKey& b, const PeerTable& peers);

// Whether what leaves the machine, or is a victim, has to be gone before a task
// of the class may be there, whatever room there is.
bool MustAwait(const ClassKey& key, const Machine& machine,
               std::span<const TaskId> victims, const ClusterState& state);

class RunningTasks {
 public:
  struct Class {
    // Its priority and request.  What it says about other tasks and what they
    // say about it, where that concerns one that waits.
    ClassKey key;
    int64_t price = 1;  // Of stopping one.
    // How many of them budgets let be stopped.
    int64_t stopped_max = std::numeric_limits<int64_t>::max();
  };

  RunningTasks() = default;
  // Those that may be stopped for a task of `priority`.  Tells `peers` of them
  // and of what leaves.  Of budgets that several classes share each class may
  // take all, or with a `turn` above 0 what the others before it have left: in
  // the first turn the last class comes first, in the second the one before it.
  RunningTasks(const ClusterState& state, uint32_t priority,
               const PreemptionOptions& options, int turn, PackingPeers* peers);

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
  void ShareBudgets(const std::vector<std::vector<size_t>>& budgets, int turn,
                    const Disruptions& disruptions);

  struct OnMachine {
    Resources room;
    std::vector<std::pair<size_t, TaskId>> tasks;  // By class.
  };
  std::vector<Class> classes_;
  absl::btree_map<MachineId, OnMachine> machines_;
};

}  // namespace sluice

#endif  // SLUICE_CORE_RUNNING_TASKS_H_
