#include "packing/pattern_search.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/rng.h"

namespace sluice {
namespace {

// The number of machines that are decided on anew together.
constexpr uint64_t kMendedMin = 2;
constexpr uint64_t kMendedMax = 4;
// Now and then more of them, if that may help.
constexpr uint64_t kWiderMin = 2;
constexpr uint64_t kWiderMax = 5;
constexpr int kPutAttempts = 20;
// Groups and patterns that are skipped per unit of work.
constexpr int64_t kSkippedPerWork = 16;
constexpr double kRoundUpFrom[] = {1.0, 0.75, 0.55};
// For filling machines in turn: the most wasteful of this many is mended.
constexpr int kWastefulOf = 12;
constexpr double kNoise = 0.05;  // Of prices, either way.
constexpr double kLikings[] = {1e-3, 0.1, 1};

// Chooses machines that may do better together.
class Picker {
 public:
  // With the values of tasks by class, machines with little on them are picked
  // more often.  `is_wide`: sometimes picks many at once.
  Picker(const PackingProblem& problem, const PackingDraft& draft,
         std::vector<double> values, bool is_wide, Rng* rng)
      : problem_(problem),
        draft_(draft),
        values_(std::move(values)),
        most_(problem.groups.size(), 0),
        is_wide_(is_wide),
        rng_(rng) {
    for (size_t p = 0; p < draft.patterns().size() && !values_.empty(); ++p) {
      most_[GroupOf(p)] = std::max(most_[GroupOf(p)], ValueOf(p));
    }
    least_.assign(problem.classes.size(), kNotAllowed);
    for (const PackingGroup& group : problem.groups) {
      for (size_t c = 0; c < least_.size(); ++c) {
        least_[c] = std::min(least_[c], problem.costs[group.kind][c]);
      }
    }
  }

  // One machine with a task that costs less elsewhere, one that this task
  // would like better, and any others.
  std::vector<size_t> Pick() {
    size_t count = static_cast<size_t>(
        kMendedMin + rng_->Below(kMendedMax - kMendedMin + 1));
    if (is_wide_ && rng_->Chance(1, 4)) {
      count += kWiderMin + rng_->Below(kWiderMax - kWiderMin + 1);
    }
    std::vector<size_t> picked = {PickFirst()};
    const size_t unmet = PickUnmet(picked[0]);
    if (unmet < problem_.classes.size()) {
      const int64_t cost = draft_.CostOfLast(picked[0], unmet);
      const std::optional<size_t> better = PickWhere(
          [&](size_t p) { return draft_.CostOn(GroupOf(p), unmet) < cost; });
      if (better.has_value()) picked.push_back(*better);
    }
    while (picked.size() < count) {
      picked.push_back(PickAny());
    }
    return picked;
  }

  // The draft now has these patterns, too; others may be gone.
  void NoteNew(std::span<const Pattern> patterns) {
    work_ += std::ssize(patterns);
    are_all_met_ =
        are_all_met_ && std::ranges::none_of(patterns, [&](const Pattern& one) {
          return HasUnmet(one);
        });
  }
  // Patterns looked at since the last call.
  int64_t TakeWork() { return std::exchange(work_, 0); }

 private:
  size_t GroupOf(size_t p) const { return draft_.patterns()[p].group; }

  bool IsUnmet(const Pattern& pattern, size_t task_class) const {
    return draft_.CostOfLast(pattern, task_class) > least_[task_class];
  }
  bool HasUnmet(const Pattern& pattern) const {
    return std::ranges::any_of(pattern.tasks, [&](const auto& tasks) {
      return IsUnmet(pattern, tasks.first);
    });
  }

  template <class Condition>
  std::optional<size_t> PickWhere(Condition condition, bool may_be_any = true) {
    const size_t size = draft_.patterns().size();
    const size_t begin = rng_->Below(size);
    for (size_t i = 0; i < size && may_be_any; ++i) {
      ++work_;
      const size_t p = (begin + i) % size;
      if (condition(p)) return p;
    }
    return std::nullopt;
  }

