#include "state/successions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/rng.h"
#include "unit/persist/random_steps.h"
#include "unit/state/state_fixture.h"
#include "util/peer_builder.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const TaskOptions kLike = {.cpu = 600, .priority = 5};

// Task 1 runs on `from`, and was told to move to `to`.
class SuccessionsTest : public StateTest {
 protected:
  SuccessionsTest() {
    Do(Added("from", {.cpu = 1000}));
    Do(Added("to", {.cpu = 1000}));
    Do(Submitted(1, kLike));
    Run(1, "from");
    state_.Migrate({1}, MachineOf("to").id);
  }
  const Successions::Map& All() const {
    return state_.nominations().successions().all();
  }
  int64_t FreeCpu(std::string_view uuid) const {
    return MachineOf(uuid).Free()[kCpu];
  }
  // Where the task is nominated; "" where it is not.
  std::string NominatedFor(uint64_t uid) const {
    const auto it = state_.nominations().machines().find({uid});
    return it == state_.nominations().machines().end()
               ? ""
               : state_.FindMachine(it->second)->uuid;
  }
};

TEST_F(SuccessionsTest, TellTheTaskToMoveAndKeepRoomForItsSuccessor) {
  ASSERT_THAT(Outbox(), SizeIs(1));
  EXPECT_EQ(Outbox()[0].type, DeltaType::kMigrate);
  EXPECT_EQ(Outbox()[0].machine, MachineOf("from").id);
  EXPECT_TRUE(TaskOf(1).is_evicted);
  EXPECT_EQ(FreeCpu("from"), 400) << "until it is gone";
  EXPECT_EQ(FreeCpu("to"), 400);
  EXPECT_EQ(MachineOf("to").Free()[kPods], 109);
  EXPECT_EQ(MachineOf("to").FreeOf(kCpu), 400);
}

TEST_F(SuccessionsTest, KeepHostPortsUntilTheSuccessorHasThem) {
  const TaskOptions listening = {
      .cpu = 100, .job = "listening", .rules = {.host_ports = {TcpPort(80)}}};
  Do(Submitted(11, listening));
  Run(11, "from");
  state_.Migrate({11}, MachineOf("to").id);
  DeliverAll();
  Do(Removed(11));
  EXPECT_THAT(MachineOf("from").used_host_ports, IsEmpty());
  EXPECT_THAT(MachineOf("to").kept_host_ports, ElementsAre(TcpPort(80)));
  Do(Submitted(12, listening));
  EXPECT_EQ(NominatedFor(12), "to");
  EXPECT_THAT(MachineOf("to").kept_host_ports, ElementsAre(TcpPort(80)));
  state_.EndNomination({12});
  EXPECT_THAT(MachineOf("to").kept_host_ports, IsEmpty());
}

// Tasks of one job, of which 11 was told to move to `to`, and 12 to stop.
class SuccessionsOfOneJobTest : public SuccessionsTest {
 protected:
  void Leave(const TaskOptions& first, const TaskOptions& second) {
    Do(Submitted(11, first));
    Do(Submitted(12, second));
    for (const uint64_t uid : {11, 12}) Run(uid, "from");
    state_.Migrate({11}, MachineOf("to").id);
    state_.Preempt({12});
  }
  static TaskOptions Plain() { return {.cpu = 100, .job = "pair"}; }
  static TaskOptions Bound() {
    TaskOptions bound = Plain();
    bound.rules.selectors = {LabelIn("disk", {"ssd"})};
    return bound;
  }
};

// Room would be of no use to a task that may not go there.
TEST_F(SuccessionsOfOneJobTest, AreThoseOfATaskWithTheSameRules) {
  Leave(Plain(), Bound());
  Do(Submitted(13, Bound()));
  EXPECT_EQ(NominatedFor(13), "");
  Do(Submitted(14, Plain()));
  EXPECT_EQ(NominatedFor(14), "to");
}

TEST_F(SuccessionsOfOneJobTest, AreRatherThoseWithoutRoomUnderOtherRules) {
  Leave(Plain(), Plain());
  Do(Submitted(13, Bound()));
  EXPECT_EQ(NominatedFor(13), "");
  Do(Submitted(14, Bound()));
  EXPECT_EQ(NominatedFor(14), "to");
}

