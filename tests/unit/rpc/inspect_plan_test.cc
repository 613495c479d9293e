#include "rpc/inspect_plan.h"

#include <gtest/gtest.h>

#include "util/cluster_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

TEST(InspectPlan, NamesTasksAndMachinesAsClientsDo) {
  TestScheduler cluster;
  cluster.Apply(Added("a", {.cpu = 1000}));
  cluster.Apply(Submitted(1, {.cpu = 500, .name = "shop/web"}));
  cluster.Apply(Submitted(2, {.cpu = 500, .priority = 7}));
  cluster.Reply(1);
  cluster.Apply(Added("b", {.cpu = 1000}));
  cluster.Apply(Submitted(3, {.cpu = 5000, .priority = 9}));
  const MachineId a = cluster.state().FindMachine("a")->id;
  const MachineId b = cluster.state().FindMachine("b")->id;
  RebalancePlan plan;
  plan.decided.moves = {{{1}, a, b, -5}};
  plan.decided.stopped = {{2}};
  plan.stop_costs = {350};
  plan.decided.nominated = {{{3}, a}};
  plan.is_too_large = true;
  plan.machines_in_part = 133;
  v1::RebalancePlan message;
  InspectPlan(cluster.state(), plan, &message);
  ASSERT_EQ(message.stops_size(), 1);
  EXPECT_EQ(message.stops(0).cost(), 350);
  ASSERT_EQ(message.moves_size(), 1);
  EXPECT_EQ(message.moves(0).task(), "1");
  EXPECT_EQ(message.moves(0).task_name(), "shop/web");
  EXPECT_EQ(message.moves(0).from(), cluster.state().FindMachine(a)->name);
  EXPECT_EQ(message.moves(0).gain(), -5);
  ASSERT_EQ(message.stops_size(), 1);
  EXPECT_EQ(message.stops(0).task(), "2");
  EXPECT_EQ(message.stops(0).priority(), 7);
  ASSERT_EQ(message.served_size(), 1);
  EXPECT_EQ(message.served(0).task(), "3");
  EXPECT_TRUE(message.is_too_large());
  EXPECT_EQ(message.machines_in_part(), 133);
}

}  // namespace
}  // namespace sluice
