// The lower bound of a packing problem, and the patterns behind it.
//
// The relaxation lets a fraction of a machine hold a pattern, an integral
// filling (Gilmore and Gomory: A linear programming approach to the cutting
// stock problem, 1961).  Patterns are generated on demand: the master's prices
// say what one more task of a class is worth, and the best filling of each
// group at these prices is the pattern that it lacks.
//
// The objective is the least waiting cost of a level, with each level above
// held at the waiting cost W that it may leave, and those below ignored; or,
// with all levels held, the least cost of placements.  For any price v(c) >= 0
// of having one more task of class c placed, the former is at least
//
//   sum over tasks of the level of the less of v and the waiting cost
//     + sum over levels above of (v of all their tasks - the most that tasks of
//                                 waiting cost W are worth)
//     - sum over g of machines(g) * the best filling of g at values v,
//
// and the latter at least
//
//   sum over levels of (v of all their tasks - the most that tasks of waiting
//                       cost W are worth)
//     - sum over g of machines(g) * the best filling of g at v - cost
//
// For classes that others need for company, v may also be negative: their worth
// there is the company, which is limited.
// With a price w(k) >= 0 of what cap k allows, v is lower by w if a task counts
// for it, and both sums are lower by w(k) for each task that it allows.  The
// caps of a spread have a price u(k) >= 0 of their floors, too: v is higher by
// u there.  The sums are lower by u(k) for each task ahead, and by the excess
// of all w over all u for each task by which the caps may rise.
// With a price y(b) >= 0 of what a budget allows to wait, at most its excess
// cost on the level in question, a waiting task costs y(b) more, and the sums
// are lower by y(b) for each task that may wait.  If the budget's level is
// held, the waiting cost W may also go into its excess.  All this is Lagrangian
// relaxation (Geoffrion: Lagrangean relaxation for integer programming, 1974).
// Prices and these sums are integers, and fillings come with a bound.  So the
// result is proved, whatever the master's floating-point arithmetic did.
//
// Threads: none.  Determinism: the same calls give the same patterns.

#ifndef SLUICE_PACKING_PATTERN_RELAXATION_H_
#define SLUICE_PACKING_PATTERN_RELAXATION_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "packing/machine_filling.h"
#include "packing/packing_problem.h"
#include "packing/packing_rest.h"

namespace sluice {

// A known pattern, and what its tasks cost on one machine.
struct KnownPattern {
  size_t group = 0;
  std::vector<std::pair<size_t, int64_t>> tasks;
  int64_t cost = 0;
};

class PatternRelaxation {
 public:
  static constexpr int64_t kPartsOfWork = 3;
  // The worth of a task relative to one of the level below, when machines are
  // filled one after the other.
  static constexpr double kLevelWorth = 8;

  // `problem` must outlive this.  Its work ends at about `work_max`.  One
  // relaxation takes at most one part in `parts_of_work` of what is left.  A
  // level with many optima would otherwise take everything, and what comes
  // after it finds more.
  PatternRelaxation(const PackingProblem& problem, int64_t work_max,
                    int64_t parts_of_work = kPartsOfWork);

  struct Amount {
    size_t pattern = 0;
    double machines = 0;
  };
  struct Relaxed {
    int64_t bound = 0;
    std::vector<int64_t> prices;  // As for BoundAt().
    std::vector<Amount> amounts;  // Positive ones only.
  };
  // If only the amounts are wanted, the bound gets less effort.  If there are
  // too many classes and groups to solve a master in the work left, there are
  // no amounts, and the bound is that of the prices by size, or 0.
  enum class Wanted { kBound, kAmounts };
  // The least waiting cost of the next level if the first levels are held at
  // these waiting costs; or the least cost of placements if all levels are
  // held.  `rest` is the problem, or what a search has left of it.
  Relaxed Relax(const PackingRest& rest, std::span<const int64_t> held,
                Wanted wanted = Wanted::kBound);

  // The bound that these prices prove, wherever they come from.  They are those
  // of each class, of each cap and its floor, and of each budget.
  int64_t BoundAt(const PackingRest& rest, std::span<const int64_t> held,
                  const std::vector<int64_t>& prices);

  size_t level_count() const { return prices_by_size_.size(); }

  // Fills one machine after the other with the most valuable tasks.  A task is
  // worth its class's value, more by level, and up to `liking` more the better
  // it likes the machine.
  std::vector<Pattern> FillInTurn(const PackingRest& rest,
                                  const std::vector<double>& values,
                                  double liking);
  struct FillingOrder {
    size_t first_group = 0;
    // Tasks of a class that are at least this urgent count as much as the last
    // of them.
    size_t together = 0;
  };
  // The same, but takes from each class only the tasks of its most urgent
  // remaining step, or all of them down to a level.  So a machine may hold a
  // part of a class some of which must not wait: the relaxation cannot tell
  // that from all and nothing.  `values`: by level, then class.
  std::vector<Pattern> FillByLevel(
      const PackingRest& rest, const FillingOrder& order,
      const std::vector<std::vector<double>>& values);
  // Generates the first patterns, and returns them as packings, each filled in
  // turn.
  std::vector<std::vector<Pattern>> Seed();
  // By class: the worth of its size when as much as possible of the level is
  // placed. 0 by cap.
  const std::vector<int64_t>& prices_by_size(size_t level) const {
    return prices_by_size_[level];
  }
  // By class: the same, at most 1, or its size if all have room.
  const std::vector<double>& values_by_size() const { return values_by_size_; }

  const std::vector<KnownPattern>& patterns() const { return patterns_; }
  // Adds work that is done for it elsewhere.
  void Charge(int64_t work) { work_ += work; }
  int64_t work() const { return work_ + filling_.work(); }
  int64_t WorkLeft() const { return std::max<int64_t>(work_max_ - work(), 0); }
  bool IsSpent() const { return WorkLeft() == 0; }

 private:
  friend class ColumnGeneration;

  // What a task of a class is worth on a machine, what it is worth if it moves
  // there, and how many tasks of the class are worth that.
  struct TaskWorth {
    double liked = 0;
    double moved = 0;
    int64_t count = 0;
  };
  // Calls value(class, its most urgent remaining tasks, cost there).
  template <class Value>
  std::vector<Pattern> FillEach(const PackingRest& rest, size_t first_group,
                                Value value);
  // As a fraction of the unit of cost.
  double PartOf(int64_t cost) const {
    return static_cast<double>(cost) / static_cast<double>(cost_unit_);
  }
  // Adds the pattern to the known ones.  Returns whether it was new.
  bool Learn(const Pattern& made);

  const PackingProblem& problem_;
  const int64_t work_max_;
  const int64_t parts_of_work_;
  MachineFilling filling_;
  std::vector<KnownPattern> patterns_;
  const bool has_moves_;                              // Of running tasks.
  std::vector<bool> is_company_;                      // By class: for others.
  std::vector<std::vector<size_t>> patterns_of_;      // By group.
  std::vector<std::vector<int64_t>> prices_by_size_;  // By level, then class.
  std::vector<double> values_by_size_;
  bool has_likings_ = false;  // True if placing any class costs.
  // By level, the lowest cost of a waiting task; and the highest cost of a
  // placed one.
  std::vector<int64_t> waiting_units_;
  int64_t cost_unit_ = 1;
  int64_t work_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_PACKING_PATTERN_RELAXATION_H_
