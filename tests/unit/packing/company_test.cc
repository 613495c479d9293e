#include "packing/company.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "packing/pack.h"
#include "util/packing_builder.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// A class of three units that is company for one of two; two machines of each
// kind, of ten units.  What stays on the second kind is company, too.
PackingProblem Led() {
  PackingProblem problem;
  problem.classes = {{.request = {3}, .waiting = {{2, 9}}},
                     {.request = {2},
                      .waiting = {{9, 9}},
                      .needs_company = true,
                      .company = {0}}};
  problem.groups = {{{10}, 2, 0}, {{10}, 2, 1}};
  problem.costs = {{0, 0}, {0, 0}};
  problem.company = {{}, {1}};
  return problem;
}

TEST(HasCompany, IsBesideOthersOfTheProblemOrWhatStays) {
  const PackingProblem problem = Led();
  EXPECT_TRUE(HasCompany(problem, {0, 1, {}}, 0)) << "needs none";
  EXPECT_FALSE(HasCompany(problem, {0, 1, {}}, 1));
  EXPECT_FALSE(HasCompany(problem, {0, 1, {{1, 3}}}, 1)) << "not of its own";
  EXPECT_TRUE(HasCompany(problem, {0, 1, {{0, 1}}}, 1));
  EXPECT_TRUE(HasCompany(problem, {1, 1, {}}, 1));
}

TEST(WithCompany, LeavesOutWhoHasNone) {
  const PackingProblem problem = Led();
  EXPECT_THAT(WithCompany(problem, {0, 1, {{1, 3}}}).tasks, IsEmpty());
  EXPECT_THAT(WithCompany(problem, {0, 1, {{0, 1}, {1, 3}}}).tasks,
              ElementsAre(Pair(0, 1), Pair(1, 3)));
  EXPECT_THAT(WithCompany(problem, {1, 1, {{1, 3}}}).tasks,
              ElementsAre(Pair(1, 3)));
}

// A class that needs company of the second class.
PackingProblem Chain() {
  PackingProblem problem = Led();
  AddClass({.request = {1},
            .waiting = {{4, 9}},
            .needs_company = true,
            .company = {1}},
           0, &problem);
  problem.company = {};
  return problem;
}

TEST(WithCompany, LeavesOutWhoHasNoneThen) {
  const PackingProblem problem = Chain();
  EXPECT_THAT(WithCompany(problem, {0, 1, {{1, 3}, {2, 1}}}).tasks, IsEmpty());
  EXPECT_THAT(WithCompany(problem, {0, 1, {{0, 1}, {2, 1}}}).tasks,
              ElementsAre(Pair(0, 1)));
  EXPECT_THAT(WithCompany(problem, {0, 1, {{0, 1}, {1, 1}, {2, 1}}}).tasks,
              ElementsAre(Pair(0, 1), Pair(1, 1), Pair(2, 1)));
}

TEST(CompanyDepths, CountHowManyMustComeBefore) {
  EXPECT_THAT(CompanyDepths(Led()), ElementsAre(0, 1));
  EXPECT_THAT(CompanyDepths(Chain()), ElementsAre(0, 1, 2));
  EXPECT_THAT(CompanyDepths({}), IsEmpty());
}

TEST(CountFreeToLeave, AllButTheLastThatIsCompany) {
  const PackingProblem problem = Led();
  EXPECT_EQ(CountFreeToLeave(problem, {0, 1, {{0, 2}, {1, 1}}}, 0), 1);
  EXPECT_EQ(CountFreeToLeave(problem, {0, 1, {{0, 2}, {1, 1}}}, 1), 1);
  EXPECT_EQ(CountFreeToLeave(problem, {0, 1, {{0, 2}}}, 0), 2);
  EXPECT_EQ(CountFreeToLeave(problem, {1, 1, {{0, 2}, {1, 1}}}, 0), 2);
  EXPECT_EQ(CountFreeToLeave(problem, {1, 1, {{1, 1}}}, 0), 0);
}

TEST(FindCompany, IsWhomOthersNeed) {
  EXPECT_THAT(FindCompany(Led()), ElementsAre(true, false));
}

TEST(Pack, PutsCompanyWhereOthersNeedIt) {
  PackingProblem problem = Led();
  // Nothing stays anywhere, and the leaders would rather be elsewhere.
  problem.company = {};
  problem.costs = {{0, 0}, {5, 0}};
  problem.classes[1].waiting = {{6, 9}};
  problem.groups = {{{3}, 2, 0}, {{10}, 2, 1}};
  const PackingSolution solution = Pack(problem, {.work_max = 1'000'000});
  EXPECT_EQ(solution.cost, (PackingCost{0, 10}));
  EXPECT_EQ(solution.bound, solution.cost);
}

// Two machines.  The first class needs the second, which needs the third.  The
// third would rather be on the machine that is too small for all.
TEST(Pack, PutsChainsOfCompanyWhereTheyFit) {
  PackingProblem problem;
  problem.classes = {{.request = {3},
                      .waiting = {{1, 9}},
                      .needs_company = true,
                      .company = {1}},
                     {.request = {2},
                      .waiting = {{1, 9}},
                      .needs_company = true,
                      .company = {2}},
                     {.request = {2}, .waiting = {{1, 9}}}};
  problem.groups = {{{5}, 1, 0}, {{7}, 1, 1}};
  problem.costs = {{0, 0, 0}, {0, 0, 5}};
  const PackingSolution solution = Pack(problem, {.work_max = 1'000'000});
  EXPECT_EQ(solution.cost, (PackingCost{0, 5}));
  EXPECT_EQ(solution.bound, solution.cost);
}

TEST(Pack, LeavesThoseWaitingWhoCanHaveNoCompany) {
  PackingProblem problem = Led();
  problem.company = {};
  problem.groups = {{{2}, 9, 0}};
  const PackingSolution solution = Pack(problem, {.work_max = 1'000'000});
  EXPECT_EQ(solution.cost, (PackingCost{11 * 9, 0}));
  EXPECT_EQ(solution.bound, solution.cost);
}

}  // namespace
}  // namespace sluice
