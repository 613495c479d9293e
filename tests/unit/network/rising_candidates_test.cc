#include "network/rising_candidates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "base/rng.h"
#include "base/strings.h"
#include "network/arc_cost.h"
#include "solver/registry.h"
#include "util/cluster_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Machines of different racks told apart, too.
std::vector<MachineGroup> GroupRacks(TestScheduler& cluster,
                                     const Aggregates& racks) {
  absl::flat_hash_map<MachineId, uint32_t> rack_of;
  for (const auto& [id, machine] : cluster.state().machines()) {
    rack_of[id] = static_cast<uint32_t>(racks.Of(id) + 1);
  }
  return GroupMachines(cluster.state(), cluster.eligibility(),
                       MachineParts(rack_of));
}

// Racks of machines of 4 cores, which tasks of one core fill.
class RisingCandidatesOfRacks : public testing::Test {
 protected:
  RisingCandidatesOfRacks() : cluster_({}, "trivial,domain_spreading") {}
  void AddRack(const std::string& rack, int machines) {
    ClusterBuilder()
        .Machines(rack + "-", machines,
                  {.cpu = 4000, .labels = {{"rack", rack}}})
        .ApplyTo(&cluster_);
  }
  // Each rack is a group or, with `is_parted`, each machine.
  void Look(FlowUnits tasks, bool is_parted = false) {
    racks_ = Aggregates(cluster_.state(), "rack");
    groups_ = GroupRacks(cluster_, racks_);
    if (is_parted) groups_ = PartGroups(groups_);
    group_at_ = racks_.GroupsByPlace(groups_);
    rising_.emplace(RisingCandidates::Cut{racks_, groups_, group_at_},
                    cluster_.policies(), Resources(1000, 0, 0, 1), tasks);
  }
  size_t RackOf(size_t group) const {
    return racks_.Of(groups_[group].representative().id);
  }
  // Of the task that comes to the group's rack after so many.
  FlowCost RackCost(size_t group, FlowUnits before) {
    return rising_->ladders().CostAfter(RackOf(group), before);
  }
  void Add(const std::vector<FlowCost>& own_costs, bool is_bound = true) {
    std::vector<Candidate> candidates;
    for (size_t g = 0; g < own_costs.size(); ++g) {
      candidates.push_back({own_costs[g], g});
    }
    rising_->Add({.groups = std::move(candidates), .is_bound = is_bound});
  }
  std::vector<std::vector<size_t>> Take() {
    std::vector<std::vector<size_t>> groups;
    const auto [parts, machines, by_outlet] = rising_->Choose();
    for (const std::vector<Candidate>& candidates : by_outlet) {
      std::vector<size_t>& of_outlet = groups.emplace_back();
      for (const Candidate& one : candidates) {
        of_outlet.push_back(parts[one.group].whole);
      }
      std::ranges::sort(of_outlet);
    }
    return groups;
  }

  TestScheduler cluster_;
  Aggregates racks_;
  std::vector<MachineGroup> groups_;
  std::vector<uint32_t> group_at_;
  std::optional<RisingCandidates> rising_;
};

TEST_F(RisingCandidatesOfRacks, AreAllThatATaskMayGoToWhenTheirRacksFill) {
  AddRack("a", 4);
  AddRack("b", 4);
  AddRack("c", 4);
  Look(4);
  // The fourth task finds three in rack a or one in b at least: so much dearer
  // b may be, and c is dearer still.
  const FlowCost rise = RackCost(0, 1) - RackCost(0, 0);
  ASSERT_GT(rise, 0);
  Add({0, 2 * rise, 5 * rise});
  EXPECT_THAT(Take(), ElementsAre(ElementsAre(0, 1)));
  EXPECT_EQ(rising_->UnitsOf(RackOf(0), 4), 3);
  EXPECT_EQ(rising_->UnitsOf(RackOf(1), 4), 1);
}

TEST_F(RisingCandidatesOfRacks, AreNoMoreOfARackThanItMayGetTasks) {
  AddRack("a", 4);
  AddRack("b", 4);
  Look(4, /*is_parted=*/true);
  // Each rack gets two, or one of them three where the other's are as dear.
  ASSERT_THAT(groups_, SizeIs(8));
  Add({3, 2, 1, 0, 0, 1, 2, 3});
  EXPECT_THAT(Take(), ElementsAre(ElementsAre(2, 3, 4, 5)));
}

TEST_F(RisingCandidatesOfRacks, AreOfNoMoreRacksThanThereAreTasks) {
  for (const char* rack : {"a", "b", "c", "d", "e", "f"}) AddRack(rack, 4);
  Look(2);
  // All racks cost the same, so that any two of them will do.
  Add({7, 7, 7, 7, 7, 7});
  Add({7, 7, 6, 7, 7, 7});
  EXPECT_THAT(Take(), ElementsAre(ElementsAre(0, 1), ElementsAre(0, 2)));
}

