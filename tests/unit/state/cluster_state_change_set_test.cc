// What the store must be told: the records that changed, and the counters.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/state/state_fixture.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ChangeSetTest : public StateTest {
 protected:
  void SetUp() override {
    Do(Added("m", {.cpu = 1000}));
    Do(Added("n", {.cpu = 1000}));
    Do(Submitted(1, {.cpu = 100}));
    m_ = MachineOf("m").id;
    job_ = TaskOf(1).job;
    state_.TakeChanges();
  }
  MachineId m_;
  JobId job_;
};

TEST_F(ChangeSetTest, IsEmptyUntilSomethingChanges) {
  EXPECT_FALSE(state_.has_changes());
  Do(ReportTaskUsage{TaskUid{1}});
  Do(ReportMachineUsage{"m"});
  Do(Completed(77));
  Do(Added("m", {}));
  EXPECT_FALSE(state_.has_changes());
}

TEST_F(ChangeSetTest, IsTakenOnce) {
  Do(Submitted(2));
  EXPECT_TRUE(state_.has_changes());
  EXPECT_FALSE(state_.TakeChanges().empty());
  EXPECT_FALSE(state_.has_changes());
  EXPECT_TRUE(state_.TakeChanges().empty());
}

TEST_F(ChangeSetTest, NamesANewTaskAndItsJob) {
  Do(Submitted(2, {.job = "another"}));
  const ChangeSet changes = state_.TakeChanges();
  EXPECT_THAT(changes.tasks, ElementsAre(TaskId{2}));
  EXPECT_THAT(changes.jobs, ElementsAre(TaskOf(2).job));
  EXPECT_THAT(changes.machines, IsEmpty());
  EXPECT_TRUE(changes.counters);
}

TEST_F(ChangeSetTest, NamesAPlacementTheTaskAndTheDelta) {
  Place(1, "m");
  const ChangeSet changes = state_.TakeChanges();
  EXPECT_THAT(changes.tasks, ElementsAre(TaskId{1}));
  EXPECT_THAT(changes.deltas, ElementsAre(Outbox()[0].sequence));
  EXPECT_TRUE(changes.counters);
}

TEST_F(ChangeSetTest, NamesADeltaWhenItIsHandedOutAndWhenItHasArrived) {
  Place(1, "m");
  state_.TakeChanges();
  const auto sequences = BeginAll();
  EXPECT_THAT(state_.TakeChanges().deltas, ElementsAre(sequences[0]));
  state_.EndDelivery(sequences[0], /*is_delivered=*/true);
  EXPECT_THAT(state_.TakeChanges().deltas, ElementsAre(sequences[0]));
}

TEST_F(ChangeSetTest, NamesAllThatGoesWithATask) {
  Place(1, "m");
  const uint64_t sequence = Outbox()[0].sequence;
  state_.TakeChanges();
  Do(Removed(1));
  const ChangeSet changes = state_.TakeChanges();
  EXPECT_THAT(changes.tasks, ElementsAre(TaskId{1}));
  EXPECT_THAT(changes.jobs, ElementsAre(job_));
  EXPECT_THAT(changes.deltas, ElementsAre(sequence));
}

TEST_F(ChangeSetTest, NamesATombstoneThatExpectsFewerRemovals) {
  for (int i = 0; i < 2; ++i) Do(Submitted(1, {.cpu = 100}));
  Do(Removed(1));
  state_.TakeChanges();
  Do(Removed(1));
  EXPECT_THAT(state_.TakeChanges().tasks, ElementsAre(TaskId{1}));
}

TEST_F(ChangeSetTest, NamesTheTasksThatAMachineTakesWithIt) {
  Place(1, "m");
  state_.TakeChanges();
  Do(Removed("m"));
  const ChangeSet changes = state_.TakeChanges();
  EXPECT_THAT(changes.machines, ElementsAre(m_));
  EXPECT_THAT(changes.tasks, ElementsAre(TaskId{1}));
}

TEST_F(ChangeSetTest, NamesTheMachineOfAForeignPod) {
  Do(ForeignPod("a/ns", "m", {{"cpu", 1}}));
  EXPECT_THAT(state_.TakeChanges().machines, ElementsAre(m_));
  Do(ForeignPod("a/ns", "n", {{"cpu", 1}}));
  EXPECT_THAT(state_.TakeChanges().machines,
              ElementsAre(m_, MachineOf("n").id));
  Do(RemoveForeignPod{"a/ns"});
  EXPECT_THAT(state_.TakeChanges().machines, ElementsAre(MachineOf("n").id));
}

// Readers that poll the version must not miss a change.
TEST_F(ChangeSetTest, ComesWithANewVersionForEachKindOfChange) {
  const std::vector<Command> commands = {Submitted(2),
                                         Updated(2, {.cpu = 5}),
                                         ForeignPod("a/ns", "m", {{"cpu", 1}}),
                                         RemoveForeignPod{"a/ns"},
                                         Added("o", {}),
                                         Updated("o", {.cpu = 1}),
                                         Removed("o"),
                                         Completed(2),
                                         Removed(2)};
  for (size_t i = 0; i < commands.size(); ++i) {
    const uint64_t before = state_.version();
    ASSERT_EQ(Do(commands[i]), Ack::kOk) << "command " << i;
    EXPECT_GT(state_.version(), before) << "command " << i;
    EXPECT_TRUE(state_.TakeChanges().counters) << "command " << i;
  }
}

TEST_F(ChangeSetTest, ComesWithNoNewVersionWhereNothingChanged) {
  const uint64_t before = state_.version();
  Do(ReportTaskUsage{TaskUid{1}});
  Do(Added("m", {}));
  Do(Removed("other"));
  EXPECT_EQ(state_.version(), before);
}

}  // namespace
}  // namespace sluice
