#include "core/scheduler.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "core/broken_rules.h"
#include "core/draining.h"
#include "core/explanation.h"
#include "core/preemption_text.h"
#include "core/rebalance_plan.h"
#include "core/replacement_text.h"
#include "core/round.h"
#include "core/template_tasks.h"
#include "network/eligibility.h"
#include "state/destination.h"
#include "state/requeues.h"

namespace sluice {
namespace {

// Bytes on the wire: a delta has two tags and lengths, a task uid of at most
// ten bytes, a type and the text of the resource id.
constexpr size_t kDeltaBytes = 20;
constexpr size_t kUnscheduledBytes = 10;

// True if a client that began anew knows what a delta is about.
bool IsKnown(const Task& task, const Machine& machine) {
  return !task.is_stale && !machine.is_stale;
}

}  // namespace

Scheduler::Scheduler(const PolicySet& policies,
                     const ConstraintSet& constraints, RoundOptions options)
    : policies_(policies),
      constraints_(constraints),
      options_(options),
      eviction_(&state_),
      reservations_(constraints, options, &state_),
      move_budget_(options.preemption.moves),
      network_log_(options.network_arcs_max),
      eligibility_(std::make_unique<Eligibility>(constraints, policies)),
      grouping_(policies.AggregateLabel()) {
  Requeues(/*now_ms=*/0, &state_).SetOptions(options.requeues);
}

Scheduler::~Scheduler() = default;

Ack Scheduler::Apply(const Command& command, int64_t now_ms) {
  return state_.Apply(command, now_ms);
}

bool Scheduler::ConcernsUnreadReply(const Command& command) const {
  if (const auto* remove = std::get_if<RemoveTask>(&command)) {
    return unread_.tasks.contains(remove->task) ||
           unread_before_.tasks.contains(remove->task);
  }
  if (const auto* remove = std::get_if<RemoveMachine>(&command)) {
    const Machine* machine = state_.FindMachine(remove->uuid);
    return machine != nullptr &&
           (unread_.machines.contains(machine->id) ||
            unread_before_.machines.contains(machine->id));
  }
  return false;
}

bool Scheduler::IsContested(TaskId uid) const {
  const Task* task = state_.FindTask(uid);
  return task != nullptr && !task->earlier_holders.empty() && !task->is_muted &&
         (task->state == TaskState::kPending || state_.IsUntold(uid));
}

absl::flat_hash_set<JobId> Scheduler::FindUntoldJobs() const {
  absl::flat_hash_set<JobId> jobs;
  for (const auto& [id, job] : state_.jobs()) {
    if (job->pending_count > 0 && !job->is_group) jobs.insert(id);
  }
  for (const uint64_t sequence : state_.SequencesOf(FeedId())) {
    const Delta& delta = state_.outbox().at(sequence);
    const Task& task = *state_.FindTask(delta.task);
    if (IsKnown(task, *DestinationOf(delta, state_).machine))
      jobs.insert(task.job);
  }
  return jobs;
}

void Scheduler::StartRound(int64_t now_ms) {
  CHECK(!is_in_round());
  const RoundStats last = std::exchange(round_stats_, RoundStats());
  round_stats_.number = last.number + 1;
  Requeues(now_ms, &state_).EndBackoffs();
  if (options_.evicts_on_no_execute) {
    round_stats_.evicted = eviction_.Run(now_ms);
  }
  round_stats_.evicted += EvictWhereRulesBroke(constraints_, &state_);
  round_stats_.placed += KeepTemplates(constraints_, now_ms, &state_);
  state_.DropStaleSamples(now_ms);
  reservations_.Review(now_ms);
  round_ms_ = now_ms;
  eligibility_->StartRound(&state_);
  eligibility_->HoldBack(&state_, now_ms);
  state_.SyncPeers();
  round_ = std::make_unique<Round>(
      RoundContext::Subject{state_, policies_, constraints_, *eligibility_,
                            &move_budget_, &rebalance_timer_, &search_pace_,
                            &grouping_, &network_log_, &untold_victims_},
      options_, now_ms);
  if (round_->has_news()) return;
  round_stats_.too_many_moves = last.too_many_moves;
  round_stats_.left_alone = last.left_alone;
  round_stats_.exhausted_budgets = last.exhausted_budgets;
  round_stats_.held_back = last.held_back;
  round_stats_.stop_gap = last.stop_gap;
}

uint64_t Scheduler::FirstOpenDelta() const {
  return is_in_round() ? round_->delta_begin()
                       : state_.counters().next_delta_sequence;
}

std::optional<RoundWork> Scheduler::NextStep() {
  CHECK(is_in_round());
  std::optional<RoundWork> work;
  if (!round_stats_.is_cut_short) work = round_->NextStep(&round_stats_);
  if (!work.has_value()) {
    round_->End(&round_stats_);
    round_.reset();
    if (!round_stats_.is_cut_short) reservations_.Make(round_ms_);
    search_pace_.Note(state_.version());
    round_stats_.pending = state_.pending_count();
  }
  return work;
}

void Scheduler::FinishStep(const RoundAnswer& answer) {
  CHECK(is_in_round());
  const auto* flow = std::get_if<FlowSolution>(&answer);
  // Minimums that cannot be met make a pass infeasible.
  if (flow != nullptr && flow->outcome != SolveOutcome::kOptimal &&
      flow->outcome != SolveOutcome::kInfeasible) {
    round_stats_.is_cut_short = true;
  } else {
    round_->FinishStep(answer, &round_stats_);
  }
}

RebalancePlan Scheduler::Plan(Preemption mode, int64_t now_ms) {
  CHECK(!is_in_round());
  RoundOptions options = options_;
  options.preemption.mode = mode;
  eligibility_->StartRound(&state_);
  eligibility_->HoldBack(&state_, now_ms);
  return PlanRebalance({state_, policies_, constraints_, *eligibility_,
                        &move_budget_, &rebalance_timer_},
                       options, now_ms);
}

DrainReport Scheduler::ReportDrain(const Machine& machine) const {
  return sluice::ReportDrain(machine, state_, constraints_);
}

Explanation Scheduler::Explain(const Task& task, int64_t now_ms) const {
  Explanation explanation =
      sluice::Explain(task, state_, policies_, constraints_, now_ms);
  if (explanation.feasible_machines == 0) {
    explanation.summary +=
        MayStopText(task, state_, constraints_, options_.preemption);
  }
  const std::optional<JobId>& gang = task.class_key.gang;
  const auto& too_many = round_stats_.too_many_moves;
  if (gang.has_value() && too_many.contains(*gang)) {
    explanation.summary += StrCat(
        "; its gang could start if ", too_many.at(*gang),
        " running tasks moved, but fewer may in this hour (--moves_per_hour)");
  }
  return explanation;
}

std::vector<CostTerms> Scheduler::ExplainCosts(const Task& task) const {
  return FindCostTerms(task, state_, policies_, constraints_);
}

std::string Scheduler::ExplainReplacement(const Task& task) const {
  return ReplacementText(task, state_, constraints_);
}

std::string Scheduler::ExplainLeaving(const Task& task) const {
  return LeavingText(task, state_, constraints_, options_.preemption);
}

ScheduleReply Scheduler::TakeReply(size_t bytes_max) {
  CHECK(!in_flight_.has_value());
  ScheduleReply reply;
  size_t bytes = 0;
  for (const uint64_t sequence : state_.SequencesOf(FeedId())) {
    const Delta& delta = state_.outbox().at(sequence);
    const Task* task = state_.FindTask(delta.task);
    CHECK(task != nullptr);
    const auto [machine, resource_id] = DestinationOf(delta, state_);
    if (!IsKnown(*task, *machine)) continue;
    bytes += kDeltaBytes + resource_id->size();
    if (bytes > bytes_max) break;
    reply.deltas.push_back({sequence, delta.task, delta.type, machine->id,
                            *resource_id, task->made_from});
  }
  unread_before_ = std::exchange(unread_, {});
  for (const ScheduleReply::Entry& entry : reply.deltas) {
    state_.BeginDelivery(entry.sequence);
    unread_.tasks.insert(entry.task);
    unread_.machines.insert(entry.machine);
  }
  const size_t room =
      (bytes_max - std::min(bytes, bytes_max)) / kUnscheduledBytes;
  const auto& waiting = state_.unscheduled();
  if (waiting.size() <= room && state_.feeds().empty() &&
      state_.templates().empty()) {
    reply.unscheduled.assign(waiting.begin(), waiting.end());
  } else {
    auto it = waiting.upper_bound(last_unscheduled_);
    for (size_t i = 0; i < waiting.size() && reply.unscheduled.size() < room;
         ++i, ++it) {
      if (it == waiting.end()) it = waiting.begin();
      // Tasks of feeds are told to their feeds, and no client knows of tasks
      // made here before they are placed.
      const Task& task = *state_.FindTask(*it);
      if (!task.HasOwnId() && !task.made_from.has_value()) {
        reply.unscheduled.push_back(*it);
      }
    }
    if (!reply.unscheduled.empty())
      last_unscheduled_ = reply.unscheduled.back();
    if (waiting.size() <= room) std::ranges::sort(reply.unscheduled);
  }
  unread_.tasks.insert(reply.unscheduled.begin(), reply.unscheduled.end());
  in_flight_ = reply;
  return reply;
}

void Scheduler::EndReply(bool is_delivered) {
  CHECK(in_flight_.has_value());
  for (const ScheduleReply::Entry& entry : in_flight_->deltas) {
    state_.EndDelivery(entry.sequence, is_delivered);
  }
  in_flight_.reset();
  if (!is_delivered) unread_ = {};
}

void Scheduler::NoteRepliesRead() {
  CHECK(!in_flight_.has_value());
  unread_ = {};
  unread_before_ = {};
}

}  // namespace sluice