TEST_F(SuccessionsTest, CountForWhatTheMachineCanHold) {
  EXPECT_TRUE(state_.nominations().CanBeHeldBy(MachineOf("to")));
  Do(Submitted(2, {.cpu = 500, .priority = 9}));
  state_.Nominate({2}, MachineOf("to").id);
  EXPECT_FALSE(state_.nominations().CanBeHeldBy(MachineOf("to")));
}

TEST_F(SuccessionsTest, KeepOnlyWhatThoseThatLeaveDoNotMakeRoomFor) {
  Do(Submitted(2, {.cpu = 400}));
  Run(2, "to");
  EXPECT_EQ(FreeCpu("to"), 0);
  state_.Preempt({2});
  EXPECT_EQ(FreeCpu("to"), 400) << "400 leave and 600 are free: 200 are kept";
  EXPECT_EQ(MachineOf("to").awaited[kCpu], 400);
  DeliverAll();
  Do(Removed(2));
  EXPECT_EQ(FreeCpu("to"), 400);
  EXPECT_EQ(MachineOf("to").awaited[kCpu], 0);
}

TEST_F(SuccessionsTest, GiveTheRoomToTheNextOfTheJob) {
  Do(Submitted(2, kLike));
  EXPECT_EQ(NominatedFor(2), "to");
  EXPECT_TRUE(state_.nominations().IsSuccessor({2}));
  EXPECT_THAT(All(), IsEmpty());
  EXPECT_THAT(state_.pending(), IsEmpty());
  EXPECT_EQ(FreeCpu("to"), 400) << "kept for it";
  Do(Submitted(3, kLike));
  EXPECT_EQ(NominatedFor(3), "") << "there was one to come";
}

TEST_F(SuccessionsTest, OutliveTheJobOfTheirPredecessor) {
  DeliverAll();
  Do(Removed(1));
  ASSERT_THAT(state_.jobs(), IsEmpty());
  EXPECT_EQ(FreeCpu("to"), 400);
  Do(Submitted(2, kLike));
  EXPECT_EQ(NominatedFor(2), "to");
}

TEST_F(SuccessionsTest, GiveTheRoomToATaskThatIsSubmittedOnceMoreAfterItsEnd) {
  DeliverAll();
  Do(Failed(1));
  Do(Submitted(1, kLike));
  EXPECT_EQ(NominatedFor(1), "to");
}

TEST_F(SuccessionsTest, AreForNobodyElse) {
  TaskOptions other = kLike;
  other.job = "another";
  Do(Submitted(2, other));
  other = kLike;
  other.cpu = 500;
  Do(Submitted(3, other));
  other = kLike;
  other.priority = 4;
  Do(Submitted(4, other));
  other = kLike;
  other.quarantine_reason = "nonsense";
  Do(Submitted(5, other));
  EXPECT_THAT(state_.nominations().machines(), IsEmpty());
  EXPECT_THAT(All(), SizeIs(1));
  Do(Updated(5, kLike));
  EXPECT_EQ(NominatedFor(5), "to") << "it is in no queue before";
}

TEST_F(SuccessionsTest, AreServedOldestFirst) {
  Do(Added("third", {.cpu = 1000}));
  Do(Submitted(2, kLike));
  ASSERT_EQ(NominatedFor(2), "to");
  Do(Submitted(3, kLike));
  Run(3, "third");
  Do(Added("fourth", {.cpu = 1000}));
  Do(Submitted(4, kLike));
  Run(4, "fourth");
  state_.Migrate({4}, MachineOf("third").id);
  state_.Migrate({3}, MachineOf("fourth").id);
  Do(Submitted(5, kLike));
  Do(Submitted(6, kLike));
  Do(Submitted(7, kLike));
  EXPECT_EQ(NominatedFor(5), "third");
  EXPECT_EQ(NominatedFor(6), "fourth");
  EXPECT_EQ(NominatedFor(7), "");
}

// Stops, and tasks that are stopped, on a machine of their own.
class StoppedTest : public StateTest {
 protected:
  StoppedTest() { Do(Added("m", {.cpu = 10000})); }
  void RunAndStop(uint64_t uid) {
    Run(uid, "m");
    state_.Preempt({uid});
  }
  const Successions::Map& All() const {
    return state_.nominations().successions().all();
  }
};

