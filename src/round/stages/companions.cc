// The stage that starts classes that wait for each other: one task of each at
// once.  A gang with such classes must become whole that way; otherwise its
// placements are taken back, and the next place is tried.  If one place is too
// small for the gang, it goes on with one task of each in another.

#include "round/search/companions.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "round/passes/pass.h"
#include "round/stages/stage.h"

namespace sluice {
namespace {

class StartCompanions : public Stage {
 public:
  StartCompanions(CompanionsOf of, RoundContext* context, const Tier& tier)
      : of_(of), context_(*context), tier_(tier) {}

  std::optional<RoundWork> Next() override {
    if (!std::exchange(has_begun_, true)) FindAsking();
    while (true) {
      if (trial_.has_value()) {
        // Its placements must not be left without the rest of the gang.
        if (auto work = trial_->passes.Next(/*must_go_on=*/true)) return work;
        if (PlanTrial()) continue;
        EndTrial();
      } else if (context_.budget.IsStepOver()) {
        return Pause();
      } else if (context_.stats->is_cut_short || !BeginNext()) {
        return std::nullopt;
      }
    }
  }

  void Finish(const RoundAnswer& answer) override {
    trial_->passes.Finish(std::get<FlowSolution>(answer));
  }

  StageResult End() override {
    if (trial_.has_value()) EndTrial();
    return {.has_new_gangs = has_started_};
  }

 private:
  struct Trial {
    explicit Trial(RoundContext* context) : passes(context) {}

    Passes passes;
    std::vector<TaskId> placed;  // At first, one of each class.
    size_t placed_before = 0;    // By passes, when they were planned.
    bool is_planned = false;
  };

  // Each round begins with others: some may never find a place.
  void FindAsking() {
    tier_.VisitWaiting(context_.state, [&](const ClassKey& key, const auto&) {
      if (!key.rules->affinity.empty()) asking_.push_back(key);
      return true;
    });
    if (asking_.empty()) return;
    const size_t first =
        static_cast<size_t>(context_.stats->number) % asking_.size();
    std::ranges::rotate(asking_,
                        asking_.begin() + static_cast<ptrdiff_t>(first));
  }

  // Returns true if there may be more to do.
  bool BeginNext() {
    const bool may_be_more = PlaceNext() || BeginCircle() || BeginClass();
    return may_be_more && !context_.budget.IsSpent(Effort::kCompanions);
  }

  // Places the circle that was begun in the next way.
  bool PlaceNext() {
    if (!places_.has_value()) return false;
    // Commands may have come: its tasks and machines may be gone.
    if (places_version_ != context_.state.version()) {
      places_.reset();
      return false;
    }
    Transaction transaction(context_.now_ms, &context_.state);
    if (!places_->PlaceNext(&transaction)) {
      places_.reset();
      return false;
    }
    trial_.emplace(&context_);
    trial_->placed = context_.Keep(&transaction).placed;
    return true;
  }

  // Begins the next circle of the class.  Other placements meanwhile may have
  // taken tasks of it.
  bool BeginCircle() {
    if (circles_.empty()) return false;
    std::vector<ClassKey> circle = std::move(circles_.front());
    circles_.pop_front();
    // More urgent ones have been tried in their own tier.
    if (std::ranges::any_of(circle, [this](const ClassKey& key) {
          return key.priority > tier_.priority ||
                 context_.CountWaiting(key) == 0;
        })) {
      return true;
    }
    std::optional<std::vector<Gangs::Waiting>> gangs = GangsOf(circle);
    if (!gangs.has_value()) return true;
    gangs_ = *std::move(gangs);
    circle_ = std::move(circle);
    context_.state.SyncPeers();
    places_.emplace(circle_, &context_);
    places_version_ = context_.state.version();
    return true;
  }

  bool BeginClass() {
    if (next_ == asking_.size()) return false;
    const ClassKey& key = asking_[next_++];
    if (context_.CountWaiting(key) == 0) return true;
    context_.state.SyncPeers();
    for (std::vector<ClassKey>& circle : FindCircles(key, of_, &context_)) {
      circles_.push_back(std::move(circle));
    }
    return true;
  }

