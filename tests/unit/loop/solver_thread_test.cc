#include "loop/solver_thread.h"

#include <gtest/gtest.h>

#include <utility>
#include <variant>

#include "unit/loop/loop_fixture.h"
#include "util/fake_clock.h"

namespace sluice {
namespace {

// One unit from node 0 to node 1, at cost 3.
FlowProblem OneUnit() {
  FlowProblem problem;
  problem.AddNode(1);
  problem.AddNode(-1);
  problem.AddArc(0, 1, 1, 3);
  return problem;
}

class SolverThreadTest : public testing::Test {
 protected:
  SolverThreadTest()
      : thread_(solver_, clock_, [this](SolveResult result) {
          result_.Set(std::move(result));
        }) {
    thread_.Start();
  }

  FakeClock clock_;
  GatedSolver solver_;
  Awaited<SolveResult> result_;
  SolverThread thread_;
};

TEST_F(SolverThreadTest, DeliversTheSolutionWithItsCertificateChecked) {
  thread_.Solve(OneUnit());
  const auto [answer, certificate] = result_.Get().result;
  const auto& flow = std::get<FlowSolution>(answer);
  EXPECT_EQ(flow.outcome, SolveOutcome::kOptimal);
  EXPECT_EQ(flow.objective, 3);
  EXPECT_TRUE(certificate.ok()) << certificate;
}

TEST_F(SolverThreadTest, RefusesAnOptimumThatIsNone) {
  solver_.tamper = [](FlowSolution* solution) { solution->objective += 1; };
  thread_.Solve(OneUnit());
  EXPECT_FALSE(result_.Get().result.certificate.ok());
}

TEST_F(SolverThreadTest, ChecksNoCertificateOfWhatIsNotOptimal) {
  FlowProblem stuck;
  stuck.AddNode(1);
  stuck.AddNode(-1);
  thread_.Solve(std::move(stuck));
  const auto [answer, certificate] = result_.Get().result;
  EXPECT_EQ(std::get<FlowSolution>(answer).outcome, SolveOutcome::kInfeasible);
  EXPECT_TRUE(certificate.ok());
}

TEST_F(SolverThreadTest, SolvesPackings) {
  PackingWork work;
  work.effort.work_max = 1000;
  work.problem.classes.push_back({{2}, {{3, 10}}});
  work.problem.groups.push_back({{5}, 1, 0});
  work.problem.costs = {{7}};
  thread_.Solve(std::move(work));
  const auto [answer, certificate] = result_.Get().result;
  const auto& packing = std::get<PackingSolution>(answer);
  EXPECT_EQ(packing.cost, (PackingCost{10, 14}));
  EXPECT_EQ(packing.bound, packing.cost);
}

TEST_F(SolverThreadTest, MeasuresTheSolve) {
  solver_.gate.Close();
  thread_.Solve(OneUnit());
  solver_.gate.AwaitArrivals(1);
  clock_.AdvanceUs(1234);
  solver_.gate.Open();
  EXPECT_EQ(result_.Get().solve_us, 1234);
}

TEST_F(SolverThreadTest, StopsThoughASolveRunsAndStillDeliversIt) {
  solver_.gate.Close();
  thread_.Solve(OneUnit());
  solver_.gate.AwaitArrivals(1);
  thread_.Stop();
  EXPECT_TRUE(result_.is_set());
}

TEST_F(SolverThreadTest, StopsWithNothingToDo) {
  thread_.Stop();
  thread_.Stop();
  EXPECT_FALSE(result_.is_set());
}

}  // namespace
}  // namespace sluice
