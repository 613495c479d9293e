// What the state remembers is bounded (base/limits.h).

#include <gtest/gtest.h>

#include "base/limits.h"
#include "base/strings.h"
#include "unit/state/state_fixture.h"

namespace sluice {
namespace {

class LimitsTest : public StateTest {};

NamedAmounts Extended(size_t first, size_t count) {
  NamedAmounts amounts;
  for (size_t i = 0; i < count; ++i) {
    amounts.emplace_back(StrCat("example.com/", first + i), 1);
  }
  return amounts;
}

TEST_F(LimitsTest, QuarantineATaskThatNamesTooManyResources) {
  Do(Submitted(1, {.extended = Extended(0, kExtendedResourceNamesMax)}));
  EXPECT_EQ(state_.pending_count(), 1);
  Do(Submitted(2, {.extended = Extended(kExtendedResourceNamesMax, 1)}));
  EXPECT_EQ(state_.pending_count(), 1);
  EXPECT_EQ(TaskOf(2).quarantine_reason,
            "extended resource 'example.com/256': more than 256 distinct "
            "names");
  Do(Submitted(3, {.extended = Extended(0, 1)}));
  EXPECT_EQ(state_.pending_count(), 2) << "known names go on";
}

TEST_F(LimitsTest, QuarantineAMachineThatNamesTooManyResources) {
  Do(Added("m", {.extended = Extended(0, kExtendedResourceNamesMax + 1)}));
  EXPECT_FALSE(MachineOf("m").IsUsable());
  EXPECT_EQ(Do(Added("n", {.extended = Extended(0, 9)})), Ack::kOk);
  EXPECT_TRUE(MachineOf("n").IsUsable());
}

TEST_F(LimitsTest, ForgetTheTombstonesBeyondTheBound) {
  const uint64_t count = kRemovedTasksMax + 1;
  for (uint64_t uid = 1; uid <= count; ++uid) {
    Do(Submitted(uid));
    Do(Submitted(uid));
    Do(Removed(uid));
  }
  EXPECT_EQ(state_.tasks().size(), kRemovedTasksMax);
  EXPECT_EQ(Do(Removed(count)), Ack::kOk);
}

TEST_F(LimitsTest, ForgetDepartedMachinesThatHoldNothing) {
  Do(Added("busy", {.cpu = 100}));
  Do(Submitted(1));
  Run(1, "busy");
  Do(Removed("busy"));
  for (size_t i = 0; i < kDepartedMachinesMax + 9; ++i) {
    Do(Added(StrCat("m", i), {}));
    Do(Removed(StrCat("m", i)));
  }
  EXPECT_EQ(state_.departed_count(),
            static_cast<int64_t>(kDepartedMachinesMax));
  EXPECT_NE(state_.FindMachine("busy"), nullptr) << "its task still counts";
  EXPECT_EQ(state_.FindMachine("m0"), nullptr);
  EXPECT_EQ(Do(Removed("m0")), Ack::kNotFound);
  EXPECT_EQ(Do(Added("m0", {})), Ack::kOk);
}

}  // namespace
}  // namespace sluice
