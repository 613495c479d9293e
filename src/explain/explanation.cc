#include "explain/explanation.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/percent.h"
#include "base/strings.h"
#include "constraints/class_peers.h"
#include "constraints/constraint_set.h"
#include "constraints/domain_shares.h"
#include "constraints/label_match.h"
#include "constraints/named_machine.h"
#include "constraints/named_task.h"
#include "constraints/shown_text.h"
#include "constraints/toleration.h"
#include "cost/waiting_prices.h"
#include "explain/preemption_text.h"
#include "state/interference.h"

namespace sluice {
namespace {

constexpr size_t kReasonsMax = 10;
constexpr size_t kNearestMax = 3;
constexpr size_t kGangClassesMax = 20;

struct Miss {
  size_t reason_count = 0;
  Cost load_cost = 0;
  MachineId machine;

  friend auto operator<=>(const Miss&, const Miss&) = default;
};

class Explainer {
 public:
  Explainer(const Task& task, const ClusterState& state,
            const PolicySet& policies, const ConstraintSet& constraints)
      : task_class_(task.class_key),
        state_(state),
        policies_(policies),
        constraints_(constraints),
        // Its own reserved room is not in its way.
        peers_(state, constraints, task.class_key,
               state.nominations().Contains(task.id) ? &task : nullptr) {}

  void Ask(const Machine& machine);
  void CountDraining();
  Explanation TakeExplanation();

 private:
  // As ConstraintSet::Explain(), plus the tasks that run nearby.
  size_t FindReasons(const Machine& machine, bool names_tasks,
                     std::vector<Reason>* reasons) const;
  void Sum();
  void NameNearest();
  // Why a task that fits waits for its gang; empty if it does not.
  std::string GangText() const;
  // One of the gang's tasks that no machine has room for.
  const Task* FindMisfit(JobId gang) const;
  std::string Summary() const;

