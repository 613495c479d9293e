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

// A client that names nonsense blocks the names of others no longer than its
// tasks are there.
TEST_F(LimitsTest, FreeTheNamesThatNobodyStatesAnyMore) {
  const NamedAmounts gpu = {{"nvidia.com/gpu", 1}};
  const NamedAmounts junk = Extended(0, kExtendedResourceNamesMax);
  Do(Submitted(1, {.extended = junk}));
  Do(Added("m", {.extended = gpu}));
  EXPECT_FALSE(MachineOf("m").IsUsable());
  Do(Removed(1));
  Do(Updated("m", {.extended = gpu}));
  EXPECT_TRUE(MachineOf("m").IsUsable());
  Do(Submitted(2, {.extended = gpu}));
  Run(2, "m");
  EXPECT_EQ(state_.resource_count(), kBuiltinResourceCount + 1);
  // Nor are they there after they were refused.
  Do(Submitted(3, {.extended = junk}));
  EXPECT_NE(TaskOf(3).quarantine_reason, "");
  EXPECT_EQ(state_.resource_count(), kBuiltinResourceCount + 1);
}

TEST_F(LimitsTest, KeepANameAsLongAsAnythingStatesIt) {
  const auto is_known = [&](std::string_view name) {
    for (ResourceIndex i = 0; i < state_.resource_count(); ++i) {
      if (state_.ResourceName(i) == name) return true;
    }
    return false;
  };
  Do(Added("m", {.cpu = 100,
                 .extended = {{"of machine", 9}},
                 .capacity = {{"of capacity", 1}},
                 .pus = {{"m/0", {{"of unit", 1}}}}}));
  Do(ForeignPod("pod", "m", {{"of pod", 1}}));
  Do(Submitted(1, {.extended = {{"of machine", 1}}}));
  Run(1, "m");
  Do(Submitted(1, {.name = "another"}));  // The load of the first stays.
  Do(Updated("m", {.cpu = 100}));
  for (const char* name : {"of machine", "of pod", "of unit"}) {
    EXPECT_TRUE(is_known(name)) << name;
  }
  EXPECT_FALSE(is_known("of capacity"));
  Do(RemoveForeignPod{"pod"});
  EXPECT_FALSE(is_known("of pod"));
  Do(Removed(1));
  EXPECT_FALSE(is_known("of machine"));
  Do(Removed("m"));
  EXPECT_TRUE(is_known("of unit")) << "it may return";
  Do(Added("m", {}));
  EXPECT_EQ(state_.resource_count(), kBuiltinResourceCount);
}

// An index that is free must be 0 everywhere, where sums were cut off too.
TEST_F(LimitsTest, LeaveNothingOfANameThatIsFreed) {
  Do(Added("m", {.cpu = 100, .pus = {{"m/0", {}}}}));
  for (uint64_t uid = 1; uid <= 9; ++uid) {
    Do(Submitted(uid));
    Run(uid, "m");
    Do(Updated(uid, {.extended = {{"junk", kAmountMax}}}));
  }
  EXPECT_TRUE(MachineOf("m").pus[0].used.IsSaturated());
  for (uint64_t uid = 1; uid <= 9; ++uid) Do(Updated(uid, {}));
  EXPECT_EQ(state_.resource_count(), kBuiltinResourceCount);
  EXPECT_EQ(MachineOf("m").pus[0].used[kBuiltinResourceCount], 0);
  EXPECT_EQ(MachineOf("m").used[kBuiltinResourceCount], 0);
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
