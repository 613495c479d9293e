// Whom does a round stop for newcomers, and what does it serve with that?
//
// A first round fills the cluster with the input's tasks, and its reply is
// told.  Then the newcomers come, and a round places some, stops tasks and
// nominates others for their room.  All that is placed or nominated is served.
// Beside it a MIP stops tasks of a priority at the least price, then serves as
// many as it can, and so on from the highest priority down (where the library
// for it was found).  In the end what was stopped ends, and a third round is to
// place what was nominated.
//
// Threads: none.

#ifndef SLUICE_TESTS_BENCHMARK_QUALITY_PREEMPTION_H_
#define SLUICE_TESTS_BENCHMARK_QUALITY_PREEMPTION_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "benchmark/quality_inputs.h"
#include "benchmark/quality_table.h"

namespace sluice {

class PreemptionComparison {
 public:
  // `mip_seconds`: for each input; 0: no MIP.
  explicit PreemptionComparison(double mip_seconds);

  // Prints a row.
  void Add(const QualityInput& input);

  // Prints a row for each family and size.  The price of who is stopped, in
  // stops of a task that says nothing of that, and the served tasks are those
  // of the levels that a MIP settled: each a priority in a cluster.
  void PrintFamilies() const;

  // A task was stopped without need, one that was nominated was not placed,
  // fewer of the most urgent tasks were served than can be, or who was stopped
  // costs more than 2 % too much in all, and more than one stop.
  bool fails() const;

 private:
  struct FamilySum {
    int64_t cluster_count = 0;
    int64_t differing_count = 0;
    int64_t level_count = 0;
    // The levels that were settled, and sums over these.
    int64_t settled_count = 0;
    int64_t price = 0;  // Of who is stopped.
    int64_t price_least = 0;
    int64_t served = 0;
    int64_t served_most = 0;
    std::vector<double> seconds;
  };

  const double mip_seconds_;
  const Table table_;
  std::vector<std::pair<std::string, FamilySum>> families_;
  int64_t failed_count_ = 0;  // For what a single input fails for.
};

}  // namespace sluice

#endif  // SLUICE_TESTS_BENCHMARK_QUALITY_PREEMPTION_H_
