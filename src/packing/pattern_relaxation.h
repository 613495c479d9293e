// What a packing problem costs at least, and which patterns it takes.
//
// The relaxation lets a fraction of a machine hold a pattern, an integral
// filling (Gilmore and Gomory: A linear programming approach to the cutting
// stock problem, 1961).  Patterns are generated on demand: the master's prices
// say what one more task of a class is worth, and the best filling of each
// group at these prices is the pattern that it lacks.
//
// What is sought is the least waiting cost of a level, where each level above
// is held at the waiting cost W that it may leave and those below count for
// nothing; or, with all levels held, the least cost of placements.  For any
// price v(c) >= 0 of having one more task of class c placed, the former is at
// least
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
// Of classes that others need for company v may be less than 0, too: what is
// worth it there is the company, of which there is only so much.
// With a price w(k) >= 0 of what cap k lets in, v is less by w where a task
// counts for it, and so are both sums by w(k) for each task that it lets in.
// The caps of a spread have a price u(k) >= 0 of their floors, too: v is more
// by u there, the sums are less by u(k) for each that is ahead, and by the
// excess of all w over all u for each that the caps may rise by.
// With a price y(b) >= 0 of what a budget lets wait, no more than its excess
// costs on the level that is sought, a task that waits costs so much more, and
// the sums are less by y(b) for each that may wait; where the level of the
// budget is held its excess is one more thing that the waiting cost W may go
// into.  All this is Lagrangian relaxation (Geoffrion: Lagrangean relaxation
// for integer programming, 1974).  Prices are integers and so are these sums,
// and fillings come with a bound, so that the result is proved whatever the
// floating-point arithmetic of the master did.
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

// A pattern that is known, and what its tasks cost on one machine.
struct KnownPattern {
  size_t group = 0;
  std::vector<std::pair<size_t, int64_t>> tasks;
  int64_t cost = 0;
};

class PatternRelaxation {
 public:
  static constexpr int64_t kPartsOfWork = 3;
  // What a task is worth beside one of the level below, where machines are
  // filled one after the other.
  static constexpr double kLevelWorth = 8;

  // `problem` must outlive this.  Its work ends at about `work_max`.  A
  // relaxation takes no more than one of so many parts of what is left: where a
  // level has many optima it would take all, and what follows it finds more.
  PatternRelaxation(const PackingProblem& problem, int64_t work_max,
                    int64_t parts_of_work = kPartsOfWork);

  struct Amount {
    size_t pattern = 0;
    double machines = 0;
  };
  struct Relaxed {
    int64_t bound = 0;
    std::vector<int64_t> prices;  // As at BoundAt(), where it was found.
    std::vector<Amount> amounts;  // Those over 0.
  };
  // Where only the amounts are wanted the bound is not looked for with care.
  // With more classes and groups than a master can be solved for in the work
  // that is left there are no amounts, and the bound is that of the prices by
  // size, or 0.
  enum class Wanted { kBound, kAmounts };
  // With the first levels held at these waiting costs, the least waiting cost
  // of the next one; or, with all of them, the least cost of placements. `rest`
  // is the problem, or what a search has left of it.
  Relaxed Relax(const PackingRest& rest, std::span<const int64_t> held,
                Wanted wanted = Wanted::kBound);

  // What these prices prove, wherever they come from: of each class, of each
  // cap and its floor, and of each budget.
  int64_t BoundAt(const PackingRest& rest, std::span<const int64_t> held,
                  const std::vector<int64_t>& prices);

  size_t level_count() const { return prices_by_size_.size(); }

  // Fills one machine after the other with what is worth the most: a task its
  // class's value, more by level, and up to `liking` more the better it likes
  // the machine.
  std::vector<Pattern> FillInTurn(const PackingRest& rest,
                                  const std::vector<double>& values,
                                  double liking);
  struct FillingOrder {
    size_t first_group = 0;
    // Tasks of a class that are at least this urgent are as good as the last of
    // them.
    size_t together = 0;
  };
  // The same, and of each class only the tasks of its most urgent step that is
  // left, or of all of them down to a level.  So a machine may hold a part of a
  // class of which some must not wait: the relaxation does not tell that from
  // all and nothing. `values`: by level, then class.
  std::vector<Pattern> FillByLevel(
      const PackingRest& rest, const FillingOrder& order,
      const std::vector<std::vector<double>>& values);
  // Learns patterns to begin with, and returns them as packings, each made in
  // turn.
  std::vector<std::vector<Pattern>> Seed();
  // By class: what its size is worth where the most of the level is placed; and
  // by cap nothing.
  const std::vector<int64_t>& prices_by_size(size_t level) const {
    return prices_by_size_[level];
  }
  // By class: the same, 1 at most, or its size where all have room.
  const std::vector<double>& values_by_size() const { return values_by_size_; }

  const std::vector<KnownPattern>& patterns() const { return patterns_; }
  // Counts work that is done for it elsewhere.
  void Charge(int64_t work) { work_ += work; }
  int64_t work() const { return work_ + filling_.work(); }
  int64_t WorkLeft() const { return std::max<int64_t>(work_max_ - work(), 0); }
  bool IsSpent() const { return WorkLeft() == 0; }

 private:
  friend class ColumnGeneration;

  // What a task of a class is worth on a machine, and where it would move
  // there, and how many of the class are worth that.
  struct TaskWorth {
    double liked = 0;
    double moved = 0;
    int64_t count = 0;
  };
  // Calls value(class, the most urgent of its tasks that are left, cost there).
  template <class Value>
  std::vector<Pattern> FillEach(const PackingRest& rest, size_t first_group,
                                Value value);
  // As a part of the unit of cost.
  double PartOf(int64_t cost) const {
    return static_cast<double>(cost) / static_cast<double>(cost_unit_);
  }
  // Adds the pattern to those known.  Returns whether it was none of them.
  bool Learn(const Pattern& made);

  const PackingProblem& problem_;
  const int64_t work_max_;
  const int64_t parts_of_work_;
  MachineFilling filling_;
  std::vector<KnownPattern> patterns_;
  const bool has_moves_;                              // Of what runs.
  std::vector<bool> is_company_;                      // By class: for others.
  std::vector<std::vector<size_t>> patterns_of_;      // By group.
  std::vector<std::vector<int64_t>> prices_by_size_;  // By level, then class.
  std::vector<double> values_by_size_;
  bool has_likings_ = false;  // Whether placing any class anywhere costs.
  // By level, the least cost of a task that waits, and the most of one that is
  // placed.
  std::vector<int64_t> waiting_units_;
  int64_t cost_unit_ = 1;
  int64_t work_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_PACKING_PATTERN_RELAXATION_H_
