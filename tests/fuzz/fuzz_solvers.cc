// Arbitrary bytes as a small flow problem and as changes to it: all solvers
// must agree, each with a proof, and solving again after changes, or from any
// numbers, must be as good as solving from scratch.
//
// A failure shows the problem as text, for "sluicectl solve".
//
// Input: [features], nodes, arcs, supplies; then groups of changes until the
// bytes end.  Every input is a problem.

#include <glog/logging.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "flow/dimacs.h"
#include "oracle/witness_cut.h"
#include "sluice/flow/problem.h"
#include "sluice/solver/solver.h"
#include "solver/registry.h"
#include "solver/verify.h"

namespace sluice {
namespace {

// Small, so that ties, empty arcs and full ones are frequent.
constexpr int kNodesMax = 8;
constexpr int kArcsMax = 20;
constexpr int kGroupsMax = 4;

class Bytes {
 public:
  explicit Bytes(std::span<const uint8_t> left) : left_(left) {}

  bool empty() const { return left_.empty(); }

  // A number in [lo, hi]; lo where nothing is left.
  int64_t Between(int64_t lo, int64_t hi) {
    if (left_.empty()) return lo;
    const uint8_t byte = left_.front();
    left_ = left_.subspan(1);
    return lo + byte % (hi - lo + 1);
  }

  FlowCost Cost() {
    // Mostly small; now and then what takes many phases.
    const int64_t cost = Between(-8, 24);
    return is_dear_ ? cost * 1'000'003 : cost;
  }

  void SetDear(bool is_dear) { is_dear_ = is_dear; }

