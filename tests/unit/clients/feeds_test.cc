#include "clients/feeds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "util/cluster_builder.h"
#include "util/status_matchers.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::Gt;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::Pair;
using testing::SizeIs;

class Session final : public FeedSession {
 public:
  bool AwaitReady() override {
    is_awaited = !is_ready;
    return is_ready;
  }
  void Tell(FeedNews one) override {
    news.push_back(std::move(one));
    is_ready = !is_slow;
  }
  void End(const absl::Status& status) override { end = status; }
  void Release() override {}

  std::vector<std::string> Tasks() const {
    std::vector<std::string> tasks;
    for (const FeedNews& one : news) {
      for (const FeedNews::Entry& delta : one.deltas) {
        tasks.push_back(delta.task);
      }
    }
    return tasks;
  }

  bool is_ready = true;
  bool is_awaited = false;  // Asked while it was not ready.
  bool is_slow = false;     // Not ready after anything told.
  std::vector<FeedNews> news;
  absl::Status end;
};

class FeedsTest : public testing::Test {
 protected:
  static constexpr int64_t kInterval = 10000;
  static constexpr int64_t kGrace = 5000000;

  static TaskStated TaskNamed(const std::string& id) {
    return {.id = id,
            .job_uuid = "job",
            .job_name = "job",
            .gang = {},
            .spec = TaskSpecOf(0, {.cpu = 100, .name = id}),
            .machine_uuid = ""};
  }
  void Take(Session* session, const std::vector<FeedEvent>& events,
            uint64_t deltas_received = 0) {
    FeedBatch batch;
    batch.feed = std::exchange(name_, "");
    batch.deltas_received = deltas_received;
    for (const FeedEvent& event : events) {
      batch.events.push_back({++batch.up_to, event});
    }
    feeds_.Take(session, batch, 0, now_us_);
  }
  // A machine, and tasks that wait.
  void StateAll(Session* session, const std::vector<std::string>& tasks) {
    std::vector<FeedEvent> events = {
        SnapshotBegan(), MachineStated{MachineSpecOf("m", {.cpu = 1000})}};
    for (const std::string& id : tasks) events.push_back(TaskNamed(id));
    events.push_back(SnapshotEnded());
    Take(session, events);
  }
  void Round(int64_t duration_us = 0) {
    feeds_.NoteRoundStart(now_us_);
    scheduler_.Round();
    now_us_ += duration_us;
    feeds_.NoteRoundEnd(now_us_);
    Tell();
  }
  // As the loop sends what is new.
  void Tell() {
    Messages messages;
    do {
      messages = Messages();
      feeds_.TakeMessages(now_us_, &messages);
    } while (SendToFeeds(&messages));
  }
  // Nothing is placed for three seconds from now, and then its task.
  void ExpectToSettle() {
    EXPECT_EQ(StateOfFeed(), FeedStatus::State::kSettling);
    EXPECT_EQ(feeds_.RoundDueUs(), std::nullopt);
    feeds_.Tend(0, now_us_ += 2900000);
    EXPECT_EQ(StateOfFeed(), FeedStatus::State::kSettling);
    feeds_.Tend(0, now_us_ += 1000000);
    EXPECT_EQ(StateOfFeed(), FeedStatus::State::kLive);
    Round();
    EXPECT_THAT(session_.Tasks(), ElementsAre("a"));
  }
  FeedStatus::State StateOfFeed() { return feeds_.List().at(0).state; }

  TestScheduler scheduler_;
  Metrics metrics_;
  Feeds feeds_{&scheduler_.mutable_state(),
               scheduler_.scheduler(),
               metrics_,
               {.round_interval_us = kInterval, .grace_us = kGrace}};
  int64_t now_us_ = 1000000000;
  std::string name_ = "shop";  // Of the next batch.
  Session session_;
};

TEST_F(FeedsTest, AnswerEachBatchOnceItIsTold) {
  StateAll(&session_, {});
  Tell();
  ASSERT_THAT(session_.news, SizeIs(1));
  EXPECT_EQ(session_.news[0].events_durable, 3u);
  EXPECT_EQ(session_.news[0].batches, 1);
  EXPECT_THAT(session_.news[0].deltas, IsEmpty());
  Tell();
  EXPECT_THAT(session_.news, SizeIs(1)) << "nothing new";
}

