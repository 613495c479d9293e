#include "packing/gang_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "packing/merged_classes.h"
#include "packing/merged_groups.h"
#include "packing/packing_rest.h"
#include "packing/pattern_relaxation.h"
#include "packing/seating.h"

namespace sluice {
namespace {

// With this many open, more of them hardly prove more.
constexpr size_t kBranchesMax = 60;
// Allows for floating-point error in an amount.
constexpr double kAlmost = 1e-6;
constexpr int64_t kImpossible = std::numeric_limits<int64_t>::max();

struct Branch {
  int64_t bound = 0;
  size_t number = 0;  // In order of creation.
  // Gangs, by their index in the problem.
  std::vector<size_t> run = {};
  std::vector<size_t> wait = {};
  std::optional<size_t> in_part = {};  // To be decided on.
  // The gangs that run in the relaxation, if it starts none in part.
  std::optional<std::vector<size_t>> relaxed = {};

  // The branch with the lowest bound is looked at first.
  bool operator<(const Branch& other) const {
    return std::pair(bound, number) > std::pair(other.bound, other.number);
  }
};

class Search {
 public:
  Search(const PackingProblem& problem, std::span<const int64_t> held,
         int64_t reached, int64_t work_max)
      : problem_(problem), held_(held), reached_(reached), work_max_(work_max) {
    problem_.former.clear();
  }

  GangBound Run() {
    Open({});
    while (open_.top().bound < reached_ && open_.top().in_part.has_value() &&
           open_.size() < kBranchesMax && work_ < work_max_) {
      const Branch branch = open_.top();
      open_.pop();
      Branch with = branch;
      with.run.push_back(*branch.in_part);
      Open(std::move(with));
      Branch without = branch;
      for (size_t g = 0; g < problem_.gangs.size(); ++g) {
        if (AreAlike(g, *branch.in_part) && !IsDecided(branch, g)) {
          without.wait.push_back(g);
        }
      }
      Open(std::move(without));
    }
    const Branch& least = open_.top();
    GangBound found = {std::min(least.bound, reached_), {}, work_};
    if (least.bound < reached_) found.run = least.relaxed;
    return found;
  }

 private:
  static bool IsDecided(const Branch& branch, size_t gang) {
    return std::ranges::count(branch.run, gang) > 0 ||
           std::ranges::count(branch.wait, gang) > 0;
  }

  // True if it makes no difference which of the two runs.
  bool AreAlike(size_t a, size_t b) {
    if (a == b) return true;
    const PackingGang& one = problem_.gangs[a];
    const PackingGang& other = problem_.gangs[b];
    if (one.classes.size() != 1 || other.classes.size() != 1) return false;
    const auto is_same = [](const WaitingStep& step_a,
                            const WaitingStep& step_b) {
      return step_a.count == step_b.count && step_a.cost == step_b.cost &&
             step_a.level == step_b.level;
    };
    return one.minimum == other.minimum && KindOf(a) == KindOf(b) &&
           std::ranges::equal(problem_.classes[one.classes[0]].waiting,
                              problem_.classes[other.classes[0]].waiting,
                              is_same);
  }

  std::optional<size_t> KindOf(size_t gang) {
    if (kinds_.empty()) {
      kinds_.resize(problem_.gangs.size());
      const Seating seating = MergedClasses(problem_).MakeSeating();
      for (const Seating::Gang& one : seating.gangs()) {
        kinds_[one.index] = one.kind;
      }
    }
    return kinds_[gang];
  }

  // Relaxes the undecided rest.
  void Open(Branch branch) {
    branch.number = opened_++;
    branch.in_part.reset();
    branch.relaxed.reset();
    PackingProblem part = problem_;
    for (const size_t g : branch.wait) {
      for (const size_t c : problem_.gangs[g].classes) {
        for (std::vector<int64_t>& costs : part.costs) costs[c] = kNotAllowed;
      }
    }
    std::vector<int64_t> held(held_.begin(), held_.end());
    if (!branch.run.empty()) {
      part = WithDecided(std::move(part), branch.run);
      held.insert(held.begin(), 0);
    }
    Relax(part, held, &branch);
    open_.push(std::move(branch));
  }