TEST_F(StoppedTest, PassOnHowOftenTheyWereDisturbed) {
  Do(Submitted(1, kLike));
  RunAndStop(1);
  DeliverAll();
  Do(Removed(1));
  Do(Submitted(2, kLike));
  EXPECT_EQ(TaskOf(2).disturbances, 1);
  EXPECT_TRUE(IsWaiting(2)) << "no room is kept for it";
  RunAndStop(2);
  Do(Submitted(3, kLike));
  EXPECT_EQ(TaskOf(3).disturbances, 2) << "also while the former one is there";
  EXPECT_EQ(TaskOf(2).disturbances, 1);
  Do(Submitted(4, kLike));
  EXPECT_EQ(TaskOf(4).disturbances, 0) << "each has one successor";
  EXPECT_THAT(All(), IsEmpty());
}

TEST_F(StoppedTest, AreSucceededByThemselvesWhereTheyAreSubmittedOnceMore) {
  Do(Submitted(1, kLike));
  for (int times = 1; times <= 3; ++times) {
    RunAndStop(1);
    DeliverAll();
    Do(Failed(1));
    Do(Submitted(1, kLike));
    EXPECT_EQ(TaskOf(1).disturbances, times);
  }
}

TEST_F(StoppedTest, PassOnNothingWhereTheyAreSpared) {
  Do(Submitted(1, kLike));
  RunAndStop(1);
  ASSERT_TRUE(state_.Spare({1}));
  EXPECT_THAT(All(), IsEmpty());
  Do(Submitted(2, kLike));
  EXPECT_EQ(TaskOf(2).disturbances, 0);
  EXPECT_EQ(TaskOf(1).disturbances, 0);
}

TEST_F(StoppedTest, AreSucceededAfterThoseThatRoomIsKeptFor) {
  Do(Added("to", {.cpu = 10000}));
  Do(Submitted(1, kLike));
  Do(Submitted(2, kLike));
  RunAndStop(1);
  Run(2, "m");
  state_.Migrate({2}, MachineOf("to").id);
  Do(Submitted(3, kLike));
  EXPECT_TRUE(state_.nominations().IsSuccessor({3}));
  Do(Submitted(4, kLike));
  EXPECT_FALSE(state_.nominations().IsSuccessor({4}));
  EXPECT_EQ(TaskOf(3).disturbances, 1);
  EXPECT_EQ(TaskOf(4).disturbances, 1);
}

TEST_F(StoppedTest, HaveNoSuccessorAfterAMinute) {
  Do(Submitted(1, kLike));
  RunAndStop(1);
  DeliverAll();
  Do(Removed(1));
  state_.EndSuccessions(1000);
  EXPECT_THAT(All(), SizeIs(1));
  state_.EndSuccessions(1000 + kSuccessorWaitMs);
  EXPECT_THAT(All(), IsEmpty());
  EXPECT_EQ(FindContradiction(state_), "");
}

TEST_F(SuccessionsTest, AreNotForTasksThatWaitAgain) {
  Do(Added("third", {.cpu = 2000}));
  Do(Submitted(2, kLike));
  ASSERT_EQ(NominatedFor(2), "to");
  state_.EndNomination({2});
  Do(Submitted(3, kLike));
  Run(3, "third");
  state_.Migrate({3}, MachineOf("to").id);
  const struct {
    std::string_view what;
    std::function<void()> do_it;
  } kCases[] = {
      {"placed and withdrawn",
       [&] {
         Place(2, "third");
         state_.Withdraw({2});
       }},
      {"described anew", [&] { Do(Updated(2, kLike)); }},
      {"submitted once more while it waits", [&] { Do(Submitted(2, kLike)); }},
      {"nominated and no longer",
       [&] {
         state_.Nominate({2}, MachineOf("third").id);
         state_.EndNomination({2});
       }},
      {"of a machine that went away untold",
       [&] {
         Do(Added("fourth", {.cpu = 1000}));
         Place(2, "fourth");
         Do(Removed("fourth"));
       }},
  };
  for (const auto& [what, do_it] : kCases) {
    do_it();
    EXPECT_TRUE(IsWaiting(2)) << what;
    EXPECT_EQ(NominatedFor(2), "") << what;
    EXPECT_THAT(All(), SizeIs(1)) << what;
  }
}

