#include "packing/pack.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "packing/coarse_groups.h"
#include "packing/leveling.h"
#include "packing/merged_classes.h"
#include "packing/merged_groups.h"
#include "packing/packing_draft.h"
#include "packing/pattern_relaxation.h"
#include "packing/pattern_search.h"

namespace sluice {
namespace {

constexpr double kRoundUpFrom[] = {1.0, 0.75, 0.55};
constexpr int kMendsMax = 120;
constexpr int kMendsInTurnMax = 2400;
// With more classes, and tasks that must wait, a relaxation takes longer than
// it is worth.
constexpr size_t kClassesMax = 80;
// Groups of which each has its row in the master; where there are more, prices
// are found for so many coarse ones.
constexpr size_t kGroupsMax = 400;
constexpr size_t kCoarseGroupsMax = 100;

class Packer {
 public:
  Packer(const PackingProblem& problem, int64_t work_max)
      : problem_(problem), work_max_(work_max), relaxation_(problem, work_max) {
    for (const PackingClass& one : problem.classes) {
      whole_.tasks.push_back(one.count());
    }
    for (const PackingGroup& group : problem.groups) {
      whole_.machines.push_back(group.machines);
    }
  }

  PackingSolution Run() {
    Keep(Drafted(problem_.former));
    const bool has_many_groups = problem_.groups.size() > kGroupsMax;
    if (!has_many_groups || problem_.former.empty()) {
      for (const std::vector<Pattern>& packing : relaxation_.Seed()) {
        Keep(Drafted(packing));
      }
    }
    const bool has_many_classes = problem_.classes.size() > kClassesMax;
    const bool leaves_out = best_->Cost().waiting > BoundBySize();
    if (has_many_groups) {
      if (leaves_out) MendInTurn(work_max_ / 2);
      SearchNearby();
    } else {
      if (has_many_classes && leaves_out) MendInTurn(work_max_ / 8 * 7);
      SearchWhole();
    }
    relaxation_.Charge(best_->MoveUp());
    PackingSolution solution;
    solution.cost = best_->Cost();
    solution.bound = bound_;
    for (const Pattern& pattern : best_->patterns()) {
      if (!pattern.tasks.empty() && pattern.machines > 0) {
        solution.patterns.push_back(pattern);
      }
    }
    solution.is_cut_short = relaxation_.IsSpent();
    solution.work = relaxation_.work() + coarse_work_;
    return solution;
  }

  PackingSolution Prove(int64_t waiting_cost) {
    PackingSolution solution;
    if (problem_.groups.size() > kGroupsMax) {
      solution.bound = BoundAtCoarsePrices(waiting_cost);
    } else {
      relaxation_.Seed();
      solution.bound.waiting = relaxation_.Relax(whole_, std::nullopt).bound;
      solution.bound.placed = relaxation_.Relax(whole_, waiting_cost).bound;
    }
    solution.is_cut_short = relaxation_.IsSpent();
    solution.work = relaxation_.work() + coarse_work_;
    return solution;
  }

 private:
  // The bound, dives for it, and what mending gains.
  void SearchWhole() {
    bound_.waiting = relaxation_.Relax(whole_, std::nullopt).bound;
    const auto relaxed = relaxation_.Relax(whole_, bound_.waiting);
    bound_.placed = relaxed.bound;
    DiveFor(bound_);
    if (best_->Cost().waiting > bound_.waiting && !relaxation_.IsSpent()) {
      // Waiting alone, and then as little as that is at the least cost.
      Keep(Dive(problem_, whole_, std::nullopt, kRoundUpFrom[0], &relaxation_));
      DiveFor({best_->Cost().waiting, 0});
    }
    if (dived_.has_value() && dived_->Cost() > best_->Cost()) {
      // A task more waits, but nearly all are where they should be.
      Mend(problem_, {bound_, kMendsMax}, &relaxation_, &*dived_);
      Keep(*std::move(dived_));
    }
    Mend(problem_, {bound_, kMendsMax}, &relaxation_, &*best_);
    const int64_t waiting = best_->Cost().waiting;
    if (waiting > bound_.waiting) {
      // What can be proved at the same prices costs no time.
      bound_.placed =
          std::max(relaxation_.BoundAt(whole_, waiting, relaxed.prices),
                   relaxation_.Relax(whole_, waiting).bound);
    }
  }

