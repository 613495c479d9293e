#include "packing/pack.h"

#include <optional>
#include <utility>
#include <vector>

#include "packing/coarse_groups.h"
#include "packing/merged_groups.h"
#include "packing/packing_draft.h"
#include "packing/pattern_relaxation.h"
#include "packing/pattern_search.h"

namespace sluice {
namespace {

constexpr double kRoundUpFrom[] = {1.0, 0.75, 0.55};
constexpr int kMendsMax = 120;
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
    if (problem_.groups.size() <= kGroupsMax) {
      SearchWhole();
    } else {
      SearchNearby();
    }
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
    if (problem_.groups.size() <= kGroupsMax) {
      relaxation_.Seed();
      solution.bound.waiting = relaxation_.Relax(whole_, std::nullopt).bound;
      solution.bound.placed = relaxation_.Relax(whole_, waiting_cost).bound;
    } else {
      solution.bound = ProveByCoarsePrices(waiting_cost);
    }
    solution.is_cut_short = relaxation_.IsSpent();
    solution.work = relaxation_.work() + coarse_work_;
    return solution;
  }

 private:
  // The bound, dives for it, and what mending gains.
  void SearchWhole() {
    for (const std::vector<Pattern>& packing : relaxation_.Seed()) {
      Keep(Drafted(packing));
    }
    bound_.waiting = relaxation_.Relax(whole_, std::nullopt).bound;
    bound_.placed = relaxation_.Relax(whole_, bound_.waiting).bound;
    DiveFor(bound_);
    if (best_->Cost().waiting > bound_.waiting && !relaxation_.IsSpent()) {
      // Waiting alone, and then as little as that is at the least cost.
      Keep(Dive(problem_, whole_, std::nullopt, kRoundUpFrom[0], &relaxation_));
      DiveFor({best_->Cost().waiting, 0});
    }
    Mend(problem_, bound_, kMendsMax, &relaxation_, &*best_);
    const int64_t waiting = best_->Cost().waiting;
    if (waiting > bound_.waiting) {
      bound_.placed = relaxation_.Relax(whole_, waiting).bound;
    }
  }

  // Where hardly two machines are alike: mends what is known, and proves what
  // coarse prices do.
  void SearchNearby() {
    if (problem_.former.empty()) {
      for (const std::vector<Pattern>& packing : relaxation_.Seed()) {
        Keep(Drafted(packing));
      }
    }
    // Each machine is a pattern of its own: more of them are worth a try.
    const auto attempts = kMendsMax + static_cast<int>(problem_.groups.size());
    Mend(problem_, {}, attempts, &relaxation_, &*best_);
    bound_ = ProveByCoarsePrices(best_->Cost().waiting);
  }

  PackingCost ProveByCoarsePrices(int64_t waiting_cost) {
    const PackingProblem coarse = CoarseProblem(problem_, kCoarseGroupsMax);
    PatternRelaxation prices(coarse, work_max_ / 4);
    PackingRest rest = whole_;
    rest.machines.clear();
    for (const PackingGroup& group : coarse.groups) {
      rest.machines.push_back(group.machines);
    }
    prices.Seed();
    PackingCost bound;
    bound.waiting = relaxation_.BoundAt(
        whole_, std::nullopt, prices.Relax(rest, std::nullopt).prices);
    bound.placed = relaxation_.BoundAt(whole_, waiting_cost,
                                       prices.Relax(rest, waiting_cost).prices);
    coarse_work_ = prices.work();
    return bound;
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
      Keep(Dive(problem_, whole_, bound.waiting, round_up_from, &relaxation_));
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
  int64_t coarse_work_ = 0;
};

}  // namespace

PackingSolution ProveBound(const PackingProblem& problem, int64_t waiting_cost,
                           int64_t work_max) {
  const MergedGroups groups(problem);
  return Packer(groups.merged(), work_max).Prove(waiting_cost);
}

PackingSolution Pack(const PackingProblem& problem, int64_t work_max) {
  const MergedGroups groups(problem);
  PackingSolution solution = Packer(groups.merged(), work_max).Run();
  solution.patterns = groups.Part(solution.patterns);
  return solution;
}

}  // namespace sluice
