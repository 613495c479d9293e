// Solvers that solve again after random changes, against a fresh solve of the
// changed problem by another algorithm.  A failure prints the seed that repeats
// it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/rng.h"
#include "flow/validate.h"
#include "oracle/random_changes.h"
#include "oracle/random_problem.h"
#include "oracle/shortest_paths.h"
#include "oracle/witness_cut.h"
#include "sluice/flow/problem.h"
#include "sluice/solver/solver.h"
#include "solver/incremental_flow.h"
#include "solver/registry.h"
#include "solver/verify.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

constexpr RandomShape kTiny = {};
constexpr RandomShape kMedium = {.node_count_max = 30,
                                 .arc_count_max = 150,
                                 .capacity_max = 9,
                                 .segment_count_max = 6};

// Cost scaling from scratch, with IncrementalFlow for what changes: adopts what
// is found from scratch each time that it has no optimum of its own.
class AdoptingSolver : public Solver {
 public:
  std::string_view name() const override { return "adopting"; }

  FlowSolution Solve(const FlowProblem& problem,
                     const SolveLimits& limits) override {
    FlowSolution solution = MakeSolver("cost_scaling")->Solve(problem, limits);
    if (solution.outcome == SolveOutcome::kOptimal) {
      flow_.Adopt(problem, &solution);
    }
    return solution;
  }

  void Resolve(const FlowProblem& problem, const SolveLimits& limits,
               FlowSolution* solution) override {
    if (solution->outcome != SolveOutcome::kOptimal || !flow_.has_optimum()) {
      *solution = Solve(problem, limits);
    } else {
      flow_.Resolve(problem, limits, solution);
    }
  }

 private:
  // Low enough for problems as small as these.
  IncrementalFlow flow_{{.one_sided_scans = 2, .near_count = 1}};
};

struct Resolver {
  std::string name;
  std::function<std::unique_ptr<Solver>()> make;
};

std::vector<Resolver> Resolvers() {
  std::vector<Resolver> resolvers = {
      {"adopting", [] { return std::make_unique<AdoptingSolver>(); }}};
  for (const SolverEntry& entry : Solvers()) {
    resolvers.push_back({std::string(entry.name), entry.make});
  }
  return resolvers;
}

class ResolveOracle : public testing::TestWithParam<Resolver> {
 protected:
  // Checks the proof of whatever the outcome is, and that it is the right one.
  static void Check(const FlowProblem& problem, const FlowSolution& solution,
                    std::optional<FlowCost> optimum) {
    if (!optimum.has_value()) {
      ASSERT_EQ(solution.outcome, SolveOutcome::kInfeasible) << solution.error;
      EXPECT_THAT(VerifyWitnessCut(problem, solution.witness_cut), IsOk());
      EXPECT_TRUE(solution.flows.empty());
      return;
    }
    ASSERT_EQ(solution.outcome, SolveOutcome::kOptimal) << solution.error;
    EXPECT_THAT(VerifySolution(problem, solution), IsOk());
    EXPECT_EQ(solution.objective, *optimum);
    EXPECT_TRUE(solution.error.empty());
    EXPECT_TRUE(solution.witness_cut.empty());
  }

  // Solves the problem, then calls `change(step)` and solves it again, `steps`
  // times, and checks each solution after a change.  Returns how many changed
  // problems were infeasible.
  static int Follow(
      FlowProblem* problem, int steps, absl::FunctionRef<void(int)> change,
      absl::FunctionRef<std::optional<FlowCost>(const FlowProblem&)> optimum) {
    const std::unique_ptr<Solver> solver = GetParam().make();
    problem->StartLog();
    FlowSolution solution = solver->Solve(*problem);
    int infeasible_count = 0;
    for (int step = 0; step < steps && !HasFailure(); ++step) {
      SCOPED_TRACE(step);
      problem->StartLog();
      change(step);
      EXPECT_THAT(ValidateProblem(*problem), IsOk());
      solver->Resolve(*problem, {}, &solution);
      const std::optional<FlowCost> expected = optimum(*problem);
      Check(*problem, solution, expected);
      if (!expected.has_value()) ++infeasible_count;
    }
    return infeasible_count;
  }
};

std::optional<FlowCost> ScalingOptimum(const FlowProblem& problem) {
  const FlowSolution solution = MakeSolver("cost_scaling")->Solve(problem);
  if (solution.outcome != SolveOutcome::kOptimal) return std::nullopt;
  return solution.objective;
}

TEST_P(ResolveOracle, FollowsTinyProblemsThroughChanges) {
  int infeasible_count = 0;
  for (uint64_t seed = 0; seed < 3000 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    FlowProblem problem = MakeRandomProblem(kTiny, &rng);
    RandomChanger changer(kTiny, &problem);
    infeasible_count += Follow(
        &problem, 8, [&](int /*step*/) { changer.Change(3, &rng); },
        ShortestPathsOptimum);
  }
  // The changes lead both ways, or the comparison is worth little.
  EXPECT_GT(infeasible_count, 3000);
  EXPECT_LT(infeasible_count, 21000);
}

