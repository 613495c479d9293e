#include "state/feed_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/state/state_fixture.h"
#include "util/peer_builder.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TaskStated Stated(const std::string& id, const TaskOptions& options,
                  const std::string& runs_on = "") {
  return {.id = id,
          .job_uuid = options.job,
          .job_name = options.job,
          .gang = {},
          .spec = TaskSpecOf(0, options),
          .machine_uuid = runs_on};
}

class FeedEventsTest : public StateTest {
 protected:
  void SetUp() override { feed_ = state_.OpenFeed("shop"); }

  FeedOutcome Feed(const FeedEvent& event) {
    return state_.Apply(feed_, event, 0);
  }
  // States a machine of 1000m and three tasks of 100m that wait.
  void StateAll() {
    Feed(SnapshotBegan());
    StateMachine("m");
    for (const char* id : {"a", "b", "c"}) Feed(Stated(id, {.cpu = 100}));
    Feed(SnapshotEnded());
  }
  FeedOutcome StateMachine(const std::string& uuid) {
    return Feed(MachineStated{MachineSpecOf(uuid, {.cpu = 1000})});
  }
  const Task& TaskOfFeed(const std::string& id) const {
    return *state_.FindTask(state_.feeds().at(feed_).tasks.at(id));
  }
  bool IsKnown(const std::string& id) const {
    return state_.feeds().at(feed_).tasks.contains(id);
  }
  void PlaceTask(const std::string& id, const std::string& machine) {
    state_.Place(TaskOfFeed(id).id, MachineOf(machine).id, 0);
  }

  FeedId feed_;
};

TEST_F(FeedEventsTest, PlaceNothingBeforeTheSnapshotHasEnded) {
  Feed(SnapshotBegan());
  Feed(Stated("a", {.cpu = 100}));
  EXPECT_EQ(state_.pending_count(), 0);
  Feed(SnapshotEnded());
  EXPECT_EQ(state_.pending_count(), 1);
  EXPECT_EQ(state_.feed_pending_count(), 1);
}

// What waits for a budget is to be looked at anew.
TEST_F(FeedEventsTest, ChangeTheStateWhereABudgetIsNotStatedAgain) {
  Feed(SnapshotBegan());
  Feed(BudgetStated{"all", DisruptionBudget()});
  Feed(SnapshotEnded());
  Feed(SnapshotBegan());
  const uint64_t before = state_.version();
  Feed(SnapshotEnded());
  EXPECT_GT(state_.version(), before);
  EXPECT_TRUE(state_.feeds().at(feed_).budgets.empty());
}

TEST_F(FeedEventsTest, KeepABudgetThatIsStatedAgainAndMakesNoSense) {
  Feed(SnapshotBegan());
  Feed(BudgetStated{"all", DisruptionBudget{.amount = 7}});
  Feed(SnapshotEnded());
  Feed(SnapshotBegan());
  Feed(BudgetKept{"all"});
  Feed(BudgetKept{"unknown"});
  Feed(SnapshotEnded());
  ASSERT_EQ(state_.feeds().at(feed_).budgets.size(), 1u);
  EXPECT_EQ(state_.feeds().at(feed_).budgets.at("all").budget.amount, 7);
}

TEST_F(FeedEventsTest, KeepTheBudgetOfAJobWhereTheNewOneMakesNoSense) {
  TaskStated task = Stated("a", {.cpu = 100, .job = "web"});
  task.budget = DisruptionBudget{.amount = 7};
  Feed(task);
  task.budget.reset();
  task.keeps_budget = true;
  Feed(task);
  EXPECT_EQ(state_.FindJob(TaskOfFeed("a").job)->budget,
            DisruptionBudget{.amount = 7});
  task.keeps_budget = false;
  Feed(task);
  EXPECT_FALSE(state_.FindJob(TaskOfFeed("a").job)->budget.has_value());
}

