#include "round/packing/running_classes.h"

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "round/context/round_stats.h"

namespace sluice {

void AddRunningGangs(const RunningTasks& running, size_t first,
                     PackingProblem* problem) {
  std::map<JobId, std::vector<size_t>> of_gang;
  for (size_t i = 0; i < running.classes().size(); ++i) {
    const std::optional<JobId>& gang = running.classes()[i].gang;
    if (gang.has_value()) of_gang[*gang].push_back(first + i);
  }
  for (auto& [gang, classes] : of_gang) {
    problem->gangs.push_back({std::move(classes), running.MinimumOf(gang)});
  }
}

bool AddRunningBudgets(const RunningTasks& running, size_t first, int64_t cost,
                       PackingProblem* problem) {
  // The last one is for classes whose budgets allow no stop.
  std::vector<int64_t> allowances = running.allowances();
  const size_t none = allowances.size();
  allowances.push_back(0);
  const auto budgets_of = [&](const RunningTasks::Class& one) {
    std::vector<size_t> budgets;
    if (one.may_be_stopped) budgets = one.budgets;
    if (one.may_be_stopped && one.is_protected) budgets.push_back(none);
    return budgets;
  };
  std::vector<int64_t> counts(allowances.size(), 0);
  for (size_t i = 0; i < running.classes().size(); ++i) {
    for (const size_t b : budgets_of(running.classes()[i])) {
      counts[b] += problem->classes[first + i].count();
    }
  }
  std::vector<std::optional<size_t>> index_of(counts.size());
  for (size_t b = 0; b < counts.size(); ++b) {
    if (counts[b] <= allowances[b]) continue;
    index_of[b] = problem->budgets.size();
    problem->budgets.push_back({allowances[b], cost});
  }
  for (size_t i = 0; i < running.classes().size(); ++i) {
    for (const size_t b : budgets_of(running.classes()[i])) {
      if (!index_of[b].has_value()) continue;
      problem->classes[first + i].budgets.push_back(*index_of[b]);
    }
  }
  return !problem->budgets.empty();
}

void CountRunningInSpreads(PackingProblem* problem) {
  std::vector<int64_t> running(problem->caps.size(), 0);
  for (const PackingGroup& group : problem->groups) {
    if (group.kind >= problem->staying.size()) continue;
    for (const size_t cap : group.caps) {
      for (const auto& [c, count] : problem->staying[group.kind]) {
        if (!problem->caps[cap].Counts(c)) continue;
        running[cap] += group.machines * count;
      }
    }
  }
  for (PackingSpread& spread : problem->spreads) {
    for (size_t i = 0; i < spread.caps.size(); ++i) {
      problem->caps[spread.caps[i]].most += running[spread.caps[i]];
      spread.ahead[i] -= running[spread.caps[i]];
    }
  }
}

int64_t CostOfRunning(const PackingProblem& problem) {
  int64_t cost = 0;
  for (size_t c = 0; c < problem.classes.size(); ++c) {
    if (!problem.classes[c].MayMove()) continue;
    for (const PackingGroup& group : problem.groups) {
      cost += group.machines * problem.RunningOn(c, group.kind) *
              problem.costs[group.kind][c];
    }
  }
  return cost;
}

double GapOfStops(const RoundPacking& packing,
                  const PackingSolution& solution) {
  std::set<size_t> levels;
  for (size_t i = 0; i < packing.running_classes.size(); ++i) {
    const size_t of_class = packing.running_classes[i];
    if (!packing.running.classes()[of_class].may_be_stopped) continue;
    const PackingClass& one =
        packing.problem.classes[packing.classes.size() + i];
    for (const WaitingStep& step : one.waiting) levels.insert(step.level);
  }
  int64_t price = 0;
  int64_t least = 0;
  for (const size_t level : levels) {
    price += solution.cost.waiting[level];
    least += solution.bound.waiting[level];
  }
  return PartNotNeeded(price, least);
}

}  // namespace sluice
