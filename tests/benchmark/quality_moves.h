// What do rounds that may move anything make of a cluster, and how far is that
// from the best there is?
//
// The client of a scheduler with --preemption=full carries out what it is told:
// what is to go ends at once, and of what moves a successor comes.  Rounds go
// on until one has nothing to say, and then there is another, which must not
// have either.  The same with --preemption=priority, which moves nothing.
// Beside both a MIP keeps as many tasks of a priority as it can, then places as
// many, and so on from the highest priority down; then it takes the least
// preferences and prices of moves (where the library for it was found).
//
// Threads: none.

#ifndef SLUICE_TESTS_BENCHMARK_QUALITY_MOVES_H_
#define SLUICE_TESTS_BENCHMARK_QUALITY_MOVES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "benchmark/quality_moves_inputs.h"
#include "benchmark/quality_table.h"

namespace sluice {

class MovesComparison {
 public:
  // `mip_seconds`: for each input; 0: no MIP.
  explicit MovesComparison(double mip_seconds);

  // Prints a row.
  void Add(const MovesInput& input);

  // Prints a row for each family and size.
  void PrintFamilies() const;

  // Rounds break a disruption budget or a gang, have something to say on
  // unchanged input, never come to an end, or have less than with
  // --preemption=priority; a defragmentation does not place everything, or
  // takes over 20 % more moves than a MIP; or more of the small clusters than
  // these, in per cent, end below what a MIP finds.
  static constexpr int64_t kBelowMaxPercent = 4;
  bool fails() const;

 private:
  struct FamilySum {
    int64_t cluster_count = 0;
    // Of these a MIP settled all levels, and the costs, too.
    int64_t settled_count = 0;
    int64_t optimal_count = 0;
    // Levels, the first that differs from what the MIP found.
    int64_t below_count = 0;
    int64_t above_count = 0;
    int64_t placed = 0;
    int64_t placed_by_priority = 0;
    int64_t placed_by_mip = 0;
    int64_t stops = 0;
    int64_t stops_of_mip = 0;
    // Where the levels are equal.
    int64_t moves = 0;
    int64_t moves_of_mip = 0;
    int64_t dearer_count = 0;
    int64_t cost_above = 0;
    int64_t rounds_max = 0;
    std::vector<double> seconds;
  };

  FamilySum& SumOf(const MovesInput& input);

  const double mip_seconds_;
  const Table table_;
  std::vector<std::pair<std::string, FamilySum>> families_;
  int64_t failed_count_ = 0;  // For what a single input fails for.
};

}  // namespace sluice

#endif  // SLUICE_TESTS_BENCHMARK_QUALITY_MOVES_H_
