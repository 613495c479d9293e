// The solvers behind one interface: what "sluicectl solve" asks of each.
//
//   problem               algorithm
//   pure                  one of solver/registry.h
//   all-or-none arcs      branch and bound over one of these
//   gains                 the generalized network simplex
//   both                  branch and bound over that
//
// Only the first keeps anything for solving again after changes.
//
// Threads: none; confined to its owner.

#ifndef SLUICE_CLI_SOLVE_SOLVE_SESSION_H_
#define SLUICE_CLI_SOLVE_SOLVE_SESSION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "sluice/flow/problem.h"
#include "solver/all_or_none.h"

namespace sluice {

// What is told of a solution.  Numbers are texts, since they are not whole if
// there are gains; empty means none.
struct SolveResult {
  SolveOutcome outcome = SolveOutcome::kInvalidProblem;
  std::string objective;  // Of an optimum.
  std::string found_by;   // The algorithm that ended the solve.
  std::string error;      // Why there is no optimum.
  int64_t witness_cut_size = 0;
  SolveWork work;
  // Of a search over all-or-none arcs.
  struct Search {
    int64_t node_count = 0;      // Relaxations solved.
    std::string best_objective;  // Of the best flow found.
    std::string bound;           // No flow costs less.
    std::string gap;             // How much cheaper another might be.
  };
  std::optional<Search> search;
};

// One solver object and its newest solution.
class SolveSession {
 public:
  virtual ~SolveSession() = default;

  // "cost_scaling", "all_or_none(generalized_simplex)", ...
  virtual std::string name() const = 0;

  virtual void Solve(const FlowProblem& problem) = 0;
  // After changes, logged since the solve before (solver/solver.h).
  virtual void Resolve(const FlowProblem& problem) = 0;

  // Checks the proof of the newest solution.  REQUIRES: it is optimal.
  virtual absl::Status Verify(const FlowProblem& problem) const = 0;

  virtual SolveResult result() const = 0;

  // The flow of each arc in the newest solution; 0 for a removed arc.  Texts,
  // since they are not whole if there are gains.  REQUIRES: it is optimal.
  virtual std::vector<std::string> flows() const = 0;
};

// The name of the solver that chooses by the problem.
inline constexpr std::string_view kAutomatic = "automatic";

// What a session is made for.
struct SolveChoice {
  // Of solver/registry.h.
  std::string algorithm = std::string(kAutomatic);
  int64_t search_nodes_max = AllOrNoneLimits().nodes_max;
};

// Returns a session for problems that have gains or all-or-none arcs if
// `problem` has them.  Gains have an algorithm of their own, which only
// kAutomatic uses; any other algorithm refuses them.
// REQUIRES: the algorithm exists.
std::unique_ptr<SolveSession> MakeSolveSession(const FlowProblem& problem,
                                               const SolveChoice& choice);

}  // namespace sluice

#endif  // SLUICE_CLI_SOLVE_SOLVE_SESSION_H_
