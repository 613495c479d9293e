// Who gets the places that a packing has for tasks, where some are of gangs.
//
// A packing says how many tasks of each class it has places for.  They go to
// those first that are the dearest to leave waiting, task by task; a gang takes
// as many as must run at once, or none, in its turn by what a task of it costs
// on average.  Where a gang finds some places but too few, a few other orders
// are tried: with that gang first, and without one of those that went before.
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
  // The packing is of classes of which each may be several of `problem`: by
  // class of that, `merged_of` says which.
  Seating(const PackingProblem& problem, std::span<const size_t> merged_of);

  struct Gang {
    size_t index = 0;  // In the problem.
    int64_t minimum = 0;
    // By class of the packing, ascending: how many it has.
    std::vector<std::pair<size_t, int64_t>> tasks = {};
    LevelCosts cost = {};  // Of as many as must run, the dearest, if they wait.
    size_t kind = 0;       // The same for all with the same tasks and minimum.
  };
  // Those that have as many tasks as they need, in the order of their turns.
  const std::vector<Gang>& gangs() const { return gangs_; }
  // Whether any gang has tasks of the class, and which gangs with tasks of
  // several classes do.
  bool HasGangs(size_t merged) const { return has_gangs_[merged]; }
  const std::vector<size_t>& ManifoldGangs(size_t merged) const {
    return manifold_[merged];
  }

  struct Seated {
    LevelCosts waiting;             // What it costs that the others wait.
    std::vector<int64_t> empty;     // By class: places that nobody takes.
    std::vector<int64_t> tasks;     // By class of the problem: who has places.
    std::vector<bool> has_started;  // By gang.
  };
  Seated Seat(std::span<const int64_t> places);

  // Parts of the same, for a packing that has no place for so many tasks of
  // each class.
  LevelCosts CostOf(std::span<const int64_t> waiting);
  bool HasStarted(size_t gang, std::span<const int64_t> waiting);
  // With places only for tasks of this level or of more urgent ones.
  int64_t EmptyOf(size_t merged, std::span<const int64_t> waiting,
                  size_t level_max = kAllLevels);

  // Since the last call: tasks and gangs whose turn it was.
  int64_t TakeWork() { return std::exchange(work_, 0); }

 private:
  static constexpr size_t kAllLevels = std::numeric_limits<size_t>::max();

  // Tasks that cost the same.
  struct Step {
    size_t task_class = 0;  // Of the problem.
    size_t merged = 0;
    int64_t count = 0;
    int64_t cost = 0;
    size_t level = 0;
    std::optional<size_t> gang = {};
    bool is_left_out = false;
  };
  // Of a gang that is to start, or of tasks by themselves.
  struct Turn {
    std::optional<size_t> gang = {};
    size_t step = 0;
    size_t level = 0;  // Of the most urgent.
  };
  struct Variant {
    std::optional<size_t> first = {};    // The gang that goes first,
    std::optional<size_t> without = {};  // or does not go.
  };
  struct Trial {
    std::vector<int64_t> left;      // By class,
    std::vector<int64_t> taken;     // by step,
    std::vector<bool> has_started;  // and by gang of the table.
    std::vector<int64_t> worth;     // By level, of those who have places.
    std::vector<size_t> squeezed;   // Gangs that found too few.
  };
  // Classes that gangs of several classes hold together.
  struct Table {
    std::vector<size_t> classes;
    std::vector<size_t> steps;
    std::vector<size_t> gangs;
    std::vector<Turn> turns;
    LevelCosts all;  // Where all its tasks wait.
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
  // Starts it where it finds enough places.  Returns false where it finds some,
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
  // By class, gang and step: its index in its table; and the tables of classes.
  std::vector<size_t> class_at_;
  std::vector<size_t> gang_at_;
  std::vector<size_t> step_at_;
  std::vector<size_t> table_of_;
  std::vector<bool> has_gangs_;
  std::vector<std::vector<size_t>> manifold_;
  std::vector<int64_t> totals_;  // By class of the packing: its tasks.
  size_t classes_ = 0;           // Of the problem.
  size_t levels_ = 0;
  int64_t work_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_PACKING_SEATING_H_
