#include "state/class_histories.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "state/command.h"
#include "unit/state/state_fixture.h"

namespace sluice {
namespace {

constexpr WorkKindId kOne = {1};
constexpr WorkKindId kOther = {2};
constexpr int64_t kSecondMs = 1000;

WorkKindId KindOfProgram(const char* binary) {
  TaskSpec spec;
  spec.binary = binary;
  return WorkKindOf(spec);
}

TEST(WorkKind, IsTheProgramWhereOneIsStated) {
  TaskSpec one;
  one.binary = "/bin/a";
  one.request = {{"cpu", 1000}};
  TaskSpec other;
  other.binary = "/bin/a";
  other.task_namespace = "elsewhere";
  EXPECT_EQ(WorkKindOf(one), WorkKindOf(other));
  other.binary = "/bin/b";
  EXPECT_NE(WorkKindOf(one), WorkKindOf(other));
}

TEST(WorkKind, IsWhatIsAskedForInANamespaceElse) {
  TaskSpec one;
  one.task_namespace = "a";
  one.request = {{"cpu", 1000}, {"memory", 5}};
  TaskSpec other = one;
  other.request = {{"memory", 5}, {"cpu", 1000}, {"nvidia.com/gpu", 0}};
  other.name = "another";
  other.priority = 7;
  EXPECT_EQ(WorkKindOf(one), WorkKindOf(other));
  other.task_namespace = "b";
  EXPECT_NE(WorkKindOf(one), WorkKindOf(other));
  other = one;
  other.request = {{"cpu", 5}, {"memory", 1000}};
  EXPECT_NE(WorkKindOf(one), WorkKindOf(other));
}

TEST(ClassHistories, KnowNothingAtFirst) {
  const ClassHistories histories;
  EXPECT_EQ(histories.Find(kOne), nullptr);
  EXPECT_TRUE(histories.kinds().empty());
}

TEST(ClassHistories, AreThePlainMeanOfTheFirstRuns) {
  ClassHistories histories;
  for (const int64_t seconds : {10, 20, 60}) {
    histories.Note(kOne, seconds * kSecondMs);
  }
  EXPECT_EQ(histories.Find(kOne)->mean_ms, 30 * kSecondMs);
  EXPECT_EQ(histories.Find(kOne)->completions, 3);
  EXPECT_EQ(histories.Find(kOther), nullptr);
}

TEST(ClassHistories, MoveByAnEighthOfTheDifferenceLater) {
  ClassHistories histories;
  for (int i = 0; i < 100; ++i) histories.Note(kOne, 8 * kSecondMs);
  histories.Note(kOne, 16 * kSecondMs);
  EXPECT_EQ(histories.Find(kOne)->mean_ms, 9 * kSecondMs);
  for (int i = 0; i < 100; ++i) histories.Note(kOne, kSecondMs);
  EXPECT_NEAR(static_cast<double>(histories.Find(kOne)->mean_ms), 1000, 8);
}

TEST(ClassHistories, IgnoreTimesThatMakeNoSense) {
  ClassHistories histories;
  histories.Note(kOne, -1);
  histories.Note(kOne, std::numeric_limits<int64_t>::min());
  histories.Note(kOne, std::numeric_limits<int64_t>::max());
  histories.Note(kOne, ClassHistories::kRunMsMax + 1);
  EXPECT_EQ(histories.Find(kOne), nullptr);
  histories.Note(kOne, ClassHistories::kRunMsMax);
  histories.Note(kOther, 0);
  EXPECT_EQ(histories.Find(kOne)->mean_ms, ClassHistories::kRunMsMax);
  EXPECT_EQ(histories.Find(kOther)->mean_ms, 1);
}

TEST(ClassHistories, ForgetTheKindThatCompletedTheLongestAgo) {
  ClassHistories histories(3);
  for (const uint64_t kind : {1, 2, 3, 1}) {
    histories.Note({kind}, kSecondMs);
  }
  histories.Note({4}, kSecondMs);
  EXPECT_EQ(histories.kinds().size(), 3u);
  EXPECT_NE(histories.Find({1}), nullptr);
  EXPECT_EQ(histories.Find({2}), nullptr);
  EXPECT_NE(histories.Find({3}), nullptr);
  EXPECT_NE(histories.Find({4}), nullptr);
  // It begins anew.
  histories.Note({2}, 5 * kSecondMs);
  EXPECT_EQ(histories.Find({2})->completions, 1);
  EXPECT_EQ(histories.Find({3}), nullptr);
}

TEST(ClassHistories, AreBounded) {
  ClassHistories histories;
  for (uint64_t kind = 0; kind < 3 * ClassHistories::kKindsMax; ++kind) {
    histories.Note({kind}, kSecondMs);
  }
  EXPECT_EQ(histories.kinds().size(), ClassHistories::kKindsMax);
}

// What tasks teach: one machine, one task of kind "/bin/a".
class TaughtHistories : public StateTest {
 protected:
  TaughtHistories() {
    state_.SetNeeds({.run_times = true});
    Do(Added("m", {.cpu = 4000}));
    Do(Submitted(1, {.cpu = 1000, .binary = "/bin/a"}));
  }
  void RunAt(int64_t now_ms) {
    state_.Place({1}, MachineOf("m").id, now_ms);
    DeliverAll();
  }
  const ClassHistories::History* Found() const {
    return state_.histories().Find(KindOfProgram("/bin/a"));
  }
};

TEST_F(TaughtHistories, CountFromPlacementToCompletion) {
  RunAt(10 * kSecondMs);
  Do(Completed(1), 25 * kSecondMs);
  ASSERT_NE(Found(), nullptr);
  EXPECT_EQ(Found()->mean_ms, 15 * kSecondMs);
  // Said twice, it counts once.
  Do(Completed(1), 99 * kSecondMs);
  EXPECT_EQ(Found()->completions, 1);
}

TEST_F(TaughtHistories, TakeTheReportWhereThereIsOne) {
  RunAt(0);
  Do(CompleteTask{{1}, 7 * kSecondMs}, 25 * kSecondMs);
  ASSERT_NE(Found(), nullptr);
  EXPECT_EQ(Found()->mean_ms, 7 * kSecondMs);
}

TEST_F(TaughtHistories, LearnNothingOfATaskThatNobodyWasToldToStart) {
  Do(Completed(1), 25 * kSecondMs);
  EXPECT_EQ(Found(), nullptr);
  Do(Submitted(2, {.cpu = 1000, .binary = "/bin/a"}));
  state_.Place({2}, MachineOf("m").id, 30 * kSecondMs);
  Do(Completed(2), 35 * kSecondMs);
  EXPECT_EQ(Found(), nullptr);
}

TEST_F(TaughtHistories, LearnNothingOfFailuresAndRemovals) {
  RunAt(0);
  Do(Failed(1), 5 * kSecondMs);
  Do(Completed(1), 6 * kSecondMs);
  Do(Removed(1), 7 * kSecondMs);
  EXPECT_EQ(Found(), nullptr);
}

TEST_F(TaughtHistories, IgnoreReportsOfTasksThatNobodyKnows) {
  EXPECT_EQ(state_.Apply(CompleteTask{{2}, kSecondMs}, 0), Ack::kNotFound);
  Do(Removed(1));
  EXPECT_EQ(state_.Apply(CompleteTask{{1}, kSecondMs}, 0), Ack::kNotFound);
  EXPECT_TRUE(state_.histories().kinds().empty());
}

TEST_F(TaughtHistories, IgnoreAClockThatWasSetBack) {
  RunAt(10 * kSecondMs);
  Do(Completed(1), 5 * kSecondMs);
  EXPECT_EQ(Found(), nullptr);
}

TEST_F(TaughtHistories, FollowADescriptionThatChanges) {
  RunAt(0);
  Do(Updated(1, {.cpu = 1000, .binary = "/bin/b"}));
  Do(Completed(1), 9 * kSecondMs);
  EXPECT_EQ(Found(), nullptr);
  EXPECT_NE(state_.histories().Find(KindOfProgram("/bin/b")), nullptr);
}

}  // namespace
}  // namespace sluice
