// The stage that looks at every way to place a small tier.

#include "core/stages/stage.h"
#include "core/tier_search.h"

namespace sluice {
namespace {

class Search : public Stage {
 public:
  Search(RoundContext* context, Tier* tier)
      : context_(*context), tier_(*tier) {}

  std::optional<RoundWork> Next() override {
    Eligibility& eligibility = context_.FreshEligibility();
    context_.state.SyncPeers();
    const auto [placed, given_up] = SearchTier(
        tier_.priority, tier_.delta_begin, context_.sequence_end,
        context_.gangs, context_.policies, context_.constraints, &eligibility,
        context_.now_ms, &context_.state, &context_.search_budget);
    context_.stats->placed += std::ssize(placed) - given_up;
    context_.stats->withdrawn += given_up;
    return std::nullopt;
  }

 private:
  RoundContext& context_;
  const Tier& tier_;
};

}  // namespace

std::unique_ptr<Stage> MakeSearch(RoundContext* context, Tier* tier) {
  // What was placed may not be legal by now, and gangs are healed before others
  // start.
  if (tier->is_settled || context->has_changed ||
      IsAnyHealing(*context, *tier)) {
    return nullptr;
  }
  return std::make_unique<Search>(context, tier);
}

}  // namespace sluice
