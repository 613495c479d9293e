#include "round/round.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "round/context/known_plan.h"
#include "round/stages/displace.h"
#include "round/stages/drain.h"
#include "round/stages/nominated.h"
#include "round/stages/replace.h"
#include "round/stages/spare.h"

namespace sluice {
namespace {

// In the order in which a tier goes through them.
constexpr MakeStage kStages[] = {
    &MakePlaceTogether,
    &MakeCarryOut,
    // Running gangs hold what others wait for.
    &MakeHealGangs,
    &MakeMeetMinimums,
    // Nothing may be placed earlier that is in their way.
    &MakeStartGangs,
    &MakeStartCompanions,
    &MakePlaceAdmitted,
    &MakeFill,
    &MakeTryGangs,
    &MakeTryCompanions,
    &MakeSearch,
};

// True if there are placements that no client is known to have: their tasks
// cannot be stopped yet, and their gangs may still be undone.
bool HasUntold(const ClusterState& state) {
  return std::ranges::any_of(state.outbox(), [](const auto& entry) {
    return entry.second.type == DeltaType::kPlace;
  });
}

// If nothing was to be decided, up to this many priorities are told one by one.
constexpr size_t kToldLevelsMax = 12;

// The levels as the round reports them: priorities below all levels form one
// more if anything of them waits.
std::vector<RoundLevel> ToldLevels(const std::vector<uint32_t>& lowest,
                                   const LevelCosts& waiting) {
  std::vector<RoundLevel> told;
  for (const uint32_t priority : lowest) told.push_back({.lowest = priority});
  if (waiting.size() > told.size()) told.emplace_back();
  for (size_t i = 1; i < told.size(); ++i) {
    told[i].highest = *told[i - 1].lowest - 1;
  }
  return told;
}

// Makes a level of each priority with a waiting task.
LevelCosts SplitByPriority(const RoundContext& context, LevelCosts waiting,
                           std::vector<uint32_t>* lowest) {
  const auto& pending = context.state.pending();
  if (pending.empty()) return waiting;
  if (pending.begin()->first.priority == pending.rbegin()->first.priority) {
    lowest->push_back(pending.begin()->first.priority);
    return waiting;
  }
  LevelCosts costs;
  for (const auto& [key, tasks] : pending) {
    int64_t cost = 0;
    for (const Task* task : context.WaitingTasks(key)) {
      cost += context.WaitingCostOf(*task);
    }
    if (cost == 0) continue;
    size_t level = lowest->size();
    if (level > 0 && lowest->back() == key.priority) {
      --level;
    } else if (level < kToldLevelsMax) {
      lowest->push_back(key.priority);
    }
    costs.Add(level, cost);
  }
  return costs;
}

}  // namespace

Round::Round(const RoundContext::Subject& subject, const RoundOptions& options,
             int64_t now_ms)
    : context_(subject, options, now_ms) {
  if (options.preemption.mode != Preemption::kOff) {
    had_untold_ = HasUntold(context_.state);
  }
}

std::optional<RoundWork> Round::NextStep(RoundStats* stats) {
  context_.stats = stats;
  if (!std::exchange(has_begun_, true)) {
    context_.gangs.WithdrawHalves();
    ReplaceTasks(&context_);
    // A task that has taken a place stays there: another one was told to leave
    // it.
    context_.delta_begin = context_.state.counters().next_delta_sequence;
    ServeNominated(&context_);
    DrainMachines(&context_);
  }
  while (true) {
    if (stage_ != nullptr) {
      if (std::optional<RoundWork> work = stage_->Next()) {
        is_waiting_ = !std::holds_alternative<Pause>(*work);
        version_ = context_.state.version();
        context_.budget.BeginStep();
        return work;
      }
      EndStage();
    }
    // What was taken back for the plan is placed regardless of the work it
    // takes.
    if (stats->is_cut_short && context_.plan.has_value()) {
      stats->is_cut_short = false;
      has_run_out_ = true;
    }
    if (stats->is_cut_short || !Advance()) return std::nullopt;
    if (context_.budget.IsStepOver()) {
      context_.budget.BeginStep();
      version_ = context_.state.version();
      return Pause();
    }
  }
}

void Round::FinishStep(const RoundAnswer& answer, RoundStats* stats) {
  context_.stats = stats;
  context_.ForgetPlacements();
  context_.has_changed =
      context_.has_changed || version_ != context_.state.version();
  if (std::exchange(is_waiting_, false)) stage_->Finish(answer);
}

void Round::NoteLook() {
  RebalanceTimer* timer = context_.rebalance_timer;
  if (timer == nullptr || context_.has_changed) return;
  if (context_.has_looked_at_all && !context_.stats->is_cut_short) {
    const bool is_for_long = context_.state.pending().empty() ||
                             !(had_untold_ || HasUntold(context_.state));
    timer->NoteWhole(context_.now_ms, context_.state.version(), is_for_long);
  } else if (!context_.has_news) {
    timer->NoteNoNews(context_.state.version());
  }
}

void Round::End(RoundStats* stats) {
  context_.stats = stats;
  if (stage_ != nullptr) EndStage();
  for (const auto& [id, machine] : std::exchange(context_.left_out, {})) {
    KeepRoomAgain(id, machine, context_.final_before.contains(id),
                  &context_.state);
  }
  StopReplaced(&context_);
  EndVainNominations(&context_);
  if (DisplaceAsLastResort(&context_)) context_.has_looked_at_all = false;
  DisplaceForLess(&context_);
  SpareUntold(&context_);
  NoteLook();
  context_.state.SyncPeers();
  stats->unmet_minimums += context_.minimum_askers.CountLacking(context_.state);
  stats->nominated = std::ssize(context_.state.nominations().machines());
  stats->is_bound_known = !stats->is_cut_short && !stats->skips_proof;
  if (!context_.appraisal.has_value()) return;
  const Appraisal& appraisal = *context_.appraisal;
  stats->cost = appraisal.cost;
  stats->bound = appraisal.bound.value_or(PackingCost());
  stats->is_bound_known &= appraisal.bound.has_value();
  std::vector<uint32_t> lowest;
  if (context_.levels.has_value()) lowest = context_.levels->lowest;
  // There was nothing to decide between priorities: whatever waits of each must
  // wait.
  if (lowest.empty() && stats->cost.waiting == stats->bound.waiting) {
    stats->cost.waiting =
        SplitByPriority(context_, stats->cost.waiting, &lowest);
    stats->bound.waiting = stats->cost.waiting;
  }
  stats->levels = ToldLevels(lowest, stats->cost.waiting);
}

void Round::EndStage() {
  StageResult result = stage_->End();
  stage_.reset();
  if (result.tier.has_value()) tier_ = *result.tier;
  has_moved_ = has_moved_ || result.has_moved;
  must_enter_tiers_ =
      must_enter_tiers_ || result.has_moved || result.plan.has_value();
  context_.TakeOver(std::move(result));
}

bool Round::Advance() {
  while (true) {
    if (must_enter_tiers_) {
      // A victim may stay if the task it made room for is elsewhere now.
      if (has_moved_ && !std::exchange(has_started_over_, true)) {
        SpareNeedless(NewcomersInTheWay::kStay, &context_);
      }
      if (AdvanceInTiers()) return true;
      must_enter_tiers_ = false;
      if (has_run_out_) {
        context_.stats->is_cut_short = true;
        return false;
      }
      // With nothing to place, only running tasks can be placed better.
      if (!has_entered_tier_ &&
          (!context_.must_rebalance || std::exchange(has_rebalanced_, true))) {
        return false;
      }
    } else if (context_.agenda.MustPack() && !has_moved_) {
      context_.agenda.Begin();
      has_started_over_ = false;
      stage_ = MakePack(&context_);
      return true;
    } else if (!has_entered_tier_) {
      return false;
    } else if (!std::exchange(has_arranged_, true)) {
      has_started_over_ = false;
      stage_ = MakeArrange(&context_);
      return true;
    } else if (!std::exchange(has_appraised_, true)) {
      // From here on nothing more is placed.
      SpareNeedless(NewcomersInTheWay::kTakeBack, &context_);
      stage_ = MakeAppraise(&context_);
      return true;
    } else {
      return false;
    }
  }
}

bool Round::AdvanceInTiers() {
  while (true) {
    if (!tier_.has_value()) {
      placed_before_ = context_.stats->placed;
      if (!EnterTierBelow(std::nullopt)) return false;
    }
    while (next_stage_ < std::size(kStages)) {
      const MakeStage make = kStages[next_stage_++];
      // Others may have been placed because of earlier placements.
      if (has_started_over_ && make == &MakeSearch) continue;
      if (has_run_out_ && make != &MakeCarryOut) continue;
      // What is planned for the tiers below was weighed against this one.
      if (make == &MakeSearch && context_.plan.has_value() &&
          context_.plan->DecidesOnBelow(tier_->priority)) {
        continue;
      }
      stage_ = make(&context_, *tier_);
      if (stage_ != nullptr) return true;
    }
    if (const uint32_t above = tier_->priority; EnterTierBelow(above)) {
      // The first tier below the plan could take the room of victims that no
      // longer need to leave for the plan.
      if (context_.plan.has_value() && context_.plan->PlacesFrom(above) &&
          !context_.plan->PlacesFrom(tier_->priority)) {
        SpareNeedless(NewcomersInTheWay::kStay, &context_);
      }
      continue;
    }
    tier_.reset();
    context_.plan.reset();
    if (has_run_out_ || !MustStartOver()) return false;
    has_started_over_ = true;
  }
}

bool Round::EnterTierBelow(std::optional<uint32_t> priority) {
  const auto& pending = context_.state.pending();
  // Priorities descend: the first class comes first among those below.
  auto it = pending.begin();
  if (priority.has_value()) {
    if (*priority == 0) return false;
    it = pending.lower_bound(ClassKey{*priority - 1, {}});
  }
  if (it == pending.end()) return false;
  tier_ = Tier{.priority = it->first.priority,
               .delta_begin = context_.state.counters().next_delta_sequence};
  next_stage_ = 0;
  has_entered_tier_ = true;
  return true;
}

bool Round::MustStartOver() const {
  if (context_.stats->placed <= placed_before_) return false;
  return std::ranges::any_of(context_.state.pending(), [](const auto& entry) {
    const PlacementRules& rules = *entry.first.rules;
    return !rules.affinity.empty() || !rules.spread.empty();
  });
}

}  // namespace sluice
