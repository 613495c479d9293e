#include "network/aggregates.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "network/machine_groups.h"
#include "util/cluster_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

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

TEST_F(AggregatesTest, CutGroupsWhereRacksDiffer) {
  TestScheduler empty;
  ClusterBuilder()
      .Machine("a1", {.cpu = 4000, .labels = {{"rack", "a"}}})
      .Machine("b1", {.cpu = 4000, .labels = {{"rack", "b"}}})
      .Machine("a2", {.cpu = 4000, .labels = {{"rack", "a"}}})
      .ApplyTo(&empty);
  const std::vector<MachineGroup> groups =
      GroupMachines(empty.state(), empty.eligibility());
  ASSERT_EQ(groups.size(), 1u);
  const std::vector<MachineGroup> cut =
      Aggregates(empty.state(), "rack").Cut(groups);
  ASSERT_EQ(cut.size(), 2u);
  EXPECT_EQ(cut[0].size(), 2);
  EXPECT_EQ(cut[1].size(), 1);
  EXPECT_EQ(Aggregates().Cut(groups).size(), 1u);
}

}  // namespace
}  // namespace sluice