TEST_F(FeedEventsTest, ForgetWhatTheNextSnapshotDoesNotState) {
  StateAll();
  StateMachine("n");
  PlaceTask("a", "m");
  PlaceTask("b", "n");
  DeliverAll();
  Feed(SnapshotBegan());
  StateMachine("n");
  Feed(Stated("b", {.cpu = 100}, "n"));
  Feed(Stated("c", {.cpu = 100}));
  EXPECT_TRUE(MachineOf("m").is_present) << "until the snapshot ends";
  Feed(SnapshotEnded());
  EXPECT_FALSE(MachineOf("m").is_present);
  EXPECT_TRUE(MachineOf("n").IsUsable());
  EXPECT_FALSE(IsKnown("a"));
  EXPECT_EQ(UsedCpu("m"), 0);
  EXPECT_EQ(UsedCpu("n"), 100);
  EXPECT_EQ(state_.pending_count(), 1);
}

TEST_F(FeedEventsTest, TellAgainOfWhatTheNextSnapshotSaysWaits) {
  StateAll();
  PlaceTask("a", "m");
  PlaceTask("b", "m");
  DeliverAll();
  Feed(Stated("a", {.cpu = 100}));
  EXPECT_THAT(Outbox(), IsEmpty()) << "a change, no question";
  Feed(SnapshotBegan());
  StateMachine("m");
  Feed(Stated("a", {.cpu = 100}));
  Feed(Stated("b", {.cpu = 100}, "m"));
  Feed(SnapshotEnded());
  ASSERT_THAT(Outbox(), SizeIs(1));
  EXPECT_EQ(Outbox()[0].task, TaskOfFeed("a").id);
  EXPECT_EQ(Outbox()[0].feed, feed_);
  EXPECT_TRUE(Outbox()[0].is_repeat);
  EXPECT_EQ(UsedCpu("m"), 200) << "each counts once";
}

// Until then a former client may still run what it was told to place.
TEST_F(FeedEventsTest, KeepThePlacesOfWhatIsNotStatedUntilTheFeedHasSettled) {
  StateAll();
  for (const char* id : {"a", "b"}) PlaceTask(id, "m");
  TaskStated foreign = Stated("foreign", {.cpu = 100}, "m");
  foreign.is_foreign = true;
  Feed(foreign);
  DeliverAll();
  Feed(SnapshotBegan{.term = {"lease", 2, "second"}, .settle_ms = 100});
  StateMachine("m");
  Feed(SnapshotEnded());
  EXPECT_TRUE(IsKnown("a"));
  EXPECT_FALSE(IsKnown("c")) << "it has no place";
  EXPECT_FALSE(IsKnown("foreign")) << "others place it";
  EXPECT_EQ(UsedCpu("m"), 200);
  Feed(Stated("a", {.cpu = 100}));
  ASSERT_THAT(Outbox(), SizeIs(1)) << "the new client has not heard of it";
  EXPECT_EQ(Outbox()[0].task, TaskOfFeed("a").id);
  state_.SettleFeed(feed_, 0);
  EXPECT_TRUE(IsKnown("a"));
  EXPECT_FALSE(IsKnown("b"));
  EXPECT_EQ(UsedCpu("m"), 100);
}

TEST_F(FeedEventsTest, PlaceNothingAnewThatIsNotStatedWhileTheFeedSettles) {
  StateAll();
  StateMachine("n");
  PlaceTask("a", "n");
  Feed(SnapshotBegan{.term = {"lease", 2, "second"}, .settle_ms = 100});
  StateMachine("m");
  Feed(SnapshotEnded());
  EXPECT_TRUE(IsKnown("a"));
  EXPECT_EQ(state_.pending_count(), 0) << "its machine is gone";
  Feed(Stated("a", {.cpu = 100}));
  EXPECT_EQ(state_.pending_count(), 1);
}

