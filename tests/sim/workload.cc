#include "sim/workload.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/strings.h"

namespace sluice::sim {
namespace {

constexpr uint64_t kJobs = 3;
constexpr int64_t kQuarter = 25;  // Per cent.
constexpr int64_t kBackoffMs = 40;
constexpr int64_t kShortGraceUs = 50000;
constexpr int64_t kLongGraceUs = 1500000;

// Of some nobody says it.
LabelPairs KindOf(std::string_view job) {
  if (job.ends_with('1')) return {};
  return {{"taskType", job.ends_with('0') ? "devil" : "turtle"}};
}

}  // namespace

std::optional<DisruptionBudget> BudgetOf(const Workload& workload,
                                         std::string_view job) {
  if (!workload.budget.has_value() || job.ends_with('2')) return std::nullopt;
  DisruptionBudget budget;
  budget.limit = job.ends_with('0') ? DisruptionBudget::Limit::kMaxUnavailable
                                    : DisruptionBudget::Limit::kMinAvailable;
  budget.amount = *workload.budget * (workload.has_quarters ? kQuarter : 1);
  budget.is_percent = workload.has_quarters;
  return budget;
}

OnFailure OnFailureOf(const Workload& workload, std::string_view job) {
  if (!workload.failures_max.has_value() || job.ends_with('2')) return {};
  if (job.ends_with('1')) return {.action = OnFailure::Action::kNever};
  return {.action = OnFailure::Action::kRequeue,
          .failures_max = *workload.failures_max,
          .backoff_ms = kBackoffMs * *workload.failures_max};
}

bool RunsAgainElsewhere(const Workload& workload,
                        const RealCluster::Task& task) {
  const OnFailure::Action action = task.on_failure.action;
  return action == OnFailure::Action::kRequeue ||
         (action == OnFailure::Action::kUnset && workload.requeues.evicted);
}

Fate FateWithMachine(const Workload& workload, const RealCluster::Task& task,
                     bool is_told_to_leave) {
  const OnFailure::Action action = task.on_failure.action;
  if (action != OnFailure::Action::kRequeue &&
      !workload.requeues.from_failed_machines) {
    return Fate::kStays;
  }
  const bool ends = action == OnFailure::Action::kNever ||
                    (is_told_to_leave && !RunsAgainElsewhere(workload, task));
  return ends ? Fate::kEnds : Fate::kWaits;
}

RealCluster::Task DrawTask(const Workload& workload, Rng* rng) {
  RealCluster::Task task{.cpu = rng->Between(100, 900),
                         .needs_gpu = rng->Chance(1, 4),
                         .job = StrCat("job", rng->Below(kJobs))};
  if (workload.priorities > 1) {
    // Most are of the lowest.
    const int64_t highest = workload.priorities - 1;
    task.priority = static_cast<uint32_t>(
        std::min(rng->Between(0, highest), rng->Between(0, highest)));
    task.never_preempts = rng->Chance(1, 6);
    if (rng->Chance(1, 4)) {
      task.preemption_cost = static_cast<int32_t>(rng->Between(0, 300));
    }
  }
  task.budget = BudgetOf(workload, task.job);
  task.on_failure = OnFailureOf(workload, task.job);
  task.is_owned = workload.has_owners && rng->Chance(3, 4);
  return task;
}

RealCluster::Task DrawSuccessor(RealCluster::Task former, Rng* rng) {
  if (rng->Chance(1, 8)) former.cpu = rng->Between(100, 900);
  return former;
}

TaskOptions OptionsOf(const RealCluster::Task& task) {
  TaskOptions options{.cpu = task.cpu,
                      .priority = task.priority,
                      .job = task.job,
                      .preemption_cost = task.preemption_cost,
                      .budget = task.budget};
  if (task.needs_gpu) options.rules.selectors = {LabelIn("gpu", {"yes"})};
  options.rules.never_preempts = task.never_preempts;
  // A job is one kind of work, and its tasks mind those of others.
  options.binary = StrCat("/bin/", task.job);
  options.labels = KindOf(task.job);
  if (task.is_owned) options.owner = {"ReplicaSet", task.job};
  return options;
}

std::optional<int64_t> DrawGraceUs(bool is_calm, Rng* rng) {
  switch (rng->Below(8)) {
    case 0:
      if (!is_calm) return std::nullopt;
      [[fallthrough]];
    case 1:
      return rng->Between(1, kLongGraceUs);
    case 2:
    case 3:
      return 1;
    default:
      return rng->Between(1, kShortGraceUs);
  }
}

}  // namespace sluice::sim
