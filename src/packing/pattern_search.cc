#include "packing/pattern_search.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/rng.h"

namespace sluice {
namespace {

constexpr uint64_t kSeed = 1;
// Machines that are decided on anew together.
constexpr uint64_t kMendedMin = 2;
constexpr uint64_t kMendedMax = 4;
constexpr int kPutAttempts = 20;
constexpr double kRoundUpFrom[] = {1.0, 0.75, 0.55};

// Which machines may do better together.
class Picker {
 public:
  Picker(const PackingProblem& problem, const PackingDraft& draft, Rng* rng)
      : problem_(problem), draft_(draft), rng_(rng) {
    least_.assign(problem.classes.size(), kNotAllowed);
    for (const PackingGroup& group : problem.groups) {
      for (size_t c = 0; c < least_.size(); ++c) {
        least_[c] = std::min(least_[c], problem.costs[group.kind][c]);
      }
    }
  }

  // One where a task would rather be elsewhere, one where it would like it
  // better, and any others.
  std::vector<size_t> Pick() {
    const size_t count = static_cast<size_t>(
        kMendedMin + rng_->Below(kMendedMax - kMendedMin + 1));
    std::vector<size_t> picked = {PickFirst()};
    const size_t unmet = PickUnmet(picked[0]);
    if (unmet < problem_.classes.size()) {
      const int64_t cost = draft_.CostOn(GroupOf(picked[0]), unmet);
      const std::optional<size_t> better = PickWhere(
          [&](size_t p) { return draft_.CostOn(GroupOf(p), unmet) < cost; });
      if (better.has_value()) picked.push_back(*better);
    }
    while (picked.size() < count) {
      picked.push_back(rng_->Below(draft_.patterns().size()));
    }
    return picked;
  }

 private:
  size_t GroupOf(size_t p) const { return draft_.patterns()[p].group; }

  bool IsUnmet(size_t p, size_t task_class) const {
    return draft_.CostOn(GroupOf(p), task_class) > least_[task_class];
  }

  template <class Condition>
  std::optional<size_t> PickWhere(Condition condition) {
    const size_t size = draft_.patterns().size();
    const size_t begin = rng_->Below(size);
    for (size_t i = 0; i < size; ++i) {
      const size_t p = (begin + i) % size;
      if (condition(p)) return p;
    }
    return std::nullopt;
  }

  size_t PickFirst() {
    const auto has_unmet = [&](size_t p) {
      return std::ranges::any_of(
          draft_.patterns()[p].tasks,
          [&](const auto& tasks) { return IsUnmet(p, tasks.first); });
    };
    if (rng_->Chance(3, 4)) {
      if (const auto p = PickWhere(has_unmet)) return *p;
    }
    return rng_->Below(draft_.patterns().size());
  }

  // A class on the machine that would rather be elsewhere, if there is one.
  size_t PickUnmet(size_t p) {
    const auto& tasks = draft_.patterns()[p].tasks;
    if (tasks.empty()) return problem_.classes.size();
    const size_t begin = rng_->Below(tasks.size());
    for (size_t i = 0; i < tasks.size(); ++i) {
      const size_t c = tasks[(begin + i) % tasks.size()].first;
      if (IsUnmet(p, c)) return c;
    }
    return problem_.classes.size();
  }

  const PackingProblem& problem_;
  const PackingDraft& draft_;
  Rng* rng_;
  std::vector<int64_t> least_;  // By class: where it likes best.
};

// Begins with any pattern, so that the same machines do not end up in the same
// way each time.
void PutAny(const PatternRelaxation& relaxation, Rng* rng,
            PackingDraft* draft) {
  const std::vector<KnownPattern>& patterns = relaxation.patterns();
  for (int attempt = 0; attempt < kPutAttempts && !patterns.empty();
       ++attempt) {
    const KnownPattern& any = patterns[rng->Below(patterns.size())];
    if (draft->Put({any.group, 1, any.tasks})) return;
  }
}

PackingDraft DiveFrom(PackingDraft draft, std::optional<int64_t> waiting_cost,
                      double round_up_from, PatternRelaxation* relaxation) {
  while (true) {
    const auto relaxed = relaxation->Relax(draft.rest(), waiting_cost,
                                           PatternRelaxation::Wanted::kAmounts);
    if (relaxed.amounts.empty()) break;
    bool has_put = false;
    const PatternRelaxation::Amount* most = &relaxed.amounts[0];
    const auto put = [&](size_t known, int64_t machines) {
      const KnownPattern& pattern = relaxation->patterns()[known];
      return machines > 0 &&
             draft.Put({pattern.group, machines, pattern.tasks});
    };
    for (const PatternRelaxation::Amount& amount : relaxed.amounts) {
      has_put |=
          put(amount.pattern, static_cast<int64_t>(std::floor(
                                  amount.machines + 1 - round_up_from + 1e-6)));
      if (amount.machines > most->machines) most = &amount;
    }
    if (!has_put && !put(most->pattern, 1)) break;
  }
  draft.FillUp();
  return draft;
}

}  // namespace

PackingDraft Dive(const PackingProblem& problem, PackingRest rest,
                  std::optional<int64_t> waiting_cost, double round_up_from,
                  PatternRelaxation* relaxation) {
  return DiveFrom(PackingDraft(problem, std::move(rest)), waiting_cost,
                  round_up_from, relaxation);
}

void Mend(const PackingProblem& problem, PackingCost bound, int attempts_max,
          PatternRelaxation* relaxation, PackingDraft* draft) {
  if (draft->patterns().empty()) return;
  Rng rng(kSeed);
  Picker picker(problem, *draft, &rng);
  PackingCost cost = draft->Cost();
  for (int attempts = 0; attempts < attempts_max; ++attempts) {
    if (cost <= bound || relaxation->IsSpent()) return;
    PackingRest rest;
    rest.machines.assign(problem.groups.size(), 0);
    rest.tasks = draft->rest().tasks;
    std::vector<size_t> taken;
    for (const size_t p : picker.Pick()) {
      if (draft->patterns()[p].machines == 0) continue;
      draft->TakeOut(p, &rest);
      taken.push_back(p);
    }
    if (taken.empty()) continue;
    PackingDraft made(problem, std::move(rest));
    if (rng.Chance(1, 2)) PutAny(*relaxation, &rng, &made);
    made =
        DiveFrom(std::move(made), cost.waiting,
                 kRoundUpFrom[rng.Below(std::size(kRoundUpFrom))], relaxation);
    PackingCost mended = made.Cost();
    mended.placed += draft->Cost().placed;
    if (mended > cost) {
      for (const size_t p : taken) draft->PutBack(p);
      continue;
    }
    draft->PutIn(made);
    if (mended < cost) attempts = 0;
    cost = mended;
  }
}

}  // namespace sluice
