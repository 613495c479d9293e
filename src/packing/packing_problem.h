// A packing problem: which tasks share a machine.
//
// A class is a set of equal tasks that ask for amounts of several resources; a
// group is a set of equal machines with the same free amounts.  The cost of a
// task is its class's charge on a machine of the group, or the cost of leaving
// it waiting.  The goal is the placements with the least waiting cost, level by
// level, and among these the cheapest ones.
//
// Nothing here knows a task, a machine or a policy: core/ gives classes and
// groups their meaning.  Rules between tasks about one machine are part of the
// problem: how many of a class may share it, which classes may not, and which
// must.  So are caps on what several machines hold together.  A rule that is
// left out only forbids placements, so a bound that is proved here also holds
// for the problem with that rule.
//
// Running tasks are classes, too.  A running task that waits in the solution is
// stopped.  Tasks that a machine holds beyond those that run there move to it.
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

// `count` tasks with the same waiting cost.
struct WaitingStep {
  int64_t count = 0;
  int64_t cost = 0;  // More than 0.
  size_t level = 0;
};

struct PackingClass {
  std::vector<int64_t> request;  // By dimension, none negative.
  // All its tasks, the cheapest to leave waiting first: the lowest level first,
  // and within a level by ascending cost.
  std::vector<WaitingStep> waiting;
  int64_t per_machine_max = std::numeric_limits<int64_t>::max();
  // Classes no task of which shares a machine with one of this class.  The
  // relation is symmetric and never names the class itself.  Ascending.
  std::vector<size_t> apart_from = {};
  // Its tasks may be only where they have company: a task of one of these
  // classes, or one that is no part of the problem.  Ascending.  These classes
  // may need company themselves, but no class needs itself, directly or through
  // others.
  bool needs_company = false;
  std::vector<size_t> company = {};
  std::vector<size_t> budgets = {};  // Ascending.
  // Its tasks already run, where `PackingProblem::staying` says.
  bool runs = false;
  // For a running class: the cost of each move, on top of the charge there.
  // Such a class needs no company and is none.
  int64_t move_cost = kNotAllowed;

  // True if running tasks may move: then they cost less on their own machines.
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
  // these belong to it.  REQUIRES: there are any.
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
  size_t kind = 0;  // Its row in the costs.
  // By dimension, the mean over its machines; if empty, what is free.
  std::vector<int64_t> capacity = {};
  std::vector<size_t> caps = {};  // Those that count its tasks.
};

// On the machines of all groups that name it, at most `most` tasks of these
// classes are placed together.
struct PackingCap {
  std::vector<size_t> classes;  // Ascending.
  int64_t most = 0;
  int64_t rise_max = 0;    // How far a spread may raise it.
  int64_t of_running = 1;  // What a running task counts.

  bool Counts(size_t task_class) const {
    return std::ranges::binary_search(classes, task_class);
  }
};

// Caps that rise together.  Each allows one more for each task that all their
// domains hold, placed or ahead.  A negative rise allows fewer of the tasks
// that do not run.
struct PackingSpread {
  std::vector<size_t> caps;
  // By cap: by how many its domain exceeds the emptiest one, without running
  // tasks.
  std::vector<int64_t> ahead;
  int64_t rise_max = 0;
};

// At least `minimum` tasks of these classes are placed, or none.
struct PackingGang {
  std::vector<size_t> classes;  // Ascending; in no other gang.
  int64_t minimum = 0;
};

// `waiting_max` of its tasks may wait; each further one costs `cost`.
struct PackingBudget {
  int64_t waiting_max = 0;
  int64_t cost = 1;  // More than 0.
  size_t level = 0;
};

// What each of `machines` machines of a group holds.
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
  // By kind: the classes that have company there from tasks that stay.
  // Ascending; missing kinds have none.
  std::vector<std::vector<size_t>> company = {};
  // By kind: how many tasks of running classes are on each machine.  Ascending;
  // missing classes and kinds have none.
  std::vector<std::vector<std::pair<size_t, int64_t>>> staying = {};
  // A known packing; the solution is no worse.
  std::vector<Pattern> former = {};
  std::vector<PackingCap> caps = {};
  std::vector<PackingSpread> spreads = {};
  std::vector<PackingGang> gangs = {};
  std::vector<PackingBudget> budgets = {};

  // True if the class may be there only beside others of the problem.
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
  // The charge for `count` tasks of the class on a machine of the kind,
  // including their moves.  REQUIRES: they may be there.
  int64_t ChargeFor(size_t task_class, size_t kind, int64_t count) const {
    const PackingClass& one = classes[task_class];
    int64_t charge = costs[kind][task_class] * count;
    if (one.MayMove()) {
      charge += one.move_cost *
                std::max<int64_t>(count - RunningOn(task_class, kind), 0);
    }
    return charge;
  }
  // What each task of the class counts; 0 if the cap does not count the class.
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
  // Lower bounds.  Among placements that leave at most as much waiting cost on
  // the levels above as this solution, none leaves less on a level than
  // `bound.waiting`.  Among those that leave as much on all levels, none costs
  // less than `bound.placed`.
  PackingCost bound;
  // The bounds always hold; if the work ended early, they may be weak.
  bool is_cut_short = false;
  int64_t work = 0;  // In steps of searches and of the linear program.
};

}  // namespace sluice

#endif  // SLUICE_PACKING_PACKING_PROBLEM_H_
