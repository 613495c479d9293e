#include "solver/registry.h"

#include <algorithm>

namespace sluice {

#define SOLVER(name, summary) std::unique_ptr<Solver> Make_##name();
#include "solver/solvers.def"
#undef SOLVER

namespace {

constexpr SolverEntry kSolvers[] = {
#define SOLVER(name, summary) {#name, summary, &Make_##name},
#include "solver/solvers.def"
#undef SOLVER
};
static_assert(std::ranges::is_sorted(kSolvers, {}, &SolverEntry::name));

}  // namespace

std::span<const SolverEntry> Solvers() { return kSolvers; }

std::unique_ptr<Solver> MakeSolver(std::string_view name) {
  const auto* entry = std::ranges::find(kSolvers, name, &SolverEntry::name);
  return entry == std::end(kSolvers) ? nullptr : entry->make();
}

}  // namespace sluice
