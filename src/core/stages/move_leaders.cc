// The stage that moves leaders to where those can follow them that could not.

#include "core/leader_moves.h"
#include "core/stages/stage.h"
#include "core/transaction.h"

namespace sluice {
namespace {

class MoveLeadersOfTier : public Stage {
 public:
  MoveLeadersOfTier(RoundContext* context, Tier* tier)
      : context_(*context), tier_(*tier) {}

  std::optional<RoundWork> Next() override {
    Transaction transaction(context_.now_ms, &context_.state);
    MoveLeaders(tier_, &context_, &transaction);
    const bool has_moved = !context_.Keep(&transaction).placed.empty();
    tier_.has_new_room = tier_.has_new_room || has_moved;
    return std::nullopt;
  }

 private:
  RoundContext& context_;
  Tier& tier_;
};

}  // namespace

std::unique_ptr<Stage> MakeMoveLeaders(RoundContext* context, Tier* tier) {
  if (context->followers().empty()) return nullptr;
  context->FreshEligibility();
  if (IsAnyHealing(*context, *tier)) return nullptr;
  return std::make_unique<MoveLeadersOfTier>(context, tier);
}

}  // namespace sluice
