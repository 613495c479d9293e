#include "packing/merged_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

PackingClass Tasks(int64_t count, std::vector<int64_t> request) {
  return {.request = std::move(request), .waiting = {{count, 1}}};
}

TEST(MergedGroups, GroupsThatDifferByLessThanARequestBecomeOne) {
  PackingProblem problem;
  problem.classes = {Tasks(50, {4}), Tasks(50, {6})};
  problem.costs = {{0, 0}};
  problem.groups = {{{10}, 3, 0}, {{11}, 5, 0}, {{12}, 7, 0}};
  const PackingProblem merged = MergedGroups(problem).merged();
  ASSERT_THAT(merged.groups, SizeIs(2));
  EXPECT_THAT(merged.groups[0].free, ElementsAre(10));
  EXPECT_EQ(merged.groups[0].machines, 8);
  EXPECT_THAT(merged.groups[1].free, ElementsAre(12));
  EXPECT_EQ(merged.groups[1].machines, 7);
}

TEST(MergedGroups, WhatAllTasksTogetherCannotUseDoesNotCount) {
  PackingProblem problem;
  problem.classes = {Tasks(2, {4, 0}), Tasks(1, {6, 0})};
  problem.costs = {{0, 0}};
  problem.groups = {{{14, 3}, 1, 0}, {{900, 9}, 1, 0}};
  const PackingProblem merged = MergedGroups(problem).merged();
  ASSERT_THAT(merged.groups, SizeIs(1));
  EXPECT_THAT(merged.groups[0].free, ElementsAre(14, 0));
  EXPECT_EQ(merged.groups[0].machines, 2);
}

TEST(MergedGroups, GroupsOfDifferentKindsStayApart) {
  PackingProblem problem;
  problem.classes = {Tasks(1, {1})};
  problem.costs = {{0}, {1}};
  problem.groups = {{{5}, 1, 0}, {{5}, 1, 1}};
  EXPECT_THAT(MergedGroups(problem).merged().groups, SizeIs(2));
}

TEST(MergedGroups, GroupsWithDifferentCapsStayApart) {
  PackingProblem problem;
  problem.classes = {Tasks(1, {1})};
  problem.costs = {{0}};
  problem.caps = {{{0}, 1}};
  problem.groups = {{.free = {5}, .machines = 1, .caps = {0}},
                    {.free = {5}, .machines = 1},
                    {.free = {5}, .machines = 1, .caps = {0}}};
  const PackingProblem merged = MergedGroups(problem).merged();
  ASSERT_THAT(merged.groups, SizeIs(2));
  EXPECT_EQ(merged.groups[0].machines, 2);
  EXPECT_EQ(merged.caps[0].most, 1);
}

TEST(MergedGroups, WhatIsOverdrawnCountsAsNothingFree) {
  PackingProblem problem;
  problem.classes = {Tasks(1, {1})};
  problem.costs = {{0}};
  problem.groups = {{{-5}, 1, 0}, {{0}, 1, 0}};
  const PackingProblem merged = MergedGroups(problem).merged();
  ASSERT_THAT(merged.groups, SizeIs(1));
  EXPECT_THAT(merged.groups[0].free, ElementsAre(0));
}

TEST(MergedGroups, PatternsArePartedAmongTheGroupsThatTheyStandFor) {
  PackingProblem problem;
  problem.classes = {Tasks(50, {4})};
  problem.costs = {{0}};
  problem.groups = {{{9}, 2, 0}, {{20}, 4, 0}, {{8}, 0, 0}, {{10}, 3, 0}};
  const MergedGroups groups(problem);
  ASSERT_THAT(groups.merged().groups, SizeIs(2));
  const std::vector<Pattern> parted =
      groups.Part({{0, 3, {{0, 2}}}, {1, 1, {{0, 5}}}, {0, 1, {{0, 1}}}});
  ASSERT_THAT(parted, SizeIs(4));
  const auto expect = [&](size_t i, size_t group, int64_t machines,
                          int64_t count) {
    EXPECT_EQ(parted[i].group, group);
    EXPECT_EQ(parted[i].machines, machines);
    EXPECT_THAT(parted[i].tasks, ElementsAre(Pair(0, count)));
  };
  expect(0, 0, 2, 2);
  expect(1, 3, 1, 2);
  expect(2, 1, 1, 5);
  expect(3, 3, 1, 1);
}

TEST(MergedGroups, NothingStaysNothing) {
  const PackingProblem problem;
  const MergedGroups groups(problem);
  EXPECT_THAT(groups.merged().groups, IsEmpty());
  EXPECT_THAT(groups.merged().classes, IsEmpty());
  EXPECT_THAT(groups.Part({}), IsEmpty());
}

TEST(MergedGroups, SumsThatDoNotFitANumberCutNothingOff) {
  constexpr int64_t kHuge = int64_t{1} << 60;
  PackingProblem problem;
  problem.classes = {Tasks(int64_t{1} << 40, {kHuge}), Tasks(3, {kHuge})};
  problem.costs = {{0, 0}};
  problem.groups = {{{kMax}, 1, 0}};
  const PackingProblem merged = MergedGroups(problem).merged();
  ASSERT_THAT(merged.groups, SizeIs(1));
  EXPECT_THAT(merged.groups[0].free, ElementsAre(7 * kHuge));
}

}  // namespace
}  // namespace sluice
