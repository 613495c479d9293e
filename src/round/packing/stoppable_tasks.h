// Which running tasks may be stopped for one of a given priority, by themselves
// or with their gangs, and what that costs.
//
// The rules are those of a packing (round/packing/running_tasks.h): the machine
// may lose tasks, the client can be told, no budget forbids the stop, and a
// gang goes on with its minimum or not at all.
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_ROUND_PACKING_STOPPABLE_TASKS_H_
#define SLUICE_ROUND_PACKING_STOPPABLE_TASKS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "round/context/round_stats.h"
#include "round/together/disruptions.h"
#include "round/together/gang_victims.h"
#include "round/together/gangs.h"
#include "sluice/base/ids.h"
#include "sluice/state/task.h"
#include "state/cluster_state.h"

namespace sluice {

// The cost of some stops, as a packing compares it: first the number of stops
// that no budget allows, then the cost of stops in descending priority.
struct StopPrice {
  int64_t beyond_budgets = 0;
  // By priority, the most urgent first.  Never contains 0.
  std::map<uint32_t, int64_t, std::greater<>> sums = {};

  void Add(uint32_t priority, int64_t cost, int64_t sign = 1) {
    int64_t& sum = sums[priority];
    sum += sign * cost;
    if (sum == 0) sums.erase(priority);
  }
  bool IsFree() const { return beyond_budgets == 0 && sums.empty(); }
  friend bool operator<(const StopPrice& a, const StopPrice& b) {
    if (a.beyond_budgets != b.beyond_budgets) {
      return a.beyond_budgets < b.beyond_budgets;
    }
    return a.sums < b.sums;
  }
};

class StoppableTasks {
 public:
  // What is passed must outlive this.  Only tasks less urgent than `priority`
  // may be stopped.
  StoppableTasks(const ClusterState& state, const Gangs& gangs,
                 const PreemptionOptions& options, uint32_t priority);

  // True if the task may be stopped, alone or with its gang.
  bool MayLeave(const Task& task);
  // True after Stop().
  bool IsStopped(const Task& task) const { return stopped_.contains(task.id); }
  // The gang that limits stops of the task; null if there is none.  REQUIRES:
  // MayLeave().
  const GangVictim* GangOf(const Task& task) const;
  int64_t CostOf(const Task& task) const;
  // These tasks and the rest of the gangs that cannot go on without them.
  // REQUIRES: MayLeave() of each.
  std::vector<const Task*> WithGangs(std::vector<const Task*> tasks) const;
  // How many of the tasks no budget allows to be stopped, in addition to those
  // stopped before.
  int64_t CountBeyondBudgets(std::span<const Task* const> tasks);
  // Marks them as stopped: budgets and gangs have that much less.
  void Stop(std::span<const Task* const> tasks);
  bool may_break_budgets() const { return options_.breaks_budgets; }

 private:
  bool MayLeaveByItself(const Task& task);
  // MayLoseTasks(), remembered for the machine asked about last.
  bool MayLose(MachineId machine);

  const ClusterState& state_;
  const PreemptionOptions& options_;
  const uint32_t priority_;
  Disruptions disruptions_;
  std::vector<int64_t> allowances_;  // By budget.
  std::optional<MachineId> asked_about_;
  bool may_lose_ = false;  // The machine last asked about.
  GangVictims gangs_;      // Of all running tasks.
  absl::flat_hash_set<TaskId> stopped_;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_PACKING_STOPPABLE_TASKS_H_