TEST_F(FeedEventsTest, TellAgainOfWhatTheFormerClientWasToStop) {
  StateAll();
  Feed(Stated("a", {.cpu = 100}, "m"));
  state_.Preempt(TaskOfFeed("a").id);
  DeliverAll();
  Feed(Stated("a", {.cpu = 100}, "m"));
  EXPECT_THAT(Outbox(), IsEmpty()) << "its client knows";
  Feed(SnapshotBegan());
  StateMachine("m");
  Feed(Stated("a", {.cpu = 100}, "m"));
  Feed(SnapshotEnded());
  ASSERT_THAT(Outbox(), SizeIs(1));
  EXPECT_EQ(Outbox()[0].type, DeltaType::kPreempt);
}

TEST_F(FeedEventsTest, ForgetNothingIfTheFeedSettlesBeforeItsSnapshotHasEnded) {
  StateAll();
  PlaceTask("a", "m");
  Feed(SnapshotBegan{.term = {"lease", 2, "second"}, .settle_ms = 100});
  state_.SettleFeed(feed_, 0);
  EXPECT_TRUE(IsKnown("a"));
  state_.CloseFeed(feed_);
  state_.SettleFeed(feed_, 0);
  EXPECT_TRUE(IsKnown("a")) << "not before it was all stated";
  StateMachine("m");
  Feed(SnapshotEnded());
  EXPECT_FALSE(IsKnown("a"));
}

TEST_F(FeedEventsTest, PlaceNothingBeforeAnUnknownFeedHasSettled) {
  const SnapshotBegan began{.term = {"lease", 2, "second"}, .settle_ms = 100};
  for (int connection = 0; connection < 2; ++connection) {
    Feed(began);
    StateMachine("m");
    Feed(Stated("a", {.cpu = 100}));
    Feed(SnapshotEnded());
    EXPECT_EQ(state_.pending_count(), 0) << connection;
    if (connection == 0) state_.CloseFeed(feed_);
  }
  state_.SettleFeed(feed_, 0);
  EXPECT_EQ(state_.pending_count(), 1);
  Feed(began);
  StateMachine("m");
  Feed(Stated("a", {.cpu = 100}));
  Feed(SnapshotEnded());
  EXPECT_EQ(state_.pending_count(), 1) << "the daemon knows the feed now";
}

TEST_F(FeedEventsTest, GiveUpWhatWasDecidedWhereTheClientLeadsNoMore) {
  StateAll();
  Feed(Stated("a", {.cpu = 100}, "m"));
  state_.Preempt(TaskOfFeed("a").id);
  PlaceTask("b", "m");
  DeliverAll();
  PlaceTask("c", "m");
  state_.CloseFeed(feed_);
  Feed(SnapshotBegan{.is_standby = true});
  StateMachine("m");
  Feed(Stated("a", {.cpu = 100}, "m"));
  Feed(Stated("b", {.cpu = 100}));
  Feed(Stated("c", {.cpu = 100}));
  Feed(SnapshotEnded());
  EXPECT_FALSE(TaskOfFeed("a").is_evicted) << "the leader may let it run";
  EXPECT_EQ(TaskOfFeed("a").state, TaskState::kRunning);
  EXPECT_EQ(TaskOfFeed("b").state, TaskState::kPending);
  EXPECT_EQ(TaskOfFeed("c").state, TaskState::kPending);
  EXPECT_THAT(Outbox(), IsEmpty());
  EXPECT_THAT(state_.nominations().successions().all(), IsEmpty());
  EXPECT_EQ(state_.pending_count(), 0) << "others place it";
  EXPECT_FALSE(state_.CanPreempt(TaskOfFeed("a")));
  Feed(FeedLed{.term = {"lease", 3, "third"}});
  EXPECT_EQ(state_.pending_count(), 2);
  EXPECT_TRUE(state_.CanPreempt(TaskOfFeed("a")));
}