TEST_F(FeedsTest, TellNothingMoreUntilTheSessionIsReady) {
  session_.is_ready = false;
  StateAll(&session_, {"a"});
  Take(&session_, {TaskNamed("b")});
  Round();
  EXPECT_THAT(session_.news, IsEmpty());
  session_.is_ready = true;
  Tell();
  ASSERT_THAT(session_.news, SizeIs(1));
  EXPECT_EQ(session_.news[0].batches, 2);
  EXPECT_THAT(session_.Tasks(), ElementsAre("a", "b"));
}

TEST_F(FeedsTest, AwaitASessionForWhatHasNoRoomInAMessage) {
  std::vector<std::string> tasks;
  for (const char c : {'a', 'b', 'c', 'd', 'e'}) {
    tasks.emplace_back(kReplyBytesMax / 3, c);
  }
  StateAll(&session_, tasks);
  session_.is_slow = true;
  Round();
  EXPECT_THAT(session_.Tasks(), SizeIs(3));
  EXPECT_TRUE(session_.is_awaited);
  session_.is_ready = true;
  Tell();
  EXPECT_THAT(session_.Tasks(), SizeIs(5));
  EXPECT_FALSE(session_.is_awaited);
}

// It may have been written before it is asked whether it is ready again.
TEST_F(FeedsTest, TellASessionThatIsReadyAtOnceWhatHasNoRoomInAMessage) {
  std::vector<std::string> tasks;
  for (const char c : {'a', 'b', 'c', 'd', 'e'}) {
    tasks.emplace_back(kReplyBytesMax / 3, c);
  }
  StateAll(&session_, tasks);
  Round();
  EXPECT_THAT(session_.news, SizeIs(2));
  EXPECT_THAT(session_.Tasks(), SizeIs(5));
}

TEST_F(FeedsTest, TellWhatARoundDecidesOnceItHasEnded) {
  StateAll(&session_, {"a"});
  Scheduler& scheduler = scheduler_.scheduler();
  scheduler.StartRound(0);
  const std::optional<RoundWork> work = scheduler.NextStep();
  ASSERT_TRUE(work.has_value());
  scheduler.FinishStep(scheduler_.Solve(*work));
  ASSERT_THAT(scheduler_.state().outbox().size(), 1u);
  Tell();
  EXPECT_THAT(session_.Tasks(), IsEmpty()) << "it may still move";
  scheduler_.FinishRound();
  Tell();
  EXPECT_THAT(session_.Tasks(), ElementsAre("a"));
}

TEST_F(FeedsTest, TellForWhomRoomIsKept) {
  StateAll(&session_, {"a", "b"});
  ClusterState& state = scheduler_.mutable_state();
  const TaskId a = state.feeds().begin()->second.tasks.at("a");
  const MachineId m = state.FindMachine("m")->id;
  const auto told = [this] {
    session_.news.clear();
    Tell();
    std::vector<std::pair<std::string, std::string>> nominations;
    for (const FeedNews& one : session_.news) {
      nominations.insert(nominations.end(), one.nominations.begin(),
                         one.nominations.end());
    }
    return nominations;
  };
  state.Nominate(a, m);
  EXPECT_THAT(told(), ElementsAre(Pair("a", "m")));
  EXPECT_THAT(told(), IsEmpty());
  state.EndNomination(a);
  state.Nominate(a, m);
  EXPECT_THAT(told(), IsEmpty()) << "nothing has changed in the end";
  state.EndNomination(a);
  EXPECT_THAT(told(), ElementsAre(Pair("a", "")));
  state.Nominate(a, m);
  EXPECT_THAT(told(), ElementsAre(Pair("a", "m")));
  state.EndNomination(a);
  state.Place(a, m, 0);
  EXPECT_THAT(told(), IsEmpty()) << "its delta says it";
  EXPECT_THAT(session_.Tasks(), ElementsAre("a"));
}