TEST_P(ResolveOracle, FollowsProblemsThroughManyChanges) {
  for (uint64_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    FlowProblem problem = MakeRandomProblem(kMedium, &rng);
    RandomChanger changer(kMedium, &problem);
    Follow(
        &problem, 10, [&](int step) { changer.Change(1 << (step % 5), &rng); },
        ScalingOptimum);
  }
}

// Any numbers of about the size that a problem's may have.
FlowSolution RandomStart(const FlowProblem& problem, Rng* rng) {
  FlowSolution start;
  const FlowCost cost_max = rng->Chance(1, 8) ? int64_t{1} << 62 : 20;
  for (NodeIndex node = 0; node < problem.node_count(); ++node) {
    start.potentials.push_back(rng->Between(-cost_max, cost_max));
  }
  for (ArcIndex arc = 0; arc < problem.arc_count(); ++arc) {
    start.flows.push_back(rng->Between(-1, 4));
  }
  return start;
}

TEST_P(ResolveOracle, StartsFromAnything) {
  for (uint64_t seed = 0; seed < 5000 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    FlowProblem problem = MakeRandomProblem(kTiny, &rng);
    const std::unique_ptr<Solver> solver = GetParam().make();
    problem.StartLog();
    FlowSolution solution = RandomStart(problem, &rng);
    solver->SolveFrom(problem, {}, &solution);
    Check(problem, solution, ShortestPathsOptimum(problem));
    RandomChanger changer(kTiny, &problem);
    for (int step = 0; step < 2 && !HasFailure(); ++step) {
      problem.StartLog();
      changer.Change(3, &rng);
      solver->Resolve(problem, {}, &solution);
      Check(problem, solution, ShortestPathsOptimum(problem));
    }
  }
}

// Searches file the arcs of a hub by potentials, which may be beyond all that
// an optimum has.
TEST_P(ResolveOracle, StartsHubsFromPotentialsBeyondAllMeasure) {
  using Limits = std::numeric_limits<FlowCost>;
  const FlowCost extremes[] = {Limits::min(), Limits::max(),
                               -(int64_t{1} << 62), int64_t{1} << 62, 0};
  for (uint64_t seed = 0; seed < 10 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const FlowProblem problem = MakeRandomCluster(3, 300, 40, &rng);
    FlowSolution solution = MakeSolver("network_simplex")->Solve(problem);
    const FlowCost optimum = solution.objective;
    for (FlowCost& potential : solution.potentials) {
      if (rng.Chance(1, 8)) continue;
      potential = extremes[seed % 2 == 0 ? 0 : rng.Below(std::size(extremes))];
    }
    GetParam().make()->SolveFrom(problem, {}, &solution);
    Check(problem, solution, optimum);
  }
}

TEST_P(ResolveOracle, StartsFromAnOptimumNearby) {
  for (uint64_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    FlowProblem problem = MakeRandomProblem(kMedium, &rng);
    RandomChanger changer(kMedium, &problem);
    FlowSolution solution = MakeSolver("network_simplex")->Solve(problem);
    for (int step = 0; step < 5 && !HasFailure(); ++step) {
      SCOPED_TRACE(step);
      changer.Change(3, &rng);
      GetParam().make()->SolveFrom(problem, {}, &solution);
      Check(problem, solution, ScalingOptimum(problem));
    }
  }
}

// Scheduling networks stay feasible under most changes, so that the flow is
// kept for long.
TEST_P(ResolveOracle, FollowsClustersThroughManyChanges) {
  constexpr RandomShape kShape = {.node_count_max = 60, .capacity_max = 4};
  int infeasible_count = 0;
  for (uint64_t seed = 0; seed < 200 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    FlowProblem problem =
        MakeRandomCluster(static_cast<int>(rng.Between(1, 8)),
                          static_cast<int>(rng.Between(1, 20)), 30, &rng);
    // Whatever a change does, a dear way remains.
    for (NodeIndex node = 1; node < problem.node_count(); ++node) {
      problem.AddArc(node, 0, 1000, 10000000);
      problem.AddArc(0, node, 1000, 10000000);
    }
    RandomChanger changer(kShape, &problem);
    infeasible_count += Follow(
        &problem, 20, [&](int /*step*/) { changer.Change(4, &rng); },
        ScalingOptimum);
  }
  EXPECT_LT(infeasible_count, 200 * 20 - 1000);
}