  void MendInTurn(int64_t work_max) {
    relaxation_.Charge(best_->MoveUp());
    Mend(problem_,
         {.attempts_max = kMendsInTurnMax,
          .work_max = work_max,
          .in_turn = true},
         &relaxation_, &*best_);
  }

  // Where hardly two machines are alike: mends what is known, and proves what
  // coarse prices do.
  void SearchNearby() {
    // Each machine is a pattern of its own: more of them are worth a try.
    const auto attempts = kMendsMax + static_cast<int>(problem_.groups.size());
    Mend(problem_, {.attempts_max = attempts}, &relaxation_, &*best_);
    bound_ = BoundAtCoarsePrices(best_->Cost().waiting);
  }

  PackingCost BoundAtCoarsePrices(int64_t waiting_cost) {
    const PackingProblem coarse = CoarseProblem(problem_, kCoarseGroupsMax);
    PatternRelaxation prices(coarse, work_max_ / 4);
    PackingRest rest = whole_;
    rest.machines.clear();
    for (const PackingGroup& group : coarse.groups) {
      rest.machines.push_back(group.machines);
    }
    prices.Seed();
    PackingCost bound;
    bound.waiting =
        std::max(BoundBySize(),
                 relaxation_.BoundAt(whole_, std::nullopt,
                                     prices.Relax(rest, std::nullopt).prices));
    bound.placed = relaxation_.BoundAt(whole_, waiting_cost,
                                       prices.Relax(rest, waiting_cost).prices);
    coarse_work_ = prices.work();
    return bound;
  }

  int64_t BoundBySize() {
    return relaxation_.BoundAt(whole_, std::nullopt,
                               relaxation_.prices_by_size());
  }

  PackingDraft Drafted(const std::vector<Pattern>& patterns) const {
    PackingDraft draft(problem_, whole_);
    for (const Pattern& pattern : patterns) draft.Put(pattern);
    draft.FillUp();
    return draft;
  }

  // Dives until one is as good as `bound`.
  void DiveFor(const PackingCost& bound) {
    for (const double round_up_from : kRoundUpFrom) {
      if (best_->Cost() <= bound || relaxation_.IsSpent()) return;
      PackingDraft draft =
          Dive(problem_, whole_, bound.waiting, round_up_from, &relaxation_);
      if (!dived_.has_value() || draft.Cost() < dived_->Cost()) dived_ = draft;
      Keep(std::move(draft));
    }
  }

  void Keep(PackingDraft draft) {
    if (!best_.has_value() || draft.Cost() < best_->Cost()) {
      best_.emplace(std::move(draft));
    }
  }

  const PackingProblem& problem_;
  const int64_t work_max_;
  PatternRelaxation relaxation_;
  PackingRest whole_;
  PackingCost bound_;
  std::optional<PackingDraft> best_;
  std::optional<PackingDraft> dived_;  // The best of the dives.
  int64_t coarse_work_ = 0;
};

}  // namespace

PackingSolution ProveBound(const PackingProblem& problem, int64_t waiting_cost,
                           int64_t work_max) {
  const MergedClasses classes(problem);
  const MergedGroups groups(classes.merged());
  return Packer(groups.merged(), work_max).Prove(waiting_cost);
}

PackingSolution Pack(const PackingProblem& problem, int64_t work_max) {
  const MergedClasses classes(problem);
  const MergedGroups groups(classes.merged());
  PackingSolution solution = Packer(groups.merged(), work_max).Run();
  solution.patterns =
      classes.Part(Level(classes.merged(), groups.Part(solution.patterns)));
  return solution;
}

}  // namespace sluice