TEST_F(SuccessionsTest, KeepTheNominationOfATaskThatOthersComeToMean) {
  TaskOptions options = kLike;
  options.labels = {{"app", "web"}};
  Do(Submitted(2, options, PeerOptions()));
  ASSERT_EQ(NominatedFor(2), "to");
  PlacementRules rules;
  rules.anti_affinity = {{App("web"), "host"}};
  Do(Submitted(3, {.rules = rules}));
  state_.SyncPeers();
  EXPECT_FALSE(TaskOf(2).class_key.meant_by->empty());
  EXPECT_EQ(NominatedFor(2), "to");
  EXPECT_TRUE(state_.nominations().IsSuccessor({2}));
}

// What ends them, at once or when a round next asks.
TEST_F(SuccessionsTest, EndWithTheirMachine) {
  const struct {
    std::string_view what;
    std::function<void()> do_it;
  } kCases[] = {
      {"removed", [this] { Do(Removed("to")); }},
      {"quarantined",
       [this] {
         Do(Updated("to", {.cpu = 1000, .quarantine_reason = "nonsense"}));
       }},
      {"stale",
       [this] {
         Do(BeginAnnouncement());
         Do(Updated("from", MachineOptions{.cpu = 1000}));
         Do(Submitted(1, kLike));
         Do(EndAnnouncement());
       }},
  };
  for (const auto& [what, do_it] : kCases) {
    do_it();
    ASSERT_FALSE(MachineOf("to").IsUsable()) << what;
    EXPECT_THAT(All(), IsEmpty()) << what;
    EXPECT_EQ(FreeCpu("to"), 1000) << what;
    EXPECT_TRUE(TaskOf(1).is_evicted) << what;
    // All over again.
    Do(Removed("to"));
    Do(Added("to", {.cpu = 1000}));
    DeliverAll();
    Do(Removed(1));
    Do(Submitted(1, kLike));
    Run(1, "from");
    state_.Migrate({1}, MachineOf("to").id);
    ASSERT_THAT(All(), SizeIs(1));
  }
}

TEST_F(SuccessionsTest, EndWhereTheMachineBecomesTooSmallTheLastFirst) {
  Do(Submitted(2, {.cpu = 300, .priority = 5}));
  Run(2, "from");
  state_.Migrate({2}, MachineOf("to").id);
  state_.EndSuccessions(1);
  ASSERT_THAT(All(), SizeIs(2));
  Do(Updated("to", MachineOptions{.cpu = 700}));
  state_.EndSuccessions(1);
  ASSERT_THAT(All(), SizeIs(1));
  EXPECT_EQ(All().begin()->second.predecessor, TaskId{1});
  EXPECT_EQ(FreeCpu("to"), 100);
  Do(Updated("to", MachineOptions{.cpu = 500}));
  state_.EndSuccessions(1);
  EXPECT_THAT(All(), IsEmpty());
}

TEST_F(SuccessionsTest, EndWhereThePredecessorStays) {
  Do(Removed("from"));
  EXPECT_FALSE(TaskOf(1).is_evicted) << "nobody has told it to move";
  EXPECT_THAT(All(), IsEmpty());
  EXPECT_EQ(FreeCpu("to"), 1000);
}

TEST_F(SuccessionsTest, EndWhereTheDeltaComesBackFromAMachineThatIsGone) {
  const std::vector<uint64_t> sequences = BeginAll();
  Do(Removed("from"));
  EXPECT_THAT(All(), SizeIs(1)) << "it may be on its way";
  state_.EndDelivery(sequences[0], /*is_delivered=*/false);
  EXPECT_FALSE(TaskOf(1).is_evicted);
  EXPECT_THAT(All(), IsEmpty());
}

TEST_F(SuccessionsTest, GoOnWhereTheMachineOfATaskThatWasToldIsGone) {
  DeliverAll();
  Do(Removed("from"));
  state_.EndSuccessions(1);
  EXPECT_THAT(All(), SizeIs(1));
}

