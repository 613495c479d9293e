// LEMON's min-cost-flow solvers behind plain arrays: LEMON's headers do not
// compile as C++20, ours do not as C++17, and this header does as both.
//
// Threads: free functions without state.

#ifndef SLUICE_TESTS_ORACLE_LEMON_REFERENCE_H_
#define SLUICE_TESTS_ORACLE_LEMON_REFERENCE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

struct PlainArc {
  int32_t tail = 0;
  int32_t head = 0;
  int64_t lower = 0;
  int64_t capacity = 0;
  int64_t cost = 0;
};

enum class LemonAlgorithm { kNetworkSimplex, kCostScaling };

struct LemonResult {
  std::optional<int64_t> objective;  // None: infeasible.
  double cpu_seconds = 0;            // Of the solve call alone.
};

// Of a problem that LEMON itself reads from DIMACS' plain format.
LemonResult SolveDimacsWithLemon(const std::string& text);

LemonResult SolveWithLemon(LemonAlgorithm algorithm,
                           const std::vector<int64_t>& supplies,
                           const std::vector<PlainArc>& arcs);

}  // namespace sluice

#endif  // SLUICE_TESTS_ORACLE_LEMON_REFERENCE_H_