TEST_F(FeedEventsTest, KeepTheTermOfTheLeaderWhileItsClientStandsBy) {
  Feed(SnapshotBegan{.term = {"lease", 2, "second"}});
  Feed(SnapshotEnded());
  Feed(SnapshotBegan{.is_standby = true});
  Feed(SnapshotEnded());
  const struct Feed& feed = state_.feeds().at(feed_);
  EXPECT_TRUE(feed.is_standby);
  EXPECT_EQ(feed.term.number, 2);
  Feed(FeedLed{.term = {"lease", 3, "third"}});
  EXPECT_FALSE(feed.is_standby);
  EXPECT_EQ(feed.term.holder, "third");
}

TEST_F(FeedEventsTest, TakeOverWhatRuns) {
  StateAll();
  EXPECT_EQ(Feed(Stated("d", {.cpu = 5000}, "m")), FeedOutcome::kApplied);
  EXPECT_EQ(TaskOfFeed("d").state, TaskState::kRunning);
  EXPECT_EQ(UsedCpu("m"), 5000) << "it runs, whether it fits or not";
  EXPECT_THAT(Outbox(), IsEmpty());
}

TEST_F(FeedEventsTest, BelieveTheClientWhereATaskRuns) {
  StateAll();
  StateMachine("n");
  PlaceTask("a", "m");
  Feed(Stated("a", {.cpu = 100}, "n"));
  EXPECT_EQ(TaskOfFeed("a").machine, MachineOf("n").id);
  EXPECT_EQ(UsedCpu("m"), 0);
  EXPECT_THAT(Outbox(), IsEmpty()) << "nothing is to be told of it any more";
  Feed(Stated("b", {.cpu = 100}, "n"));
  EXPECT_EQ(UsedCpu("n"), 200);
  EXPECT_EQ(state_.pending_count(), 1);
}

TEST_F(FeedEventsTest, SetAsideWhatRunsOnAnUnknownMachine) {
  StateAll();
  EXPECT_EQ(Feed(Stated("a", {.cpu = 100}, "x")),
            FeedOutcome::kRunsOnUnknownMachine);
  EXPECT_EQ(TaskOfFeed("a").quarantine_reason,
            "runs on machine 'x', which is unknown");
  EXPECT_EQ(state_.pending_count(), 2);
  StateMachine("x");
  EXPECT_EQ(Feed(Stated("a", {.cpu = 100}, "x")), FeedOutcome::kApplied);
  EXPECT_EQ(UsedCpu("x"), 100);
}

TEST_F(FeedEventsTest, LetATaskWaitAgainThatCouldNotBeBound) {
  StateAll();
  PlaceTask("a", "m");
  DeliverAll();
  EXPECT_EQ(Feed(BindFailed{"a", "n", ""}), FeedOutcome::kNotPlacedThere);
  EXPECT_EQ(Feed(BindFailed{"a", "m", ""}), FeedOutcome::kApplied);
  EXPECT_EQ(state_.pending_count(), 3);
  EXPECT_EQ(UsedCpu("m"), 0);
  EXPECT_EQ(Feed(BindFailed{"a", "m", ""}), FeedOutcome::kNotPlacedThere);
  EXPECT_EQ(Feed(BindFailed{"x", "m", ""}), FeedOutcome::kUnknownTask);
}

TEST_F(FeedEventsTest, EndAndForgetTasks) {
  StateAll();
  PlaceTask("a", "m");
  EXPECT_EQ(Feed(TaskEnded{"a"}), FeedOutcome::kApplied);
  EXPECT_EQ(UsedCpu("m"), 0);
  EXPECT_THAT(Outbox(), IsEmpty());
  Feed(Stated("a", {.cpu = 100}));
  EXPECT_EQ(TaskOfFeed("a").state, TaskState::kCompleted) << "for good";
  EXPECT_EQ(Feed(TaskGone{"a"}), FeedOutcome::kApplied);
  EXPECT_EQ(Feed(TaskGone{"a"}), FeedOutcome::kUnknownTask);
  EXPECT_EQ(Feed(TaskEnded{"x", true}), FeedOutcome::kUnknownTask);
}

