// A life of the daemon under a seed: its clients, what they do, and what goes
// wrong.  The same seed and shape give the same life.
//
// Threads: one.

#ifndef SLUICE_TESTS_SIM_SIMULATION_H_
#define SLUICE_TESTS_SIM_SIMULATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "sim/faults.h"
#include "sim/workload.h"

namespace sluice::sim {

struct LifeShape {
  int64_t length_ms = 4000;
  int64_t acts_ms = 5;    // Mean time between two acts of a client.
  int64_t drains_ms = 0;  // And of an operator; 0: there is none.
  bool has_contract_client = true;
  bool has_feed_client = true;
  Workload workload = {};
  Faults faults = {};
};

struct LifeReport {
  std::vector<std::string> errors;  // What was wrong; empty: nothing.
  int64_t placements = 0;
  // Of tasks that were told to leave.
  int64_t stops = 0;
  int64_t moves = 0;
  uint64_t processes = 0;
  uint64_t overlaps = 0;  // How often one led while the former had not ended.
};

// Each seed has faults of some kinds, and times, of its own.
LifeShape DrawShape(uint64_t seed);

LifeReport Live(uint64_t seed, const LifeShape& shape);

// The smallest shape found, by leaving out what can be left out, in which the
// life of `seed` still goes wrong.  REQUIRES: it does in `shape`.
LifeShape Shrink(uint64_t seed, LifeShape shape);

std::string ToText(const LifeShape& shape);

}  // namespace sluice::sim

#endif  // SLUICE_TESTS_SIM_SIMULATION_H_
