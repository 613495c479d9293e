// How many tasks disruption budgets let be stopped, as the cluster stands.
//
// A task is available if it runs on a machine that is there, its client was
// told so, and it is not told to leave.  A budget needs so many available
// tasks; what is available beyond that may be stopped, and no more than its
// client says.  A task that several budgets mean counts for each of them, and
// is not stopped at all where two are of feeds: Kubernetes evicts no such pod.
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_CORE_DISRUPTIONS_H_
#define SLUICE_CORE_DISRUPTIONS_H_

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

// How many of the tasks that disruption budgets mean may move: a packing sees
// to it that no budget is exceeded by stops alone.
enum class BudgetedMoves {
  kAll,
  kAsAllowed,  // Those on machines with few tasks first.
  kNone,
};

class Disruptions {
 public:
  struct Standing {
    std::string name;  // The client's own for it, or that of its job.
    const DisruptionBudget* budget = nullptr;
    // Who stated it; one of both is null.
    const Job* job = nullptr;
    const Feed* feed = nullptr;
    int64_t expected = 0;   // How many tasks there are to be.
    int64_t available = 0;  // How many are.
    // How many were told to leave that its client may not have counted yet.
    int64_t uncounted = 0;
    int64_t needed = 0;   // How many have to be.
    int64_t allowed = 0;  // How many may be stopped.
  };

  // A look at each task, if there is any budget.  `state` must outlive this,
  // and so must its budgets, jobs and feeds.
  explicit Disruptions(const ClusterState& state);

  // Those of jobs, then those of feeds, in the order of their ids.
  const std::vector<Standing>& standings() const { return standings_; }
  // Indices of the budgets that mean the task, ascending.
  const std::vector<size_t>& BudgetsOf(const Task& task);
  // How many of the tasks that these budgets mean may be stopped.
  int64_t Allowed(std::span<const size_t> budgets) const;
  // By budget, how many of its tasks may be stopped.
  std::vector<int64_t> Allowances() const;
  // Takes all of them off these, unless one of them is too little.
  bool Take(std::span<const TaskId> tasks, std::vector<int64_t>* allowances);

 private:
  void Add(Standing standing);
  void Count(const Task& task);

  const ClusterState& state_;
  std::vector<Standing> standings_;
  absl::flat_hash_map<JobId, size_t> of_job_;
  // Of the others, by the namespace of the tasks that they mean.
  absl::flat_hash_map<std::string, std::vector<size_t>> of_namespace_;
  // By the task's identity and the budget of its job, as index plus one.
  std::map<std::pair<const TaskIdentity*, size_t>, std::vector<size_t>> known_;
};

}  // namespace sluice

#endif  // SLUICE_CORE_DISRUPTIONS_H_
