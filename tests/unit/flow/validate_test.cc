#include "flow/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "util/status_matchers.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

// Two nodes with a unit to move from 0 to 1 and nothing to move it on.
FlowProblem TwoNodes() {
  FlowProblem problem;
  problem.AddNode(1);
  problem.AddNode(-1);
  return problem;
}

struct Case {
  std::string name;
  std::function<void(FlowProblem*)> spoil;
  absl::StatusCode code;
  std::string message;
};

void PrintTo(const Case& param, std::ostream* out) { *out << param.name; }

class ValidateFault : public testing::TestWithParam<Case> {};

TEST_P(ValidateFault, IsNamed) {
  FlowProblem problem = TwoNodes();
  GetParam().spoil(&problem);
  EXPECT_THAT(ValidateProblem(problem),
              StatusIs(GetParam().code, HasSubstr(GetParam().message)));
}

void AddConvex(FlowProblem* problem, std::vector<CostSegment> segments) {
  problem->AddConvexArc(0, 1, segments);
}

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kRange = absl::StatusCode::kOutOfRange;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

INSTANTIATE_TEST_SUITE_P(
    All, ValidateFault,
    testing::Values(
        Case{"Unbalanced", [](FlowProblem* p) { p->SetSupply(0, 3); }, kInvalid,
             "supplies add up to 2 and not to zero"},
        Case{"TailBeyond", [](FlowProblem* p) { p->AddArc(2, 1, 1, 1); },
             kInvalid, "arc 0: no node 2"},
        Case{"HeadNegative", [](FlowProblem* p) { p->AddArc(0, -1, 1, 1); },
             kInvalid, "arc 0: no node -1"},
        Case{"NegativeCapacity", [](FlowProblem* p) { p->AddArc(0, 1, -1, 1); },
             kInvalid, "arc 0: segment 0: width -1 is not positive"},
        Case{"ZeroWidth",
             [](FlowProblem* p) {
               AddConvex(p, {{1, 1}, {0, 2}});
             },
             kInvalid, "arc 0: segment 1: width 0 is not positive"},
        Case{"FallingCost",
             [](FlowProblem* p) {
               AddConvex(p, {{1, 4}, {1, 3}});
             },
             kInvalid,
             "arc 0: segment 1: cost 3 is below the one before it, 4"},
        Case{"NegativeLower", [](FlowProblem* p) { p->AddArc(0, 1, 1, 1, -2); },
             kInvalid, "arc 0: lower bound -2 is negative"},
        Case{"LowerAboveCapacity",
             [](FlowProblem* p) {
               p->AddArc(0, 1, 5, 1);
               p->AddArc(0, 1, 2, 1, 3);
             },
             kInvalid, "arc 1: lower bound 3 is above the capacity 2"},
        Case{"HugeSupply", [](FlowProblem* p) { p->SetSupply(1, kLeast); },
             kRange, "node 1: supply -9223372036854775808 takes"},
        Case{"HugeSupplies",
             [](FlowProblem* p) {
               p->SetSupply(0, kFlowTotalMax / 2 + 1);
               p->SetSupply(1, -kFlowTotalMax / 2 - 1);
             },
             kRange, "node 1: supply"},
        Case{"HugeCapacity",
             [](FlowProblem* p) { p->AddArc(0, 1, int64_t{1} << 62, 1); },
             kRange, "arc 0: its capacity takes"},
        Case{"HugeCapacitiesTogether",
             [](FlowProblem* p) {
               p->AddArc(0, 1, kFlowTotalMax / 2, 1);
               p->AddArc(0, 1, kFlowTotalMax / 2, 1);
             },
             kRange, "arc 1: its capacity takes"},
        Case{"OverflowingWidths",
             [](FlowProblem* p) {
               AddConvex(p, {{kMost, 0}, {kMost, 0}});
             },
             kRange, "arc 0: its capacity takes"},
        Case{"HugeCost",
             [](FlowProblem* p) { p->AddArc(0, 1, 1, int64_t{1} << 62); },
             kRange, "arc 0: cost 4611686018427387904 is beyond"},
        Case{"HugeNegativeCost",
             [](FlowProblem* p) { p->AddArc(0, 1, 1, kLeast); }, kRange,
             "arc 0: cost -9223372036854775808 is beyond"}),
    [](const auto& instance) { return instance.param.name; });

TEST(ValidateProblem, AcceptsAProblemWithoutNodes) {
  EXPECT_THAT(ValidateProblem(FlowProblem()), IsOk());
}

TEST(ValidateProblem, AcceptsSupplyThatCannotLeave) {
  EXPECT_THAT(ValidateProblem(TwoNodes()), IsOk());
}

TEST(ValidateProblem, AcceptsWhatIsUnusualButHasAMeaning) {
  FlowProblem problem = TwoNodes();
  problem.AddArc(0, 1, 3, -5);            // A negative cost,
  problem.AddArc(0, 1, 3, -5);            // twice;
  problem.AddArc(1, 1, 3, -5, 1);         // a self-loop;
  problem.AddArc(0, 1, 0, 9);             // no capacity;
  problem.AddConvexArc(0, 1, {});         // not even a segment;
  AddConvex(&problem, {{1, 4}, {1, 4}});  // equal steps.
  EXPECT_THAT(ValidateProblem(problem), IsOk());
}

TEST(ValidateProblem, RefusesAGainThatIsNotPositive) {
  for (const FlowGain gain :
       {FlowGain{0, 1}, FlowGain{-1, 2}, FlowGain{1, 0}}) {
    FlowProblem problem = TwoNodes();
    problem.SetGain(problem.AddArc(0, 1, 3, 1), gain);
    EXPECT_THAT(ValidateProblem(problem),
                StatusIs(kInvalid, HasSubstr("arc 0: gain")));
  }
}

TEST(ValidateProblem, LetsSuppliesDifferWhereAnArcHasAGain) {
  FlowProblem problem;
  problem.AddNode(4);
  problem.AddNode(-2);
  problem.SetGain(problem.AddArc(0, 1, 4, 1), {1, 2});
  EXPECT_THAT(ValidateProblem(problem), IsOk());
}

TEST(ValidatePureProblem, RefusesGainsAndAllOrNoneArcs) {
  FlowProblem problem = TwoNodes();
  const ArcIndex arc = problem.AddArc(0, 1, 3, 1);
  EXPECT_THAT(ValidatePureProblem(problem), IsOk());
  problem.SetAllOrNone(arc, true);
  EXPECT_THAT(ValidatePureProblem(problem),
              StatusIs(kInvalid, HasSubstr("arc 0: this algorithm")));
  problem.SetAllOrNone(arc, false);
  problem.SetGain(arc, {2, 1});
  EXPECT_THAT(ValidatePureProblem(problem),
              StatusIs(kInvalid, HasSubstr("arc 0: this algorithm")));
}

TEST(ValidateProblem, AcceptsCostsUpToTheLimitForTheNodeCount) {
  FlowProblem problem = TwoNodes();
  problem.AddArc(0, 1, 1, kScaledCostMax / 3);
  problem.AddArc(0, 1, 1, int64_t{1} << 31);
  EXPECT_THAT(ValidateProblem(problem), IsOk());
  problem.AddArc(0, 1, 1, kScaledCostMax / 3 + 1);
  EXPECT_THAT(ValidateProblem(problem), StatusIs(kRange, HasSubstr("arc 2")));
}

}  // namespace
}  // namespace sluice
