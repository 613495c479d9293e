#include "cli/solve/solve_session.h"

#include <utility>

#include "base/strings.h"
#include "glog/logging.h"
#include "sluice/solver/generalized.h"
#include "sluice/solver/solver.h"
#include "solver/registry.h"
#include "solver/verify.h"
#include "solver/verify_generalized.h"

namespace sluice {
namespace {

constexpr std::string_view kGeneralized = "generalized_simplex";

std::string NameOf(const Solver& solver) { return std::string(solver.name()); }
std::string NameOf(const GeneralizedSolver&) {
  return std::string(kGeneralized);
}

absl::Status VerifyAny(const FlowProblem& problem,
                       const FlowSolution& solution) {
  return VerifySolution(problem, solution);
}
absl::Status VerifyAny(const FlowProblem& problem,
                       const GeneralizedSolution& solution) {
  return VerifyGeneralized(problem, solution);
}

template <class Solution>
std::vector<std::string> FlowsOf(const Solution& solution) {
  std::vector<std::string> flows;
  for (const auto flow : solution.flows) flows.push_back(StrCat(flow));
  return flows;
}

// What the solutions of all solvers have.
template <class Solution>
SolveResult Describe(const Solution& solution, std::string_view found_by) {
  SolveResult result;
  result.outcome = solution.outcome;
  result.found_by = found_by;
  result.error = solution.error;
  result.work = solution.work;
  return result;
}

class PureSession final : public SolveSession {
 public:
  explicit PureSession(std::unique_ptr<Solver> solver)
      : solver_(std::move(solver)) {}

  std::string name() const override { return NameOf(*solver_); }

  void Solve(const FlowProblem& problem) override {
    solution_ = solver_->Solve(problem);
  }

  void Resolve(const FlowProblem& problem) override {
    solver_->Resolve(problem, {}, &solution_);
  }

  absl::Status Verify(const FlowProblem& problem) const override {
    return VerifySolution(problem, solution_);
  }

  SolveResult result() const override {
    SolveResult result = Describe(solution_, solution_.algorithm);
    result.witness_cut_size = std::ssize(solution_.witness_cut);
    if (result.outcome == SolveOutcome::kOptimal) {
      result.objective = StrCat(solution_.objective);
    }
    return result;
  }

  std::vector<std::string> flows() const override { return FlowsOf(solution_); }

 private:
  const std::unique_ptr<Solver> solver_;
  FlowSolution solution_;
};

class GeneralizedSession final : public SolveSession {
 public:
  std::string name() const override { return NameOf(solver_); }

  void Solve(const FlowProblem& problem) override {
    solution_ = solver_.Solve(problem);
  }

  void Resolve(const FlowProblem& problem) override { Solve(problem); }

  absl::Status Verify(const FlowProblem& problem) const override {
    return VerifyGeneralized(problem, solution_);
  }

  SolveResult result() const override {
    SolveResult result = Describe(solution_, kGeneralized);
    if (result.outcome == SolveOutcome::kOptimal) {
      result.objective = StrCat(solution_.objective);
    }
    return result;
  }

  std::vector<std::string> flows() const override { return FlowsOf(solution_); }

 private:
  GeneralizedSolver solver_;
  GeneralizedSolution solution_;
};

// Over relaxations that a `RelaxationSolver` solves.
template <class RelaxationSolver, class Solution>
class AllOrNoneSession final : public SolveSession {
 public:
  AllOrNoneSession(std::unique_ptr<RelaxationSolver> solver, int64_t nodes_max)
      : solver_(std::move(solver)), nodes_max_(nodes_max) {}

  std::string name() const override {
    return StrCat("all_or_none(", NameOf(*solver_), ")");
  }

  void Solve(const FlowProblem& problem) override {
    found_ = SolveAllOrNone(problem, *solver_,
                            {.nodes_max = nodes_max_, .search_work_max = 0});
  }

  void Resolve(const FlowProblem& problem) override { Solve(problem); }

  absl::Status Verify(const FlowProblem& problem) const override {
    return VerifyAny(FixAllOrNone(problem, found_.solution.flows),
                     found_.solution);
  }

  SolveResult result() const override {
    SolveResult result = Describe(found_, name());
    result.search = SolveResult::Search();
    SolveResult::Search& search = *result.search;
    search.node_count = found_.node_count;
    if (found_.has_bound) search.bound = StrCat(found_.bound);
    if (found_.has_flow()) {
      search.best_objective = StrCat(found_.solution.objective);
      search.gap = StrCat(found_.gap());
    }
    if (result.outcome == SolveOutcome::kOptimal) {
      result.objective = search.best_objective;
    }
    return result;
  }

  std::vector<std::string> flows() const override {
    return FlowsOf(found_.solution);
  }

 private:
  const std::unique_ptr<RelaxationSolver> solver_;
  const int64_t nodes_max_;
  AllOrNoneResult<Solution> found_;
};

}  // namespace

std::unique_ptr<SolveSession> MakeSolveSession(const FlowProblem& problem,
                                               const SolveChoice& choice) {
  const bool is_search = !problem.all_or_none().empty();
  if (!problem.gains().empty() && choice.algorithm == kAutomatic) {
    if (!is_search) return std::make_unique<GeneralizedSession>();
    return std::make_unique<
        AllOrNoneSession<GeneralizedSolver, GeneralizedSolution>>(
        std::make_unique<GeneralizedSolver>(), choice.search_nodes_max);
  }
  std::unique_ptr<Solver> solver = MakeSolver(choice.algorithm);
  CHECK(solver != nullptr) << "no solver " << choice.algorithm;
  if (!is_search) return std::make_unique<PureSession>(std::move(solver));
  return std::make_unique<AllOrNoneSession<Solver, FlowSolution>>(
      std::move(solver), choice.search_nodes_max);
}

}  // namespace sluice