// Classes with hundreds of unit arcs to machines, and a node a task: nodes of
// many half arcs, at the thresholds that `automatic` has.
class HubCluster {
 public:
  explicit HubCluster(Rng* rng) : rng_(*rng) {
    sink_ = problem_.AddNode(0);
    waiting_ = problem_.AddNode(0);
    problem_.AddArc(waiting_, sink_, kTaskCount, 0);
    for (int i = 0; i < kMachineCount; ++i) {
      const NodeIndex machine = problem_.AddNode(0);
      slots_.push_back(problem_.AddArc(machine, sink_, rng_.Between(0, 4), 0));
    }
    for (NodeIndex& from : classes_) {
      from = problem_.AddNode(0);
      for (const ArcIndex slot : slots_) {
        for (int step = 0; step < 4; ++step) {
          steps_.push_back(problem_.AddArc(from, problem_.arc(slot).tail, 1,
                                           rng_.Between(0, 300)));
        }
      }
    }
    for (int i = 0; i < kTaskCount; ++i) tasks_.push_back(AddTask());
    problem_.SetSupply(sink_, -kTaskCount);
  }

  FlowProblem& problem() { return problem_; }

  void Change() {
    for (int64_t i = rng_.Between(0, 10); i > 0; --i) {
      Task& task = tasks_[rng_.Below(tasks_.size())];
      for (const ArcIndex arc : task.arcs) problem_.RemoveArc(arc);
      problem_.RemoveNode(task.node);
      task = AddTask();
    }
    for (int64_t i = rng_.Between(0, 10); i > 0; --i) {
      ArcIndex& arc = steps_[rng_.Below(steps_.size())];
      const FlowProblem::Arc old = problem_.arc(arc);
      const FlowCost cost = rng_.Between(0, 300);
      if (rng_.Chance(1, 2)) {
        problem_.SetArc(arc, rng_.Between(0, 2), cost);
      } else {
        problem_.RemoveArc(arc);
        arc = problem_.AddArc(old.tail, old.head, 1, cost);
      }
    }
    problem_.SetArc(slots_[rng_.Below(slots_.size())], rng_.Between(0, 4), 0);
  }

 private:
  static constexpr int kMachineCount = 60;
  static constexpr int kTaskCount = 130;  // About as many as there are slots.
  struct Task {
    NodeIndex node = 0;
    std::vector<ArcIndex> arcs;
  };

  Task AddTask() {
    Task task;
    task.node = problem_.AddNode(1);
    const auto add = [&](NodeIndex head, FlowCost cost) {
      task.arcs.push_back(problem_.AddArc(task.node, head, 1, cost));
    };
    add(classes_[rng_.Below(classes_.size())], 0);
    add(waiting_, 1000 * rng_.Between(1, 3));
    for (int64_t i = rng_.Between(-3, 2); i > 0; --i) {
      add(problem_.arc(slots_[rng_.Below(slots_.size())]).tail,
          rng_.Between(0, 100));
    }
    return task;
  }

  Rng& rng_;
  FlowProblem problem_;
  NodeIndex sink_ = 0;
  NodeIndex waiting_ = 0;
  std::array<NodeIndex, 3> classes_ = {};
  std::vector<ArcIndex> slots_;  // By machine.
  std::vector<ArcIndex> steps_;
  std::vector<Task> tasks_;
};

TEST_P(ResolveOracle, FollowsHubsThroughManyChanges) {
  for (uint64_t seed = 0; seed < 12 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    HubCluster cluster(&rng);
    Follow(
        &cluster.problem(), 20, [&](int /*step*/) { cluster.Change(); },
        ScalingOptimum);
  }
}

TEST_P(ResolveOracle, RefusesWhatChangesMadeInvalid) {
  for (uint64_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    FlowProblem problem = MakeRandomProblem(kTiny, &rng);
    const std::unique_ptr<Solver> solver = GetParam().make();
    problem.StartLog();
    FlowSolution solution = solver->Solve(problem);
    problem.StartLog();
    const ArcIndex arc = problem.AddArc(0, 0, 1, 0);
    switch (rng.Below(4)) {
      case 0:
        problem.SetArc(arc, 1, 1, 2);
        break;
      case 1:
        problem.SetArc(arc, 1, int64_t{1} << 62);
        break;
      case 2:
        problem.AddNode(1);
        break;
      default:
        problem.AddArc(0, problem.node_count(), 1, 1);
    }
    const absl::Status status = ValidateProblem(problem);
    ASSERT_FALSE(status.ok());
    if (rng.Chance(1, 2)) {
      solver->Resolve(problem, {}, &solution);
    } else {
      solver->SolveFrom(problem, {}, &solution);
    }
    EXPECT_EQ(solution.outcome, absl::IsOutOfRange(status)
                                    ? SolveOutcome::kCostRange
                                    : SolveOutcome::kInvalidProblem);
    EXPECT_EQ(solution.error, Message(status));
  }
}

INSTANTIATE_TEST_SUITE_P(All, ResolveOracle, testing::ValuesIn(Resolvers()),
                         [](const auto& instance) {
                           return instance.param.name;
                         });

}  // namespace
}  // namespace sluice
