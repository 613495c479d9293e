// The stages that place classes in bands of similar size, the largest first.

#include <utility>
#include <vector>

#include "core/pass.h"
#include "core/stages/stage.h"
#include "core/tier_demand.h"

namespace sluice {
namespace {

class Fill : public Stage {
 public:
  enum class Whom { kHealing, kAdmitted, kAll };

  Fill(RoundContext* context, Tier* tier, Whom whom)
      : context_(*context),
        tier_(*tier),
        whom_(whom),
        passes_(context, Passes::Following::kNext) {}

  std::optional<RoundWork> Next() override {
    while (true) {
      if (search_.has_value()) {
        if (!search_->Continue()) return Pause();
        AddBands(search_->Take());
        search_.reset();
      }
      if (auto work = passes_.Next()) return work;
      if (context_.stats->is_cut_short || !MayPlaceMore()) return std::nullopt;
      search_.emplace(tier_, &context_);
    }
  }

  void Finish(const RoundAnswer& answer) override {
    passes_.Finish(std::get<FlowSolution>(answer));
  }

 private:
  // What fits is looked for again as long as something is placed.
  bool MayPlaceMore() {
    const bool is_over =
        whom_ != Whom::kAll || passes_.placed().size() == placed_before_;
    if (std::exchange(has_planned_, true) && is_over) return false;
    placed_before_ = passes_.placed().size();
    return IsAnyWaiting(context_, tier_);
  }

  void AddBands(TierDemand demand) {
    if (whom_ == Whom::kHealing) {
      std::erase_if(demand.members, [&](const BandMember& member) {
        return !context_.gangs.IsHealing(member.key);
      });
    }
    if (whom_ == Whom::kAdmitted) Admit(context_, &demand);
    for (Band& band :
         CutBands(std::move(demand.members), context_.FreshGroups().size())) {
      passes_.Add(std::move(band));
    }
  }

  RoundContext& context_;
  const Tier& tier_;
  const Whom whom_;
  Passes passes_;
  std::optional<DemandSearch> search_;  // While it goes on.
  bool has_planned_ = false;
  size_t placed_before_ = 0;  // When it was planned last.
};

}  // namespace

std::unique_ptr<Stage> MakeHealGangs(RoundContext* context, Tier* tier) {
  // How many a gang needs may depend on the machines there are.
  context->FreshEligibility();
  if (!IsAnyHealing(*context, *tier)) return nullptr;
  return std::make_unique<Fill>(context, tier, Fill::Whom::kHealing);
}

std::unique_ptr<Stage> MakePlaceAdmitted(RoundContext* context, Tier* tier) {
  return std::make_unique<Fill>(context, tier, Fill::Whom::kAdmitted);
}

std::unique_ptr<Stage> MakeFill(RoundContext* context, Tier* tier) {
  return std::make_unique<Fill>(context, tier, Fill::Whom::kAll);
}

}  // namespace sluice