  // The closed gangs of the classes; nullopt if one of them has too few tasks
  // to start.
  std::optional<std::vector<Gangs::Waiting>> GangsOf(
      const std::vector<ClassKey>& classes) const {
    std::set<JobId> closed;
    for (const ClassKey& key : classes) {
      if (context_.gangs.IsClosed(key)) closed.insert(*key.gang);
    }
    std::vector<Gangs::Waiting> gangs;
    for (const JobId gang : closed) {
      // Its most urgent class comes first.
      const auto of_gang = std::ranges::find_if(
          context_.state.pending(),
          [gang](const auto& entry) { return entry.first.gang == gang; });
      std::vector<Gangs::Waiting> waiting =
          context_.gangs.FindWaiting(of_gang->first.priority);
      const auto it = std::ranges::find(waiting, gang, &Gangs::Waiting::job);
      if (it == waiting.end()) return std::nullopt;
      gangs.push_back(std::move(*it));
    }
    return gangs;
  }

  // Returns true if there is anything to do for its gangs.
  bool PlanTrial() {
    Trial& trial = *trial_;
    const size_t placed = trial.passes.placed().size();
    if (std::exchange(trial.is_planned, true) &&
        placed == trial.placed_before && !PlaceAnotherOfEach()) {
      return false;
    }
    trial.placed_before = placed;
    for (const Gangs::Waiting& gang : gangs_) {
      for (const ClassKey& key : gang.classes) {
        const int64_t count = context_.CountWaiting(key);
        if (count == 0) continue;
        Band band;
        band.members.push_back({key, count, 0});
        trial.passes.Add(std::move(band));
      }
    }
    return !trial.passes.empty();
  }

  // Places one more task of each class of the circle if the gangs are not whole
  // yet.  Returns whether all found a place.
  bool PlaceAnotherOfEach() {
    if (AreGangsWhole() ||
        std::ranges::any_of(circle_, [this](const ClassKey& key) {
          return context_.CountWaiting(key) == 0;
        })) {
      return false;
    }
    context_.state.SyncPeers();
    CompanionPlaces places(circle_, &context_);
    Transaction transaction(context_.now_ms, &context_.state);
    if (!places.PlaceNext(&transaction)) return false;
    const std::vector<TaskId> placed = context_.Keep(&transaction).placed;
    trial_->placed.insert(trial_->placed.end(), placed.begin(), placed.end());
    return true;
  }

  bool AreGangsWhole() const {
    return std::ranges::all_of(gangs_, [this](const Gangs::Waiting& gang) {
      return context_.gangs.IsWhole(gang);
    });
  }

  void EndTrial() {
    const Trial trial = *std::exchange(trial_, std::nullopt);
    if (AreGangsWhole()) {
      has_started_ = has_started_ || !gangs_.empty();
      places_.reset();
      circles_.clear();
      return;
    }
    std::vector<TaskId> placed = trial.passes.placed();
    placed.insert(placed.begin(), trial.placed.begin(), trial.placed.end());
    std::ranges::reverse(placed);
    context_.Withdraw(placed);
    if (!context_.has_changed) places_version_ = context_.state.version();
  }

  const CompanionsOf of_;
  RoundContext& context_;
  const Tier tier_;
  bool has_begun_ = false;
  bool has_started_ = false;  // A gang.
  std::vector<ClassKey> asking_;
  size_t next_ = 0;  // Of these.
  std::deque<std::vector<ClassKey>>
      circles_;                        // Of the last class; still to be tried.
  std::vector<ClassKey> circle_;       // The one tried.
  std::vector<Gangs::Waiting> gangs_;  // Of that circle.
  std::optional<CompanionPlaces> places_;  // Likewise.
  uint64_t places_version_ = 0;            // Of the state, as they know it.
  std::optional<Trial> trial_;             // While it runs.
};

}  // namespace

std::unique_ptr<Stage> MakeStartCompanions(RoundContext* context,
                                           const Tier& tier) {
  if (context->budget.IsSpent(Effort::kCompanions)) return nullptr;
  return std::make_unique<StartCompanions>(CompanionsOf::kNobody, context,
                                           tier);
}

std::unique_ptr<Stage> MakeTryCompanions(RoundContext* context,
                                         const Tier& tier) {
  if (context->budget.IsSpent(Effort::kCompanions)) return nullptr;
  return std::make_unique<StartCompanions>(CompanionsOf::kAnybody, context,
                                           tier);
}

}  // namespace sluice