TEST_F(RisingCandidatesOfRacks, AreAllWhereThereIsNoMachineForEachTask) {
  AddRack("a", 1);
  AddRack("b", 1);
  Look(3);
  Add({0, 1000000});
  EXPECT_THAT(Take(), ElementsAre(ElementsAre(0, 1)));
  EXPECT_EQ(rising_->UnitsOf(RackOf(1), 3), 3);
}

TEST_F(RisingCandidatesOfRacks, AreWholeGroupsForThoseThatGoByGroup) {
  for (const char* rack : {"a", "b", "c", "d"}) AddRack(rack, 4);
  Look(4);
  const FlowCost dear = 1'000'000;
  rising_->Add({.groups = {{0, 0}, {1, 1}, {dear, 2}}, .is_by_group = true});
  rising_->Add({.groups = {{5, 0}, {7, 1}, {dear, 3}}, .is_by_group = true});
  rising_->Add({.groups = {{5, 1}, {7, 0}, {dear, 3}}, .is_by_group = true});
  const auto [parts, machines, candidates] = rising_->Choose();
  EXPECT_THAT(parts, SizeIs(2));
  EXPECT_THAT(candidates,
              ElementsAre(ElementsAre(Candidate{0, 0}, Candidate{1, 1}),
                          ElementsAre(Candidate{5, 0}, Candidate{7, 1}),
                          ElementsAre(Candidate{5, 1}, Candidate{7, 0})));
}

TEST_F(RisingCandidatesOfRacks, AreAllThatAreNotBound) {
  AddRack("a", 4);
  AddRack("b", 4);
  Look(1);
  Add({0, 1000000}, /*is_bound=*/false);
  Add({0, 1000000});
  EXPECT_THAT(Take(), ElementsAre(ElementsAre(0, 1), ElementsAre(0)));
}

TEST_F(RisingCandidatesOfRacks, AreNoneWhereThereAreNone) {
  Look(5);
  Add({});
  EXPECT_THAT(Take(), ElementsAre(IsEmpty()));
}

// A class is bound by another's sample only as far as that binds it well.
TEST_F(RisingCandidatesOfRacks, AreFewForAClassThatLikesOtherRacks) {
  for (const char* rack : {"a", "b", "c", "d", "e", "f"}) AddRack(rack, 4);
  Look(4);
  const FlowCost dear = 1'000'000;
  Add({0, 0, dear, dear, dear, dear});
  Add({dear, dear, dear, dear, 0, 0});
  EXPECT_THAT(Take(), ElementsAre(ElementsAre(0, 1), ElementsAre(4, 5)));
}

// Classes with so many tasks each, and what these cost on the groups.
struct RandomDemand {
  std::vector<FlowUnits> tasks;
  std::vector<std::vector<FlowCost>> costs;  // By class; nothing: closed to it.
  std::vector<bool> is_by_group;             // By class.
};

RandomDemand MakeDemand(size_t groups, Rng* rng) {
  RandomDemand demand;
  // Mostly alike, as classes are that only their sizes tell apart.
  std::vector<FlowCost> common;
  const int64_t spread = rng->Between(1, 400);
  for (size_t g = 0; g < groups; ++g) {
    common.push_back(rng->Between(0, spread) * kPartsPerPoint);
  }
  for (int64_t i = rng->Between(1, 4); i > 0; --i) {
    demand.tasks.push_back(rng->Between(1, 6));
    demand.is_by_group.push_back(rng->Below(2) == 0);
    std::vector<FlowCost>& costs = demand.costs.emplace_back();
    const bool is_choosy = rng->Below(4) == 0;
    if (demand.costs.size() > 1 && rng->Below(2) == 0) {
      costs = demand.costs[0];  // Ranks groups alike.
      continue;
    }
    for (size_t g = 0; g < groups; ++g) {
      FlowCost cost = common[g] + rng->Between(0, 20) * kPartsPerPoint;
      if (is_choosy) cost += rng->Between(0, 1) * 3000 * kPartsPerPoint;
      costs.push_back(cost);
    }
  }
  return demand;
}

// By aggregate and limit.
using StepsOf =
    absl::FunctionRef<std::span<const CostSegment>(size_t, FlowUnits)>;