TEST_F(SuccessionsTest, EndWhenNoSuccessorComes) {
  const struct {
    std::string_view what;
    Command end;
  } kCases[] = {{"removed", Removed(1)},
                {"failed", Failed(1)},
                {"completed", Completed(1)}};
  int64_t now_ms = 1000000;
  for (const auto& [what, end] : kCases) {
    DeliverAll();
    Do(end);
    state_.EndSuccessions(now_ms);
    EXPECT_THAT(All(), SizeIs(1)) << what;
    state_.EndSuccessions(now_ms + kSuccessorWaitMs - 1);
    EXPECT_THAT(All(), SizeIs(1)) << what;
    now_ms += kSuccessorWaitMs;
    state_.EndSuccessions(now_ms);
    EXPECT_THAT(All(), IsEmpty()) << what;
    EXPECT_EQ(FreeCpu("to"), 1000) << what;
    Do(Submitted(1, kLike));
    EXPECT_EQ(NominatedFor(1), "") << what << ": it came too late";
    Run(1, "from");
    state_.Migrate({1}, MachineOf("to").id);
  }
}

TEST_F(SuccessionsTest, EndWhenThePredecessorTakesTooLongToLeave) {
  DeliverAll();
  state_.EndSuccessions(1000);  // Seen first: from now on it waits.
  state_.EndSuccessions(1000 + kPredecessorWaitMs - 1);
  EXPECT_THAT(All(), SizeIs(1));
  state_.EndSuccessions(1000 + kPredecessorWaitMs);
  EXPECT_THAT(All(), IsEmpty());
  EXPECT_TRUE(TaskOf(1).is_evicted);
}

TEST_F(SuccessionsTest, WaitNoLongerWhereTheClockIsSetBack) {
  constexpr int64_t kEarlierMs = -100000000;
  DeliverAll();
  state_.EndSuccessions(kEarlierMs);
  EXPECT_THAT(All(), SizeIs(1));
  state_.EndSuccessions(kEarlierMs + kPredecessorWaitMs);
  EXPECT_THAT(All(), IsEmpty()) << "the predecessor has not left";

  Do(Removed(1));
  Do(Submitted(2, kLike));
  Run(2, "from");
  state_.Migrate({2}, MachineOf("to").id);
  DeliverAll();
  Do(Removed(2));
  state_.EndSuccessions(0);
  state_.EndSuccessions(kEarlierMs);
  EXPECT_THAT(All(), SizeIs(1));
  state_.EndSuccessions(kEarlierMs + kSuccessorWaitMs);
  EXPECT_THAT(All(), IsEmpty()) << "no successor has come";
}

TEST_F(SuccessionsTest, KnowAPredecessorWhoseUidIsUsedAgain) {
  DeliverAll();
  TaskOptions other = {.cpu = 100, .job = "another", .name = "other"};
  Do(Submitted(1, other));
  ASSERT_FALSE(TaskOf(1).is_evicted);
  state_.EndSuccessions(kPredecessorWaitMs - 1);
  EXPECT_THAT(All(), SizeIs(1)) << "it is leaving under another id";
  Do(Removed(1));
  state_.EndSuccessions(kPredecessorWaitMs);
  EXPECT_THAT(All(), SizeIs(1)) << "it has just gone";
}

TEST_F(SuccessionsTest, TellATaskThatIsSubmittedOnceMoreToEndWithoutATarget) {
  DeliverAll();
  Do(Submitted(1, kLike));
  ASSERT_THAT(Outbox(), SizeIs(1));
  EXPECT_EQ(Outbox()[0].type, DeltaType::kPreempt);
  EXPECT_TRUE(Outbox()[0].is_repeat);
  EXPECT_THAT(All(), SizeIs(1)) << "it is not its own successor while it runs";
}

TEST_F(SuccessionsTest, KeepTheNameOfAResourceThatNothingElseHas) {
  TaskOptions options = {.cpu = 100, .extended = {{"gpu", 1}}, .job = "gpus"};
  Do(Updated("to", MachineOptions{.cpu = 1000, .extended = {{"gpu", 1}}}));
  Do(Updated("from", MachineOptions{.cpu = 1000, .extended = {{"gpu", 1}}}));
  Do(Submitted(2, options));
  Run(2, "from");
  state_.Migrate({2}, MachineOf("to").id);
  DeliverAll();
  Do(Removed(2));
  Do(Updated("to", MachineOptions{.cpu = 1000}));
  Do(Updated("from", MachineOptions{.cpu = 1000, .extended = {{"fpga", 1}}}));
  EXPECT_EQ(FindContradiction(state_), "");
  options.extended = {{"fpga", 1}};
  Do(Submitted(3, options));
  EXPECT_EQ(NominatedFor(3), "") << "another resource";
  state_.EndSuccessions(1);
  EXPECT_THAT(All(), SizeIs(1)) << "only the one that can be held";
}