TEST_F(FeedEventsTest, CountWhatIsBeingStoppedAsLeaving) {
  StateAll();
  PlaceTask("a", "m");
  ASSERT_EQ(state_.outbox().size(), 1u);
  TaskStated stopped = Stated("a", {.cpu = 100}, "m");
  stopped.is_terminating = true;
  Feed(stopped);
  EXPECT_TRUE(TaskOfFeed("a").is_evicted);
  EXPECT_EQ(MachineOf("m").used[kCpu], 100) << "until it is gone";
  EXPECT_THAT(state_.outbox(), IsEmpty()) << "its client knows";
  EXPECT_FALSE(state_.CanPreempt(TaskOfFeed("a")));
  Feed(stopped);
  EXPECT_TRUE(TaskOfFeed("a").is_evicted);
  Feed(TaskGone{"a"});
  EXPECT_EQ(MachineOf("m").used[kCpu], 0);
}

TEST_F(FeedEventsTest, TakeSamplesOfTheTasksOfTheFeed) {
  StateAll();
  PlaceTask("a", "m");
  EXPECT_EQ(Feed(TaskMeasured{"a", {.cpu = 7}}), FeedOutcome::kApplied);
  EXPECT_EQ(TaskOfFeed("a").usage.cpu, 7);
  EXPECT_EQ(Feed(TaskMeasured{"z", {}}), FeedOutcome::kUnknownTask);
}

TEST_F(FeedEventsTest, NeitherPlaceNorDisplaceWhatOthersPlace) {
  StateAll();
  TaskStated foreign = Stated("f", {.cpu = 100}, "m");
  foreign.is_foreign = true;
  Feed(foreign);
  EXPECT_FALSE(state_.CanPreempt(TaskOfFeed("f")));
  EXPECT_EQ(Feed(BindFailed{"f", "m", ""}), FeedOutcome::kNotPlacedThere);
  EXPECT_EQ(UsedCpu("m"), 100);
}

TEST_F(FeedEventsTest, KeepFeedsAndTheContractApart) {
  StateAll();
  Do(Added("of contract", {.cpu = 1000}));
  EXPECT_EQ(StateMachine("of contract"), FeedOutcome::kNotYours);
  EXPECT_EQ(Feed(MachineGone{"of contract"}), FeedOutcome::kNotYours);
  EXPECT_EQ(Feed(MachineGone{"nobody's"}), FeedOutcome::kUnknownMachine);
  EXPECT_EQ(Do(Added("m", {.cpu = 1000})), Ack::kAlreadyExists);
  EXPECT_EQ(Do(Updated("m", MachineOptions{.cpu = 1})), Ack::kNotFound);
  EXPECT_EQ(Do(Removed("m")), Ack::kNotFound);
  const uint64_t id = TaskOfFeed("a").id.value;
  EXPECT_EQ(Do(Removed(id)), Ack::kNotFound);
  EXPECT_EQ(Do(Completed(id)), Ack::kNotFound);
  EXPECT_EQ(Do(Updated(id, TaskOptions{})), Ack::kNotFound);
  const FeedId other = state_.OpenFeed("other");
  EXPECT_EQ(state_.Apply(other, TaskGone{"a"}, 0), FeedOutcome::kUnknownTask);
  EXPECT_EQ(state_.Apply(other, MachineGone{"m"}, 0), FeedOutcome::kNotYours);
}

TEST_F(FeedEventsTest, KeepTheirIdsIfAClientUsesTheNumbersAsUids) {
  StateAll();
  PlaceTask("b", "m");
  EXPECT_EQ(Do(Submitted(TaskOfFeed("b").id.value, {.cpu = 10})), Ack::kOk);
  ASSERT_THAT(Outbox(), SizeIs(1));
  EXPECT_EQ(Outbox()[0].task, TaskOfFeed("b").id);
  const uint64_t id = TaskOfFeed("a").id.value;
  EXPECT_EQ(Do(Submitted(id, {.cpu = 10})), Ack::kOk);
  EXPECT_EQ(TaskOfFeed("a").id.value, id);
  EXPECT_EQ(TaskOf(id).class_key.request[kCpu], 10);
  EXPECT_EQ(state_.pending_count(), 4);
}

