#include "packing/merged_classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Three that ask for the same, the last of which dislikes the second kind.
PackingProblem Alike() {
  PackingProblem problem;
  problem.classes = {{.request = {3}, .waiting = {{2, 5}, {2, 9}}},
                     {.request = {3}, .waiting = {{3, 5}, {1, 7}}},
                     {.request = {3}, .waiting = {{4, 5}}}};
  problem.groups = {{{6}, 4, 0}, {{7}, 1, 1}};
  problem.costs = {{0, 0, 0}, {1, 1, 2}};
  problem.former = {{0, 1, {{0, 1}, {1, 1}}}, {1, 1, {{2, 2}}}};
  return problem;
}

TEST(MergedClasses, AreThoseThatAskForTheSameAndLikeTheSame) {
  const PackingProblem problem = Alike();
  const MergedClasses classes(problem);
  const PackingProblem& merged = classes.merged();
  ASSERT_THAT(merged.classes, SizeIs(2));
  EXPECT_THAT(merged.classes[0].request, ElementsAre(3));
  ASSERT_THAT(merged.classes[0].waiting, SizeIs(3));
  EXPECT_EQ(merged.classes[0].waiting[0].count, 5);
  EXPECT_EQ(merged.classes[0].waiting[0].cost, 5);
  EXPECT_EQ(merged.classes[0].waiting[1].cost, 7);
  EXPECT_EQ(merged.classes[0].waiting[2].cost, 9);
  EXPECT_EQ(merged.classes[1].count(), 4);
  EXPECT_THAT(merged.costs, ElementsAre(ElementsAre(0, 0), ElementsAre(1, 2)));
  EXPECT_THAT(merged.former,
              ElementsAre(Pattern{0, 1, {{0, 2}}}, Pattern{1, 1, {{1, 2}}}));
}

TEST(MergedClasses, GivePatternsTheTasksThatAreDearestToLeaveWaiting) {
  const PackingProblem problem = Alike();
  const MergedClasses classes(problem);
  // Five of eight: the two of 9, the one of 7, and two of 5.
  EXPECT_THAT(classes.Part({{0, 2, {{0, 2}}}, {1, 1, {{0, 1}}}}),
              ElementsAre(Pattern{0, 2, {{0, 2}}}, Pattern{1, 1, {{1, 1}}}));
}

TEST(MergedClasses, KeepWhatStaysByItself) {
  PackingProblem problem = Alike();
  problem.classes.push_back(problem.classes[2]);
  problem.classes.push_back(problem.classes[2]);
  problem.costs = {{0, 0, 0, 0, 0}, {1, 1, 2, 2, 2}};
  problem.classes[2].runs = true;
  problem.classes[3].runs = true;
  problem.staying = {{{3, 2}}, {{2, 1}, {3, 1}}};
  const PackingProblem merged = MergedClasses(problem).merged();
  ASSERT_THAT(merged.classes, SizeIs(4)) << "the first two are one";
  EXPECT_EQ(merged.MostOn(1, 0), 0);
  EXPECT_EQ(merged.MostOn(1, 1), 1);
  EXPECT_EQ(merged.MostOn(2, 0), 2);
  EXPECT_EQ(merged.MostOn(2, 1), 1);
}

TEST(MergedClasses, PartPatternsWhereAClassEnds) {
  PackingProblem problem = Alike();
  problem.groups[0].machines = 6;
  const MergedClasses classes(problem);
  EXPECT_THAT(classes.Part({{0, 2, {{0, 3}, {1, 1}}}}),
              ElementsAre(Pattern{0, 1, {{0, 3}, {2, 1}}},
                          Pattern{0, 1, {{0, 1}, {1, 2}, {2, 1}}}));
}

TEST(MergedClasses, LeavesThoseApartThatMayNotShareAMachine) {
  PackingProblem problem = Alike();
  problem.classes[0].per_machine_max = 1;
  problem.classes[1].per_machine_max = 1;
  EXPECT_THAT(MergedClasses(problem).merged().classes, SizeIs(3));
}

TEST(MergedClasses, AreThoseThatKeepAwayFromTheSame) {
  PackingProblem problem = Alike();
  problem.classes[0].apart_from = {2};
  problem.classes[1].apart_from = {2};
  problem.classes[2].apart_from = {0, 1};
  const MergedClasses both(problem);
  ASSERT_THAT(both.merged().classes, SizeIs(2));
  EXPECT_THAT(both.merged().classes[0].apart_from, ElementsAre(1));
  EXPECT_THAT(both.merged().classes[1].apart_from, ElementsAre(0));
  problem.classes[1].apart_from = {};
  problem.classes[2].apart_from = {0};
  EXPECT_THAT(MergedClasses(problem).merged().classes, SizeIs(3));
}

TEST(MergedClasses, AreThoseThatCountForTheSameCaps) {
  PackingProblem problem = Alike();
  problem.caps = {{{0, 1}, 4}};
  const MergedClasses both(problem);
  ASSERT_THAT(both.merged().classes, SizeIs(2));
  EXPECT_THAT(both.merged().caps[0].classes, ElementsAre(0));
  problem.caps[0].classes = {0};
  EXPECT_THAT(MergedClasses(problem).merged().classes, SizeIs(3));
}

TEST(MergedClasses, TellsWhoKeepsAwayFromWhoNeedsCompany) {
  PackingProblem problem;
  problem.classes.resize(4);
  for (PackingClass& one : problem.classes) {
    one.request = {1};
    one.waiting = {{1, 1}};
  }
  problem.classes[0].request = {2};
  problem.classes[1].request = {3};
  problem.classes[1].apart_from = {2};
  problem.classes[2].apart_from = {1};
  problem.classes[3].needs_company = true;
  problem.classes[3].company = {0};
  problem.groups = {{{9}, 1, 0}};
  problem.costs = {{0, 0, 0, 0}};
  EXPECT_THAT(MergedClasses(problem).merged().classes, SizeIs(4));
}

TEST(MergedClasses, AreNoneOfNothing) {
  const PackingProblem problem;
  const MergedClasses classes(problem);
  EXPECT_THAT(classes.merged().classes, IsEmpty());
  EXPECT_THAT(classes.Part({}), IsEmpty());
}

}  // namespace
}  // namespace sluice
