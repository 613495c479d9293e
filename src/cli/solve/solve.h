// Solves a flow problem, changes it and solves it again, with a proof of each
// optimum and the time of each solve: what "sluicectl solve" does with what it
// has read.
//
// Threads: none; runs on the caller's thread.

#ifndef SLUICE_CLI_SOLVE_SOLVE_H_
#define SLUICE_CLI_SOLVE_SOLVE_H_

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/solve/solve_session.h"
#include "flow/dimacs_changes.h"
#include "sluice/base/clock.h"
#include "sluice/flow/problem.h"

namespace sluice {

struct SolveOptions {
  SolveChoice choice;
  int64_t repeat_count = 1;  // From scratch; the last solver is kept.
  bool wants_flow = false;
};

// One solve, from scratch or after a group of changes.
struct SolveStep {
  SolveResult result;
  int64_t apply_us = 0;  // Of making the changes before it.
  int64_t solve_us = 0;  // The call alone, by the clock; a median if repeated.
  int64_t cpu_us = 0;    // The same, time of the processor.
  int64_t verify_us = 0;
};

struct SolveReport {
  std::string algorithm;     // The session's name.
  NodeIndex node_count = 0;  // As read, before changes.
  ArcIndex arc_count = 0;
  int64_t read_us = 0;
  int64_t peak_rss_kib = 0;
  std::vector<SolveStep> steps;  // From scratch, then one a group.
  // What each arc of the last problem carries, by index, if that is wanted and
  // an optimum was found.  Nodes are counted from 0.
  struct ArcFlow {
    NodeIndex tail = 0;
    NodeIndex head = 0;
    std::string flow;
  };
  std::vector<ArcFlow> flow = {};
};

// Solves `problem`, then makes each group of changes and solves again.
//
// REQUIRES: nothing was ever removed from the problem; the algorithm exists.
// Errors: kInternal for an optimum whose proof is wrong, which no input should
// bring about; those of DimacsChanger::Apply().
absl::StatusOr<SolveReport> SolveAndResolve(
    FlowProblem problem, std::span<const DimacsChanges> groups,
    const SolveOptions& options, const Clock& clock);

// The index of the first step whose problem is invalid, else of the first that
// is not optimal, if there is one.
std::optional<size_t> WorstStep(const SolveReport& report);

// One JSON object; "sluicectl solve --help" says what its keys mean.
void PrintSolveJson(const SolveReport& report, std::ostream& out);

// With the flow as lines of DIMACS: "f TAIL HEAD FLOW", nodes counted from 1.
void PrintSolveTable(const SolveReport& report, std::ostream& out);

}  // namespace sluice

#endif  // SLUICE_CLI_SOLVE_SOLVE_H_
