// Running tasks that may be stopped for more urgent ones, or moved, classified
// as a packing tells them apart; and the room that they and the tasks told to
// leave hold.
//
// Left alone are tasks that no client knows of yet, unless they may be taken
// back; tasks that cannot be stopped (ClusterState::CanPreempt); and tasks that
// a disruption budget protects.  Gangs are stopped as a whole, or down to their
// minimum (round/together/gang_victims.h).
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_ROUND_PACKING_RUNNING_TASKS_H_
#define SLUICE_ROUND_PACKING_RUNNING_TASKS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "round/context/round_stats.h"
#include "round/packing/movability.h"
#include "round/packing/packing_part.h"
#include "round/packing/packing_peers.h"
#include "round/together/disruptions.h"
#include "round/together/gangs.h"
#include "sluice/base/ids.h"
#include "sluice/state/resources.h"
#include "sluice/state/task.h"
#include "state/cluster_state.h"

namespace sluice {

// True if a packing can say how much room the machine has without some of its
// tasks.  It cannot if the running tasks exceed the machine, which came back
// smaller or uses more than was asked for.  Nor can it if requests exceed what
// the machine offers, as measured use allows: what is reclaimed goes with the
// tasks.
bool MayLoseTasks(const Machine& machine);

// True if the running task may be stopped for one of `priority`; with its gang
// if it has one.
bool MayBeStopped(const Task& task, uint32_t priority,
                  const ClusterState& state);
// The same, but the task alone.
bool MayBeStoppedAlone(const Task& task, uint32_t priority,
                       const ClusterState& state);

// Each earlier disturbance of a task adds the cost of one more stop, up to this
// many.  That is enough for others to have their turn, and keeps classes few.
inline constexpr int32_t kDisturbancesMax = 3;

// The cost of stopping the task.
inline int64_t StopCost(const Task& task, const PreemptionOptions& options) {
  return options.cost * (1 + std::min(task.disturbances, kDisturbancesMax)) +
         task.preemption_cost;
}
// The cost of moving a task, given the cost of its stop.
inline int64_t MoveCost(int64_t stop_cost, const PreemptionOptions& options) {
  return options.moves.cost * stop_cost / options.cost;
}

// True if tasks of the two may not share a machine: one avoids the other, or
// they listen on the same port.
bool AreApart(const ClassKey& a, const ClassKey& b, const PeerTable& peers);

// True if something that leaves the machine, or a victim, must be gone before a
// task of the class may be there, regardless of room.
bool MustAwait(const ClassKey& key, const Machine& machine,
               std::span<const TaskId> victims, const ClusterState& state);

class RunningTasks {
 public:
  struct Class {
    // Its priority and request, and the rules by which it and a waiting task
    // concern each other.
    ClassKey key;
    bool may_be_stopped = true;
    int64_t price = 1;                 // Of stopping one.
    std::vector<size_t> budgets = {};  // That select them; ascending.
    // Budgets allow none of them to be stopped, but may be broken.
    bool is_protected = false;
    std::optional<JobId> gang = {};  // Of all of them.
    // They keep others out of domains of several machines, or count there.
    bool keeps_from_domains = false;
    // They keep out the task that takes part alone
    // (round/together/lone_newcomer.h).
    bool is_in_the_way = false;
    // The round itself placed them, and no client knows: they are taken back
    // rather than stopped, at their waiting cost.
    bool is_untold = false;
    // The cost of moving one.  If set, the rules of the key say where it may
    // go.
    std::optional<int64_t> move_cost = {};
  };

  // What is left alone only because of disruption budgets.
  struct Protected {
    int64_t tasks = 0;
    int64_t budgets = 0;  // Those that allow no stop.
  };

  // For which waiting tasks others may be stopped, and where.
  struct Scope {
    uint32_t priority = 0;              // Less urgent tasks may be stopped.
    const PackingPart* part = nullptr;  // Null: all machines.
    Movability* movability = nullptr;   // Null: nothing moves.
    const Gangs* gangs = nullptr;       // Null: gangs are left alone.
    BudgetedMoves budgeted_moves = BudgetedMoves::kAll;
    uint64_t cycle = 0;  // As PackingTurn's.
    // What may be taken back, with its waiting cost.  Null: nothing.
    const absl::btree_map<TaskId, int64_t>* untold = nullptr;
  };

  RunningTasks() = default;
  // Finds the tasks that may be stopped and those that may move.  Tells `peers`
  // of them and of what leaves.
  RunningTasks(const ClusterState& state, const Scope& scope,
               const PreemptionOptions& options, PackingPeers* peers);

  bool empty() const { return classes_.empty(); }
  // A task of an untold class is taken back: it is none of these any more.
  void TakeBack(const Task& task);
  const Protected& left_alone() const { return left_alone_; }
  // The most urgent first.
  const std::vector<Class>& classes() const { return classes_; }
  // The indices of the classes with `is_in_the_way`.
  std::vector<size_t> InTheWay() const;
  // How many tasks the gang of a class needs; fewer are as good as none.
  int64_t MinimumOf(JobId gang) const { return gangs_.at(gang); }
  // The gang that must be stopped with the task, if any.
  std::optional<JobId> GangOf(const Task& task) const {
    if (!task.class_key.gang.has_value()) return std::nullopt;
    const auto it = gangs_.find(*task.class_key.gang);
    if (it == gangs_.end() || it->second == 0) return std::nullopt;
    return it->first;
  }
  // By budget, how many of its tasks may be stopped.
  const std::vector<int64_t>& allowances() const { return allowances_; }
  // The room that the machine would gain if all of them, and all that was told
  // to leave, were gone; null if there is none.
  const Resources* FindRoomOn(MachineId machine) const;
  // The host ports that would be free then.
  std::span<const HostPort> PortsOn(MachineId machine) const;
  // How many of each class there are on the machine, ascending.
  std::vector<std::pair<size_t, int64_t>> CountOn(MachineId machine) const;
  std::optional<size_t> ClassOf(MachineId machine, TaskId task) const;
  // Tasks of the class: the least often disturbed first, then the one that was
  // placed last.
  std::vector<TaskId> TasksOn(MachineId machine, size_t of_class) const;

 private:
  struct Found;
  class Collector;
  // `any`: one of its tasks.
  void AddClass(const Found& found, const Task& any, int64_t unit,
                const PreemptionOptions& options);
  struct OnMachine {
    Resources room;
    std::vector<HostPort> ports;
    std::vector<std::pair<size_t, TaskId>> tasks;  // As TasksOn(), by class.
  };
  std::vector<Class> classes_;
  absl::flat_hash_map<JobId, int64_t> gangs_;  // With their minimum.
  Protected left_alone_;
  std::vector<int64_t> allowances_;
  const OnMachine* Find(MachineId machine) const;

  std::vector<OnMachine> machines_;
  absl::flat_hash_map<MachineId, size_t> index_of_;  // Of these.
};

}  // namespace sluice

#endif  // SLUICE_ROUND_PACKING_RUNNING_TASKS_H_
