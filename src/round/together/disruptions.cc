#include "round/together/disruptions.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "state/task_selector.h"

namespace sluice {
namespace {

constexpr int64_t kPercent = 100;

// Of `expected` tasks, rounded up.
int64_t AmountOf(const DisruptionBudget& budget, int64_t expected) {
  if (!budget.is_percent) return budget.amount;
  return (budget.amount * expected + kPercent - 1) / kPercent;
}

}  // namespace

Disruptions::Disruptions(const ClusterState& state) : state_(state) {
  for (const auto& [id, job] : state.jobs()) {
    if (!job->budget.has_value()) continue;
    if (!job->budget->tasks.has_value()) of_job_[id] = standings_.size();
    Add({.name = job->name.empty() ? job->uuid : job->name,
         .budget = &*job->budget,
         .job = job.get()});
  }
  for (const auto& [id, feed] : state.feeds()) {
    for (const auto& [name, stated] : feed.budgets) {
      Add({.name = name, .budget = &stated.budget, .feed = &feed});
    }
  }
  if (standings_.empty()) return;
  for (const auto& [id, task] : state.tasks()) Count(*task);
  for (Standing& one : standings_) {
    const DisruptionBudget& budget = *one.budget;
    if (budget.expected > 0) one.expected = budget.expected;
    const int64_t amount = AmountOf(budget, one.expected);
    one.needed = budget.limit == DisruptionBudget::Limit::kMinAvailable
                     ? amount
                     : std::max<int64_t>(one.expected - amount, 0);
    one.allowed = one.available - one.needed;
    if (budget.allowed.has_value()) {
      one.allowed = std::min(one.allowed, *budget.allowed - one.uncounted);
    }
    one.allowed = std::max<int64_t>(one.allowed, 0);
  }
}

void Disruptions::Add(Standing standing) {
  if (standing.budget->tasks.has_value()) {
    for (const std::string& one : standing.budget->tasks->namespaces) {
      of_namespace_[one].push_back(standings_.size());
    }
  }
  standings_.push_back(std::move(standing));
}

void Disruptions::Count(const Task& task) {
  if (!task.IsLive()) return;
  const bool runs = task.state == TaskState::kRunning;
  const bool is_there = runs && !state_.IsUntold(task.id) &&
                        state_.FindMachine(task.machine)->is_present;
  for (const size_t b : BudgetsOf(task)) {
    Standing& one = standings_[b];
    ++one.expected;
    if (task.is_evicted) {
      if (!task.client.is_ending) ++one.uncounted;
    } else if (is_there) {
      ++one.available;
    }
  }
}

const std::vector<size_t>& Disruptions::BudgetsOf(const Task& task) {
  static const std::vector<size_t> none;
  if (standings_.empty()) return none;
  const auto job = of_job_.find(task.job);
  const size_t of_job = job == of_job_.end() ? 0 : job->second + 1;
  const TaskIdentity* identity = state_.peers().FindIdentity(task.id);
  const auto [it, is_new] =
      known_.try_emplace(std::pair(identity, of_job), std::vector<size_t>());
  if (!is_new) return it->second;
  std::vector<size_t>& budgets = it->second;
  if (of_job > 0) budgets.push_back(of_job - 1);
  if (identity == nullptr) return budgets;
  const auto there = of_namespace_.find(identity->task_namespace);
  if (there == of_namespace_.end()) return budgets;
  for (const size_t b : there->second) {
    if (Selects(*standings_[b].budget->tasks, *identity)) budgets.push_back(b);
  }
  std::ranges::sort(budgets);
  return budgets;
}

int64_t Disruptions::Allowed(std::span<const size_t> budgets) const {
  int64_t allowed = std::numeric_limits<int64_t>::max();
  int of_feeds = 0;
  for (const size_t b : budgets) {
    allowed = std::min(allowed, standings_[b].allowed);
    if (standings_[b].feed != nullptr) ++of_feeds;
  }
  return of_feeds > 1 ? 0 : allowed;
}

std::vector<int64_t> Disruptions::Allowances() const {
  std::vector<int64_t> allowances;
  for (const Standing& one : standings_) allowances.push_back(one.allowed);
  return allowances;
}

bool Disruptions::Take(std::span<const TaskId> tasks,
                       std::vector<int64_t>* allowances) {
  std::map<size_t, int64_t> taken;
  for (const TaskId id : tasks) {
    for (const size_t b : BudgetsOf(*state_.FindTask(id))) ++taken[b];
  }
  for (const auto& [b, count] : taken) {
    if (count > (*allowances)[b]) return false;
  }
  for (const auto& [b, count] : taken) (*allowances)[b] -= count;
  return true;
}

}  // namespace sluice
