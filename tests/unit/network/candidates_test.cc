#include "network/candidates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<size_t> GroupsOf(const std::vector<Candidate>& candidates) {
  std::vector<size_t> groups;
  for (const Candidate& one : candidates) groups.push_back(one.group);
  return groups;
}

// Groups of so many machines, which are nobody's.
std::vector<MachineGroup> GroupsOfSizes(const std::vector<size_t>& sizes) {
  std::vector<MachineGroup> groups;
  for (const size_t size : sizes) {
    groups.push_back(
        {.machines = std::vector<const Machine*>(size), .free = {}});
  }
  return groups;
}

TEST(Candidates, AreTheCheapestWithAMachineForEachTask) {
  const std::vector<MachineGroup> groups = GroupsOfSizes({1, 2, 3, 1});
  Candidates candidates(3, /*keeps_all=*/false);
  candidates.Offer({50, 0});
  candidates.Offer({20, 1});
  candidates.Offer({30, 2});
  candidates.Offer({10, 3});
  EXPECT_THAT(GroupsOf(std::move(candidates).Take(groups)),
              UnorderedElementsAre(1, 3));
}

TEST(Candidates, AreTheFirstOfThoseThatCostTheSame) {
  const std::vector<MachineGroup> groups =
      GroupsOfSizes(std::vector<size_t>(10, 1));
  Candidates candidates(2, /*keeps_all=*/false);
  for (size_t g = 0; g < groups.size(); ++g) candidates.Offer({7, g});
  EXPECT_THAT(GroupsOf(std::move(candidates).Take(groups)),
              UnorderedElementsAre(0, 1));
}

TEST(Candidates, AreNoneWhereThereAreNone) {
  EXPECT_THAT(Candidates(5, /*keeps_all=*/false).Take({}), IsEmpty());
  EXPECT_THAT(Candidates(5, /*keeps_all=*/true).TakeAll(), IsEmpty());
}

TEST(Candidates, AreAllWhereAllAreKept) {
  Candidates candidates(1, /*keeps_all=*/true);
  for (size_t g = 0; g < 5; ++g) {
    candidates.Offer({static_cast<FlowCost>(g), g});
  }
  EXPECT_THAT(GroupsOf(std::move(candidates).TakeAll()),
              ElementsAre(0, 1, 2, 3, 4));
}

TEST(Candidates, ThatAreTheCheapestComeFirst) {
  const std::vector<MachineGroup> groups = GroupsOfSizes({1, 2, 3, 1});
  std::vector<Candidate> candidates = {{50, 0}, {20, 1}, {30, 2}, {10, 3}};
  EXPECT_EQ(PutCheapestFirst(groups, 4, candidates), 3U);
  candidates.resize(3);
  EXPECT_THAT(GroupsOf(candidates), UnorderedElementsAre(1, 2, 3));
  EXPECT_EQ(PutCheapestFirst(groups, 0, candidates), 0U);
  EXPECT_EQ(PutCheapestFirst(groups, 100, candidates), 3U);
}

}  // namespace
}  // namespace sluice
