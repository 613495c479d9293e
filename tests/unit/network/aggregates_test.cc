#include "network/aggregates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "network/machine_groups.h"
#include "util/cluster_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class AggregatesTest : public testing::Test {
 protected:
  AggregatesTest() {
    ClusterBuilder()
        .Machine("a1", {.cpu = 4000, .labels = {{"rack", "a"}}})
        .Machine("b1", {.cpu = 4000, .labels = {{"rack", "b"}}})
        .Machine("a2", {.cpu = 4000, .labels = {{"rack", "a"}}})
        .Machine("none", {.cpu = 4000})
        .Tasks(1, 2, {.cpu = 500})
        .ApplyTo(&cluster_);
    cluster_.Round();
  }
  MachineId Find(const std::string& uuid) const {
    for (const auto& [id, machine] : cluster_.state().machines()) {
      if (machine->uuid == uuid) return id;
    }
    return {};
  }
  TestScheduler cluster_;
};

TEST_F(AggregatesTest, AddUpWhatTheirMachinesOfferAndUse) {
  const Aggregates racks(cluster_.state(), "rack");
  ASSERT_EQ(racks.size(), 2u);
  EXPECT_EQ(racks.Of(Find("a1")), 0u);
  EXPECT_EQ(racks.Of(Find("a2")), 0u);
  EXPECT_EQ(racks.Of(Find("b1")), 1u);
  EXPECT_EQ(racks.Of(Find("none")), Aggregates::kNone);
  EXPECT_EQ(racks[0].capacity[kCpu], 8000);
  EXPECT_EQ(racks[1].capacity[kCpu], 4000);
  int64_t used = 0;
  for (const char* uuid : {"a1", "a2", "b1"}) {
    used += cluster_.state().FindMachine(Find(uuid))->used[kCpu];
  }
  EXPECT_EQ(racks[0].used[kCpu] + racks[1].used[kCpu], used);
}

TEST_F(AggregatesTest, FollowThoseThatChange) {
  Aggregates racks(cluster_.state(), "rack");
  UpdateMachine moved;
  moved.spec.uuid = "a2";
  moved.spec.labels = {{"rack", "b"}};
  cluster_.Apply(moved);
  const std::vector<uint32_t> third = {2};
  ASSERT_TRUE(racks.Update(third));
  EXPECT_EQ(racks.Of(Find("a2")), 1u);
  const Aggregates fresh(cluster_.state(), "rack");
  for (const size_t rack : {0, 1}) {
    EXPECT_EQ(racks[rack].used, fresh[rack].used);
    EXPECT_EQ(racks[rack].capacity, fresh[rack].capacity);
  }
}

// Machines that are gone leave gaps between the ids of others.
TEST_F(AggregatesTest, FindMachinesAmongGaps) {
  TestScheduler cluster;
  for (int i = 0; i < 40; ++i) {
    cluster.Apply(Added(StrCat("m", i),
                        {.cpu = 1000, .labels = {{"rack", StrCat(i % 3)}}}));
  }
  std::map<MachineId, std::string> all;
  for (const auto& [id, machine] : cluster.state().machines()) {
    all.emplace(id, *machine->FindLabel("rack"));
  }
  for (const int i : {0, 3, 4, 5, 17, 30, 31, 39}) {
    cluster.Apply(RemoveMachine{StrCat("m", i)});
  }
  const Aggregates racks(cluster.state(), "rack");
  std::map<size_t, std::string> values;
  for (const auto& [id, value] : all) {
    const Machine* machine = cluster.state().FindMachine(id);
    if (machine == nullptr || !machine->IsUsable()) {
      EXPECT_EQ(racks.Of(id), Aggregates::kNone);
    } else {
      ASSERT_NE(racks.Of(id), Aggregates::kNone);
      EXPECT_EQ(values.emplace(racks.Of(id), value).first->second, value);
    }
  }
  EXPECT_EQ(values.size(), 3u);
  EXPECT_EQ(racks.Of(MachineId{1000000}), Aggregates::kNone);
}