 private:
  std::span<const uint8_t> left_;
  bool is_dear_ = false;
};

std::vector<CostSegment> DrawSegments(Bytes* bytes) {
  std::vector<CostSegment> segments;
  FlowCost cost = bytes->Cost();
  for (int64_t count = bytes->Between(0, 3); count > 0; --count) {
    segments.push_back({.width = bytes->Between(1, 5), .cost = cost});
    cost += bytes->Between(0, 6);
  }
  return segments;
}

FlowUnits DrawLower(std::span<const CostSegment> segments, Bytes* bytes) {
  FlowUnits capacity = 0;
  for (const CostSegment& segment : segments) capacity += segment.width;
  // Mostly none, or nothing would be feasible.
  return std::max<FlowUnits>(0, bytes->Between(-3 * capacity, capacity));
}

NodeIndex DrawNode(const FlowProblem& problem, Bytes* bytes) {
  return static_cast<NodeIndex>(bytes->Between(0, problem.node_count() - 1));
}

void AddArc(FlowProblem* problem, Bytes* bytes) {
  const NodeIndex tail = DrawNode(*problem, bytes);
  const NodeIndex head = DrawNode(*problem, bytes);
  const std::vector<CostSegment> segments = DrawSegments(bytes);
  problem->AddConvexArc(tail, head, segments, DrawLower(segments, bytes));
}

void MoveSupply(FlowProblem* problem, Bytes* bytes) {
  const FlowUnits units = bytes->Between(0, 4);
  const NodeIndex from = DrawNode(*problem, bytes);
  const NodeIndex to = DrawNode(*problem, bytes);
  problem->SetSupply(from, problem->supply(from) + units);
  problem->SetSupply(to, problem->supply(to) - units);
}

void RemoveLastArcOf(NodeIndex node, FlowProblem* problem) {
  for (ArcIndex i = problem->arc_count(); --i >= 0;) {
    const FlowProblem::Arc& arc = problem->arc(i);
    if (arc.is_removed() || (arc.tail != node && arc.head != node)) continue;
    problem->RemoveArc(i);
    return;
  }
}

void Change(FlowProblem* problem, Bytes* bytes) {
  switch (bytes->Between(0, 5)) {
    case 0:
      return MoveSupply(problem, bytes);
    case 1:
      return AddArc(problem, bytes);
    case 2:
      return RemoveLastArcOf(DrawNode(*problem, bytes), problem);
    case 3:
      problem->AddNode(0);
      return;
    default: {
      if (problem->arc_count() == 0) return;
      const auto arc =
          static_cast<ArcIndex>(bytes->Between(0, problem->arc_count() - 1));
      if (problem->arc(arc).is_removed()) return;
      const std::vector<CostSegment> segments = DrawSegments(bytes);
      problem->SetConvexArc(arc, segments, DrawLower(segments, bytes));
    }
  }
}

// Any flow and any potentials.
FlowSolution DrawStart(const FlowProblem& problem, Bytes* bytes) {
  FlowSolution start;
  for (ArcIndex i = 0; i < problem.arc_count(); ++i) {
    start.flows.push_back(bytes->Between(-1, 6));
  }
  for (NodeIndex i = 0; i < problem.node_count(); ++i) {
    start.potentials.push_back(bytes->Cost());
  }
  return start;
}

// The optimum, or none of an infeasible problem.
std::optional<FlowCost> ProvenOptimum(const FlowProblem& problem,
                                      std::string_view solver,
                                      const FlowSolution& solution) {
  if (solution.outcome == SolveOutcome::kInfeasible) {
    const absl::Status proof = VerifyWitnessCut(problem, solution.witness_cut);
    CHECK(proof.ok()) << solver << ": " << proof << "\n"
                      << WriteDimacs(problem);
    return std::nullopt;
  }
  CHECK(solution.outcome == SolveOutcome::kOptimal)
      << solver << ": " << SolveOutcomeName(solution.outcome) << ": "
      << solution.error << "\n"
      << WriteDimacs(problem);
  const absl::Status proof = VerifySolution(problem, solution);
  CHECK(proof.ok()) << solver << ": " << proof << "\n" << WriteDimacs(problem);
  return solution.objective;
}

void Run(Bytes bytes) {
  bytes.SetDear(bytes.Between(0, 3) == 0);
  FlowProblem problem;
  for (int64_t i = bytes.Between(1, kNodesMax); i > 0; --i) problem.AddNode(0);
  for (int64_t i = bytes.Between(0, kArcsMax); i > 0; --i) {
    AddArc(&problem, &bytes);
  }
  for (int64_t i = bytes.Between(0, 4); i > 0; --i) {
    MoveSupply(&problem, &bytes);
  }

  struct Kept {
    std::unique_ptr<Solver> solver;
    FlowSolution solution;
  };
  std::vector<Kept> kept;
  std::optional<FlowCost> optimum;
  problem.StartLog();
  for (const SolverEntry& entry : Solvers()) {
    kept.push_back({entry.make(), {}});
    kept.back().solution = kept.back().solver->Solve(problem);
    const std::optional<FlowCost> found =
        ProvenOptimum(problem, entry.name, kept.back().solution);
    if (kept.size() == 1) optimum = found;
    CHECK(found == optimum) << entry.name << " does not agree\n"
                            << WriteDimacs(problem);
  }
  for (int group = 0; group < kGroupsMax && !bytes.empty(); ++group) {
    problem.StartLog();
    for (int64_t i = bytes.Between(1, 4); i > 0; --i) Change(&problem, &bytes);
    const std::string_view reference = Solvers().front().name;
    optimum = ProvenOptimum(problem, reference,
                            Solvers().front().make()->Solve(problem));
    const bool is_afresh = bytes.Between(0, 3) == 1;
    for (auto& [solver, solution] : kept) {
      if (is_afresh) {
        solution = DrawStart(problem, &bytes);
        solver->SolveFrom(problem, {}, &solution);
      } else {
        solver->Resolve(problem, {}, &solution);
      }
      CHECK(ProvenOptimum(problem, solver->name(), solution) == optimum)
          << solver->name() << " does not agree after changes\n"
          << WriteDimacs(problem);
    }
  }
}

}  // namespace
}  // namespace sluice

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sluice::Run(sluice::Bytes({data, size}));
  return 0;
}
