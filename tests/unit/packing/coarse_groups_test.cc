#include "packing/coarse_groups.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace sluice {
namespace {

PackingProblem Machines(int64_t count) {
  PackingProblem problem;
  problem.classes.push_back({{1}, {{1, 1}}});
  problem.costs = {{0}, {1}};
  for (int64_t i = 0; i < count; ++i) {
    problem.groups.push_back({{10 * i}, 1 + i % 2, static_cast<size_t>(i % 2)});
  }
  return problem;
}

TEST(CoarseProblem, KeepsKindsApartAndAllMachines) {
  const PackingProblem problem = Machines(100);
  const PackingProblem coarse = CoarseProblem(problem, 10);
  EXPECT_EQ(coarse.groups.size(), 10u);
  int64_t machines[2] = {0, 0};
  for (const PackingGroup& group : coarse.groups) {
    machines[group.kind] += group.machines;
  }
  EXPECT_EQ(machines[0], 50);
  EXPECT_EQ(machines[1], 100);
}

TEST(CoarseProblem, HasTheMeanOfWhatIsFreeByMachines) {
  PackingProblem problem = Machines(0);
  problem.groups = {{{10}, 3, 0}, {{30}, 1, 0}};
  const PackingProblem coarse = CoarseProblem(problem, 1);
  ASSERT_EQ(coarse.groups.size(), 1u);
  EXPECT_EQ(coarse.groups[0].machines, 4);
  EXPECT_EQ(coarse.groups[0].free[0], 15);
}

TEST(CoarseProblem, HasAGroupForEachKindWhereThereAreMore) {
  EXPECT_EQ(CoarseProblem(Machines(6), 1).groups.size(), 2u);
  EXPECT_TRUE(CoarseProblem(Machines(0), 1).groups.empty());
}

TEST(CoarseProblem, DoesNotOverflow) {
  PackingProblem problem = Machines(0);
  constexpr int64_t kHuge = int64_t{1} << 60;
  problem.groups = {{{kHuge}, 1000000, 0}, {{kHuge - 2}, 1000000, 0}};
  EXPECT_EQ(CoarseProblem(problem, 1).groups[0].free[0], kHuge - 1);
}

}  // namespace
}  // namespace sluice
