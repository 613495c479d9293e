// Who gets the places that a packing has for tasks, if some tasks belong to
// gangs.
//
// A packing says how many places it has for tasks of each class.  Tasks with
// the highest waiting cost get them first, one by one.  A gang takes its
// minimum at once, or nothing; its turn depends on the average waiting cost of
// its tasks.  If a gang finds some places but too few, a few other orders are
// tried: with that gang first, and without one of those before it.
//
// Threads: none.  Determinism: the same places go to the same tasks.

#ifndef SLUICE_PACKING_SEATING_H_
#define SLUICE_PACKING_SEATING_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "packing/packing_problem.h"

namespace sluice {

class Seating {
 public:
  // Each class of the packing may stand for several of `problem`: `merged_of`
  // maps the problem's classes to those of the packing.
  Seating(const PackingProblem& problem, std::span<const size_t> merged_of);

  struct Gang {
    size_t index = 0;  // In the problem.
    int64_t minimum = 0;
    // How many tasks of each class of the packing it has; ascending.
    std::vector<std::pair<size_t, int64_t>> tasks = {};
    // What waiting costs its costliest tasks, as many as its minimum.
    LevelCosts cost = {};
    size_t kind = 0;  // Equal for equal tasks and minimums.
  };
  // The gangs with at least their minimum of tasks, in the order of their
  // turns.
  const std::vector<Gang>& gangs() const { return gangs_; }
  // True if any gang has tasks of the class; and the gangs with tasks of
  // several classes that do.
  bool HasGangs(size_t merged) const { return has_gangs_[merged]; }
  const std::vector<size_t>& ManifoldGangs(size_t merged) const {
    return manifold_[merged];
  }

  struct Seated {
    LevelCosts waiting;          // Cost of the others.
    std::vector<int64_t> empty;  // Places left, by class.
    std::vector<int64_t> tasks;  // Those with places, by class of the problem.
    std::vector<bool> has_started;  // By gang.
  };
  Seated Seat(std::span<const int64_t> places);

  // Parts of the same, for a packing without places for `waiting` tasks of each
  // class.
  LevelCosts CostOf(std::span<const int64_t> waiting);
  bool HasStarted(size_t gang, std::span<const int64_t> waiting);
  // With places only for tasks of this level or of more urgent ones.
  int64_t EmptyOf(size_t merged, std::span<const int64_t> waiting,
                  size_t level_max = kAllLevels);

  // Tasks and gangs that had a turn since the last call.
  int64_t TakeWork() { return std::exchange(work_, 0); }

 private:
  static constexpr size_t kAllLevels = std::numeric_limits<size_t>::max();

  // Tasks of equal cost.
  struct Step {
    size_t task_class = 0;  // Of the problem.
    size_t merged = 0;
    int64_t count = 0;
    int64_t cost = 0;
    size_t level = 0;
    std::optional<size_t> gang = {};
    bool is_left_out = false;
  };
  // The turn of a gang that is to start, or of single tasks.
  struct Turn {
    std::optional<size_t> gang = {};
    size_t step = 0;
    size_t level = 0;  // Of the most urgent.
  };
  struct Variant {
    std::optional<size_t> first = {};    // Goes first.
    std::optional<size_t> without = {};  // Does not go.
  };
  struct Trial {
    std::vector<int64_t> left;      // By class.
    std::vector<int64_t> taken;     // By step.
    std::vector<bool> has_started;  // By gang of the table.
    std::vector<int64_t> worth;     // By level, of tasks with places.
    std::vector<size_t> squeezed;   // Those that found too few.
  };
  // Classes that are linked by gangs of several classes.
  struct Table {
    std::vector<size_t> classes;
    std::vector<size_t> steps;
    std::vector<size_t> gangs;
    std::vector<Turn> turns;
    LevelCosts all;  // If all its tasks wait.
    // By places and level.
    std::map<std::pair<std::vector<int64_t>, size_t>, Trial> known = {};
  };

  void FindSteps(const PackingProblem& problem,
                 std::span<const size_t> merged_of);
  void FindGangs(const PackingProblem& problem);
  void FindKinds();
  void FindTables();
  void FindTurns();
  LevelCosts WaitingAt(const Table& table, const Trial& trial) const;
  // Starts the gang if it finds enough places.  Returns false if it finds some,
  // but too few.
  bool Start(size_t gang, Trial* trial) const;
  void Take(size_t step, int64_t count_max, Trial* trial) const;
  Trial Try(const Table& table, std::span<const int64_t> places,
            size_t level_max, const Variant& variant);
  std::vector<Variant> VariantsOf(const Table& table, const Trial& trial) const;
  const Trial& SeatAt(Table* table, std::vector<int64_t> places,
                      size_t level_max);
  const Trial& SeatBeside(Table* table, std::span<const int64_t> waiting,
                          size_t level_max = kAllLevels);

  std::vector<Step> steps_;
  std::vector<Gang> gangs_;
  std::vector<std::vector<size_t>> steps_of_gang_;  // The dearest first.
  std::vector<Table> tables_;
  // The index of each class, gang and step in its table; and the table of each
  // class.
  std::vector<size_t> class_at_;
  std::vector<size_t> gang_at_;
  std::vector<size_t> step_at_;
  std::vector<size_t> table_of_;
  std::vector<bool> has_gangs_;
  std::vector<std::vector<size_t>> manifold_;
  std::vector<int64_t> totals_;  // Tasks by class of the packing.
  size_t classes_ = 0;           // Of the problem.
  size_t levels_ = 0;
  int64_t work_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_PACKING_SEATING_H_