TEST_F(FeedsTest, TellWhereATaskIsToGoOn) {
  StateAll(&session_, {"a", "b"});
  Take(&session_, {MachineStated{MachineSpecOf(
                      "n", {.cpu = 1000, .pus = {{"n0", {{"cpu", 1000}}}}})}});
  ClusterState& state = scheduler_.mutable_state();
  const auto& tasks = state.feeds().begin()->second.tasks;
  for (const char* id : {"a", "b"}) {
    state.Place(tasks.at(id), state.FindMachine("m")->id, 0);
  }
  Tell();
  ASSERT_THAT(session_.Tasks(), ElementsAre("a", "b"));
  Take(&session_, {}, session_.news.back().deltas.back().sequence);
  session_.news.clear();
  for (const char* id : {"a", "b"}) {
    state.Migrate(tasks.at(id), state.FindMachine("n")->id);
  }
  Tell();
  ASSERT_THAT(session_.Tasks(), ElementsAre("a", "b"));
  for (const FeedNews::Entry& delta : session_.news.back().deltas) {
    EXPECT_EQ(delta.type, DeltaType::kMigrate);
    EXPECT_EQ(delta.machine, "n");
    EXPECT_EQ(delta.resource, "n0");
  }
  // Told again once the room is given up.
  feeds_.Release(&session_, now_us_);
  Session next;
  name_ = "shop";
  std::vector<FeedEvent> events = {
      SnapshotBegan(), MachineStated{MachineSpecOf("m", {.cpu = 1000})}};
  for (const char* id : {"a", "b"}) {
    TaskStated runs = TaskNamed(id);
    runs.machine_uuid = "m";
    events.push_back(runs);
  }
  events.push_back(SnapshotEnded());
  Take(&next, events);
  Tell();
  ASSERT_THAT(next.Tasks(), ElementsAre("a", "b"));
  for (const FeedNews::Entry& delta : next.news.back().deltas) {
    EXPECT_EQ(delta.type, DeltaType::kMigrate);
    EXPECT_EQ(delta.machine, "m");
    EXPECT_EQ(delta.resource, "m");
  }
}

TEST_F(FeedsTest, TellDeltasAgainAfterTheNextSnapshotUnlessConfirmed) {
  StateAll(&session_, {"a", "b"});
  Round();
  ASSERT_THAT(session_.Tasks(), ElementsAre("a", "b"));
  const uint64_t first = session_.news[0].deltas[0].sequence;
  Take(&session_, {}, first);
  feeds_.Release(&session_, now_us_);
  Session next;
  name_ = "shop";
  TaskStated runs = TaskNamed("a");
  runs.machine_uuid = "m";
  Take(&next,
       {SnapshotBegan(), MachineStated{MachineSpecOf("m", {.cpu = 1000})}, runs,
        TaskNamed("b")});
  Tell();
  EXPECT_THAT(next.Tasks(), IsEmpty()) << "not before the end";
  Take(&next, {SnapshotEnded()});
  Tell();
  EXPECT_THAT(next.Tasks(), ElementsAre("b"));
  EXPECT_GT(next.news[1].deltas[0].sequence, first);
}

