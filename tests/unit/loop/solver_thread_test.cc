#include "loop/solver_thread.h"

#include <gtest/gtest.h>

#include <utility>

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
  const SolveResult result = result_.Get();
  EXPECT_EQ(result.solution.outcome, SolveOutcome::kOptimal);
  EXPECT_EQ(result.solution.objective, 3);
  EXPECT_TRUE(result.certificate.ok()) << result.certificate;
}

TEST_F(SolverThreadTest, RefusesAnOptimumThatIsNone) {
  solver_.tamper = [](FlowSolution* solution) { solution->objective += 1; };
  thread_.Solve(OneUnit());
  EXPECT_FALSE(result_.Get().certificate.ok());
}

TEST_F(SolverThreadTest, ChecksNoCertificateOfWhatIsNotOptimal) {
  FlowProblem stuck;
  stuck.AddNode(1);
  stuck.AddNode(-1);
  thread_.Solve(std::move(stuck));
  const SolveResult result = result_.Get();
  EXPECT_EQ(result.solution.outcome, SolveOutcome::kInfeasible);
  EXPECT_TRUE(result.certificate.ok());
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
