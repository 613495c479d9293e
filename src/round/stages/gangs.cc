// The stage that starts gangs: either cohorts of equal urgency, in one problem
// with everything they are weighed against, or one gang at a time, class by
// class.  A gang is kept if it becomes whole, and taken back if not.  Before
// each cohort, more urgent tasks that were promised a place are placed one by
// one.

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "round/passes/pass.h"
#include "round/passes/tier_demand.h"
#include "round/stages/gang_room.h"
#include "round/stages/stage.h"
#include "sluice/cost/cost_model.h"

namespace sluice {
namespace {

class StartGangs : public Stage {
 public:
  enum class Whom { kAll, kWithTerms };

  StartGangs(RoundContext* context, const Tier& tier, Whom whom)
      : context_(*context), tier_(tier), whom_(whom), passes_(context) {}

  std::optional<RoundWork> Next() override {
    if (!std::exchange(has_begun_, true)) FindWaiting();
    while (true) {
      // A gang's trial goes on to its end.  Otherwise a gang that takes more
      // than one round's work would never start.
      const bool has_placed = trial_.has_value() && HasPlaced(*trial_);
      if (auto work = passes_.Next(/*must_go_on=*/has_placed)) return work;
      if (context_.stats->is_cut_short) return std::nullopt;
      if (trial_.has_value()) {
        if (PlanTrial()) continue;
        EndTrial();
      }
      if (waiting_.empty()) return std::nullopt;
      if (!PlanPromised(waiting_.front().urgency)) PlanCohort();
    }
  }

  void Finish(const RoundAnswer& answer) override {
    passes_.Finish(std::get<FlowSolution>(answer));
  }

  StageResult End() override {
    if (trial_.has_value()) EndTrial();
    return {.has_new_gangs = has_started_};
  }

 private:
  struct Candidate {
    Gangs::Waiting gang;
    Cost urgency = 0;
    bool needs_leader = false;
  };
  // A gang that is placed class by class, and taken back if it is not whole.
  struct Trial {
    Gangs::Waiting gang;
    size_t begin = 0;          // Of its own placements.
    size_t placed_before = 0;  // Their number when it was planned.
    bool is_planned = false;
  };

  bool HasPlaced(const Trial& trial) const {
    return passes_.placed().size() > trial.begin;
  }

  // The urgency of its most urgent task: the oldest, or one that was promised a
  // place.
  Cost UrgencyOf(const Gangs::Waiting& gang) const {
    Cost most = 0;
    for (const ClassKey& key : gang.classes) {
      for (const Task* task : context_.WaitingTasks(key)) {
        most = std::max(most, context_.UrgencyOf(*task));
      }
    }
    return most;
  }

  // Finds the tasks that were promised a place and need not wait for a gang.
  void FindPromised() {
    if (context_.nominated_before.empty()) return;
    tier_.VisitWaiting(context_.state, [&](const ClassKey& key, const auto&) {
      if (context_.gangs.IsClosed(key)) return true;
      for (const Task* task : context_.WaitingTasks(key)) {
        if (!context_.nominated_before.contains(task->id)) continue;
        promised_.emplace_back(context_.UrgencyOf(*task), key);
      }
      return true;
    });
    std::ranges::sort(promised_);
  }

  // Returns true if there is anything to do.
  bool PlanPromised(Cost urgency) {
    std::map<ClassKey, int64_t> counts;
    for (; !promised_.empty() && promised_.back().first > urgency;
         promised_.pop_back()) {
      ++counts[promised_.back().second];
    }
    Band band;
    for (const auto& [key, count] : counts) {
      const int64_t waiting = context_.CountWaiting(key);
      if (waiting == 0) continue;
      band.members.push_back({key, std::min(count, waiting), 0});
    }
    if (band.members.empty()) return false;
    passes_.Add(std::move(band));
    return true;
  }

  // The most urgent first; among gangs of equal urgency, the most constrained.
  void FindWaiting() {
    if (whom_ == Whom::kAll) FindPromised();
    std::vector<Gangs::Waiting> gangs =
        context_.gangs.FindWaiting(tier_.priority);
    if (whom_ == Whom::kWithTerms) {
      std::erase_if(gangs, [](const Gangs::Waiting& gang) {
        return std::ranges::none_of(gang.classes, &ClassKey::DependsOnPeers);
      });
    }
    for (Gangs::Waiting& gang : gangs) {
      const Cost urgency = UrgencyOf(gang);
      const bool needs_leader = NeedsLeader(gang, context_);
      waiting_.push_back({std::move(gang), urgency, needs_leader});
    }
    std::ranges::stable_sort(waiting_,
                             [](const Candidate& a, const Candidate& b) {
                               return std::pair(b.urgency, b.needs_leader) <
                                      std::pair(a.urgency, a.needs_leader);
                             });
  }

  void PlanCohort() {
    const Cost urgency = waiting_.front().urgency;
    Band band;
    while (!waiting_.empty() && waiting_.front().urgency == urgency) {
      Candidate candidate = std::move(waiting_.front());
      waiting_.pop_front();
      Gangs::Waiting& gang = candidate.gang;
      if (whom_ == Whom::kWithTerms &&
          context_.budget.IsSpent(Effort::kSearches))
        continue;
      if (!HasRoomForEach(gang, &context_)) continue;
      if (whom_ == Whom::kWithTerms || NeedsLeader(gang, context_)) {
        if (!band.gangs.empty()) {
          waiting_.push_front(std::move(candidate));
          break;
        }
        if (whom_ == Whom::kWithTerms) {
          context_.budget.Spend(
              Effort::kSearches,
              std::ssize(context_.state.machines()) * std::ssize(gang.classes));
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

  // Plans it once more as long as it places something: a task may have waited
  // for it.  Returns true if there is anything to do.
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
    // Each class by itself: each sees the room its predecessors left.
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
      has_started_ = true;
      return;
    }
    context_.Withdraw(std::span(passes_.placed()).subspan(trial.begin));
  }

  RoundContext& context_;
  const Tier tier_;
  const Whom whom_;
  Passes passes_;
  bool has_begun_ = false;
  bool has_started_ = false;                         // A gang.
  std::vector<std::pair<Cost, ClassKey>> promised_;  // Ascending.
  std::deque<Candidate> waiting_;                    // Not yet looked at.
  std::optional<Trial> trial_;                       // While it runs.
};

}  // namespace

std::unique_ptr<Stage> MakeStartGangs(RoundContext* context, const Tier& tier) {
  return std::make_unique<StartGangs>(context, tier, StartGangs::Whom::kAll);
}

std::unique_ptr<Stage> MakeTryGangs(RoundContext* context, const Tier& tier) {
  if (context->budget.IsSpent(Effort::kSearches)) return nullptr;
  return std::make_unique<StartGangs>(context, tier,
                                      StartGangs::Whom::kWithTerms);
}

}  // namespace sluice
