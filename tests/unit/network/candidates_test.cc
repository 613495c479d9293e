#include "network/candidates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/strings.h"
#include "network/arc_cost.h"
#include "util/cluster_builder.h"
#include "util/test_scheduler.h"

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
  Candidates candidates(5, /*keeps_all=*/true);
  const Aggregates none;
  const TestScheduler cluster;
  AggregateLadders ladders(none, cluster.policies(), Resources());
  const auto [chosen, bound] = std::move(candidates).TakeRising({}, &ladders);
  EXPECT_THAT(chosen, IsEmpty());
  EXPECT_EQ(bound, Candidates::kNoBound);
}

// Racks of machines of 4 cores, which tasks of one core fill.
class CandidatesOfRacks : public testing::Test {
 protected:
  CandidatesOfRacks() : cluster_({}, "trivial,domain_spreading") {}
  void AddRack(const std::string& rack, int machines) {
    ClusterBuilder()
        .Machines(rack + "-", machines,
                  {.cpu = 4000, .labels = {{"rack", rack}}})
        .ApplyTo(&cluster_);
  }
  void Look() {
    racks_.Refresh(cluster_.state(), "rack");
    groups_ =
        racks_.Cut(GroupMachines(cluster_.state(), cluster_.eligibility()));
    ladders_.emplace(racks_, cluster_.policies(), Resources(1000, 0, 0, 1));
  }
  // Of the task that comes to the group's rack after so many.
  FlowCost RackCost(size_t group, FlowUnits before) {
    return ladders_->CostAfter(groups_[group].aggregate, before);
  }
  Candidates::Choice Choose(FlowUnits tasks,
                            const std::vector<FlowCost>& own_costs) {
    Candidates candidates(tasks, /*keeps_all=*/true);
    for (size_t g = 0; g < groups_.size(); ++g) {
      candidates.Offer({own_costs[g] + RackCost(g, 0), g});
    }
    return std::move(candidates).TakeRising(groups_, &*ladders_);
  }

  TestScheduler cluster_;
  Aggregates racks_;
  std::vector<MachineGroup> groups_;
  std::optional<AggregateLadders> ladders_;
};

TEST_F(CandidatesOfRacks, AreAllThatATaskMayGoToWhenTheirRacksFill) {
  AddRack("a", 4);
  AddRack("b", 4);
  AddRack("c", 4);
  Look();
  // The fourth task finds three in rack a or one in b at least: so much dearer
  // b may be, and c is dearer still.
  const FlowCost rise = RackCost(0, 1) - RackCost(0, 0);
  ASSERT_GT(rise, 0);
  const auto [chosen, bound] = Choose(4, {0, 2 * rise, 5 * rise});
  std::vector<size_t> groups = GroupsOf(chosen);
  std::ranges::sort(groups);
  EXPECT_THAT(groups, ElementsAre(0, 1));
  EXPECT_EQ(bound, RackCost(0, 2));
}

TEST_F(CandidatesOfRacks, AreAllWhereThereIsNoMachineForEachTask) {
  AddRack("a", 1);
  AddRack("b", 1);
  Look();
  const auto [chosen, bound] = Choose(3, {0, 1000000});
  EXPECT_THAT(GroupsOf(chosen), UnorderedElementsAre(0, 1));
  EXPECT_EQ(bound, Candidates::kNoBound);
}

TEST_F(CandidatesOfRacks, AreTheSameWhereAllCostAsMuchMore) {
  Candidates cheap(4, /*keeps_all=*/true);
  Candidates dear(4, /*keeps_all=*/true);
  Candidates other(4, /*keeps_all=*/true);
  for (size_t g = 0; g < 3; ++g) {
    cheap.Offer({static_cast<FlowCost>(10 * g), g});
    dear.Offer({static_cast<FlowCost>(10 * g + 7), g});
    other.Offer({static_cast<FlowCost>(11 * g + 7), g});
  }
  EXPECT_EQ(dear.CostAbove(cheap), 7);
  EXPECT_EQ(other.CostAbove(cheap), std::nullopt);
  EXPECT_EQ(cheap.CostAbove(Candidates(4, true)), std::nullopt);

  AddRack("a", 4);
  AddRack("b", 4);
  AddRack("c", 4);
  Look();
  Candidates::Choice choice = std::move(cheap).TakeRising(groups_, &*ladders_);
  const auto [chosen, bound] = std::move(dear).TakeRising(groups_, &*ladders_);
  choice.Add(7);
  EXPECT_EQ(choice.candidates, chosen);
  EXPECT_EQ(choice.bound, bound);
}

// Wherever all tasks but one go, one each to a machine or several: the last one
// finds a machine among those chosen that costs no more than the bound, and
// none that costs less elsewhere.
TEST(CandidatesOfRandomRacks, LoseNothing) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Rng rng(seed);
    TestScheduler cluster({}, "trivial,domain_spreading");
    const int64_t racks = rng.Between(1, 4);
    for (int64_t i = 0; i < racks; ++i) {
      ClusterBuilder()
          .Machines(StrCat("r", i, "-"), static_cast<int>(rng.Between(1, 5)),
                    {.cpu = rng.Between(1, 3) * 4000,
                     .labels = {{"rack", StrCat(i)}}})
          .ApplyTo(&cluster);
    }
    cluster.Apply(Added("apart", {.cpu = 3000}));
    const Aggregates aggregates(cluster.state(), "rack");
    // Each machine is a group of its own.
    const std::vector<MachineGroup> groups = aggregates.Cut(
        PartGroups(GroupMachines(cluster.state(), cluster.eligibility())));
    AggregateLadders ladders(aggregates, cluster.policies(),
                             Resources(1000, 0, 0, 1));
    const FlowUnits tasks = rng.Between(1, 2 * std::ssize(groups));
    std::vector<FlowCost> costs;
    Candidates candidates(tasks, /*keeps_all=*/true);
    for (size_t g = 0; g < groups.size(); ++g) {
      costs.push_back(rng.Between(0, 1000) * kPartsPerPoint +
                      ladders.First(groups[g].aggregate));
      candidates.Offer({costs[g], g});
    }
    const auto [chosen, bound] =
        std::move(candidates).TakeRising(groups, &ladders);
    std::set<size_t> is_chosen;
    for (const Candidate& one : chosen) {
      is_chosen.insert(one.group);
      EXPECT_LE(one.cost, bound);
    }
    for (int64_t trial = 0; trial < 50; ++trial) {
      std::vector<FlowUnits> on_group(groups.size(), 0);
      std::map<size_t, FlowUnits> on_aggregate;
      for (FlowUnits unit = 0; unit + 1 < tasks; ++unit) {
        const size_t g = rng.Below(groups.size());
        ++on_group[g];
        ++on_aggregate[groups[g].aggregate];
      }
      FlowCost best = Candidates::kNoBound;
      FlowCost best_chosen = Candidates::kNoBound;
      for (size_t g = 0; g < groups.size(); ++g) {
        if (on_group[g] > 0) continue;
        const size_t aggregate = groups[g].aggregate;
        const FlowCost cost =
            costs[g] - ladders.First(aggregate) +
            ladders.CostAfter(aggregate, on_aggregate[aggregate]);
        best = std::min(best, cost);
        if (is_chosen.contains(g)) best_chosen = std::min(best_chosen, cost);
      }
      EXPECT_EQ(best, best_chosen);
      EXPECT_LE(best, bound);
    }
  }
}

}  // namespace
}  // namespace sluice