  size_t PickFirst() {
    if (rng_->Chance(3, 4)) {
      const auto has_unmet = [&](size_t p) {
        return HasUnmet(draft_.patterns()[p]);
      };
      if (const auto p = PickWhere(has_unmet, !are_all_met_)) return *p;
      are_all_met_ = true;
    }
    return PickAny();
  }

  size_t PickAny() {
    size_t picked = rng_->Below(draft_.patterns().size());
    if (values_.empty()) return picked;
    for (int i = 1; i < kWastefulOf; ++i) {
      const size_t p = rng_->Below(draft_.patterns().size());
      if (WasteOn(p) > WasteOn(picked)) picked = p;
    }
    return picked;
  }

  double WasteOn(size_t p) const {
    return draft_.patterns()[p].machines > 0 ? most_[GroupOf(p)] - ValueOf(p)
                                             : 0;
  }

  double ValueOf(size_t p) const {
    double value = 0;
    for (const auto& [c, count] : draft_.patterns()[p].tasks) {
      value += values_[c] * static_cast<double>(count);
    }
    return value;
  }

  // A class on the machine that costs less elsewhere, if any.
  size_t PickUnmet(size_t p) {
    const auto& tasks = draft_.patterns()[p].tasks;
    if (tasks.empty()) return problem_.classes.size();
    const size_t begin = rng_->Below(tasks.size());
    for (size_t i = 0; i < tasks.size(); ++i) {
      const size_t c = tasks[(begin + i) % tasks.size()].first;
      if (IsUnmet(draft_.patterns()[p], c)) return c;
    }
    return problem_.classes.size();
  }

  const PackingProblem& problem_;
  const PackingDraft& draft_;
  const std::vector<double> values_;
  std::vector<double> most_;  // By group: the most on any of its machines.
  const bool is_wide_;
  Rng* rng_;
  std::vector<int64_t> least_;  // By class: at its best place.
  // True if a check of all tasks found none that costs less elsewhere.
  bool are_all_met_ = false;
  int64_t work_ = 0;
};

// A random factor near 1, off by at most `noise`.
double Near1(double noise, Rng* rng) {
  constexpr int kSteps = 1000;
  const auto step = static_cast<double>(rng->Between(-kSteps, kSteps));
  return 1 + noise * step / kSteps;
}

// Begins with any pattern, so that the same machines do not end up the same way
// each time.
void PutAny(const PatternRelaxation& relaxation, Rng* rng,
            PackingDraft* draft) {
  const std::vector<KnownPattern>& patterns = relaxation.patterns();
  for (int attempt = 0; attempt < kPutAttempts && !patterns.empty();
       ++attempt) {
    const KnownPattern& any = patterns[rng->Below(patterns.size())];
    if (draft->Put({any.group, 1, any.tasks})) return;
  }
}

// Fills one machine after the other, at prices that differ slightly each time.
void PutInTurn(PatternRelaxation* relaxation, Rng* rng, PackingDraft* draft) {
  std::vector<double> values = relaxation->values_by_size();
  for (double& value : values) value *= Near1(kNoise, rng);
  const double liking = kLikings[rng->Below(std::size(kLikings))];
  for (const Pattern& pattern :
       relaxation->FillInTurn(draft->rest(), values, liking)) {
    draft->Put(pattern);
  }
  draft->FillUp();
  relaxation->Charge(draft->MoveUp() + draft->TakeWork());
}

// The worth of tasks when machines are filled with the most urgent first.
class LevelValues {
 public:
  LevelValues(const PackingProblem& problem,
              const PatternRelaxation& relaxation) {
    for (size_t level = 0; level < relaxation.level_count(); ++level) {
      std::vector<int64_t> costs(problem.classes.size(), 0);
      for (size_t c = 0; c < costs.size(); ++c) {
        for (const WaitingStep& step : problem.classes[c].waiting) {
          if (step.level == level) costs[c] = std::max(costs[c], step.cost);
        }
        for (const size_t b : problem.classes[c].budgets) {
          const PackingBudget& budget = problem.budgets[b];
          if (budget.level == level) costs[c] = std::max(costs[c], budget.cost);
        }
      }
      by_cost_.push_back(PartsOfMost(costs));
      std::vector<int64_t> prices = relaxation.prices_by_size(level);
      prices.resize(costs.size());
      by_size_.push_back(PartsOfMost(prices));
      for (size_t c = 0; c < costs.size(); ++c) {
        // Budget costs have no size, and if all have room, nothing has.
        if (prices[c] == 0) by_size_.back()[c] = by_cost_.back()[c];
      }
    }
  }

