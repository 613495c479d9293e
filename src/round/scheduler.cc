#include "round/scheduler.h"

#include <glog/logging.h>

#include <utility>

#include "network/eligibility.h"
#include "round/leaving/broken_rules.h"
#include "round/leaving/template_tasks.h"
#include "round/plans/rebalance_plan.h"
#include "round/round.h"
#include "state/destination.h"
#include "state/requeues.h"

namespace sluice {
Scheduler::Scheduler(ClusterState* state, const PolicySet& policies,
                     const ConstraintSet& constraints, RoundOptions options)
    : state_(*state),
      policies_(policies),
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

}  // namespace sluice
