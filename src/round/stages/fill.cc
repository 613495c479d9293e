// The stages that place classes in bands of similar size, the largest first.

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "constraints/class_peers.h"
#include "round/passes/pass.h"
#include "round/passes/tier_demand.h"
#include "round/stages/stage.h"

namespace sluice {
namespace {

class Fill : public Stage {
 public:
  enum class Whom { kHealing, kLacking, kAdmitted, kAll };

  // `askers`: of kLacking, the minimums that the tasks wait for.
  Fill(RoundContext* context, const Tier& tier, Whom whom,
       MinimumAskers askers = {})
      : context_(*context),
        tier_(tier),
        whom_(whom),
        askers_(std::move(askers)),
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

  StageResult End() override { return {.minimum_askers = std::move(askers_)}; }

 private:
  // The search is repeated as long as something is placed.
  bool MayPlaceMore() {
    const bool is_once = whom_ == Whom::kHealing || whom_ == Whom::kAdmitted;
    const bool is_over = is_once || passes_.placed().size() == placed_before_;
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
    if (whom_ == Whom::kLacking) KeepLacking(&demand.members);
    if (whom_ == Whom::kAdmitted) Admit(context_, &demand);
    for (Band& band :
         CutBands(std::move(demand.members), context_.FreshGroups().size())) {
      if (whom_ == Whom::kLacking) {
        band.minimums = BandNetwork::Minimums::kBinding;
      }
      passes_.Add(std::move(band));
    }
  }

  // Keeps, of each class, the tasks that its minimums ask for.  If classes
  // share a minimum, only the first is kept: the next search sees what that has
  // left.
  void KeepLacking(std::vector<BandMember>* members) {
    std::erase_if(*members, [](const BandMember& member) {
      return member.key.rules->minimums.empty();
    });
    context_.state.SyncPeers();
    absl::flat_hash_set<const CountedTerm*> seen;
    for (BandMember& member : *members) {
      const std::vector<CountedTerm*>& minimums =
          context_.state.peers().TermsOf(*member.key.rules).minimums;
      const bool is_first = std::ranges::none_of(
          minimums,
          [&](const CountedTerm* term) { return seen.contains(term); });
      const ClassPeers peers(context_.state, context_.constraints, member.key);
      const int64_t waiting = member.count;
      member.count = is_first ? peers.CountLacking(waiting) : 0;
      context_.budget.Note(std::ssize(context_.state.machines()));
      if (member.count > 0) seen.insert(minimums.begin(), minimums.end());
    }
    std::erase_if(*members,
                  [](const BandMember& member) { return member.count == 0; });
  }

  RoundContext& context_;
  const Tier tier_;
  const Whom whom_;
  MinimumAskers askers_;
  Passes passes_;
  std::optional<DemandSearch> search_;  // While it runs.
  bool has_planned_ = false;
  size_t placed_before_ = 0;  // When it was last planned.
};

}  // namespace

std::unique_ptr<Stage> MakeHealGangs(RoundContext* context, const Tier& tier) {
  // A gang's minimum may depend on the machines there are.
  if (!IsAnyHealing(*context, tier)) return nullptr;
  return std::make_unique<Fill>(context, tier, Fill::Whom::kHealing);
}

std::unique_ptr<Stage> MakeMeetMinimums(RoundContext* context,
                                        const Tier& tier) {
  bool is_any = false;
  MinimumAskers askers;
  tier.VisitWaiting(context->state, [&](const ClassKey& key, const auto&) {
    if (key.rules->minimums.empty()) return true;
    is_any = true;
    askers.Add(key, context->state);
    return true;
  });
  if (!is_any) return nullptr;
  return std::make_unique<Fill>(context, tier, Fill::Whom::kLacking,
                                std::move(askers));
}

std::unique_ptr<Stage> MakePlaceAdmitted(RoundContext* context,
                                         const Tier& tier) {
  return std::make_unique<Fill>(context, tier, Fill::Whom::kAdmitted);
}

std::unique_ptr<Stage> MakeFill(RoundContext* context, const Tier& tier) {
  return std::make_unique<Fill>(context, tier, Fill::Whom::kAll);
}

}  // namespace sluice
