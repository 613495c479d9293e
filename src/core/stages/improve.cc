// The stages that place anew what a neighborhood takes back.

#include "core/leader_moves.h"
#include "core/neighborhood.h"
#include "core/neighborhood_search.h"
#include "core/stages/stage.h"

namespace sluice {
namespace {

using ImproveTier = void (*)(const Tier&, RoundContext*, Transaction*);

// Keeps what `improve` does, in one go.
class Improve : public Stage {
 public:
  Improve(RoundContext* context, Tier* tier, ImproveTier improve)
      : context_(*context), tier_(*tier), improve_(improve) {}

  std::optional<RoundWork> Next() override {
    if (context_.search_budget <= 0) return std::nullopt;
    Transaction transaction(context_.now_ms, &context_.state);
    improve_(tier_, &context_, &transaction);
    tier_.has_new_room = tier_.has_new_room || transaction.size() > 0;
    context_.Keep(&transaction);
    return std::nullopt;
  }

 private:
  RoundContext& context_;
  Tier& tier_;
  const ImproveTier improve_;
};

void SearchTier(const Tier& tier, RoundContext* context,
                Transaction* transaction) {
  const auto neighborhood = TakeBackTier(tier, context, transaction);
  if (!neighborhood.has_value() ||
      !PlaceBetter(*neighborhood, context, transaction)) {
    transaction->RollBackTo(0);
  }
}

}  // namespace

std::unique_ptr<Stage> MakeMoveLeaders(RoundContext* context, Tier* tier) {
  if (context->followers().empty()) return nullptr;
  context->FreshEligibility();
  if (IsAnyHealing(*context, *tier)) return nullptr;
  return std::make_unique<Improve>(context, tier, &MoveLeaders);
}

std::unique_ptr<Stage> MakeSearch(RoundContext* context, Tier* tier) {
  // What was placed may not be legal by now, and gangs are healed before others
  // start.
  if (context->has_changed) return nullptr;
  context->FreshEligibility();
  if (IsAnyHealing(*context, *tier)) return nullptr;
  return std::make_unique<Improve>(context, tier, &SearchTier);
}

}  // namespace sluice
