// The solvers by name; solvers.def is the list.
//
// Threads: free functions without state.

#ifndef SLUICE_SOLVER_REGISTRY_H_
#define SLUICE_SOLVER_REGISTRY_H_

#include <memory>
#include <span>
#include <string_view>

#include "sluice/solver/solver.h"

namespace sluice {

struct SolverEntry {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Solver> (*make)();
};

// All solvers, by name.
std::span<const SolverEntry> Solvers();

// Returns null if no solver has that name.
std::unique_ptr<Solver> MakeSolver(std::string_view name);

}  // namespace sluice

#endif  // SLUICE_SOLVER_REGISTRY_H_
