// The stage that places a small tier anew, trying every way.

#include "round/context/transaction.h"
#include "round/search/neighborhood.h"
#include "round/search/neighborhood_search.h"
#include "round/stages/stage.h"

namespace sluice {
namespace {

// Keeps what it finds, in one step.
class Search : public Stage {
 public:
  Search(RoundContext* context, const Tier& tier)
      : context_(*context), tier_(tier) {}

  std::optional<RoundWork> Next() override {
    if (context_.budget.IsSpent(Effort::kSearches)) return std::nullopt;
    Transaction transaction(context_.now_ms, &context_.state);
    const auto neighborhood = TakeBackTier(tier_, &context_, &transaction);
    if (!neighborhood.has_value() ||
        !PlaceBetter(*neighborhood, &context_, &transaction)) {
      transaction.RollBackTo(0);
    }
    context_.Keep(&transaction);
    return std::nullopt;
  }

 private:
  RoundContext& context_;
  const Tier tier_;
};

}  // namespace

std::unique_ptr<Stage> MakeSearch(RoundContext* context, const Tier& tier) {
  // Placements may not be legal by now, and gangs are healed before others
  // start.
  if (context->has_changed) return nullptr;
  if (IsAnyHealing(*context, tier)) return nullptr;
  return std::make_unique<Search>(context, tier);
}

}  // namespace sluice
