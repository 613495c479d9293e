#include "core/round.h"

#include <algorithm>
#include <utility>

#include "core/stages/replace.h"

namespace sluice {
namespace {

// In the order in which a tier goes through them.  What packing or an exchange
// changes is gone through once more.
constexpr MakeStage kStages[] = {
    // Gangs that run hold what others wait for.
    &MakeHealGangs,
    // Nothing that is placed before may be in their way.
    &MakeStartGangs,
    &MakePlaceAdmitted,
    &MakeFill,
    &MakeAppraiseGangs,
    &MakeTryGangs,
    &MakeFill,
    &MakePack,
    &MakeFill,
    &MakeTryGangs,
    &MakeFill,
    &MakePack,
    &MakeFill,
    &MakeMoveLeaders,
    &MakeFill,
    &MakeSearch,
    &MakeAppraise,
};

}  // namespace

Round::Round(const RoundContext::Subject& subject, const RoundOptions& options,
             int64_t now_ms)
    : context_(subject, options, now_ms) {}

std::optional<RoundWork> Round::NextStep(RoundStats* stats) {
  context_.stats = stats;
  if (!std::exchange(has_begun_, true)) {
    context_.gangs.WithdrawHalves();
    ReplaceTasks(&context_);
  }
  while (true) {
    if (stage_ != nullptr) {
      if (std::optional<RoundWork> work = stage_->Next()) {
        is_waiting_ = !std::holds_alternative<Pause>(*work);
        version_ = context_.state.version();
        context_.looks = 0;
        return work;
      }
      EndStage();
    }
    if (stats->is_cut_short || !Advance()) return std::nullopt;
    if (context_.looks > kLooksPerStep) {
      context_.looks = 0;
      version_ = context_.state.version();
      return Pause();
    }
  }
}

void Round::FinishStep(const RoundAnswer& answer, RoundStats* stats) {
  context_.stats = stats;
  context_.has_changed =
      context_.has_changed || version_ != context_.state.version();
  if (std::exchange(is_waiting_, false)) stage_->Finish(answer);
}

void Round::End(RoundStats* stats) {
  context_.stats = stats;
  if (stage_ != nullptr) EndStage();
  stats->is_bound_known = !stats->is_cut_short;
  for (const auto& [priority, appraisal] : context_.appraisals) {
    stats->cost.waiting.Add(appraisal.cost.waiting);
    stats->cost.placed += appraisal.cost.placed;
    stats->is_bound_known &= appraisal.bound.has_value();
    if (!appraisal.bound.has_value()) continue;
    stats->bound.waiting.Add(appraisal.bound->waiting);
    stats->bound.placed += appraisal.bound->placed;
  }
}

void Round::EndStage() {
  stage_->End();
  stage_.reset();
}

bool Round::Advance() {
  if (!tier_.has_value()) {
    placed_before_ = context_.stats->placed;
    return EnterTierBelow(std::nullopt);
  }
  while (next_stage_ < std::size(kStages)) {
    const MakeStage make = kStages[next_stage_++];
    // Others may have been placed because of tasks that were placed before.
    if (has_started_over_ && make == &MakeSearch) continue;
    stage_ = make(&context_, &*tier_);
    if (stage_ != nullptr) return true;
  }
  if (EnterTierBelow(tier_->priority)) return true;
  if (!MustStartOver()) return false;
  tier_.reset();
  has_started_over_ = true;
  return true;
}

bool Round::EnterTierBelow(std::optional<uint32_t> priority) {
  const auto& pending = context_.state.pending();
  // Descending priorities: of those below the first class comes first.
  auto it = pending.begin();
  if (priority.has_value()) {
    if (*priority == 0) return false;
    it = pending.lower_bound(ClassKey{*priority - 1, {}});
  }
  if (it == pending.end()) return false;
  tier_ = Tier{.priority = it->first.priority,
               .delta_begin = context_.state.counters().next_delta_sequence};
  next_stage_ = 0;
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
