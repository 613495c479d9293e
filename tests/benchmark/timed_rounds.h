// Rounds of the core, step by step, and where their time goes.
//
// Threads: values and free functions.

#ifndef SLUICE_TESTS_BENCHMARK_TIMED_ROUNDS_H_
#define SLUICE_TESTS_BENCHMARK_TIMED_ROUNDS_H_

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "clients/replies.h"
#include "round/round_solver.h"
#include "round/scheduler.h"

namespace sluice {

inline constexpr int64_t kGib = (int64_t{1} << 30) * 1000;

// Times are in milliseconds.
struct Shares {
  double build = 0;
  double solve = 0;
  double commit = 0;
  int64_t solves = 0;
  int64_t warm_solves = 0;
  int64_t scans = 0;
  double longest = 0;
  std::vector<double> totals;  // By round.
  double gap = -1;             // Of the last one that worked it out.
  RoundStats last;

  // As counters: build_ms, solve_ms, commit_ms (means of the sums over the
  // passes of a round), p50_ms and p99_ms (of whole rounds), longest_ms (of a
  // step that the core's thread does at once), warm (the part of the solves
  // that went on from those before), scans (of arcs, mean of the passes), and
  // of the last round passes, placed, arcs and gap (RoundStats::Gap(), of the
  // last round that knows it; -1 where none does).
  void Report(benchmark::State* bench);
};

void RunRound(Scheduler* scheduler, RoundSolver* solver, Shares* shares,
              int64_t now_ms = 0);

// The client takes what it is to be told, which is not part of the round.
ScheduleReply Deliver(ClusterState* state);

}  // namespace sluice

#endif  // SLUICE_TESTS_BENCHMARK_TIMED_ROUNDS_H_
