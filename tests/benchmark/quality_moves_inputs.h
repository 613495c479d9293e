// The clusters on which quality_benchmark judges rounds that move what runs.
//
// Moves: machines full of tasks of several sizes, with holes.  Some machines
// have come since and run nothing; many tasks prefer these, or some of the
// others.  Most tasks have an owner and so may move; some jobs have disruption
// budgets.  A batch waits of small and large tasks and one gang.  Both have two
// priorities.
//
// Defragmentation: small tasks fill 85 % of the machines at random, and gangs
// wait whose tasks want a whole machine each.
//
// Determinism: an input follows from its size and seed.

#ifndef SLUICE_TESTS_BENCHMARK_QUALITY_MOVES_INPUTS_H_
#define SLUICE_TESTS_BENCHMARK_QUALITY_MOVES_INPUTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/state/task.h"
#include "state/command.h"
#include "util/cluster_builder.h"

namespace sluice {

struct MovesInput {
  struct Task {
    uint64_t uid = 0;
    TaskOptions options = {};
    Gang gang = {};
    std::string machine = {};  // Where it runs; empty where it waits.
  };

  std::string name;
  std::string family;  // And its size.
  std::vector<Command> machines;
  std::vector<Task> tasks;
  // All that waits may start without a stop, as the room adds up.
  bool is_defragmentation = false;
};

enum class MovesSize { kSmall, kMiddle };

MovesInput MakeMovesInput(MovesSize size, uint64_t seed);

MovesInput MakeDefragmentationInput(int64_t machine_count, uint64_t seed);

}  // namespace sluice

#endif  // SLUICE_TESTS_BENCHMARK_QUALITY_MOVES_INPUTS_H_
