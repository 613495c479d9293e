#include "packing/pack.h"

#include <optional>
#include <utility>

#include "packing/merged_groups.h"
#include "packing/packing_draft.h"
#include "packing/pattern_relaxation.h"
#include "packing/pattern_search.h"

namespace sluice {
namespace {

constexpr double kRoundUpFrom[] = {1.0, 0.75, 0.55};
constexpr int kMendsMax = 60;

class Packer {
 public:
  Packer(const PackingProblem& problem, int64_t work_max)
      : problem_(problem), relaxation_(problem, work_max) {
    for (const PackingClass& one : problem.classes) {
      whole_.tasks.push_back(one.count());
    }
    for (const PackingGroup& group : problem.groups) {
      whole_.machines.push_back(group.machines);
    }
  }

  PackingSolution Run() {
    Keep(Drafted(problem_.former));
    for (const std::vector<Pattern>& packing : relaxation_.Seed()) {
      Keep(Drafted(packing));
    }
    PackingCost bound;
    bound.waiting = relaxation_.Relax(whole_, std::nullopt).bound;
    bound.placed = relaxation_.Relax(whole_, bound.waiting).bound;
    DiveFor(bound);
    if (best_->Cost().waiting > bound.waiting && !relaxation_.IsSpent()) {
      // Waiting alone, and then as little as that is at the least cost.
      Keep(Dive(problem_, whole_, std::nullopt, kRoundUpFrom[0], &relaxation_));
      DiveFor({best_->Cost().waiting, 0});
    }
    Mend(problem_, bound, kMendsMax, &relaxation_, &*best_);
    PackingSolution solution;
    solution.cost = best_->Cost();
    if (solution.cost.waiting > bound.waiting) {
      bound.placed = relaxation_.Relax(whole_, solution.cost.waiting).bound;
    }
    solution.bound = bound;
    for (const Pattern& pattern : best_->patterns()) {
      if (!pattern.tasks.empty()) solution.patterns.push_back(pattern);
    }
    solution.is_cut_short = relaxation_.IsSpent();
    solution.work = relaxation_.work();
    return solution;
  }

 private:
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
  PatternRelaxation relaxation_;
  PackingRest whole_;
  std::optional<PackingDraft> best_;
};

}  // namespace

PackingSolution Pack(const PackingProblem& problem, int64_t work_max) {
  const MergedGroups groups(problem);
  PackingSolution solution = Packer(groups.merged(), work_max).Run();
  solution.patterns = groups.Part(solution.patterns);
  return solution;
}

}  // namespace sluice
