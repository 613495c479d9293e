// A packing problem: which tasks share a machine.
//
// Classes of equal tasks ask for amounts of several resources; groups of equal
// machines have so much of each free.  A task costs what its class is charged
// on a machine of the group, or what it costs to leave it waiting.  Wanted are
// first the placements that leave the least waiting cost, level by level, and
// of these the ones that cost the least.
//
// Nothing here knows a task, a machine or a policy: core/ gives classes and
// groups their meaning.  Of the rules between tasks those about one machine are
// part of the problem: how many of a class may share it, which classes may not,
// and which must; and caps on what stands on several machines together.  A rule
// that is left out only forbids placements, so what is proved here is a bound
// for the problem with that rule, too.
//
// Tasks that run already are classes, too: what such a class has waiting is
// stopped, and what a machine holds beyond those that run there moves to it.
//
// Units: amounts and costs are integers; dimensions are resources.
// Threads: values.

#ifndef SLUICE_PACKING_PACKING_PROBLEM_H_
#define SLUICE_PACKING_PACKING_PROBLEM_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "packing/level_costs.h"

namespace sluice {

// The cost of a class where it may not go.
inline constexpr int64_t kNotAllowed = std::numeric_limits<int64_t>::max();

// `count` tasks that each cost so much to leave waiting.
struct WaitingStep {
  int64_t count = 0;
  int64_t cost = 0;  // More than 0.
  size_t level = 0;
};

struct PackingClass {
  std::vector<int64_t> request;  // By dimension, none negative.
  // All its tasks, those that are cheapest to leave waiting first: of the
  // lowest level, and of one level by rising cost.
  std::vector<WaitingStep> waiting;
  int64_t per_machine_max = std::numeric_limits<int64_t>::max();
  // Classes of which no task shares a machine with one of this class: each says
  // the same of this one, and none is itself.  Ascending.
  std::vector<size_t> apart_from = {};
  // Its tasks stand only where they have company: a task of one of these
  // classes, or one that is no part of the problem.  Ascending.  These may need
  // company themselves, but no class needs itself, directly or through others.
  bool needs_company = false;
  std::vector<size_t> company = {};
  std::vector<size_t> budgets = {};  // Ascending.
  // Its tasks run already, where `PackingProblem::staying` says.
  bool runs = false;
  // Of a class that runs: what each task that moves costs beside what it is
  // charged there.  Such a class needs no company and is none.
  int64_t move_cost = kNotAllowed;

  // Whether its tasks cost more on some machines than on others of the kind.
  bool MayMove() const { return runs && move_cost != kNotAllowed; }

  bool IsApartFrom(size_t task_class) const {
    return std::ranges::binary_search(apart_from, task_class);
  }
  int64_t count() const {
    int64_t count = 0;
    for (const WaitingStep& step : waiting) count += step.count;
    return count;
  }
  // The step of the most urgent of the first `count` tasks, with how many of
  // these are of it.  REQUIRES: there are any.
  WaitingStep StepOf(int64_t count) const {
    for (WaitingStep step : waiting) {
      step.count = std::min(step.count, count);
      count -= step.count;
      if (count == 0) return step;
    }
    return waiting.back();
  }
};

struct PackingGroup {
  std::vector<int64_t> free;  // By dimension, of each machine.
  int64_t machines = 0;
  size_t kind = 0;  // Which row of the costs is its.
  // By dimension, in the mean of its machines; empty: what is free.
  std::vector<int64_t> capacity = {};
  std::vector<size_t> caps = {};  // That tasks on its machines count for.
};

// On the machines of all groups that name it at most so many tasks of some
// classes are placed together.
struct PackingCap {
  std::vector<size_t> classes;  // Ascending.
  int64_t most = 0;
  int64_t rise_max = 0;    // How many more, where a spread lets it rise.
  int64_t of_running = 1;  // What a task counts for that runs.

