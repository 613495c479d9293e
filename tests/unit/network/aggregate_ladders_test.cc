#include "network/aggregate_ladders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "network/arc_cost.h"
#include "util/cluster_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

class AggregateLaddersTest : public testing::Test {
 protected:
  AggregateLaddersTest() : cluster_({}, "trivial,domain_spreading") {
    ClusterBuilder()
        .Machines("m", 4, {.cpu = 16000, .labels = {{"rack", "a"}}})
        .ApplyTo(&cluster_);
    racks_ = Aggregates(cluster_.state(), "rack");
  }
  FlowCost CostAt(int64_t cpu) const {
    return cluster_.policies().AggregateCost(Resources(cpu, 0, 0, 0),
                                             racks_[0].capacity) *
           kPartsPerPoint;
  }
  TestScheduler cluster_;
  Aggregates racks_;
};

TEST_F(AggregateLaddersTest, RiseWithEachOfTheFirstAndThenByParts) {
  AggregateLadders ladders(racks_, cluster_.policies(),
                           Resources(1000, 0, 0, 1));
  EXPECT_EQ(ladders.First(0), CostAt(0));
  EXPECT_EQ(ladders.CostAfter(0, 1), CostAt(1000));
  EXPECT_EQ(ladders.CostAfter(0, 39), CostAt(39000));
  // Two at once from the fortieth on.
  EXPECT_EQ(ladders.CostAfter(0, 40), CostAt(40000));
  EXPECT_EQ(ladders.CostAfter(0, 41), CostAt(40000));
  EXPECT_EQ(ladders.CostAfter(0, 42), CostAt(42000));
}

TEST_F(AggregateLaddersTest, EndWhereNoUnitNeedsMore) {
  AggregateLadders ladders(racks_, cluster_.policies(),
                           Resources(1000, 0, 0, 1));
  EXPECT_EQ(ladders.Steps(0, CostAt(2000), 100).size(), 3u);
  const std::span<const CostSegment> two = ladders.Steps(0, CostAt(64000), 2);
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[1].width, 1);
  EXPECT_EQ(two[1].cost, CostAt(1000));
}

TEST_F(AggregateLaddersTest, ChargeNothingWhereThereIsNoAggregate) {
  AggregateLadders ladders(racks_, cluster_.policies(),
                           Resources(1000, 0, 0, 1));
  EXPECT_EQ(ladders.First(Aggregates::kNone), 0);
  EXPECT_EQ(ladders.CostAfter(Aggregates::kNone, 1000), 0);
}

}  // namespace
}  // namespace sluice