TEST_F(FeedsTest, EndACallThatDoesNotSayItsName) {
  feeds_.Greet(&session_, now_us_);
  Session named;
  feeds_.Greet(&named, now_us_);
  StateAll(&named, {});
  now_us_ += kGrace;
  feeds_.Tend(0, now_us_);
  EXPECT_TRUE(session_.end.ok());
  now_us_ += kGrace;
  feeds_.Tend(0, now_us_);
  Tell();
  EXPECT_EQ(session_.end.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(named.end.ok());
}

TEST_F(FeedsTest, EndAllCallsThoseWithoutANameToo) {
  Session nameless;
  feeds_.Greet(&nameless, now_us_);
  Session gone;
  feeds_.Greet(&gone, now_us_);
  feeds_.Release(&gone, now_us_);
  StateAll(&session_, {});
  feeds_.EndAll(absl::UnavailableError("stops"));
  Tell();
  EXPECT_EQ(session_.end.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(nameless.end.code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(gone.end.ok());
}

TEST_F(FeedsTest, LetTheNewerOfTwoSessionsIn) {
  StateAll(&session_, {"a"});
  Session next;
  name_ = "shop";
  StateAll(&next, {"a"});
  Tell();
  EXPECT_THAT(session_.end, StatusIs(absl::StatusCode::kAborted));
  Take(&session_, {TaskGone{"a"}});
  Round();
  EXPECT_THAT(session_.Tasks(), IsEmpty());
  EXPECT_THAT(next.Tasks(), ElementsAre("a")) << "the former says nothing more";
  feeds_.Release(&session_, now_us_);
  EXPECT_EQ(StateOfFeed(), FeedStatus::State::kLive);
}

TEST_F(FeedsTest, RefuseASessionOfAnOlderTerm) {
  Session second;
  Take(&second, {SnapshotBegan{{"lease", 2, "second"}}, SnapshotEnded()});
  name_ = "shop";
  Take(&session_, {SnapshotBegan{{"lease", 1, "first"}}, SnapshotEnded()});
  Tell();
  EXPECT_THAT(
      session_.end,
      StatusIs(absl::StatusCode::kFailedPrecondition,
               "feed 'shop': term 1 of 'first' is over, because term 2 of "
               "'second' has begun"));
  EXPECT_THAT(second.end, IsOk());
  // So it is while the newer client is away, if its feed is known.
  Take(&second,
       {SnapshotBegan{{"lease", 2, "second"}},
        MachineStated{MachineSpecOf("m", {.cpu = 1000})}, SnapshotEnded()});
  feeds_.Release(&second, now_us_);
  Session again;
  name_ = "shop";
  Take(&again, {SnapshotBegan{{"lease", 1, "first"}}});
  Tell();
  EXPECT_THAT(again.end, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(feeds_.List()[0].term.holder, "second");
}

TEST_F(FeedsTest, LetASessionOfTheSameTermOrOfAnotherLeaseIn) {
  StateAll(&session_, {"a"});
  const std::vector<FeedTerm> terms = {{"lease", 2, "second"},
                                       {"lease", 2, "second"},
                                       {"other lease", 0, "first"},
                                       {}};
  std::vector<Session> sessions(terms.size());
  for (size_t i = 0; i < terms.size(); ++i) {
    name_ = "shop";
    Take(&sessions[i], {SnapshotBegan{terms[i]}});
    EXPECT_THAT(sessions[i].end, IsOk()) << i;
    EXPECT_EQ(feeds_.List()[0].term, terms[i]);
  }
}

TEST_F(FeedsTest, EndASessionThatGoesOnInAnOlderTerm) {
  Take(&session_, {SnapshotBegan{{"lease", 2, "second"}}, SnapshotEnded()});
  Take(&session_, {SnapshotBegan{{"lease", 1, "first"}}});
  Tell();
  EXPECT_THAT(session_.end, StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(FeedsTest, PlaceNothingOfANewFeedUntilItHasSettled) {
  Take(&session_, {SnapshotBegan{{"lease", 2, "second"}, 3000},
                   MachineStated{MachineSpecOf("m", {.cpu = 1000})},
                   TaskNamed("a"), SnapshotEnded()});
  ExpectToSettle();
}

TEST_F(FeedsTest, DecideAndTellNothingForAStandbyUntilItLeads) {
  Take(&session_, {SnapshotBegan{.is_standby = true},
                   MachineStated{MachineSpecOf("m", {.cpu = 250})},
                   TaskNamed("a"), TaskNamed("b")});
  EXPECT_EQ(StateOfFeed(), FeedStatus::State::kSnapshot);
  Take(&session_, {SnapshotEnded()});
  EXPECT_EQ(StateOfFeed(), FeedStatus::State::kStandby);
  EXPECT_EQ(feeds_.RoundDueUs(), std::nullopt);
  Round();
  EXPECT_THAT(session_.Tasks(), IsEmpty());
  // What the leader binds comes as what runs, and takes room.
  TaskStated bound = TaskNamed("c");
  bound.machine_uuid = "m";
  Take(&session_, {bound});
  EXPECT_EQ(feeds_.RoundDueUs(), std::nullopt);
  Take(&session_, {FeedLed{{"lease", 2, "second"}}});
  EXPECT_EQ(StateOfFeed(), FeedStatus::State::kLive);
  EXPECT_EQ(feeds_.List()[0].term.holder, "second");
  EXPECT_EQ(feeds_.RoundDueUs(), now_us_ + kInterval) << "it has changed";
  Round();
  EXPECT_THAT(session_.Tasks(), ElementsAre("a")) << "c takes room";
}

TEST_F(FeedsTest, PlaceNothingOfAStandbyThatLeadsUntilItHasSettled) {
  Take(&session_, {SnapshotBegan{.is_standby = true},
                   MachineStated{MachineSpecOf("m", {.cpu = 1000})},
                   TaskNamed("a"), SnapshotEnded()});
  Take(&session_, {FeedLed{{"lease", 2, "second"}, 3000}});
  ExpectToSettle();
}

TEST_F(FeedsTest, HoldBackAStandbyThatComesBackAsALeader) {
  Take(&session_, {SnapshotBegan{.is_standby = true},
                   MachineStated{MachineSpecOf("m", {.cpu = 1000})},
                   TaskNamed("a"), SnapshotEnded()});
  feeds_.Release(&session_, now_us_);
  Session again;
  name_ = "shop";
  // The daemon knows the task, but not what a leader was told elsewhere.
  Take(&again, {SnapshotBegan{{"lease", 2, "second"}, 3000},
                MachineStated{MachineSpecOf("m", {.cpu = 1000})},
                TaskNamed("a"), SnapshotEnded()});
  EXPECT_EQ(StateOfFeed(), FeedStatus::State::kSettling);
}

TEST_F(FeedsTest, RefuseAStandbyWhereAClientLeads) {
  StateAll(&session_, {"a"});
  Session standby;
  name_ = "shop";
  Take(&standby, {SnapshotBegan{.is_standby = true}});
  Tell();
  EXPECT_THAT(standby.end,
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("a client that leads is connected here")));
  EXPECT_THAT(session_.end, IsOk());
  EXPECT_EQ(StateOfFeed(), FeedStatus::State::kLive);
  // Once that one has gone, it may; and a leader may always.
  feeds_.Release(&session_, now_us_);
  Session next;
  name_ = "shop";
  Take(&next, {SnapshotBegan{.is_standby = true}, SnapshotEnded()});
  EXPECT_THAT(next.end, IsOk());
  name_ = "shop";
  Session leader;
  StateAll(&leader, {"a"});
  Tell();
  EXPECT_THAT(next.end, StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(StateOfFeed(), FeedStatus::State::kLive);
}

TEST_F(FeedsTest, EndAStandbyThatLeadsInAnOlderTerm) {
  Take(&session_,
       {SnapshotBegan{{"lease", 2, "second"}},
        MachineStated{MachineSpecOf("m", {.cpu = 1000})}, SnapshotEnded()});
  feeds_.Release(&session_, now_us_);
  Session standby;
  name_ = "shop";
  Take(&standby,
       {SnapshotBegan{.is_standby = true},
        MachineStated{MachineSpecOf("m", {.cpu = 1000})}, SnapshotEnded()});
  EXPECT_THAT(standby.end, IsOk());
  Take(&standby, {FeedLed{{"lease", 1, "first"}}});
  Tell();
  EXPECT_THAT(standby.end, StatusIs(absl::StatusCode::kFailedPrecondition,
                                    HasSubstr("term 1 of 'first' is over")));
}

TEST_F(FeedsTest, EndASessionThatConfirmsWhatItWasNotTold) {
  StateAll(&session_, {"a"});
  Round();
  Take(&session_, {}, session_.news[0].deltas[0].sequence + 1);
  Tell();
  EXPECT_THAT(session_.end, StatusIs(absl::StatusCode::kInvalidArgument,
                                     HasSubstr("deltas_received: ")));
  EXPECT_EQ(StateOfFeed(), FeedStatus::State::kLost);
}

TEST_F(FeedsTest, EndASessionThatStandsStillInItsSnapshot) {
  Take(&session_, {SnapshotBegan()});
  feeds_.Tend(0, now_us_ += kGrace);
  EXPECT_THAT(session_.end, IsOk());
  feeds_.Tend(0, now_us_ += 2000000);
  Tell();
  EXPECT_THAT(session_.end, StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST_F(FeedsTest, ShowHowEachFeedIs) {
  Take(&session_, {SnapshotBegan()});
  EXPECT_EQ(StateOfFeed(), FeedStatus::State::kSnapshot);
  Take(&session_, {TaskNamed("a"), SnapshotEnded()});
  EXPECT_EQ(StateOfFeed(), FeedStatus::State::kLive);
  feeds_.Tend(0, now_us_ += kGrace * 2);
  EXPECT_THAT(session_.end, IsOk()) << "one that is live may be silent";
  feeds_.Release(&session_, now_us_);
  EXPECT_EQ(StateOfFeed(), FeedStatus::State::kLost);
  feeds_.Tend(0, now_us_ += kGrace + 1);
  EXPECT_EQ(StateOfFeed(), FeedStatus::State::kAway);
  EXPECT_EQ(feeds_.List()[0].tasks, 1);
}

TEST_F(FeedsTest, TakeSamplesOfWhatIsKnownWithoutARound) {
  StateAll(&session_, {"a"});
  Round();
  FeedBatch batch;
  batch.machine_usage = {{"m", {.cpu_ppm = 5}}, {"z", {}}};
  batch.task_usage = {{"a", {.cpu = 6}}, {"y", {}}, {"z", {}}};
  batch.malformed_samples = 4;
  feeds_.Take(&session_, batch, 0, now_us_);
  EXPECT_EQ(metrics_.usage_samples.With("machine").Value(), 1);
  EXPECT_EQ(metrics_.usage_samples.With("task").Value(), 1);
  EXPECT_EQ(metrics_.usage_samples.With("unknown").Value(), 3);
  EXPECT_EQ(metrics_.usage_samples.With("malformed").Value(), 4);
  const ClusterState& state = scheduler_.state();
  EXPECT_EQ(state.FindMachine("m")->usage.samples().back().cpu_ppm, 5);
  EXPECT_EQ(feeds_.RoundDueUs(), std::nullopt);
}

TEST_F(FeedsTest, AskForRoundsWhereSomethingWaits) {
  StateAll(&session_, {});
  EXPECT_EQ(feeds_.RoundDueUs(), std::nullopt);
  Take(&session_, {TaskNamed("a")});
  EXPECT_LE(*feeds_.RoundDueUs(), now_us_) << "at once";
  Round();
  EXPECT_EQ(feeds_.RoundDueUs(), std::nullopt);
  TaskStated large = TaskNamed("large");
  large.spec = TaskSpecOf(0, {.cpu = 5000});
  Take(&session_, {large});
  EXPECT_EQ(feeds_.RoundDueUs(), now_us_ + kInterval);
  Round();
  EXPECT_GT(*feeds_.RoundDueUs(), now_us_ + kInterval) << "nothing has changed";
  Take(&session_, {TaskGone{"a"}});
  EXPECT_EQ(feeds_.RoundDueUs(), now_us_ + kInterval);
  feeds_.Release(&session_, now_us_);
  EXPECT_EQ(feeds_.RoundDueUs(), std::nullopt);
}

TEST_F(FeedsTest, AskForRoundsAsLongAsSomethingOfADrainingMachineMayMove) {
  StateAll(&session_, {"a"});
  Round();
  const auto drain = [this](bool is_draining) {
    scheduler_.Apply(SetDraining{"m", is_draining});
    feeds_.NoteChange();
  };
  drain(true);
  EXPECT_THAT(feeds_.RoundDueUs(), Optional(Gt(now_us_)));
  Round();
  EXPECT_EQ(feeds_.RoundDueUs(), std::nullopt) << "it has no owner";
  TaskStated owned = TaskNamed("a");
  owned.spec.owner = {"ReplicaSet", "r"};
  owned.machine_uuid = "m";
  Take(&session_, {owned}, /*deltas_received=*/1);
  Round();
  EXPECT_THAT(feeds_.RoundDueUs(), Optional(Gt(now_us_)))
      << "no machine has room yet";
  drain(false);
  EXPECT_EQ(feeds_.RoundDueUs(), std::nullopt);
}

TEST_F(FeedsTest, AskForARoundForWhatCameDuringTheLastOne) {
  StateAll(&session_, {"a"});
  feeds_.NoteRoundStart(now_us_);
  Take(&session_, {TaskNamed("b")});
  feeds_.NoteRoundEnd(now_us_);
  EXPECT_EQ(feeds_.RoundDueUs(), now_us_ + kInterval);
}

TEST_F(FeedsTest, RestAfterARoundForAsLongAsItTookSeveralTimes) {
  Feeds::Options options = {.round_interval_us = 0, .grace_us = kGrace};
  Feeds feeds(&scheduler_.mutable_state(), scheduler_.scheduler(), metrics_,
              options);
  StateAll(&session_, {"a"});
  const auto rest_after = [&](int64_t duration_us) {
    feeds.NoteRoundStart(now_us_);
    feeds.NoteChange();
    feeds.NoteRoundEnd(now_us_ + duration_us);
    return *feeds.RoundDueUs() - (now_us_ + duration_us);
  };
  EXPECT_EQ(rest_after(0), 0);
  EXPECT_EQ(rest_after(500), 2000);
  EXPECT_EQ(rest_after(1000000), 10000);
}

TEST_F(FeedsTest, TellAnAcknowledgmentWithTheDecisionThatIsAboutToBeMade) {
  StateAll(&session_, {});
  Tell();
  ASSERT_THAT(session_.news, SizeIs(1)) << "nothing waits";
  Take(&session_, {TaskNamed("a")});
  Tell();
  EXPECT_THAT(session_.news, SizeIs(1)) << "a round is due";
  EXPECT_GT(*feeds_.AckDueUs(), now_us_);
  Round();
  ASSERT_THAT(session_.news, SizeIs(2));
  EXPECT_EQ(session_.news[1].batches, 1);
  EXPECT_THAT(session_.Tasks(), ElementsAre("a"));
  EXPECT_EQ(feeds_.AckDueUs(), std::nullopt);
  // A round that takes long keeps nobody waiting.
  now_us_ += kInterval;
  Take(&session_, {TaskNamed("b")});
  Tell();
  EXPECT_THAT(session_.news, SizeIs(2));
  now_us_ = *feeds_.AckDueUs();
  Tell();
  EXPECT_THAT(session_.news, SizeIs(3));
  // One that is not ready is not waited for.
  now_us_ += kInterval;
  Take(&session_, {TaskNamed("e")});
  Tell();
  EXPECT_NE(feeds_.AckDueUs(), std::nullopt);
  session_.is_ready = false;
  Tell();
  EXPECT_EQ(feeds_.AckDueUs(), std::nullopt);
  session_.is_ready = true;
  now_us_ += kInterval;
  Tell();
  EXPECT_THAT(session_.news, SizeIs(4));
  // Nor does it keep a client that sends ahead.
  Take(&session_, {TaskNamed("c")});
  Take(&session_, {TaskNamed("d")});
  Tell();
  EXPECT_THAT(session_.news, SizeIs(5));
}

TEST_F(FeedsTest, LeaveOutProblemsThatAMessageHasNoRoomFor) {
  session_.is_ready = false;
  StateAll(&session_, {"a"});
  const std::string id(1000, 'x');
  for (int i = 0; i < 4; ++i) {
    Take(&session_, std::vector<FeedEvent>(20000, TaskGone{id}));
  }
  session_.is_ready = true;
  Round();
  ASSERT_THAT(session_.news, SizeIs(1));
  EXPECT_LT(session_.news[0].bytes, kReplyBytesMax);
  EXPECT_EQ(static_cast<int64_t>(session_.news[0].problems.size()) +
                session_.news[0].problems_left_out,
            80000);
  EXPECT_THAT(session_.Tasks(), ElementsAre("a"));
}

TEST_F(FeedsTest, RefuseOneFeedTooMany) {
  for (size_t i = 0; i < kFeedsMax; ++i) {
    scheduler_.mutable_state().OpenFeed(StrCat("feed-", i));
  }
  Take(&session_, {SnapshotBegan()});
  Tell();
  EXPECT_THAT(session_.end, StatusIs(absl::StatusCode::kResourceExhausted));
  Session known;
  name_ = "feed-3";
  Take(&known, {SnapshotBegan()});
  EXPECT_THAT(known.end, IsOk());
}

}  // namespace
}  // namespace sluice
