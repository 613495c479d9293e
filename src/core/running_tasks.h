// The tasks that run and may be stopped for ones that are more urgent, or
// moved, as a packing tells them apart, and the room that they and what leaves
// hold.
//
// Left alone are what no client knows of yet, unless it may be taken back, what
// cannot be stopped
// (ClusterState::CanPreempt), and what a disruption budget protects.  Gangs are
// stopped as a whole, or down to their minimum (core/gang_victims.h).
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_CORE_RUNNING_TASKS_H_
#define SLUICE_CORE_RUNNING_TASKS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "core/disruptions.h"
#include "core/gangs.h"
#include "core/movability.h"
#include "core/packing_part.h"
#include "core/packing_peers.h"
#include "core/round_stats.h"
#include "sluice/base/ids.h"
#include "sluice/state/resources.h"
#include "sluice/state/task.h"
#include "state/cluster_state.h"

namespace sluice {

// Whether a packing can say what the machine has room for without some of its
// tasks.  It cannot where not even what runs there fits, since it came back
// smaller or uses more than was asked for; nor where requests exceed what it
// offers, as measured use lets them: what is reclaimed goes with the tasks.
bool MayLoseTasks(const Machine& machine);

// Whether the task, which runs, may be stopped for one of `priority`; with its
// gang if it is of one.
bool MayBeStopped(const Task& task, uint32_t priority,
                  const ClusterState& state);
// The same, without any other.
bool MayBeStoppedAlone(const Task& task, uint32_t priority,
                       const ClusterState& state);

// Each time that a task was disturbed before makes the next one cost as much
// again; up to so many, which is enough for others to have their turn and keeps
// classes few.
inline constexpr int32_t kDisturbancesMax = 3;

// What stopping the task costs.
inline int64_t StopCost(const Task& task, const PreemptionOptions& options) {
  return options.cost * (1 + std::min(task.disturbances, kDisturbancesMax)) +
         task.preemption_cost;
}
// What moving one costs whose stop costs so much.
inline int64_t MoveCost(int64_t stop_cost, const PreemptionOptions& options) {
  return options.moves.cost * stop_cost / options.cost;
}

// Whether tasks of the two may not share a machine: one of them keeps away from
// the other, or they listen on the same port.
bool AreApart(const ClassKey& a, const ClassKey& b, const PeerTable& peers);

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
    bool may_be_stopped = true;
    int64_t price = 1;                 // Of stopping one.
    std::vector<size_t> budgets = {};  // That mean them.  Ascending.
    // Budgets let none of them be stopped, and may be broken.
    bool is_protected = false;
    std::optional<JobId> gang = {};  // That all of them are of.
    // They keep others from domains of several machines, or count there.
    bool keeps_from_domains = false;
    // They keep the task away that takes part alone (core/lone_newcomer.h).
    bool is_in_the_way = false;
    // The round itself placed them, and no client knows: rather than stopped
    // they are taken back, at what it costs that they wait.
    bool is_untold = false;
    // Of moving one.  Then the rules of the key say where it may go.
    std::optional<int64_t> move_cost = {};
  };

  // What is left alone because of disruption budgets alone.
  struct Protected {
    int64_t tasks = 0;
    int64_t budgets = 0;  // That mean any of them and allow nothing.
  };

  // For whom, and where.
  struct Scope {
    uint32_t priority = 0;              // What is less urgent may be stopped.
    const PackingPart* part = nullptr;  // Null: all machines.
    Movability* movability = nullptr;   // Null: nothing moves.
    const Gangs* gangs = nullptr;       // Null: gangs are left alone.
    BudgetedMoves budgeted_moves = BudgetedMoves::kAll;
    uint64_t cycle = 0;  // As PackingTurn's.
    // What may be taken back, with what it costs that it waits.  Null: nothing.
    const absl::btree_map<TaskId, int64_t>* untold = nullptr;
  };

  RunningTasks() = default;
  // Those that may be stopped, and those that may move.  Tells `peers` of them
  // and of what leaves.
  RunningTasks(const ClusterState& state, const Scope& scope,
               const PreemptionOptions& options, PackingPeers* peers);

  bool empty() const { return classes_.empty(); }
  // One of an untold class is none of these any more.
  void TakeBack(const Task& task);
  const Protected& left_alone() const { return left_alone_; }
  // The most urgent first.
  const std::vector<Class>& classes() const { return classes_; }
  // The indices of those that are.
  std::vector<size_t> InTheWay() const;
  // How many tasks the gang of a class needs; fewer are as good as none.
  int64_t MinimumOf(JobId gang) const { return gangs_.at(gang); }
  // The gang without which the task cannot be stopped, if it is of one.
  std::optional<JobId> GangOf(const Task& task) const {
    if (!task.class_key.gang.has_value()) return std::nullopt;
    const auto it = gangs_.find(*task.class_key.gang);
    if (it == gangs_.end() || it->second == 0) return std::nullopt;
    return it->first;
  }
  // By budget, how many of its tasks may be stopped.
  const std::vector<int64_t>& allowances() const { return allowances_; }
  // What the machine would have more of if all of them were gone, and all that
  // was told to leave; null where that is nothing.
  const Resources* FindRoomOn(MachineId machine) const;
  // The host ports that would be free then.
  std::span<const HostPort> PortsOn(MachineId machine) const;
  // How many of each class there are on the machine, ascending.
  std::vector<std::pair<size_t, int64_t>> CountOn(MachineId machine) const;
  std::optional<size_t> ClassOf(MachineId machine, TaskId task) const;
  // Of the class: the one first that was disturbed the least often, and of
  // these the one that was placed last.
  std::vector<TaskId> TasksOn(MachineId machine, size_t of_class) const;

 private:
  struct Found;
  class Collector;
  // `any`: of its tasks.
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

#endif  // SLUICE_CORE_RUNNING_TASKS_H_
