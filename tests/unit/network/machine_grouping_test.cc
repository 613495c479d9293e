#include "network/machine_grouping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/strings.h"
#include "unit/persist/random_steps.h"
#include "util/cluster_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using Groups =
    std::vector<std::tuple<KindId, std::vector<const Machine*>, Resources>>;

Groups ValuesOf(const std::vector<MachineGroup>& groups) {
  Groups values;
  for (const MachineGroup& group : groups) {
    values.emplace_back(group.kind, group.machines, group.free);
  }
  return values;
}

void ExpectSameAggregates(const MachineGrouping& grouping,
                          const ClusterState& state, const std::string& label) {
  const Aggregates expected(state, label);
  const Aggregates& aggregates = grouping.aggregates();
  ASSERT_EQ(aggregates.size(), expected.size());
  for (const auto& [id, machine] : state.machines()) {
    SCOPED_TRACE(machine->uuid);
    const size_t index = aggregates.Of(id);
    const size_t of_expected = expected.Of(id);
    ASSERT_EQ(index == Aggregates::kNone, of_expected == Aggregates::kNone);
    if (index == Aggregates::kNone) continue;
    EXPECT_EQ(aggregates[index].used, expected[of_expected].used);
    EXPECT_EQ(aggregates[index].capacity, expected[of_expected].capacity);
    EXPECT_TRUE(std::ranges::equal(aggregates.PlacesOf(index),
                                   expected.PlacesOf(of_expected)));
  }
}

// Returns how many parts of groups there are.
int64_t ExpectSamePlaces(const MachineGrouping& grouping) {
  const Aggregates& aggregates = grouping.aggregates();
  if (aggregates.empty()) return std::ssize(grouping.groups());
  EXPECT_THAT(aggregates.GroupsByPlace(grouping.groups()),
              testing::ElementsAreArray(grouping.group_at()));
  std::set<std::pair<uint32_t, size_t>> parts;
  for (size_t place = 0; place < grouping.group_at().size(); ++place) {
    const uint32_t group = grouping.group_at()[place];
    if (group == kNoGroup) continue;
    parts.emplace(group, aggregates.Of(aggregates.MachineAt(place)->id));
  }
  return std::ssize(parts);
}

void ExpectSameParts(const MachineGrouping& grouping) {
  const auto values_of = [](std::span<const Aggregates::Parts> parts) {
    std::vector<std::vector<std::pair<uint32_t, uint32_t>>> values;
    for (const Aggregates::Parts& of_one : parts) {
      values.emplace_back();
      for (const auto& [first, machines] : of_one) {
        values.back().emplace_back(first, machines);
      }
    }
    return values;
  };
  if (grouping.aggregates().empty()) {
    EXPECT_TRUE(grouping.parts().empty());
    return;
  }
  EXPECT_EQ(values_of(grouping.parts()),
            values_of(grouping.aggregates().PartsBy(grouping.group_at())));
}

TEST(MachineGrouping, SaysTheSameAsFromScratchWhateverHappens) {
  // One of those that machines have here.
  const std::string label = "label-1";
  int64_t groups = 0;
  int64_t parts = 0;
  int64_t machines = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    TestScheduler cluster;
    ClusterState& state = cluster.mutable_state();
    MachineGrouping grouping(label);
    RandomSteps steps(seed);
    Rng rng(seed);
    // Of so many that few of them change at a time, and most are alike.
    for (int i = 0; i < 20; ++i) {
      cluster.Apply(Added(StrCat("machine-", i),
                          {.cpu = 4000, .labels = {{label, StrCat(i % 3)}}}));
    }
    for (int step = 0; step < 100; ++step) {
      Take(steps.Next(state), step, &state);
      if (!rng.Chance(1, 3)) continue;
      const Eligibility& eligibility = cluster.eligibility();
      const std::vector<MachineGroup> expected =
          GroupMachines(state, eligibility);
      grouping.Refresh(state, eligibility);
      ASSERT_EQ(ValuesOf(grouping.groups()), ValuesOf(expected));
      // Not all who look at groups look at aggregates.
      if (rng.Chance(1, 2)) continue;
      grouping.RefreshAggregates(state);
      ExpectSameAggregates(grouping, state, label);
      parts += ExpectSamePlaces(grouping);
      ExpectSameParts(grouping);
      groups += std::ssize(expected);
      for (const MachineGroup& group : expected) machines += group.size();
    }
  }
  EXPECT_GT(groups, 200 * 33) << "hardly any machines are unlike";
  EXPECT_GT(parts, 5 * groups / 4) << "hardly any are of different racks";
  EXPECT_GT(machines, 2 * groups) << "hardly any machines are alike";
}

class MachineGroupingOfRacks : public testing::Test {
 protected:
  MachineGroupingOfRacks() {
    ClusterBuilder()
        .Machine("a1", {.cpu = 4000, .labels = {{"rack", "a"}}})
        .Machine("b1", {.cpu = 4000, .labels = {{"rack", "b"}}})
        .Machine("a2", {.cpu = 4000, .labels = {{"rack", "a"}}})
        .Machine("none", {.cpu = 4000})
        .Machine("c1", {.cpu = 4000, .labels = {{"rack", "c"}}})
        .Tasks(1, 2, {.cpu = 500})
        .ApplyTo(&cluster_);
    cluster_.Round();
  }
  void Relabel(const std::string& uuid, const std::string& rack) {
    UpdateMachine update;
    update.spec.uuid = uuid;
    if (!rack.empty()) update.spec.labels = {{"rack", rack}};
    cluster_.Apply(update);
  }
  void ExpectFresh() {
    grouping_.Refresh(cluster_.state(), cluster_.eligibility());
    grouping_.RefreshAggregates(cluster_.state());
    ExpectSameAggregates(grouping_, cluster_.state(), "rack");
    ExpectSamePlaces(grouping_);
    ExpectSameParts(grouping_);
  }
  TestScheduler cluster_;
  MachineGrouping grouping_{"rack"};
};

TEST_F(MachineGroupingOfRacks, FollowsChanges) {
  ExpectFresh();
  EXPECT_EQ(grouping_.aggregates().size(), 3u);
  cluster_.Apply(Submitted(10, {.cpu = 500}));
  cluster_.Round();
  ExpectFresh();
  Relabel("a2", "d");
  ExpectFresh();
  Relabel("a2", "");
  ExpectFresh();
  cluster_.Apply(RemoveMachine{"b1"});
  ExpectFresh();
  cluster_.Apply(Added("b2", {.cpu = 1000, .labels = {{"rack", "b"}}}));
  ExpectFresh();
}

TEST_F(MachineGroupingOfRacks, KeepsNoneWhoseMachinesAreGone) {
  for (int i = 0; i < 5; ++i) {
    Relabel("b1", StrCat("b", i));
    ExpectFresh();
    EXPECT_EQ(grouping_.aggregates().size(), 3u);
  }
}

TEST_F(MachineGroupingOfRacks, HasNoneUntilAMachineHasTheLabel) {
  for (const char* uuid : {"a1", "a2", "b1", "c1"}) Relabel(uuid, "");
  ExpectFresh();
  EXPECT_TRUE(grouping_.aggregates().empty());
  Relabel("a1", "a");
  ExpectFresh();
  EXPECT_EQ(grouping_.aggregates().size(), 1u);
}

}  // namespace
}  // namespace sluice
