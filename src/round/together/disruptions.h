// How many tasks the disruption budgets allow to be stopped now.
//
// A task is available if it runs on a machine that is there, its client was
// told so, and it is not told to leave.  A budget needs a number of available
// tasks.  Only the surplus may be stopped, and no more than the budget's client
// says.  A task that several budgets select counts for each of them.  It is not
// stopped at all if two of these come from feeds: Kubernetes evicts no such
// pod.
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_ROUND_TOGETHER_DISRUPTIONS_H_
#define SLUICE_ROUND_TOGETHER_DISRUPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "sluice/base/ids.h"
#include "sluice/state/disruption_budget.h"
#include "state/cluster_state.h"

namespace sluice {

// How many of the tasks with disruption budgets may move.  Stops are no part of
// this: a packing itself sees to it that they exceed no budget.
enum class BudgetedMoves {
  kAll,
  kAsAllowed,  // Those on machines with few tasks first.
  kNone,
};

class Disruptions {
 public:
  struct Standing {
    std::string name;  // The client's name for it, or that of its job.
    const DisruptionBudget* budget = nullptr;
    // Who stated it; one of the two is null.
    const Job* job = nullptr;
    const Feed* feed = nullptr;
    int64_t expected = 0;   // How many tasks there should be.
    int64_t available = 0;  // How many are available.
    // Tasks told to leave that its client may not have counted yet.
    int64_t uncounted = 0;
    int64_t needed = 0;   // How many must be available.
    int64_t allowed = 0;  // How many may be stopped.
  };

  // Looks at each task if there is any budget.  `state`, its budgets, jobs and
  // feeds must outlive this.
  explicit Disruptions(const ClusterState& state);

  // The budgets of jobs, then those of feeds, in the order of their ids.
  const std::vector<Standing>& standings() const { return standings_; }
  // Indices of the budgets that select the task, ascending.
  const std::vector<size_t>& BudgetsOf(const Task& task);
  // How many of the tasks that all these budgets select may be stopped.
  int64_t Allowed(std::span<const size_t> budgets) const;
  // By budget, how many of its tasks may be stopped.
  std::vector<int64_t> Allowances() const;
  // Subtracts the tasks from the allowances of their budgets.  Subtracts none
  // and returns false if an allowance is too small.
  bool Take(std::span<const TaskId> tasks, std::vector<int64_t>* allowances);

 private:
  void Add(Standing standing);
  void Count(const Task& task);

  const ClusterState& state_;
  std::vector<Standing> standings_;
  absl::flat_hash_map<JobId, size_t> of_job_;
  // The budgets of feeds, by the namespace of the tasks that they select.
  absl::flat_hash_map<std::string, std::vector<size_t>> of_namespace_;
  // By the task's identity and the budget of its job, as index plus one.
  std::map<std::pair<const TaskIdentity*, size_t>, std::vector<size_t>> known_;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_TOGETHER_DISRUPTIONS_H_