// What the cheapest flow costs over these arcs, where a machine is dearer by
// `step` for each unit that it has.
FlowCost Optimum(const RandomDemand& demand,
                 const RisingCandidates::Choice& choice, FlowCost step,
                 StepsOf steps_of) {
  const auto& [groups, machines, candidates] = choice;
  FlowProblem problem;
  FlowUnits all = 0;
  for (const FlowUnits tasks : demand.tasks) {
    problem.AddNode(tasks);
    all += tasks;
  }
  const NodeIndex sink = problem.AddNode(-all);
  std::vector<NodeIndex> nodes;
  std::map<size_t, NodeIndex> of_aggregate;
  for (const RisingCandidates::DrawnPart& group : groups) {
    nodes.push_back(problem.AddNode(0));
    NodeIndex exit = sink;
    if (group.aggregate != Aggregates::kNone) {
      const auto [it, is_new] = of_aggregate.try_emplace(group.aggregate);
      if (is_new) {
        it->second = problem.AddNode(0);
        problem.AddConvexArc(it->second, sink, steps_of(group.aggregate, all));
      }
      exit = it->second;
    }
    std::vector<CostSegment> slots;
    for (FlowUnits slot = 0; slot < all; ++slot) {
      slots.push_back({std::ssize(group.machines), slot * step});
    }
    problem.AddConvexArc(nodes.back(), exit, slots);
  }
  std::map<size_t, NodeIndex> of_whole;
  for (size_t i = 0; i < candidates.size(); ++i) {
    for (const Candidate& one : candidates[i]) {
      const auto from = static_cast<NodeIndex>(i);
      if (!demand.is_by_group[i]) {
        problem.AddArc(from, nodes[one.group], all,
                       demand.costs[i][groups[one.group].whole]);
        continue;
      }
      const auto [it, is_new] = of_whole.try_emplace(one.group);
      if (is_new) it->second = problem.AddNode(0);
      problem.AddArc(from, it->second, all, demand.costs[i][one.group]);
    }
  }
  for (size_t part = 0; part < groups.size(); ++part) {
    const auto it = of_whole.find(groups[part].whole);
    if (it == of_whole.end()) continue;
    problem.AddArc(it->second, nodes[part], all, 0);
  }
  const FlowSolution solution = MakeSolver("network_simplex")->Solve(problem);
  EXPECT_EQ(solution.outcome, SolveOutcome::kOptimal);
  return solution.objective;
}

TEST(RisingCandidatesOfRandomRacks, LoseNothing) {
  int64_t left_out = 0;
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Rng rng(seed);
    TestScheduler cluster({}, "trivial,domain_spreading");
    for (int64_t i = rng.Between(1, 12); i > 0; --i) {
      ClusterBuilder()
          .Machines(StrCat("r", i, "-"), static_cast<int>(rng.Between(1, 8)),
                    {.cpu = rng.Between(1, 3) * 4000,
                     .labels = {{"rack", StrCat(i)}}})
          .ApplyTo(&cluster);
    }
    cluster.Apply(Added("apart", {.cpu = 3000}));
    const Aggregates aggregates(cluster.state(), "rack");
    std::vector<MachineGroup> groups =
        GroupMachines(cluster.state(), cluster.eligibility());
    if (rng.Below(3) == 0) groups = PartGroups(groups);
    if (rng.Below(3) == 0) groups = GroupRacks(cluster, aggregates);
    const std::vector<uint32_t> group_at = aggregates.GroupsByPlace(groups);
    const RandomDemand demand = MakeDemand(groups.size(), &rng);
    FlowUnits tasks = 0;
    for (const FlowUnits of_class : demand.tasks) tasks += of_class;
    const auto choose = [&](RisingCandidates* rising, bool is_bound) {
      for (size_t i = 0; i < demand.costs.size(); ++i) {
        std::vector<Candidate> of_class;
        for (size_t g = 0; g < groups.size(); ++g) {
          of_class.push_back({demand.costs[i][g], g});
        }
        rising->Add({.groups = of_class,
                     .is_bound = is_bound,
                     .is_by_group = demand.is_by_group[i]});
      }
      return rising->Choose();
    };
    const RisingCandidates::Cut cut = {aggregates, groups, group_at};
    RisingCandidates rising(cut, cluster.policies(), Resources(1000, 0, 0, 1),
                            tasks);
    const RisingCandidates::Choice chosen = choose(&rising, /*is_bound=*/true);
    RisingCandidates unbound(cut, cluster.policies(), Resources(1000, 0, 0, 1),
                             tasks);
    const RisingCandidates::Choice all = choose(&unbound, /*is_bound=*/false);
    left_out += std::ssize(all.parts) - std::ssize(chosen.parts);
    const FlowCost step = rng.Between(0, 100) * kPartsPerPoint;
    const auto steps_needed = [&rising](size_t aggregate, FlowUnits limit) {
      return rising.StepsOf(aggregate, limit);
    };
    const auto all_steps = [&rising](size_t aggregate, FlowUnits limit) {
      return rising.ladders().Steps(aggregate, RisingCandidates::kNoBound,
                                    limit);
    };
    EXPECT_EQ(Optimum(demand, chosen, step, steps_needed),
              Optimum(demand, all, step, all_steps));
  }
  EXPECT_GT(left_out, 500);
}

}  // namespace
}  // namespace sluice