  // By level, then class: the worth by waiting cost or by size, slightly
  // different each time.  A task is worth far more than one of the level below,
  // except half the time if nothing of either waits, since both must be placed.
  std::vector<std::vector<double>> Draw(const LevelCosts& waiting,
                                        Rng* rng) const {
    std::vector<std::vector<double>> values =
        rng->Chance(1, 2) ? by_size_ : by_cost_;
    const bool has_equals = rng->Chance(1, 2);
    double worth = 1;
    for (size_t level = values.size(); level-- > 0;) {
      for (double& value : values[level]) value *= worth * Near1(kNoise, rng);
      if (level == 0) break;
      const bool is_equal =
          has_equals && waiting[level] == 0 && waiting[level - 1] == 0;
      if (!is_equal) worth *= PatternRelaxation::kLevelWorth;
    }
    return values;
  }
  // Per draw.
  int64_t work() const {
    return std::ssize(by_cost_) * std::ssize(by_cost_.front());
  }

 private:
  static constexpr double kNoise = 0.2;

  static std::vector<double> PartsOfMost(const std::vector<int64_t>& amounts) {
    const auto most = std::max<int64_t>(std::ranges::max(amounts), 1);
    std::vector<double> parts;
    for (const int64_t amount : amounts) {
      parts.push_back(static_cast<double>(amount) / static_cast<double>(most));
    }
    return parts;
  }