SubmitTask SuccessorOf(const Succession& succession, uint64_t uid,
                       const ClusterState& state) {
  SubmitTask submit;
  submit.uid = {uid};
  submit.job_uuid = succession.job_uuid;
  submit.spec.request = state.ToNamed(succession.request);
  for (auto& [name, amount] : submit.spec.request) {
    if (name == "pods") --amount;
  }
  submit.spec.priority = succession.priority;
  return submit;
}

// Whatever happens to anybody meanwhile: what is kept follows from who is to
// come.
TEST(SuccessionsProperty, AreAlwaysWhatTheMachinesKeep) {
  int64_t begun = 0;
  int64_t succeeded = 0;
  int64_t waited = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    RandomSteps steps(seed);
    Rng rng(~seed);
    ClusterState state;
    for (int64_t i = 0; i < 300; ++i) {
      const int64_t now_ms = i * 5000;
      const Step step = steps.Next(state);
      const auto* preempt = std::get_if<PreemptStep>(&step);
      if (preempt != nullptr && preempt->target.has_value()) {
        state.Migrate(preempt->task, *preempt->target);
        ++begun;
      } else {
        Take(step, now_ms, &state);
      }
      const auto& nominated = state.nominations().machines();
      if (!nominated.empty() && rng.Chance(1, 4)) {
        ++succeeded;
        state.EndNomination(nominated.begin()->first);
      }
      const auto& all = state.nominations().successions().all();
      // A task that never made sense, and runs as its client says, asks for
      // nothing, and nobody can succeed it.
      const auto one = std::ranges::find_if(all, [](const auto& entry) {
        return entry.second.machine.has_value() &&
               entry.second.request[kPods] == 1;
      });
      if (one != all.end() && rng.Chance(1, 10)) {
        const auto uid = static_cast<uint64_t>(1000000 + i);
        state.Apply(SuccessorOf(one->second, uid, state), now_ms);
        ASSERT_TRUE(state.nominations().IsSuccessor({uid})) << seed;
      }
      if (rng.Chance(1, 10)) state.EndSuccessions(now_ms);
      if (!all.empty()) ++waited;
      ASSERT_EQ(FindContradiction(state), "") << "seed " << seed << ", " << i;
    }
  }
  EXPECT_GT(begun, 50);
  EXPECT_GT(succeeded, 10);
  EXPECT_GT(waited, 100);
}

TEST(FeedSuccessions, GiveTheRoomToTheNextThatTheFeedStates) {
  ClusterState state;
  const FeedId feed = state.OpenFeed("shop");
  const auto tell = [&](const FeedEvent& event) {
    state.Apply(feed, event, 0);
  };
  const auto stated = [](const std::string& id, const std::string& runs_on) {
    return TaskStated{.id = id,
                      .job_uuid = "job",
                      .job_name = "job",
                      .gang = {},
                      .spec = TaskSpecOf(0, kLike),
                      .machine_uuid = runs_on};
  };
  const auto nominated = [&](const std::string& id) {
    return state.nominations().Contains(state.feeds().at(feed).tasks.at(id));
  };
  tell(SnapshotBegan());
  for (const char* uuid : {"from", "to"}) {
    tell(MachineStated{MachineSpecOf(uuid, {.cpu = 1000})});
  }
  tell(stated("a", "from"));
  tell(stated("waits", ""));
  tell(SnapshotEnded());
  const TaskId a = state.feeds().at(feed).tasks.at("a");
  state.Migrate(a, state.FindMachine("to")->id);
  state.CloseFeed(feed);
  tell(SnapshotBegan());
  for (const char* uuid : {"from", "to"}) {
    tell(MachineStated{MachineSpecOf(uuid, {.cpu = 1000})});
  }
  tell(stated("waits", ""));
  tell(stated("a", "from"));
  tell(stated("b", ""));
  EXPECT_FALSE(nominated("b")) << "not before the snapshot has ended";
  tell(SnapshotEnded());
  EXPECT_TRUE(nominated("b"));
  EXPECT_FALSE(nominated("waits")) << "it waits again";
  EXPECT_EQ(FindContradiction(state), "");
}

}  // namespace
}  // namespace sluice