  void Relax(const PackingProblem& part, std::span<const int64_t> held,
             Branch* branch) {
    const MergedClasses classes(part);
    const MergedGroups groups(classes.merged());
    const PackingProblem& merged = groups.merged();
    PatternRelaxation relaxation(merged,
                                 std::max<int64_t>(work_max_ - work_, 0));
    relaxation.Seed();
    const PackingRest whole = AllOf(merged);
    // There are fewer levels if everything that might wait on some must run.
    const size_t levels = relaxation.level_count();
    const bool is_of_costs = held_.size() == problem_.level_count();
    const bool is_any_left = held.size() < levels;
    held = held.first(std::min(held.size(), levels));
    const auto can_hold = [&](size_t level) {
      return relaxation.Relax(whole, held.first(level)).bound <= held[level];
    };
    if (!branch->run.empty() && !(can_hold(0) && can_hold(held.size() - 1))) {
      branch->bound = kImpossible;
    } else if (is_of_costs || is_any_left) {
      const auto relaxed = relaxation.Relax(whole, held);
      branch->bound = std::max(branch->bound, relaxed.bound);
      std::vector<double> places(merged.classes.size(), 0);
      for (const auto& [p, machines] : relaxed.amounts) {
        for (const auto& [c, count] : relaxation.patterns()[p].tasks) {
          places[c] += machines * static_cast<double>(count);
        }
      }
      if (!relaxation.IsSpent()) Decide(classes, places, branch);
    }
    work_ += relaxation.work() + std::ssize(part.groups) +
             std::ssize(part.classes) * std::ssize(part.costs);
  }

  // Finds the gang to be decided on: the first one, in the order of their
  // turns, for which the relaxation has some places, but too few.
  void Decide(const MergedClasses& classes, const std::vector<double>& places,
              Branch* branch) const {
    Seating seating = classes.MakeSeating();
    std::vector<int64_t> whole;
    for (size_t c = 0; c < places.size(); ++c) {
      const auto floor = static_cast<int64_t>(std::floor(places[c] + kAlmost));
      whole.push_back(std::min(floor, classes.merged().classes[c].count()));
    }
    const Seating::Seated seated = seating.Seat(whole);
    // WithDecided() has left out the gangs that are to run.
    std::vector<size_t> indices;
    for (size_t g = 0; g < problem_.gangs.size(); ++g) {
      if (std::ranges::count(branch->run, g) == 0) indices.push_back(g);
    }
    std::vector<size_t> run = branch->run;
    for (size_t i = 0; i < seating.gangs().size(); ++i) {
      const Seating::Gang& gang = seating.gangs()[i];
      const size_t index = indices[gang.index];
      if (seated.has_started[i]) run.push_back(index);
      if (seated.has_started[i] || IsDecided(*branch, index)) continue;
      for (const auto& [c, count] : gang.tasks) {
        const double left = places[c] - static_cast<double>(whole[c]);
        if (seated.empty[c] == 0 && left <= kAlmost) continue;
        branch->in_part = index;
        return;
      }
    }
    branch->relaxed = std::move(run);
  }

  PackingProblem problem_;
  const std::span<const int64_t> held_;
  const int64_t reached_;
  const int64_t work_max_;
  std::priority_queue<Branch> open_;
  std::vector<std::optional<size_t>> kinds_;  // By gang.
  size_t opened_ = 0;
  int64_t work_ = 0;
};

// States the rule on the level above all others.
void MustRun(const PackingGang& gang, PackingProblem* problem) {
  int64_t may_wait = -gang.minimum;
  for (const size_t c : gang.classes) may_wait += problem->classes[c].count();
  if (may_wait > 0 && gang.classes.size() > 1) {
    // The waiting tasks may be of any of its classes.
    for (const size_t c : gang.classes) {
      problem->classes[c].budgets.push_back(problem->budgets.size());
    }
    problem->budgets.push_back({may_wait, 1, 0});
    return;
  }
  for (const size_t c : gang.classes) {
    PackingClass& one = problem->classes[c];
    const int64_t minimum = std::min(one.count(), gang.minimum);
    one.waiting = FirstSteps(one, may_wait);
    one.waiting.push_back({minimum, 1, 0});
  }
}

}  // namespace

GangBound BoundWithGangs(const PackingProblem& problem,
                         std::span<const int64_t> held, int64_t reached,
                         int64_t work_max) {
  return Search(problem, held, reached, work_max).Run();
}

PackingProblem WithDecided(PackingProblem problem, std::span<const size_t> run,
                           std::span<const size_t> wait) {
  for (PackingClass& one : problem.classes) {
    for (WaitingStep& step : one.waiting) ++step.level;
  }
  for (PackingBudget& budget : problem.budgets) ++budget.level;
  std::vector<bool> is_decided(problem.gangs.size(), false);
  for (const size_t g : run) {
    is_decided[g] = true;
    MustRun(problem.gangs[g], &problem);
  }
  for (const size_t g : wait) {
    is_decided[g] = true;
    for (const size_t c : problem.gangs[g].classes) {
      problem.classes[c].waiting.clear();
    }
  }
  std::vector<PackingGang> others;
  for (size_t g = 0; g < problem.gangs.size(); ++g) {
    if (!is_decided[g]) others.push_back(std::move(problem.gangs[g]));
  }
  problem.gangs = std::move(others);
  return problem;
}

}  // namespace sluice