  std::vector<std::vector<double>> by_cost_;
  std::vector<std::vector<double>> by_size_;
};

// Fills one machine after the other with the most urgent tasks.
void PutByLevel(const LevelValues& values, const LevelCosts& waiting,
                PatternRelaxation* relaxation, Rng* rng, PackingDraft* draft) {
  const size_t first = rng->Below(draft->rest().machines.size());
  const size_t together =
      rng->Chance(2, 3) ? 0 : rng->Below(relaxation->level_count());
  for (const Pattern& pattern : relaxation->FillByLevel(
           draft->rest(), {first, together}, values.Draw(waiting, rng))) {
    draft->Put(pattern);
  }
  draft->FillUp();
  relaxation->Charge(draft->MoveUp() + draft->TakeWork() + values.work());
}

// The levels that must stay as they are: all of them, or those above one that
// exceeds its bound.
std::vector<int64_t> HeldLevels(const LevelCosts& waiting,
                                const LevelCosts& bound, size_t level_count,
                                Rng* rng) {
  std::vector<size_t> ends;
  for (size_t level = 0; level < level_count; ++level) {
    if (waiting[level] > bound[level]) ends.push_back(level);
  }
  std::vector<int64_t> held = waiting.ByLevel(level_count);
  if (ends.empty()) return held;
  ends.push_back(level_count);
  held.resize(ends[rng->Below(ends.size())]);
  return held;
}

// Returns whether it has placed anything.
bool PutRounded(const std::vector<PatternRelaxation::Amount>& amounts,
                double round_up_from, const PatternRelaxation& relaxation,
                PackingDraft* draft) {
  if (amounts.empty()) return false;
  bool has_put = false;
  const PatternRelaxation::Amount* most = &amounts[0];
  const auto put = [&](size_t known, int64_t machines) {
    const KnownPattern& pattern = relaxation.patterns()[known];
    return machines > 0 && draft->Put({pattern.group, machines, pattern.tasks});
  };
  for (const PatternRelaxation::Amount& amount : amounts) {
    has_put |= put(amount.pattern,
                   static_cast<int64_t>(
                       std::floor(amount.machines + 1 - round_up_from + 1e-6)));
    if (amount.machines > most->machines) most = &amount;
  }
  return has_put || put(most->pattern, 1);
}

}  // namespace

PackingDraft Dive(PackingDraft draft, std::span<const int64_t> held,
                  double round_up_from, PatternRelaxation* relaxation,
                  const PatternRelaxation::Relaxed* first) {
  const auto relax = [&] {
    return relaxation->Relax(draft.rest(), held,
                             PatternRelaxation::Wanted::kAmounts);
  };
  PatternRelaxation::Relaxed relaxed = first != nullptr ? *first : relax();
  while (PutRounded(relaxed.amounts, round_up_from, *relaxation, &draft)) {
    relaxed = relax();
  }
  draft.FillUp();
  relaxation->Charge(draft.MoveUp() + draft.TakeWork());
  return draft;
}

void Mend(const PackingProblem& problem, const MendOptions& options,
          PatternRelaxation* relaxation, PackingDraft* draft) {
  if (draft->patterns().empty()) return;
  Rng rng(options.seed);
  // For machines that may lose a part of what they run to more urgent tasks.
  std::optional<LevelValues> by_level;
  if (relaxation->level_count() > 1 &&
      std::ranges::any_of(problem.classes, &PackingClass::runs)) {
    by_level.emplace(problem, *relaxation);
  }
  Picker picker(
      problem, *draft,
      options.in_turn ? relaxation->values_by_size() : std::vector<double>(),
      by_level.has_value(), &rng);
  PackingCost cost = draft->Cost();
  for (int attempts = 0; attempts < options.attempts_max; ++attempts) {
    if (cost <= options.bound || relaxation->IsSpent() ||
        relaxation->work() >= options.work_max) {
      return;
    }
    PackingRest rest;
    rest.machines.assign(problem.groups.size(), 0);
    rest.tasks = draft->rest().tasks;
    rest.caps = draft->rest().caps;
    std::vector<size_t> taken;
    for (const size_t p : picker.Pick()) {
      if (draft->patterns()[p].machines == 0) continue;
      draft->TakeOut(p, &rest);
      taken.push_back(p);
    }
    // What follows passes over all groups, and over all patterns.
    relaxation->Charge(picker.TakeWork() + (std::ssize(problem.groups) +
                                            std::ssize(draft->patterns())) /
                                               kSkippedPerWork);
    if (taken.empty()) continue;
    PackingDraft made = draft->MakeEmpty(std::move(rest));
    if (by_level.has_value() && (options.in_turn || rng.Chance(1, 2))) {
      PutByLevel(*by_level, cost.waiting, relaxation, &rng, &made);
    } else if (options.in_turn) {
      PutInTurn(relaxation, &rng, &made);
    } else {
      if (rng.Chance(1, 2)) PutAny(*relaxation, &rng, &made);
      const std::vector<int64_t> held = HeldLevels(
          cost.waiting, options.bound.waiting, relaxation->level_count(), &rng);
      made = Dive(std::move(made), held,
                  kRoundUpFrom[rng.Below(std::size(kRoundUpFrom))], relaxation);
    }
    PackingCost mended = made.Cost();
    mended.placed += draft->placed_cost();
    if (mended > cost) {
      for (const size_t p : taken) draft->PutBack(p);
      continue;
    }
    draft->PutIn(made);
    picker.NoteNew(made.patterns());
    if (mended < cost) attempts = 0;
    cost = mended;
  }
}

}  // namespace sluice