TEST_F(FeedEventsTest, KnowATaskByItsIdAndNotByItsName) {
  StateAll();
  Feed(Stated("x", {.cpu = 1, .name = "ns/pod"}));
  Feed(Stated("y", {.cpu = 2, .name = "ns/pod"}));
  Do(Submitted(7, {.cpu = 3, .name = "ns/pod"}));
  EXPECT_EQ(TaskOfFeed("x").class_key.request[kCpu], 1);
  EXPECT_EQ(TaskOfFeed("y").class_key.request[kCpu], 2);
  EXPECT_EQ(state_.pending_count(), 6);
}

TEST_F(FeedEventsTest, HoldWhatWaitsWhileTheClientIsGone) {
  StateAll();
  PlaceTask("a", "m");
  state_.CloseFeed(feed_);
  EXPECT_EQ(state_.pending_count(), 0);
  EXPECT_TRUE(MachineOf("m").IsUsable()) << "what it stated stays";
  EXPECT_THAT(Outbox(), SizeIs(1));
  EXPECT_EQ(state_.OpenFeed("shop"), feed_);
  StateAll();
  EXPECT_EQ(state_.pending_count(), 2);
  EXPECT_THAT(Outbox(), SizeIs(1)) << "it is yet to be told of the first";
}

TEST_F(FeedEventsTest, ForgetAFeedThatHasStatedNothing) {
  const FeedId other = state_.OpenFeed("other");
  EXPECT_THAT(state_.feeds(), SizeIs(2));
  state_.CloseFeed(other);
  EXPECT_THAT(state_.feeds(), SizeIs(1));
  StateAll();
  state_.CloseFeed(feed_);
  EXPECT_THAT(state_.feeds(), SizeIs(1));
  feed_ = state_.OpenFeed("shop");
  Feed(SnapshotBegan());
  Feed(SnapshotEnded());
  state_.CloseFeed(feed_);
  EXPECT_THAT(state_.feeds(), IsEmpty());
}

TEST_F(FeedEventsTest, LeaveAloneWhatAnAnnouncementMakesStale) {
  StateAll();
  Do(Added("of contract", {.cpu = 1000}));
  Do(BeginAnnouncement());
  EXPECT_TRUE(MachineOf("m").IsUsable());
  EXPECT_EQ(state_.pending_count(), 3);
  Do(ForgetStale());
  EXPECT_TRUE(MachineOf("m").IsUsable());
  EXPECT_TRUE(IsKnown("a"));
}

// Others have terms, so that what runs is counted by what it is.
TEST_F(FeedEventsTest, TakeARunningTaskOfWhichNothingElseMakesSense) {
  StateAll();
  Do(Submitted(1, {.rules = {.anti_affinity = {{App("web"), "zone"}}}}));
  TaskStated event = Stated("odd", {.quarantine_reason = "nonsense"}, "m");
  EXPECT_EQ(Feed(event), FeedOutcome::kApplied);
  EXPECT_EQ(TaskOfFeed("odd").state, TaskState::kRunning);
  event.spec.quarantine_reason.clear();
  EXPECT_EQ(Feed(event), FeedOutcome::kApplied);
  EXPECT_EQ(Feed(TaskGone{"odd"}), FeedOutcome::kApplied);
}

TEST_F(FeedEventsTest, MoveATaskToTheJobThatItNamesNow) {
  StateAll();
  Feed(Stated("a", {.cpu = 100, .job = "other"}));
  EXPECT_EQ(state_.FindJob(TaskOfFeed("a").job)->uuid, "other");
  EXPECT_EQ(state_.FindJob(TaskOfFeed("b").job)->task_count, 2);
}

}  // namespace
}  // namespace sluice
