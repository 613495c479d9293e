// The network_aware policy (round/policies_test.cc has what rounds make of it).

#include <gtest/gtest.h>

#include "cost/policy_set.h"

namespace sluice {
namespace {

constexpr ResourceIndex kRx = kBuiltinResourceCount + 3;
constexpr ResourceIndex kTx = kBuiltinResourceCount + 1;

Resources Links(int64_t rx, int64_t tx) {
  Resources resources;
  resources.Set(kRx, rx);
  resources.Set(kTx, tx);
  return resources;
}

// Its links take `capacity` each way, all of it for tasks.
Machine MachineOf(int64_t capacity) {
  Machine machine;
  machine.allocatable = Links(capacity, capacity);
  machine.capacity = machine.allocatable;
  machine.net_rx = kRx;
  machine.net_tx = kTx;
  return machine;
}

class NetworkAwareTest : public testing::Test {
 protected:
  Cost CostOf(const Machine& machine, const Resources& used) const {
    return policies_.LoadCost(machine, used);
  }
  const PolicySet policies_ = *PolicySet::FromNames("network_aware");
};

TEST_F(NetworkAwareTest, ChargesTheMeanOfTheTwoDirections) {
  const Machine machine = MachineOf(1000);
  EXPECT_EQ(CostOf(machine, Links(0, 0)), 0);
  EXPECT_EQ(CostOf(machine, Links(500, 0)), 250);
  EXPECT_EQ(CostOf(machine, Links(500, 100)), 300);
  EXPECT_EQ(CostOf(machine, Links(1000, 1000)), 1000);
}

TEST_F(NetworkAwareTest, TellsMachinesApartByTheirSamples) {
  EXPECT_TRUE(policies_.TellsMachinesApart());
}

TEST_F(NetworkAwareTest, LooksAtNothingElse) {
  const Machine machine = MachineOf(1000);
  Resources used(9000, 9000, 9000, 9);
  used.Set(kBuiltinResourceCount, 9000);
  EXPECT_EQ(CostOf(machine, used), 0);
}

TEST_F(NetworkAwareTest, CountsTheLargerOfRequestsAndTheNewestSample) {
  Machine machine = MachineOf(1000);
  machine.usage.Add({.net_rx_kb = 900, .net_tx_kb = 900}, 2);
  machine.usage.Add({.net_rx_kb = 600, .net_tx_kb = 200}, 2);
  EXPECT_EQ(CostOf(machine, machine.used), 400);
  machine.used = Links(100, 400);
  EXPECT_EQ(CostOf(machine, machine.used), 500);
  machine.used = Links(800, 400);
  EXPECT_EQ(CostOf(machine, machine.used), 600);
}

TEST_F(NetworkAwareTest, AddsWhatARoundPlacesToWhatIsInUse) {
  Machine machine = MachineOf(1000);
  machine.used = Links(100, 400);
  machine.usage.Add({.net_rx_kb = 600, .net_tx_kb = 200}, 1);
  EXPECT_EQ(CostOf(machine, Links(200, 500)), 600);
  EXPECT_EQ(CostOf(machine, Links(0, 300)), 400);
}

TEST_F(NetworkAwareTest, GoesByRequestsAloneWhereTheSampleIsStale) {
  Machine machine = MachineOf(1000);
  machine.usage.Add({.net_rx_kb = 600, .net_tx_kb = 600}, 2);
  machine.usage.Expire();
  EXPECT_EQ(CostOf(machine, Links(100, 100)), 100);
}

TEST_F(NetworkAwareTest, CountsWhatTheSystemReserves) {
  Machine machine = MachineOf(1000);
  machine.allocatable = Links(600, 1000);
  EXPECT_EQ(CostOf(machine, Links(0, 0)), 200);
  EXPECT_EQ(CostOf(machine, Links(600, 0)), 500);
}

TEST_F(NetworkAwareTest, TakesALinkOfWhichNothingIsStatedForFull) {
  EXPECT_EQ(CostOf(Machine(), Resources()), 1000);
  Machine machine = MachineOf(1000);
  machine.net_tx = kNoResource;
  EXPECT_EQ(CostOf(machine, Links(500, 500)), 750);
  Machine without = Machine();
  without.usage.Add({.net_rx_kb = 600}, 2);
  EXPECT_EQ(CostOf(without, Resources()), 1000);
}

TEST_F(NetworkAwareTest, StaysWithinItsScaleWhateverTheLoad) {
  Machine machine = MachineOf(1);
  EXPECT_EQ(CostOf(machine, Links(20, 20)), 10000);
  EXPECT_EQ(CostOf(machine, Links(-20, -20)), 0);
  EXPECT_EQ(CostOf(machine, Links(kAmountSaturated, kAmountSaturated)), 10000);
  machine.usage.Add({.net_rx_kb = kAmountMax, .net_tx_kb = kAmountMax}, 2);
  EXPECT_EQ(CostOf(machine, Links(0, 0)), 10000);
  machine = MachineOf(kAmountMax);
  EXPECT_EQ(CostOf(machine, Links(kAmountMax / 2, kAmountMax)), 750);
}

}  // namespace
}  // namespace sluice
