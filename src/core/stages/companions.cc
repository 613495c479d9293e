// The stage that starts classes that wait for each other: one task of each at
// once.  A gang with such classes has to become whole by that, or what was
// placed is taken back, and the next place for them is tried.

#include "core/companions.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "core/pass.h"
#include "core/stages/stage.h"

namespace sluice {
namespace {

class StartCompanions : public Stage {
 public:
  StartCompanions(RoundContext* context, Tier* tier)
      : context_(*context), tier_(*tier) {}

  std::optional<RoundWork> Next() override {
    if (!std::exchange(has_begun_, true)) FindCircles();
    while (true) {
      if (trial_.has_value()) {
        // What it placed must not be left without the rest of its gang.
        if (auto work = trial_->passes.Next(/*must_go_on=*/true)) return work;
        if (PlanTrial()) continue;
        EndTrial();
      } else if (context_.stats->is_cut_short || !BeginNext()) {
        return std::nullopt;
      }
    }
  }

  void Finish(const RoundAnswer& answer) override {
    trial_->passes.Finish(std::get<FlowSolution>(answer));
  }

  void End() override {
    if (trial_.has_value()) EndTrial();
  }

 private:
  struct Circle {
    CompanionPlaces places;
    std::vector<Gangs::Waiting> gangs;  // Closed ones, of its classes.
  };
  struct Trial {
    explicit Trial(RoundContext* context) : passes(context) {}

    Passes passes;
    std::vector<TaskId> placed;  // At first, one of each class.
    size_t placed_before = 0;    // By passes, when they were planned.
    bool is_planned = false;
  };

  void FindCircles() {
    context_.state.SyncPeers();
    std::vector<ClassKey> asking;
    tier_.VisitWaiting(context_.state, [&](const ClassKey& key, const auto&) {
      if (!key.rules->affinity.empty()) asking.push_back(key);
      return true;
    });
    if (asking.empty()) return;
    context_.FreshEligibility();
    const std::vector<Gangs::Waiting> waiting =
        context_.gangs.FindWaiting(tier_.priority);
    std::set<ClassKey> seen;
    for (const ClassKey& key : asking) {
      if (seen.contains(key)) continue;
      std::vector<ClassKey> classes = FindCircle(key, &context_);
      // What is more urgent has been tried in its own tier.
      if (classes.empty() ||
          std::ranges::any_of(classes, [this](const ClassKey& one) {
            return one.priority > tier_.priority;
          })) {
        continue;
      }
      seen.insert(classes.begin(), classes.end());
      std::optional<std::vector<Gangs::Waiting>> gangs =
          GangsOf(classes, waiting);
      if (!gangs.has_value()) continue;
      circles_.push_back(
          {CompanionPlaces(std::move(classes), &context_), *std::move(gangs)});
    }
  }

  // Nothing if one of them has too few tasks to start.
  std::optional<std::vector<Gangs::Waiting>> GangsOf(
      const std::vector<ClassKey>& classes,
      const std::vector<Gangs::Waiting>& waiting) const {
    std::map<JobId, const Gangs::Waiting*> found;
    for (const ClassKey& key : classes) {
      if (!context_.gangs.IsClosed(key)) continue;
      const auto it =
          std::ranges::find(waiting, *key.gang, &Gangs::Waiting::job);
      if (it == waiting.end()) return std::nullopt;
      found[*key.gang] = &*it;
    }
    std::vector<Gangs::Waiting> gangs;
    for (const auto& [job, gang] : found) gangs.push_back(*gang);
    return gangs;
  }

  // Returns whether a circle is placed, or there may be another.
  bool BeginNext() {
    if (next_ == circles_.size()) return false;
    Transaction transaction(context_.now_ms, &context_.state);
    if (!circles_[next_].places.PlaceNext(&transaction)) {
      ++next_;
      return true;
    }
    trial_.emplace(&context_);
    trial_->placed = context_.Keep(&transaction).placed;
    return true;
  }

  // Returns whether there is anything to do for its gangs.
  bool PlanTrial() {
    Trial& trial = *trial_;
    const size_t placed = trial.passes.placed().size();
    if (std::exchange(trial.is_planned, true) &&
        placed == trial.placed_before) {
      return false;
    }
    trial.placed_before = placed;
    for (const Gangs::Waiting& gang : circles_[next_].gangs) {
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

  void EndTrial() {
    const Trial trial = *std::exchange(trial_, std::nullopt);
    const std::vector<Gangs::Waiting>& gangs = circles_[next_].gangs;
    if (std::ranges::all_of(gangs, [this](const Gangs::Waiting& gang) {
          return context_.gangs.IsWhole(gang);
        })) {
      if (!gangs.empty()) context_.agenda.NoteNewGangs();
      ++next_;
      return;
    }
    std::vector<TaskId> placed = trial.passes.placed();
    placed.insert(placed.begin(), trial.placed.begin(), trial.placed.end());
    std::ranges::reverse(placed);
    context_.Withdraw(placed);
  }

  RoundContext& context_;
  const Tier& tier_;
  bool has_begun_ = false;
  std::vector<Circle> circles_;
  size_t next_ = 0;             // The one that is tried.
  std::optional<Trial> trial_;  // While it runs.
};

}  // namespace

std::unique_ptr<Stage> MakeStartCompanions(RoundContext* context, Tier* tier) {
  if (context->search_budget <= 0) return nullptr;
  return std::make_unique<StartCompanions>(context, tier);
}

}  // namespace sluice