  const ClassKey& task_class_;
  const ClusterState& state_;
  const PolicySet& policies_;
  const ConstraintSet& constraints_;
  const ClassPeers peers_;
  // By code and text.
  std::map<std::pair<std::string, std::string>, int64_t> counts_;
  std::vector<Miss> nearest_;  // Ascending.
  Explanation explanation_;
};

size_t Explainer::FindReasons(const Machine& machine, bool names_tasks,
                              std::vector<Reason>* reasons) const {
  const auto resource_name = [&](ResourceIndex index) -> const std::string& {
    return state_.ResourceName(index);
  };
  const size_t first_count =
      constraints_.Explain(task_class_, machine, resource_name, reasons);
  peers_.Explain(machine, names_tasks, reasons);
  return reasons->empty() ? 0 : std::max<size_t>(first_count, 1);
}

void Explainer::Ask(const Machine& machine) {
  ++explanation_.machines;
  std::vector<Reason> reasons;
  const size_t first_count =
      FindReasons(machine, /*names_tasks=*/false, &reasons);
  if (reasons.empty()) {
    ++explanation_.feasible_machines;
    return;
  }
  for (size_t i = 0; i < first_count; ++i) {
    ++counts_[{reasons[i].code, reasons[i].text}];
  }
  const Miss miss{reasons.size(), policies_.LoadCost(machine, machine.used),
                  machine.id};
  nearest_.insert(std::ranges::upper_bound(nearest_, miss), miss);
  if (nearest_.size() > kNearestMax) nearest_.pop_back();
}

void Explainer::CountDraining() {
  ++explanation_.machines;
  ++counts_[{"draining", "draining"}];
}

void Explainer::Sum() {
  std::vector<Explanation::Count>& reasons = explanation_.reasons;
  for (const auto& [reason, machines] : counts_) {
    reasons.push_back({reason.first, reason.second, machines});
  }
  std::ranges::stable_sort(reasons, std::ranges::greater{},
                           &Explanation::Count::machines);
  if (reasons.size() <= kReasonsMax) return;
  Explanation::Count others{"other", "for other reasons", 0};
  for (size_t i = kReasonsMax; i < reasons.size(); ++i) {
    others.machines += reasons[i].machines;
  }
  reasons.resize(kReasonsMax);
  reasons.push_back(std::move(others));
}

void Explainer::NameNearest() {
  for (const Miss& miss : nearest_) {
    std::vector<Reason> reasons;
    FindReasons(*state_.FindMachine(miss.machine), /*names_tasks=*/true,
                &reasons);
    explanation_.nearest.push_back({miss.machine, LackingText(reasons)});
  }
}

std::string Explainer::GangText() const {
  if (!task_class_.gang.has_value()) return "";
  const Job& job = *state_.FindJob(*task_class_.gang);
  if (job.HasStarted()) return "";
  int64_t quarantined = 0;
  for (const TaskId id : state_.unscheduled()) {
    const Task& task = *state_.FindTask(id);
    if (state_.FindJob(task.job)->GangId() == job.id && !task.MayRun()) {
      ++quarantined;
    }
  }
  const int64_t waiting = job.pending_count - quarantined;
  std::string minimum = StrCat(job.gang.minimum);
  bool is_short = static_cast<uint64_t>(waiting) < job.gang.minimum;
  if (job.gang.minimum == Gang::kAllTasks) {
    minimum = StrCat("all ", job.pending_count);
    is_short = quarantined > 0;
  } else if (job.gang.minimum == Gang::kEveryMachine) {
    minimum = "one on each machine that it may run on";
    is_short = false;  // As far as is known here.
  }
  std::string text = StrCat("it fits, and waits ",
                            is_short ? "for more tasks of its gang: "
                                     : "until its gang fits as a whole: ",
                            minimum, " start together, and ", waiting, " wait");
  if (quarantined > 0) {
    text += StrCat("; ", quarantined,
                   quarantined == 1 ? " of its tasks is" : " of its tasks are",
                   " quarantined");
  }
  if (const Task* misfit = FindMisfit(job.id)) {
    text +=
        StrCat("; no machine has what its task ", NamedTask(*misfit), " needs");
  }
  return text;
}

const Task* Explainer::FindMisfit(JobId gang) const {
  size_t asked = 0;
  for (const auto& [key, tasks] : state_.pending()) {
    if (key.gang != gang || key == task_class_) continue;
    if (++asked > kGangClassesMax) break;
    const bool fits = std::ranges::any_of(
        state_.machines(), [&](const ClusterState::MachineMap::value_type& it) {
          return it.second->IsUsable() && constraints_.Allows(key, *it.second);
        });
    if (!fits) return tasks.begin()->second;
  }
  return nullptr;
}

std::string Explainer::Summary() const {
  if (explanation_.machines == 0) {
    return "0/0 machines: no machine is usable";
  }
  std::string summary = StrCat(explanation_.feasible_machines, "/",
                               explanation_.machines, " machines");
  std::string_view separator = ": ";
  for (const Explanation::Count& count : explanation_.reasons) {
    summary += StrCat(separator, count.machines, " ", count.text);
    separator = ", ";
  }
  if (explanation_.feasible_machines > 0) {
    const std::string gang = GangText();
    summary +=
        StrCat(explanation_.reasons.empty() ? ": " : "; ",
               gang.empty() ? "it fits, and waits for the next round" : gang);
  }
  return summary;
}

Explanation Explainer::TakeExplanation() {
  Sum();
  NameNearest();
  explanation_.summary = Summary();
  return std::move(explanation_);
}

// "room is kept for it on machine 'node-1' until 2 tasks have left: web-1,
// web-2; ", or empty.
std::string NominationText(const Task& task, const ClusterState& state) {
  const auto it = state.nominations().machines().find(task.id);
  if (it == state.nominations().machines().end()) return "";
  const Machine& machine = *state.FindMachine(it->second);
  if (state.nominations().IsReservation(task.id)) {
    return StrCat(NamedMachine(machine),
                  " is reserved for it: what becomes free there is kept until "
                  "it fits; as things are, ");
  }
  std::vector<const Task*> leaving;
  for (const TaskId id : machine.tasks) {
    const Task* one = state.FindTask(id);
    if (one->is_evicted) leaving.push_back(one);
  }
  return StrCat("room is kept for it on ", NamedMachine(machine), " until ",
                leaving.size(),
                leaving.size() == 1 ? " task has" : " tasks have", " left",
                leaving.empty() ? "" : ": ",
                JoinShown(std::span(std::as_const(leaving)), ", ",
                          [](const Task* one) { return ShownText(one->name); }),
                "; as things are, ");
}

// When the first of the waiting tasks that go by the same rules came: rounds
// hold all of them back as long as that one.
int64_t FirstSubmittedMs(const Task& task, const ClusterState& state) {
  int64_t first_ms = task.submitted_ms;
  for (const auto& [key, tasks] : state.pending()) {
    if (key.rules != task.class_key.rules) continue;
    first_ms = std::min(first_ms, tasks.begin()->second->submitted_ms);
  }
  return first_ms;
}

// Says that a task with data does not go far from it yet; empty if it may go
// wherever its rules allow (Eligibility::HoldBack()).
std::string HeldText(const Task& task, const Scheduler& scheduler,
                     int64_t now_ms) {
  const PlacementRules& rules = *task.class_key.rules;
  if (rules.data.empty()) return "";
  const ClusterState& state = scheduler.state();
  const PolicySet& policies = scheduler.policies();
  const std::optional<Cost> detour_max = policies.DetourMax(
      std::max<int64_t>(now_ms - FirstSubmittedMs(task, state), 0));
  if (!detour_max.has_value()) return "";
  const auto is_allowed = [&](const Machine& machine) {
    return std::ranges::all_of(
        scheduler.constraints().entries(), [&](const auto& entry) {
          return entry.aspect == MachineAspect::kLoad ||
                 entry.constraint->Allows(task.class_key, machine);
        });
  };
  std::optional<Cost> least;
  Cost most = 0;
  for (const auto& [id, machine] : state.machines()) {
    if (!machine->IsUsable() || !is_allowed(*machine)) continue;
    const Cost cost = policies.DetourCost(rules, *machine);
    least = std::min(least.value_or(cost), cost);
    most = std::max(most, cost);
  }
  if (!least.has_value() || most - *least <= *detour_max) return "";
  return StrCat(
      "; it waits for a machine near its data: so far a machine may cost "
      "at most ",
      *detour_max, " points more than the nearest");
}

// Says that only the limit of moves keeps the gang from its start; empty if
// something else does, or if the newest round did not find out.
std::string TooManyMovesText(const Task& task, const RoundStats& newest_round) {
  const std::optional<JobId>& gang = task.class_key.gang;
  if (!gang.has_value()) return "";
  const auto it = newest_round.too_many_moves.find(*gang);
  if (it == newest_round.too_many_moves.end()) return "";
  return StrCat("; its gang could start if ", it->second,
                " running tasks moved, but fewer may in this hour "
                "(--moves_per_hour)");
}

}  // namespace

Explanation Explain(const Task& task, const Scheduler& scheduler,
                    int64_t now_ms) {
  const ClusterState& state = scheduler.state();
  const PolicySet& policies = scheduler.policies();
  Explainer explainer(task, state, policies, scheduler.constraints());
  for (const auto& [id, machine] : state.machines()) {
    if (machine->IsUsable()) {
      explainer.Ask(*machine);
    } else if (machine->IsDraining() && machine->IsSound() &&
               !machine->is_stale) {
      explainer.CountDraining();
    }
  }
  Explanation explanation = explainer.TakeExplanation();
  const std::string again = RunsAgainText(task, state, now_ms);
  explanation.summary =
      again + (again.empty() ? "" : "; ") + NominationText(task, state) +
      explanation.summary + HeldText(task, scheduler, now_ms) +
      MinimumsText(state, task.class_key) + KindText(*task.class_key.rules);
  if (explanation.feasible_machines == 0) {
    explanation.summary += MayStopText(task, scheduler);
  }
  explanation.summary += TooManyMovesText(task, scheduler.round_stats());
  explanation.waiting_cost =
      WaitingPrices(policies, state.histories(), now_ms).Of(task);
  return explanation;
}

std::string RunsAgainText(const Task& task, const ClusterState& state,
                          int64_t now_ms) {
  switch (task.runs_again) {
    case RunsAgain::kNo:
      return "";
    case RunsAgain::kMachineFailed: {
      const Machine* machine = state.FindMachine(task.lost_on);
      return machine == nullptr
                 ? "its machine failed"
                 : StrCat("its machine ", ShownName(*machine), " failed");
    }
    case RunsAgain::kEvicted:
      return "it was told to leave its machine";
    case RunsAgain::kFailed:
      break;
  }
  const int32_t most = state.FindJob(task.job)->on_failure.failures_max;
  std::string text =
      StrCat("failed ", task.failures, task.failures == 1 ? " time" : " times",
             " of at most ", most);
  if (task.retry_ms > 0) {
    const int64_t wait_ms = std::max<int64_t>(task.retry_ms - now_ms, 0);
    text += StrCat("; waits ", (wait_ms + 999) / 1000, " s more");
  }
  return text;
}

std::string KindText(const PlacementRules& rules) {
  if (!rules.kind.has_value()) return "";
  return StrCat("; to its neighbors it is a ", TaskKindName(*rules.kind));
}

std::string PlacementText(const Task& task, const Machine& machine,
                          const PolicySet& policies,
                          const RoundStats& newest_round) {
  const PlacementRules& rules = *task.class_key.rules;
  int64_t unmet = 0;
  for (const PreferredTerm& one : rules.preferred) {
    if (!Matches(one.term, machine)) unmet += one.weight;
  }
  const auto taints =
      std::ranges::count_if(machine.taints, [&](const MachineTaint& one) {
        return one.taint.effect == TaintEffect::kPreferNoSchedule &&
               !IsTolerated(one.taint, rules.tolerations);
      });
  if (rules.preferred.empty() && taints == 0) return "";
  const auto uncounted = [&](std::string_view model) -> std::string {
    return policies.Has(model) ? ""
                               : StrCat(", which counts for nothing without ",
                                        model, " in --cost_model");
  };
  bool is_any_counted = false;
  std::string text;
  if (!rules.preferred.empty()) {
    text = unmet == 0 ? ", as it prefers"
                      : StrCat(", ", unmet, " weight short of what it prefers",
                               uncounted("node_affinity"));
    is_any_counted = policies.Has("node_affinity");
  }
  if (taints > 0) {
    text += StrCat(", in spite of ", taints, " PreferNoSchedule taint",
                   taints > 1 ? "s" : "", uncounted("taint"));
    is_any_counted = is_any_counted || policies.Has("taint");
  }
  return is_any_counted ? text + "; " + GapText(newest_round) : text;
}

std::string GapText(const RoundStats& round) {
  if (!round.is_bound_known) {
    return "how far the newest round is from the optimum is unknown";
  }
  if (round.cost <= round.bound) return "the newest round is as good as can be";
  return StrCat(AtMostPercent(*round.Gap()),
                " of what the newest round costs could be saved");
}

std::string WaitingGapText(const RoundStats& newest_round, uint32_t priority) {
  if (!newest_round.is_bound_known) return "; " + GapText(newest_round);
  const std::optional<size_t> level = newest_round.LevelOf(priority);
  if (!level.has_value()) return "";
  const double gap = *newest_round.WaitingGap(*level, *level + 1);
  if (gap == 0) return "";
  return StrCat("; a better round could save ", AtMostPercent(gap),
                " of what waiting costs on its level");
}

}  // namespace sluice
