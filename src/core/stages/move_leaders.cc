// The stage that moves leaders to where those can follow them that could not.

#include "core/leader_moves.h"
#include "core/stages/stage.h"

namespace sluice {
namespace {

class MoveLeadersOfTier : public Stage {
 public:
  MoveLeadersOfTier(RoundContext* context, Tier* tier)
      : context_(*context), tier_(*tier) {}

  std::optional<RoundWork> Next() override {
    Eligibility& eligibility = context_.FreshEligibility();
    context_.state.SyncPeers();
    const auto [placed, given_up] = MoveLeaders(
        tier_.priority, tier_.delta_begin, context_.sequence_end,
        context_.gangs, context_.policies, context_.constraints, &eligibility,
        context_.now_ms, &context_.state, &context_.search_budget);
    context_.stats->placed += std::ssize(placed) - given_up;
    context_.stats->withdrawn += given_up;
    tier_.has_new_room = tier_.has_new_room || !placed.empty();
    return std::nullopt;
  }

 private:
  RoundContext& context_;
  Tier& tier_;
};

}  // namespace

std::unique_ptr<Stage> MakeMoveLeaders(RoundContext* context, Tier* tier) {
  if (context->followers().empty() || IsAnyHealing(*context, *tier)) {
    return nullptr;
  }
  return std::make_unique<MoveLeadersOfTier>(context, tier);
}

}  // namespace sluice
