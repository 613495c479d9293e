#include "state/replacements.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "unit/state/state_fixture.h"

namespace sluice {
namespace {

class ReplacementsTest : public StateTest {
 protected:
  void Submit(uint64_t uid, std::optional<uint64_t> former = {}) {
    TaskOptions options;
    if (former.has_value()) options.rules.replaces = TaskUid{*former};
    ASSERT_EQ(state_.Apply(Submitted(uid, options), 0), Ack::kOk);
  }
  // The uid of the task in whose favor it must not run; 0: of none.
  uint64_t InFavorOf(uint64_t uid) const {
    const Task* task = state_.replacements().FindInFavorOf(TaskOf(uid));
    return task == nullptr ? 0 : task->id.value;
  }
};

TEST_F(ReplacementsTest, KnowsThemAsLongAsTheyLast) {
  EXPECT_TRUE(state_.replacements().newcomers().empty());
  Submit(1);
  Submit(2, 1);
  EXPECT_EQ(InFavorOf(1), 2);
  EXPECT_EQ(InFavorOf(2), 0);
  TaskOptions options;
  options.rules.replaces = TaskUid{3};
  state_.Apply(Updated(2, options), 0);
  EXPECT_EQ(InFavorOf(1), 0);
  state_.Apply(Removed(2), 0);
  EXPECT_TRUE(state_.replacements().newcomers().empty());
}

TEST_F(ReplacementsTest, HoldThoseConcernedUntilARoundDecides) {
  Submit(1);
  Submit(2, 1);
  Submit(3, 99);
  EXPECT_FALSE(state_.FindTask({1})->is_held) << "nobody knew of 2 yet";
  EXPECT_TRUE(state_.FindTask({2})->is_held);
  EXPECT_TRUE(state_.FindTask({3})->is_held);
  EXPECT_EQ(state_.pending_count(), 1);
  EXPECT_EQ(state_.unscheduled().size(), 3U);
  state_.SetHeld({3}, false);
  EXPECT_EQ(state_.pending_count(), 2);
}

// Ended ones are known until they are removed.
TEST_F(ReplacementsTest, FavorThoseThatLiveAlone) {
  Submit(1);
  Submit(2, 1);
  Submit(3, 3);
  EXPECT_EQ(InFavorOf(3), 0) << "itself";
  state_.Apply(Completed(2), 0);
  EXPECT_EQ(InFavorOf(1), 0);
}

TEST_F(ReplacementsTest, FavorTheNewestOfACircle) {
  Submit(1, 2);
  Submit(2, 3);
  Submit(3, 1);
  EXPECT_EQ(InFavorOf(1), 3);
  EXPECT_EQ(InFavorOf(2), 1);
  EXPECT_EQ(InFavorOf(3), 0);
  Submit(4, 3);
  EXPECT_EQ(InFavorOf(3), 4) << "which is of no circle";
}

TEST_F(ReplacementsTest, FavorAnAlternativeThatRunsOrHasCompleted) {
  TaskOptions options = {.cpu = 100, .job = "job"};
  options.rules.alternatives = {{"either"}};
  for (const uint64_t uid : {1, 2}) state_.Apply(Submitted(uid, options), 0);
  options.job = "other";
  state_.Apply(Submitted(3, options), 0);
  EXPECT_EQ(InFavorOf(1), 0);
  state_.Apply(Added("m", {.cpu = 1000}), 0);
  state_.SetHeld({1}, false);
  state_.Place({1}, MachineOf("m").id, 0);
  EXPECT_EQ(InFavorOf(2), 1);
  EXPECT_EQ(InFavorOf(3), 0) << "of another job";
  state_.Apply(Completed(1), 0);
  EXPECT_EQ(InFavorOf(2), 1);
  state_.Apply(Removed(1), 0);
  EXPECT_EQ(InFavorOf(2), 0);
}

}  // namespace
}  // namespace sluice
