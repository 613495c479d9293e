// The stages that start gangs: cohorts of equal age in one problem with all
// that they are weighed against, or one gang at a time, class by class, kept if
// it becomes whole and taken back if not.

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "core/gang_neighborhoods.h"
#include "core/neighborhood_search.h"
#include "core/pass.h"
#include "core/stages/gang_room.h"
#include "core/stages/stage.h"
#include "core/tier_demand.h"
#include "core/transaction.h"
#include "cost/waiting_cost.h"

namespace sluice {
namespace {

class StartGangs : public Stage {
 public:
  enum class With { kEverything, kWhatIsLeft };

  StartGangs(RoundContext* context, Tier* tier, With with)
      : context_(*context), tier_(*tier), with_(with), passes_(context) {}

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
    std::ranges::stable_sort(
        gangs, [this](const Gangs::Waiting& a, const Gangs::Waiting& b) {
          return std::pair(AgeOf(b), !NeedsLeader(a, context_)) <
                 std::pair(AgeOf(a), !NeedsLeader(b, context_));
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
      if (!HasRoomForEach(gang, &context_)) {
        if (with_ == With::kWhatIsLeft && StartAmongOthers(gang)) {
          ++context_.stats->searches;
        }
        continue;
      }
      if (with_ == With::kWhatIsLeft || NeedsLeader(gang, context_)) {
        if (!band.gangs.empty()) {
          waiting_.push_front(std::move(gang));
          break;
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
      NoteStarted();
      return;
    }
    const auto placed = std::span(passes_.placed()).subspan(trial.begin);
    context_.Withdraw(placed);
    if (with_ != With::kWhatIsLeft || context_.search_budget <= 0) return;
    ++context_.stats->searches;
    if (!StartAlone(trial.gang)) StartAmongOthers(trial.gang);
  }

  // What it does not need to run may be placed like any other tasks.
  void NoteStarted() {
    tier_.has_new_room = true;
    context_.has_new_gangs = true;
  }

  // Task by task, with what is left.
  bool StartAlone(const Gangs::Waiting& gang) {
    Transaction transaction(context_.now_ms, &context_.state);
    const Neighborhood neighborhood = GangAlone(gang, &context_);
    if (!PlaceBetter(neighborhood, &context_, &transaction)) return false;
    context_.Keep(&transaction);
    NoteStarted();
    return true;
  }

  // In the place of what is cheaper to leave waiting.  Returns whether it
  // searched.
  bool StartAmongOthers(const Gangs::Waiting& gang) {
    ClusterState& state = context_.state;
    if (context_.search_budget <= 0 ||
        tier_.delta_begin == state.counters().next_delta_sequence) {
      return false;
    }
    context_.search_budget -= std::ssize(state.machines());
    if (!HasRoomBesideItself(gang, context_)) return false;
    Transaction transaction(context_.now_ms, &state);
    GangAmongOthers neighborhoods(gang, tier_, &context_, &transaction);
    bool has_searched = false;
    while (const std::optional<Neighborhood> one = neighborhoods.Next()) {
      has_searched = true;
      if (!PlaceBetter(*one, &context_, &transaction)) continue;
      context_.Keep(&transaction);
      NoteStarted();
      break;
    }
    return has_searched;
  }

  RoundContext& context_;
  Tier& tier_;
  const With with_;
  Passes passes_;
  bool has_begun_ = false;
  std::deque<Gangs::Waiting> waiting_;  // Not yet looked at.
  std::optional<Trial> trial_;          // While it runs.
};

}  // namespace

std::unique_ptr<Stage> MakeStartGangs(RoundContext* context, Tier* tier) {
  return std::make_unique<StartGangs>(context, tier,
                                      StartGangs::With::kEverything);
}

std::unique_ptr<Stage> MakeTryGangs(RoundContext* context, Tier* tier) {
  if (!std::exchange(tier->has_new_room, false)) return nullptr;
  // Where nothing can leave less waiting there is no way to start another.
  const std::optional<Appraisal>& known = tier->appraisal;
  if (known.has_value() && known->bound.has_value() &&
      known->cost.waiting <= known->bound->waiting) {
    return nullptr;
  }
  return std::make_unique<StartGangs>(context, tier,
                                      StartGangs::With::kWhatIsLeft);
}

}  // namespace sluice
