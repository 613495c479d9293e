#include "solver/verify_generalized.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "util/status_matchers.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kWrong = absl::StatusCode::kFailedPrecondition;
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

// Two units become three on the cheap half of a ladder; a loop has nothing to
// do.
class VerifyGeneralizedTest : public testing::Test {
 protected:
  VerifyGeneralizedTest() {
    problem_.AddNode(2);
    problem_.AddNode(-3);
    const CostSegment ladder[] = {{2, 6}, {2, 60}};
    problem_.SetGain(problem_.AddConvexArc(0, 1, ladder), {3, 2});
    problem_.SetGain(problem_.AddArc(0, 0, 5, 1), {1, 2});
    solution_.outcome = SolveOutcome::kOptimal;
    solution_.flows = {2, 0};
    solution_.potentials = {0, 4};
    solution_.objective = 12;
  }

  absl::Status Verify() { return VerifyGeneralized(problem_, solution_); }

  FlowProblem problem_;
  GeneralizedSolution solution_;
};

TEST_F(VerifyGeneralizedTest, AcceptsAnOptimum) {
  EXPECT_THAT(Verify(), IsOk());
  // At the end of a segment any cost between the two is right.
  solution_.potentials = {0, 40};
  EXPECT_THAT(Verify(), IsOk());
}

TEST_F(VerifyGeneralizedTest, AcceptsWhatIsWrongByRounding) {
  solution_.flows = {2 - 1e-12, 1e-12};
  solution_.potentials = {1e-12, 4 - 1e-12};
  solution_.objective = 12 + 1e-9;
  EXPECT_THAT(Verify(), IsOk());
}

TEST_F(VerifyGeneralizedTest, WantsAnOptimalOutcomeAndAllValues) {
  solution_.outcome = SolveOutcome::kBudgetSpent;
  EXPECT_THAT(Verify(), StatusIs(kInvalid, HasSubstr("budget spent")));
  solution_.outcome = SolveOutcome::kOptimal;
  solution_.flows.pop_back();
  EXPECT_THAT(Verify(), StatusIs(kInvalid, HasSubstr("1 flows")));
}

TEST_F(VerifyGeneralizedTest, RefusesFlowsOutOfBounds) {
  solution_.flows = {2, -1e-15};
  EXPECT_THAT(Verify(), StatusIs(kWrong, HasSubstr("arc 1: flow")));
  solution_.flows = {4.5, 0};
  EXPECT_THAT(Verify(), StatusIs(kWrong, HasSubstr("arc 0: flow")));
  solution_.flows = {kNotANumber, 0};
  EXPECT_THAT(Verify(), StatusIs(kWrong, HasSubstr("arc 0: flow")));
}

TEST_F(VerifyGeneralizedTest, RefusesFlowsThatAreNotConserved) {
  problem_.SetSupply(0, 3);
  EXPECT_THAT(Verify(), StatusIs(kWrong, HasSubstr("node 0: ")));
  problem_.SetSupply(0, 2);
  problem_.SetSupply(1, -2);
  EXPECT_THAT(Verify(), StatusIs(kWrong, HasSubstr("node 1: ")));
}

TEST_F(VerifyGeneralizedTest, RefusesPotentialsThatDoNotProveTheOptimum) {
  solution_.potentials = {0, 41};
  EXPECT_THAT(Verify(), StatusIs(kWrong, HasSubstr("more than 2")));
  solution_.potentials = {0, 3.99};
  EXPECT_THAT(Verify(), StatusIs(kWrong, HasSubstr("less than 2")));
  solution_.potentials = {-10, 0};
  EXPECT_THAT(Verify(), StatusIs(kWrong, HasSubstr("arc 1: more")));
  solution_.potentials = {kNotANumber, 4};
  EXPECT_FALSE(Verify().ok());
}

TEST_F(VerifyGeneralizedTest, RefusesAnotherObjective) {
  solution_.objective = 12.001;
  EXPECT_THAT(Verify(), StatusIs(kWrong, HasSubstr("the flows cost 12")));
  solution_.objective = kNotANumber;
  EXPECT_THAT(Verify(), StatusIs(kWrong, HasSubstr("the flows cost 12")));
}

class VerifyInfeasibleTest : public VerifyGeneralizedTest {
 protected:
  // With three units left over, more arrives than is wanted.
  VerifyInfeasibleTest() {
    problem_.SetSupply(0, 5);
    problem_.SetArc(1, 5, 1);
    solution_ = {};
    solution_.outcome = SolveOutcome::kInfeasible;
    solution_.potentials = {-3, -2};
  }

  absl::Status Verify() {
    return VerifyGeneralizedInfeasible(problem_, solution_);
  }
};

TEST_F(VerifyInfeasibleTest, AcceptsAProof) {
  // 5 * -3 - 3 * -2 = -9 is less than five times -1.5 on the loop.
  EXPECT_THAT(Verify(), IsOk());
}

TEST_F(VerifyInfeasibleTest, RefusesPotentialsThatProveNothing) {
  solution_.potentials = {0, 0};
  EXPECT_THAT(Verify(), StatusIs(kWrong, HasSubstr("not below")));
  solution_.potentials = {3, 2};
  EXPECT_THAT(Verify(), StatusIs(kWrong, HasSubstr("not below")));
  solution_.potentials = {kNotANumber, 0};
  EXPECT_FALSE(Verify().ok());
  // Six units could go around the loop.
  problem_.SetArc(1, 6, 1);
  solution_.potentials = {-3, -2};
  EXPECT_THAT(Verify(), StatusIs(kWrong, HasSubstr("not below")));
}

TEST_F(VerifyInfeasibleTest, WantsThatOutcomeAndAllPotentials) {
  solution_.potentials.pop_back();
  EXPECT_THAT(Verify(), StatusIs(kInvalid, HasSubstr("1 potentials")));
  solution_.outcome = SolveOutcome::kOptimal;
  EXPECT_THAT(Verify(), StatusIs(kInvalid, HasSubstr("optimal")));
}

}  // namespace
}  // namespace sluice
