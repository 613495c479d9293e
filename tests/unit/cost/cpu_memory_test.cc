// The cpu_memory policy, by the numbers that Firmament's has.

#include <gtest/gtest.h>

#include "cost/policy_set.h"

namespace sluice {
namespace {

class CpuMemoryTest : public testing::Test {
 protected:
  static Machine MachineOf(const Resources& allocatable,
                           const Resources& capacity) {
    Machine machine;
    machine.allocatable = allocatable;
    machine.capacity = capacity;
    return machine;
  }
  Cost LoadCost(const Machine& machine, const Resources& used) const {
    return policies_.LoadCost(machine, used);
  }
  const PolicySet policies_ = *PolicySet::FromNames("cpu_memory");
};

// Capacity 1000m and 32000, available 500m and 16000, request 20m and 1000.
TEST_F(CpuMemoryTest, CostsWhatItCostInFirmament) {
  const Machine machine =
      MachineOf(Resources(1000, 32000, 0, 10), Resources(1000, 32000, 0, 10));
  EXPECT_EQ(LoadCost(machine, Resources(500, 16000, 0, 1)), 2500);
  EXPECT_EQ(LoadCost(machine, Resources(520, 17000, 0, 2)), 2525);
}

TEST_F(CpuMemoryTest, CountsWhatTheSystemReservesAsLoad) {
  const Machine machine =
      MachineOf(Resources(500, 16000, 0, 10), Resources(1000, 32000, 0, 10));
  EXPECT_EQ(LoadCost(machine, Resources()), 2500);
  EXPECT_EQ(LoadCost(machine, Resources(20, 1000, 0, 1)), 2525);
}

TEST_F(CpuMemoryTest, CostsLeastOnAnEmptyMachineAndMostOnAFullOne) {
  const Machine machine =
      MachineOf(Resources(1000, 1000, 0, 9), Resources(1000, 1000, 0, 9));
  EXPECT_EQ(LoadCost(machine, Resources()), 2000);
  EXPECT_EQ(LoadCost(machine, Resources(1000, 1000, 0, 0)), 3000);
}

TEST_F(CpuMemoryTest, ChargesForUnevenUse) {
  const Machine machine =
      MachineOf(Resources(1000, 1000, 0, 9), Resources(1000, 1000, 0, 9));
  // Both half full; the variance of a full and an empty one is a quarter.
  EXPECT_EQ(LoadCost(machine, Resources(500, 500, 0, 0)), 2500);
  EXPECT_EQ(LoadCost(machine, Resources(1000, 0, 0, 0)), 2750);
  EXPECT_EQ(LoadCost(machine, Resources(0, 1000, 0, 0)), 2750);
}

TEST_F(CpuMemoryTest, IgnoresOtherResources) {
  Resources used(0, 0, 900, 9);
  used.Set(kBuiltinResourceCount, 8);
  const Machine machine =
      MachineOf(Resources(1000, 1000, 1000, 9), Resources(1000, 1000, 1000, 9));
  EXPECT_EQ(LoadCost(machine, used), 2000);
  EXPECT_EQ(policies_.PreferenceCost({}, machine), 0);
}

TEST_F(CpuMemoryTest, TakesAResourceOfWhichThereIsNoneForFull) {
  EXPECT_EQ(LoadCost(Machine(), Resources()), 3000);
  EXPECT_EQ(
      LoadCost(MachineOf(Resources(1000, 0, 0, 9), Resources()), Resources()),
      2750);
}

TEST_F(CpuMemoryTest, TakesTheLargerWhereCapacityIsBelowAllocatable) {
  const Machine machine =
      MachineOf(Resources(1000, 1000, 0, 9), Resources(10, 10, 0, 9));
  EXPECT_EQ(LoadCost(machine, Resources(500, 500, 0, 0)), 2500);
}

TEST_F(CpuMemoryTest, StaysWithinItsScaleWhateverTheLoad) {
  const Machine machine = MachineOf(Resources(1, 1, 0, 9), Resources());
  EXPECT_EQ(LoadCost(machine, Resources(20, 20, 0, 0)), 12000)
      << "ten times full is as dear as it gets";
  EXPECT_EQ(LoadCost(machine, Resources(-20, -20, 0, 0)), 2000);
  EXPECT_EQ(LoadCost(machine, Resources(20, -20, 0, 0)), 2000 + 5000 + 25000);
}

TEST_F(CpuMemoryTest, KeepsItsPrecisionForTheLargestAmounts) {
  const Resources all(kAmountMax, kAmountMax, 0, 9);
  const Machine machine = MachineOf(all, all);
  const Resources half(kAmountMax / 2, kAmountMax / 2, 0, 0);
  EXPECT_EQ(LoadCost(machine, half), 2500);
  EXPECT_EQ(LoadCost(machine, all), 3000);
  EXPECT_EQ(
      LoadCost(machine, Resources(kAmountSaturated, kAmountSaturated, 0, 0)),
      6000);
}

// The two ways to compute a share, of small loads and of large ones, meet.
TEST_F(CpuMemoryTest, RisesEvenlyWhereLoadsBecomeLarge) {
  constexpr int64_t kCapacity = int64_t{1} << 44;
  const Resources all(kCapacity, kCapacity, 0, 9);
  const Machine machine = MachineOf(all, all);
  Cost last = 0;
  for (int64_t load = (int64_t{1} << 43) - 100; load < (int64_t{1} << 43) + 100;
       ++load) {
    const Cost cost = LoadCost(machine, Resources(load, load, 0, 0));
    EXPECT_GE(cost, last);
    EXPECT_NEAR(static_cast<double>(cost), 2500, 1);
    last = cost;
  }
}

}  // namespace
}  // namespace sluice
