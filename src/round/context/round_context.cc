#include "round/context/round_context.h"

#include <algorithm>
#include <iterator>
#include <ranges>

namespace sluice {
namespace {

absl::flat_hash_set<TaskId> NominatedTasks(const ClusterState& state) {
  const auto tasks = std::views::keys(state.nominations().machines());
  return {tasks.begin(), tasks.end()};
}

absl::flat_hash_set<TaskId> FinalTasks(const ClusterState& state) {
  const Nominations& nominations = state.nominations();
  auto finals = std::views::keys(nominations.machines()) |
                std::views::filter([&nominations](TaskId id) {
                  return nominations.IsFinal(id);
                });
  return {finals.begin(), finals.end()};
}

}  // namespace

RoundContext::RoundContext(const Subject& subject, const RoundOptions& limits,
                           int64_t as_of_ms)
    : state(subject.state),
      policies(subject.policies),
      constraints(subject.constraints),
      options(limits),
      now_ms(as_of_ms),
      prices(subject.policies, subject.state.histories(), as_of_ms),
      sequence_end(subject.state.counters().next_task_sequence),
      delta_begin(subject.state.counters().next_delta_sequence),
      gangs(&subject.state, &eligibility_, sequence_end, as_of_ms),
      nominated_before(NominatedTasks(subject.state)),
      final_before(FinalTasks(subject.state)),
      move_budget(subject.move_budget),
      rebalance_timer(subject.rebalance_timer),
      search_pace(subject.search_pace),
      network_log(subject.network_log),
      untold_victims(subject.untold_victims),
      must_rebalance(limits.preemption.mode == Preemption::kFull &&
                     limits.improve_budget > 0 && rebalance_timer != nullptr &&
                     rebalance_timer->IsDue(as_of_ms, subject.state.version())),
      has_news(rebalance_timer == nullptr ||
               rebalance_timer->HasNews(as_of_ms, subject.state.version())),
      budget({.arcs_max = limits.arcs_max,
              .improvements = limits.improve_budget,
              .nearby = search_pace == nullptr ? limits.improve_budget
                                               : search_pace->WorkFor(state)}),
      eligibility_(&subject.state, &subject.eligibility),
      own_grouping_(subject.policies.AggregateLabel()),
      grouping_(subject.grouping == nullptr ? own_grouping_
                                            : *subject.grouping) {}

void RoundContext::RefreshGroups() {
  if (groups_version_ == state.version()) return;
  grouping_.Refresh(state, eligibility());
  if (policies.TellsMachinesApart()) {
    lone_groups_ = PartGroups(grouping_.groups());
    grouping_.RefreshAggregates(state);
    lone_group_at_ = grouping_.aggregates().GroupsByPlace(lone_groups_);
  }
  groups_version_ = state.version();
  budget.Note(std::ssize(state.machines()));
}

const std::vector<MachineGroup>& RoundContext::FreshGroups() {
  RefreshGroups();
  return policies.TellsMachinesApart() ? lone_groups_ : grouping_.groups();
}

std::span<const uint32_t> RoundContext::FreshGroupsByPlace() {
  RefreshGroups();
  return policies.TellsMachinesApart() ? lone_group_at_ : grouping_.group_at();
}

std::span<const Aggregates::Parts> RoundContext::FreshParts() {
  RefreshGroups();
  if (policies.TellsMachinesApart()) return {};
  grouping_.RefreshAggregates(state);
  return grouping_.parts();
}

const Aggregates& RoundContext::FreshAggregates() {
  RefreshGroups();
  grouping_.RefreshAggregates(state);
  return grouping_.aggregates();
}

const std::vector<Placement>& RoundContext::FreshPlacements() {
  if (placements_version_ != state.version()) {
    placements_ = has_changed
                      ? UndoablePlacements(state, std::nullopt, delta_begin)
                      : UntouchedPlacements(state, delta_begin);
    placements_version_ = state.version();
  }
  return placements_;
}

Followers& RoundContext::followers() {
  if (!followers_.has_value()) {
    followers_.emplace(state, constraints, sequence_end, prices);
  }
  return *followers_;
}

int64_t RoundContext::CountWaiting(const ClassKey& key) const {
  const auto it = state.pending().find(key);
  if (it == state.pending().end()) return 0;
  return std::distance(it->second.begin(),
                       it->second.lower_bound(sequence_end));
}

std::vector<const Task*> RoundContext::WaitingTasks(const ClassKey& key,
                                                    size_t count_max) const {
  std::vector<const Task*> waiting;
  const auto it = state.pending().find(key);
  if (it == state.pending().end() || count_max == 0) return waiting;
  // The oldest first, which is the whole order if kinds of work do not count.
  for (const auto& [sequence, task] : it->second) {
    const bool is_enough = waiting.size() == count_max && !prices.HeedKinds();
    if (sequence >= sequence_end || is_enough) break;
    waiting.push_back(task);
  }
  if (prices.HeedKinds()) {
    prices.Sort(&waiting);
    waiting.resize(std::min(waiting.size(), count_max));
  }
  return waiting;
}

MoveBudget::Left RoundContext::MovesLeft() const {
  if (move_budget == nullptr) return {};
  int64_t running = 0;
  for (const auto& [id, job] : state.jobs()) {
    if (!job->is_group) running += job->running_count;
  }
  return move_budget->LeftFor(now_ms, running);
}

void RoundContext::NoteMoved(int64_t moves) {
  stats->moved += moves;
  if (move_budget != nullptr) move_budget->Note(now_ms, moves);
}

void RoundContext::TakeOver(StageResult result) {
  if (result.has_new_gangs) agenda.NoteNewGangs();
  has_looked_at_all = result.has_looked_at_all.value_or(has_looked_at_all);
  if (result.voids_appraisal) appraisal.reset();
  if (result.appraisal.has_value()) appraisal = std::move(result.appraisal);
  std::ranges::move(result.left_out, std::back_inserter(left_out));
  minimum_askers.Add(result.minimum_askers);
  together_max = result.together_max.value_or(together_max);
  if (result.plan.has_value()) plan = std::move(result.plan);
}

void RoundContext::Withdraw(std::span<const TaskId> tasks) {
  budget.Note(kWorkPerPlacement * std::ssize(tasks));
  for (const TaskId id : tasks) {
    const Task* task = state.FindTask(id);
    if (task == nullptr || task->state != TaskState::kRunning ||
        !state.IsUntold(id)) {
      continue;
    }
    state.Withdraw(id);
    --stats->placed;
    ++stats->withdrawn;
  }
}

Transaction::Outcome RoundContext::Keep(Transaction* transaction) {
  Transaction::Outcome outcome = transaction->Keep();
  stats->placed += std::ssize(outcome.placed) - outcome.given_up;
  stats->withdrawn += outcome.given_up;
  return outcome;
}

bool IsAnyWaiting(const RoundContext& context, const Tier& tier) {
  bool is_waiting = false;
  tier.VisitWaiting(context.state, [&](const ClassKey& key, const auto& tasks) {
    is_waiting = tasks.begin()->first < context.sequence_end &&
                 !context.gangs.IsClosed(key);
    return !is_waiting;
  });
  return is_waiting;
}

bool IsAnyHealing(const RoundContext& context, const Tier& tier) {
  bool is_healing = false;
  tier.VisitWaiting(context.state, [&](const ClassKey& key, const auto&) {
    is_healing = context.gangs.IsHealing(key);
    return !is_healing;
  });
  return is_healing;
}

}  // namespace sluice