TEST_F(AggregatesTest, DoNotFollowWhereAllOfOneAreGone) {
  Aggregates racks(cluster_.state(), "rack");
  UpdateMachine moved;
  moved.spec.uuid = "b1";
  moved.spec.labels = {{"rack", "a"}};
  cluster_.Apply(moved);
  const std::vector<uint32_t> second = {1};
  EXPECT_FALSE(racks.Update(second));
}

// What is cut off at the largest amount does not come back by subtraction.
TEST_F(AggregatesTest, DoNotFollowWhatWasTooMuchForASum) {
  TestScheduler cluster;
  for (int i = 0; i < 6; ++i) {
    cluster.Apply(
        Added(StrCat("m", i), {.cpu = kAmountMax, .labels = {{"rack", "a"}}}));
  }
  Aggregates racks(cluster.state(), "rack");
  ASSERT_TRUE(racks[0].capacity.IsSaturated());
  UpdateMachine moved;
  moved.spec.uuid = "m0";
  cluster.Apply(moved);
  const std::vector<uint32_t> first = {0};
  EXPECT_FALSE(racks.Update(first));
}

TEST_F(AggregatesTest, SayWhichMachinesTheyHave) {
  Aggregates racks(cluster_.state(), "rack");
  EXPECT_THAT(racks.PlacesOf(0), ElementsAre(0, 2));
  EXPECT_THAT(racks.PlacesOf(1), ElementsAre(1));
  EXPECT_THAT(racks.PlacesOf(Aggregates::kNone), ElementsAre(3));
  for (const auto& [uuid, rack] :
       {std::pair("a1", ""), {"none", "b"}, {"b1", "a"}}) {
    UpdateMachine moved;
    moved.spec.uuid = uuid;
    if (*rack != '\0') moved.spec.labels = {{"rack", rack}};
    cluster_.Apply(moved);
  }
  const std::vector<uint32_t> moved = {0, 1, 3};
  ASSERT_TRUE(racks.Update(moved));
  EXPECT_THAT(racks.PlacesOf(0), ElementsAre(1, 2));
  EXPECT_THAT(racks.PlacesOf(1), ElementsAre(3));
  EXPECT_THAT(racks.PlacesOf(Aggregates::kNone), ElementsAre(0));
  EXPECT_EQ(racks.MachineAt(3)->uuid, "none");
}

TEST_F(AggregatesTest, SayInWhichGroupsTheirMachinesAre) {
  TestScheduler empty;
  ClusterBuilder()
      .Machine("a1", {.cpu = 4000, .labels = {{"rack", "a"}}})
      .Machine("b1", {.cpu = 2000, .labels = {{"rack", "b"}}})
      .Machine("a2", {.cpu = 4000, .labels = {{"rack", "a"}}})
      .ApplyTo(&empty);
  const std::vector<MachineGroup> groups =
      GroupMachines(empty.state(), empty.eligibility());
  const Aggregates racks(empty.state(), "rack");
  EXPECT_THAT(racks.GroupsByPlace(groups), ElementsAre(0, 1, 0));
  EXPECT_THAT(racks.GroupsByPlace(std::span(groups).first(1)),
              ElementsAre(0, kNoGroup, 0));
  EXPECT_THAT(Aggregates().GroupsByPlace(groups), IsEmpty());
}

TEST_F(AggregatesTest, SayHowManyMachinesTheyHaveOfEachGroup) {
  const Aggregates racks(cluster_.state(), "rack");
  // Machines a1, b1, a2 and one of no rack.
  const std::vector<uint32_t> alike = {0, 0, 0, kNoGroup};
  std::vector<Aggregates::Parts> parts = racks.PartsBy(alike);
  ASSERT_EQ(parts.size(), 3u);
  ASSERT_EQ(parts[0].size(), 1u);
  EXPECT_EQ(parts[0][0].first, 0u);
  EXPECT_EQ(parts[0][0].machines, 2u);
  ASSERT_EQ(parts[1].size(), 1u);
  EXPECT_EQ(parts[1][0].first, 1u);
  EXPECT_THAT(parts[2], IsEmpty());
  const std::vector<uint32_t> unlike = {3, 2, 1, 0};
  parts = racks.PartsBy(unlike);
  EXPECT_EQ(parts[0].size(), 2u);
  EXPECT_EQ(parts[2].size(), 1u);
}

}  // namespace
}  // namespace sluice
