// The stage that starts gangs: cohorts of equal age in one problem with all
// that they are weighed against, or one gang at a time, class by class, kept if
// it becomes whole and taken back if not.

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/pass.h"
#include "core/stages/gang_room.h"
#include "core/stages/stage.h"
#include "core/tier_demand.h"
#include "cost/waiting_cost.h"

namespace sluice {
namespace {

class StartGangs : public Stage {
 public:
  enum class Whom { kAll, kWithTerms };

  StartGangs(RoundContext* context, Tier* tier, Whom whom)
      : context_(*context), tier_(*tier), whom_(whom), passes_(context) {}

  std::optional<RoundWork> Next() override {
    if (!std::exchange(has_begun_, true)) FindWaiting();
    while (true) {
      // A gang's trial goes on to its end, or a gang that takes more than one
      // round's work would never start.
      const bool has_placed = trial_.has_value() && HasPlaced(*trial_);
      if (auto work = passes_.Next(/*must_go_on=*/has_placed)) return work;
      if (context_.stats->is_cut_short) return std::nullopt;
      if (trial_.has_value()) {
        if (PlanTrial()) continue;
        EndTrial();
      }
      if (waiting_.empty()) return std::nullopt;
      PlanCohort();
    }
  }

  void Finish(const RoundAnswer& answer) override {
    passes_.Finish(std::get<FlowSolution>(answer));
  }

  void End() override {
    if (trial_.has_value()) EndTrial();
  }

 private:
  // A gang that is placed class by class, to be taken back if it is not whole.
  struct Trial {
    Gangs::Waiting gang;
    size_t begin = 0;          // Of the placements that are its own,
    size_t placed_before = 0;  // and how many there were when it was planned.
    bool is_planned = false;
  };

  bool HasPlaced(const Trial& trial) const {
    return passes_.placed().size() > trial.begin;
  }

  Cost AgeOf(const Gangs::Waiting& gang) const {
    return WaitingCost(context_.now_ms - gang.submitted_ms);
  }

  // Those that have waited longest first; among gangs of equal age the most
  // constrained.
  void FindWaiting() {
    context_.FreshEligibility();
    std::vector<Gangs::Waiting> gangs =
        context_.gangs.FindWaiting(tier_.priority);
    if (whom_ == Whom::kWithTerms) {
      std::erase_if(gangs, [](const Gangs::Waiting& gang) {
        return std::ranges::none_of(gang.classes, &ClassKey::DependsOnPeers);
      });
    }
    std::map<JobId, bool> needs_leader;
    for (const Gangs::Waiting& gang : gangs) {
      needs_leader[gang.job] = NeedsLeader(gang, context_);
    }
    std::ranges::stable_sort(
        gangs, [&](const Gangs::Waiting& a, const Gangs::Waiting& b) {
          return std::pair(AgeOf(b), !needs_leader[a.job]) <
                 std::pair(AgeOf(a), !needs_leader[b.job]);
        });
    waiting_.assign(std::make_move_iterator(gangs.begin()),
                    std::make_move_iterator(gangs.end()));
  }

  void PlanCohort() {
    const Cost age = AgeOf(waiting_.front());
    Band band;
    while (!waiting_.empty() && AgeOf(waiting_.front()) == age) {
      Gangs::Waiting gang = std::move(waiting_.front());
      waiting_.pop_front();
      if (whom_ == Whom::kWithTerms && context_.search_budget <= 0) continue;
      if (!HasRoomForEach(gang, &context_)) continue;
      if (whom_ == Whom::kWithTerms || NeedsLeader(gang, context_)) {
        if (!band.gangs.empty()) {
          waiting_.push_front(std::move(gang));
          break;
        }
        if (whom_ == Whom::kWithTerms) {
          context_.search_budget -=
              std::ssize(context_.state.machines()) * std::ssize(gang.classes);
        }
        trial_ = Trial{.gang = std::move(gang),
                       .begin = passes_.placed().size(),
                       .placed_before = passes_.placed().size()};
        return;
      }
      for (const ClassKey& key : gang.classes) {
        band.members.push_back({key, context_.CountWaiting(key), 0});
      }
      band.gangs.push_back(std::move(gang));
    }
    if (band.gangs.empty()) return;
    std::ranges::move(FindDemand(tier_, &context_).members,
                      std::back_inserter(band.members));
    passes_.Add(std::move(band));
  }

  // Once more as long as it places something: a task may have waited for it.
  // Returns whether there is anything to do.
  bool PlanTrial() {
    const size_t placed = passes_.placed().size();
    if (std::exchange(trial_->is_planned, true) &&
        placed == trial_->placed_before) {
      return false;
    }
    trial_->placed_before = placed;
    std::vector<BandMember> members;
    for (const ClassKey& key : trial_->gang.classes) {
      members.push_back({key, context_.CountWaiting(key), 0});
    }
    // Each class by itself: what one leaves is the next one's.
    std::ranges::stable_sort(members,
                             [](const BandMember& a, const BandMember& b) {
                               return b.key.request < a.key.request;
                             });
    for (BandMember& member : members) {
      if (member.count == 0) continue;
      Band band;
      band.members.push_back(std::move(member));
      passes_.Add(std::move(band));
    }
    return !passes_.empty();
  }

  void EndTrial() {
    passes_.Clear();
    const Trial trial = *std::exchange(trial_, std::nullopt);
    if (context_.gangs.IsWhole(trial.gang)) {
      context_.agenda.NoteNewGangs();
      return;
    }
    context_.Withdraw(std::span(passes_.placed()).subspan(trial.begin));
  }

  RoundContext& context_;
  const Tier& tier_;
  const Whom whom_;
  Passes passes_;
  bool has_begun_ = false;
  std::deque<Gangs::Waiting> waiting_;  // Not yet looked at.
  std::optional<Trial> trial_;          // While it runs.
};

}  // namespace

std::unique_ptr<Stage> MakeStartGangs(RoundContext* context, Tier* tier) {
  return std::make_unique<StartGangs>(context, tier, StartGangs::Whom::kAll);
}

std::unique_ptr<Stage> MakeTryGangs(RoundContext* context, Tier* tier) {
  if (context->search_budget <= 0) return nullptr;
  return std::make_unique<StartGangs>(context, tier,
                                      StartGangs::Whom::kWithTerms);
}

}  // namespace sluice