  bool Counts(size_t task_class) const {
    return std::ranges::binary_search(classes, task_class);
  }
};

// Caps that rise together: each lets in one more for each task that all their
// domains hold, placed or ahead; if less than none, less of what does not run.
struct PackingSpread {
  std::vector<size_t> caps;
  // By cap: how many more its domain has than the emptiest, without what runs.
  std::vector<int64_t> ahead;
  int64_t rise_max = 0;
};

// Of the tasks of these classes at least so many are placed, or none.
struct PackingGang {
  std::vector<size_t> classes;  // Ascending; of no other gang.
  int64_t minimum = 0;
};

// So many of its tasks may wait; each further one costs so much more.
struct PackingBudget {
  int64_t waiting_max = 0;
  int64_t cost = 1;  // More than 0.
  size_t level = 0;
};

// What stands together on each of `machines` machines of a group.
struct Pattern {
  size_t group = 0;
  int64_t machines = 0;
  std::vector<std::pair<size_t, int64_t>> tasks;  // Class and count, ascending.
  friend auto operator<=>(const Pattern&, const Pattern&) = default;
};

struct PackingProblem {
  std::vector<PackingClass> classes;
  std::vector<PackingGroup> groups;
  // By kind, then class: what a task is charged, or kNotAllowed.
  std::vector<std::vector<int64_t>> costs;
  // By kind: the classes that have company there by what stays.  Ascending;
  // kinds that are missing have none.
  std::vector<std::vector<size_t>> company = {};
  // By kind: of classes that run, how many there are on each machine.
  // Ascending; classes and kinds that are missing have none.
  std::vector<std::vector<std::pair<size_t, int64_t>>> staying = {};
  // A packing that is known already; none is no worse than it.
  std::vector<Pattern> former = {};
  std::vector<PackingCap> caps = {};
  std::vector<PackingSpread> spreads = {};
  std::vector<PackingGang> gangs = {};
  std::vector<PackingBudget> budgets = {};

  // Whether the class stands there only beside others of the problem.
  bool NeedsCompany(size_t task_class, size_t kind) const {
    return classes[task_class].needs_company &&
           (kind >= company.size() ||
            !std::ranges::binary_search(company[kind], task_class));
  }
  // The most tasks of the class that a machine of the kind may hold.
  int64_t MostOn(size_t task_class, size_t kind) const {
    const PackingClass& one = classes[task_class];
    if (!one.runs || one.MayMove()) return one.per_machine_max;
    return std::min(RunningOn(task_class, kind), one.per_machine_max);
  }
  // How many tasks of the class run on each machine of the kind.
  int64_t RunningOn(size_t task_class, size_t kind) const {
    if (kind >= staying.size()) return 0;
    const auto it = std::ranges::lower_bound(
        staying[kind], task_class, {}, &std::pair<size_t, int64_t>::first);
    return it == staying[kind].end() || it->first != task_class ? 0
                                                                : it->second;
  }
  // What so many tasks of the class are charged on a machine of the kind, with
  // their moves.  REQUIRES: they may be there.
  int64_t ChargeFor(size_t task_class, size_t kind, int64_t count) const {
    const PackingClass& one = classes[task_class];
    int64_t charge = costs[kind][task_class] * count;
    if (one.MayMove()) {
      charge += one.move_cost *
                std::max<int64_t>(count - RunningOn(task_class, kind), 0);
    }
    return charge;
  }
  // What each task of the class counts for; 0: the cap is not about it.
  int64_t WeightIn(const PackingCap& cap, size_t task_class) const {
    if (!cap.Counts(task_class)) return 0;
    return classes[task_class].runs ? cap.of_running : 1;
  }
  size_t level_count() const {
    size_t count = 1;
    for (const PackingClass& one : classes) {
      if (!one.waiting.empty()) {
        count = std::max(count, one.waiting.front().level + 1);
      }
    }
    for (const PackingBudget& budget : budgets) {
      count = std::max(count, budget.level + 1);
    }
    return count;
  }
};

struct PackingCost {
  LevelCosts waiting;
  int64_t placed = 0;
  friend auto operator<=>(const PackingCost&, const PackingCost&) = default;
};

struct PackingSolution {
  std::vector<Pattern> patterns;
  PackingCost cost;
  // No placement that leaves at most as much waiting cost of the levels above
  // as this solution does leaves less of a level than `bound.waiting` says, and
  // none that leaves as much of all costs less than `bound.placed`.
  PackingCost bound;
  // The bounds hold in any case; where the work ended early they may be weak.
  bool is_cut_short = false;
  int64_t work = 0;  // In steps of searches and of the linear program.
};

}  // namespace sluice

#endif  // SLUICE_PACKING_PACKING_PROBLEM_H_
