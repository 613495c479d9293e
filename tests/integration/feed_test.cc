// sluice.v1.Feed over real gRPC: what a client states is durable, what is
// decided is pushed, and whatever breaks the protocol gets a defined answer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "integration/feed_client.h"
#include "integration/mini_server.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using testing::UnorderedElementsAre;

const NodeFields kNode;
const NodeFields kRoomyNode = {.max_pods = 100000};

class FeedTest : public ContractFixture {
 protected:
  int64_t RunningTasks() { return client_.Status().running_tasks(); }
};

TEST_F(FeedTest, PushesPlacementsUnasked) {
  FeedClient feed(server_.port(), "shop");
  feed.StateMachines(2, kNode);
  feed.AddTask("pod-1", {.cpu = 3000});
  feed.AddTask("pod-2", {.cpu = 3000});
  feed.AddTask("pod-3", {.cpu = 3000});
  ASSERT_TRUE(feed.Settle());
  ASSERT_TRUE(feed.AwaitDeltas(2));
  EXPECT_EQ(feed.Places().size(), 2u);
  EXPECT_THAT(feed.problems(), IsEmpty());
  feed.TaskGone(feed.deltas()[0].task());
  ASSERT_TRUE(feed.AwaitDeltas(feed.Flush() ? 3 : 0));
  EXPECT_EQ(feed.deltas()[2].machine(), feed.deltas()[0].machine());
}

// The first pass puts the urgent task on the machine with more room, and the
// other waits until both are packed together.
TEST_F(FeedTest, PacksWhatItHasPlacedBeforeItTellsOfIt) {
  FeedClient feed(server_.port(), "shop");
  feed.BeginSnapshot();
  feed.AddMachine("large", {.cpu = 1000});
  feed.AddMachine("small", {.cpu = 600});
  feed.AddTask("urgent", {.cpu = 400, .priority = 10});
  feed.AddTask("wide", {.cpu = 900, .priority = 1});
  feed.EndSnapshot();
  feed.Flush();
  ASSERT_TRUE(feed.AwaitDeltas(2));
  EXPECT_THAT(feed.Places(), UnorderedElementsAre(Pair("urgent", "small"),
                                                  Pair("wide", "large")));
}

// The client reads nothing meanwhile: the daemon reads, answers and writes at
// the same time.
TEST_F(FeedTest, TakesBatchesInTheirOrder) {
  constexpr int kBatches = 20000;
  FeedClient feed(server_.port(), "shop");
  feed.StateMachines(0, kNode);
  for (int i = 1; i <= kBatches; ++i) {
    feed.AddMachine("m", {.cpu = static_cast<float>(i)});
    ASSERT_TRUE(feed.Flush());
  }
  ASSERT_TRUE(feed.Settle());
  EXPECT_EQ(client_.Status().allocatable().cpu_millicores(), kBatches);
}

TEST_F(FeedTest, TellsAgainWhatWasNotConfirmed) {
  {
    FeedClient feed(server_.port(), "shop");
    feed.StateMachines(1, kNode);
    feed.AddTask("a", {.cpu = 100});
    feed.AddTask("b", {.cpu = 100});
    feed.Flush();
    ASSERT_TRUE(feed.AwaitDeltas(2));
  }
  FeedClient feed(server_.port(), "shop");
  feed.BeginSnapshot();
  feed.AddMachine("m0", kNode);
  feed.AddTask("a", {.cpu = 100});
  feed.AddTask("b", {.cpu = 100}, "m0");
  ASSERT_TRUE(feed.Settle());
  EXPECT_THAT(feed.deltas(), IsEmpty()) << "nothing before the end";
  feed.EndSnapshot();
  ASSERT_TRUE(feed.Flush());
  ASSERT_TRUE(feed.AwaitDeltas(1));
  EXPECT_THAT(feed.Places(), ElementsAre(Pair("a", "m0")));
  ASSERT_TRUE(feed.Confirm());
  feed.AddTask("c", {.cpu = 100});
  ASSERT_TRUE(feed.Flush());
  ASSERT_TRUE(feed.AwaitDeltas(2));
  EXPECT_EQ(feed.deltas()[1].task(), "c");
  EXPECT_EQ(RunningTasks(), 3);
}

TEST_F(FeedTest, ForgetsWhatTheNextSnapshotLeavesOut) {
  {
    FeedClient feed(server_.port(), "shop");
    feed.StateMachines(3, kNode);
    feed.AddTask("a", {.cpu = 100});
    ASSERT_TRUE(feed.Settle());
  }
  FeedClient feed(server_.port(), "shop");
  feed.StateMachines(1, kNode);
  ASSERT_TRUE(feed.Settle());
  const v1::Status status = client_.Status();
  EXPECT_EQ(status.machines(), 1);
  EXPECT_EQ(status.pending_tasks() + status.running_tasks(), 0);
}

TEST_F(FeedTest, WaitsWithABindThatFailedUntilItIsPlacedAgain) {
  FeedClient feed(server_.port(), "shop");
  feed.StateMachines(1, kNode);
  feed.AddTask("a", {.cpu = 100});
  feed.Flush();
  ASSERT_TRUE(feed.AwaitDeltas(1));
  v1::BindFailed* failed = feed.Add()->mutable_bind_failed();
  failed->set_id("a");
  failed->set_machine("m0");
  failed->set_reason("conflict");
  feed.Flush();
  ASSERT_TRUE(feed.AwaitDeltas(2));
  EXPECT_EQ(feed.deltas()[1].task(), "a");
  EXPECT_THAT(feed.problems(), IsEmpty());
}

TEST_F(FeedTest, ServesTheContractBesideFeeds) {
  FeedClient feed(server_.port(), "shop");
  feed.StateMachines(1, kNode);
  feed.AddTask("a", {.cpu = 100});
  feed.Flush();
  ASSERT_TRUE(feed.AwaitDeltas(1));
  client_.Submit(TaskMessage(7, {.cpu = 100}));
  const firmament::SchedulingDeltas reply = client_.Schedule();
  ASSERT_THAT(reply.deltas(), SizeIs(1));
  EXPECT_EQ(reply.deltas(0).task_id(), 7u);
  EXPECT_EQ(client_.AddNode(NodeMessage("m0", kNode)),
            firmament::NODE_ALREADY_EXISTS);
  EXPECT_EQ(client_.RemoveNode("m0"), firmament::NODE_NOT_FOUND);
  EXPECT_EQ(client_.Status().machines(), 1);
}

TEST_F(FeedTest, KeepsFeedsApart) {
  FeedClient first(server_.port(), "first");
  first.StateMachines(1, kNode);
  first.AddTask("a", {.cpu = 100});
  first.Flush();
  ASSERT_TRUE(first.AwaitDeltas(1));
  FeedClient second(server_.port(), "second");
  second.BeginSnapshot();
  second.AddMachine("m0", kNode);
  second.AddTask("a", {.cpu = 100});
  second.EndSnapshot();
  second.Flush();
  ASSERT_TRUE(second.AwaitDeltas(1));
  ASSERT_THAT(second.problems(), SizeIs(1));
  EXPECT_EQ(second.problems()[0].sequence(), 2u);
  EXPECT_EQ(second.problems()[0].code(), v1::FeedProblem::NOT_YOURS);
  second.TaskGone("a");
  ASSERT_TRUE(second.Settle());
  EXPECT_EQ(RunningTasks(), 1);
}

TEST_F(FeedTest, RefusesAFormerLeaderThatComesBack) {
  const auto lead = [](FeedClient* feed, int64_t number, const char* holder) {
    v1::FeedTerm* term = feed->Add()->mutable_begin_snapshot()->mutable_term();
    term->set_lease("lease");
    term->set_number(number);
    term->set_holder(holder);
    feed->AddMachine("m0", kNode);
    feed->EndSnapshot();
  };
  FeedClient newer(server_.port(), "shop");
  lead(&newer, 2, "newer");
  ASSERT_TRUE(newer.Settle());
  FeedClient former(server_.port(), "shop");
  lead(&former, 1, "former");
  former.Flush();
  const grpc::Status end = former.AwaitEnd();
  EXPECT_EQ(end.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(end.error_message(), HasSubstr("term 1 of 'former' is over"));
  newer.AddTask("a", {.cpu = 100});
  newer.Flush();
  EXPECT_TRUE(newer.AwaitDeltas(1)) << "it was not disturbed";
}

// All that a standby states is there when it leads, and what was bound
// elsewhere meanwhile takes room.
TEST_F(FeedTest, DecidesForAStandbyOnceItLeads) {
  FeedClient feed(server_.port(), "shop");
  feed.Add()->mutable_begin_snapshot()->set_is_standby(true);
  feed.AddMachine("m0", {.cpu = 1000});
  feed.AddTask("a", {.cpu = 600});
  feed.AddTask("b", {.cpu = 600});
  feed.EndSnapshot();
  ASSERT_TRUE(feed.Settle());
  feed.AddTask("b", {.cpu = 600}, "m0");
  feed.AddTask("c", {.cpu = 300});
  ASSERT_TRUE(feed.Settle());
  EXPECT_THAT(feed.deltas(), IsEmpty());
  EXPECT_EQ(RunningTasks(), 1) << "it counts what runs";
  EXPECT_EQ(client_.Status().feeds(0).state(), v1::FeedState::STANDBY);
  v1::FeedTerm* term = feed.Add()->mutable_leads()->mutable_term();
  term->set_lease("lease");
  term->set_number(2);
  term->set_holder("second");
  feed.Flush();
  ASSERT_TRUE(feed.AwaitDeltas(1));
  EXPECT_THAT(feed.Places(), ElementsAre(Pair("c", "m0")));
  EXPECT_EQ(client_.Status().feeds(0).state(), v1::FeedState::LIVE);
  EXPECT_EQ(client_.Status().feeds(0).holder(), "second");
}

TEST_F(FeedTest, LetsNoStandbyTakeAFeedFromALeader) {
  FeedClient leader(server_.port(), "shop");
  leader.StateMachines(1, kNode);
  ASSERT_TRUE(leader.Settle());
  FeedClient standby(server_.port(), "shop");
  standby.Add()->mutable_begin_snapshot()->set_is_standby(true);
  standby.Flush();
  EXPECT_EQ(standby.AwaitEnd().error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  leader.AddTask("a", {.cpu = 100});
  leader.Flush();
  EXPECT_TRUE(leader.AwaitDeltas(1)) << "it was not disturbed";
}

// Its name alone says nothing of its term.
TEST_F(FeedTest, LetsNobodyGoForAClientThatHasOnlySaidItsName) {
  FeedClient former(server_.port(), "shop");
  former.StateMachines(1, kNode);
  ASSERT_TRUE(former.Settle());
  FeedClient newer(server_.port(), "shop");
  v1::FeedRequest name;
  name.set_feed("shop");
  ASSERT_TRUE(newer.Send(name));
  former.AddTask("a", {.cpu = 100});
  ASSERT_TRUE(former.Settle());
  newer.StateMachines(1, kNode);
  EXPECT_TRUE(newer.Settle());
  EXPECT_EQ(former.AwaitEnd().error_code(), grpc::StatusCode::ABORTED);
}

TEST_F(FeedTest, LetsTheNewerOfTwoClientsIn) {
  FeedClient former(server_.port(), "shop");
  former.StateMachines(1, kNode);
  ASSERT_TRUE(former.Settle());
  FeedClient newer(server_.port(), "shop");
  newer.StateMachines(1, kNode);
  ASSERT_TRUE(newer.Settle());
  const grpc::Status end = former.AwaitEnd();
  EXPECT_EQ(end.error_code(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(end.error_message(), "feed 'shop': another client has opened it");
  newer.AddTask("a", {.cpu = 100});
  newer.Flush();
  EXPECT_TRUE(newer.AwaitDeltas(1));
}

TEST_F(FeedTest, EndsACallThatItsClientCloses) {
  FeedClient feed(server_.port(), "shop");
  feed.StateMachines(1, kNode);
  feed.Flush();
  feed.CloseSending();
  EXPECT_TRUE(feed.AwaitEnd().ok());
  EXPECT_EQ(feed.durable(), 3u);
}

struct BreachCase {
  std::string name;
  std::function<void(FeedClient*)> send;
  std::string message;
};

class FeedBreach : public testing::TestWithParam<BreachCase> {};

TEST_P(FeedBreach, EndsTheCall) {
  const MiniServer server;
  FeedClient feed(server.port(), GetParam().name == "NoName" ? "" : "shop");
  GetParam().send(&feed);
  feed.Flush();
  const grpc::Status end = feed.AwaitEnd();
  EXPECT_EQ(end.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(end.error_message(), HasSubstr(GetParam().message));
}

const BreachCase kBreaches[] = {
    {"NoName", [](FeedClient* feed) { feed->BeginSnapshot(); },
     "feed: the first message must name it"},
    {"TwoNames",
     [](FeedClient* feed) {
       feed->BeginSnapshot();
       feed->Flush();
       v1::FeedRequest request;
       request.set_feed("other");
       feed->Send(request);
     },
     "feed: 'other', but this call is for 'shop'"},
    {"Gap",
     [](FeedClient* feed) {
       feed->BeginSnapshot();
       feed->Add()->set_sequence(3);
     },
     "event 3 follows event 1"},
    {"NoSnapshot", [](FeedClient* feed) { feed->TaskGone("a"); },
     "event 1: begin_snapshot must come first"},
    {"SnapshotInASnapshot",
     [](FeedClient* feed) {
       feed->BeginSnapshot();
       feed->BeginSnapshot();
     },
     "event 2: begin_snapshot within a snapshot"},
    {"EndWithoutABeginning",
     [](FeedClient* feed) {
       feed->BeginSnapshot();
       feed->EndSnapshot();
       feed->EndSnapshot();
     },
     "event 3: end_snapshot outside a snapshot"},
    {"TooManyEvents",
     [](FeedClient* feed) {
       feed->BeginSnapshot();
       for (int i = 0; i < 4096; ++i) feed->TaskGone("a");
     },
     "events: 4097 in one message, at most 4096 are allowed"},
    {"DeltasThatWereNotSent",
     [](FeedClient* feed) {
       v1::FeedRequest request;
       request.set_deltas_received(9);
       feed->Send(request);
     },
     "deltas_received: 9, but none was sent"},
};

INSTANTIATE_TEST_SUITE_P(Feed, FeedBreach, testing::ValuesIn(kBreaches),
                         [](const auto& breach) { return breach.param.name; });

TEST_F(FeedTest, SkipsEventsThatComeAgain) {
  FeedClient feed(server_.port(), "shop");
  feed.StateMachines(1, kNode);
  v1::FeedRequest again;
  again.add_events()->set_sequence(2);
  again.mutable_events(0)->mutable_machine_gone()->set_machine("m0");
  ASSERT_TRUE(feed.Settle());
  ASSERT_TRUE(feed.Send(again));
  feed.AddTask("a", {.cpu = 100});
  feed.Flush();
  EXPECT_TRUE(feed.AwaitDeltas(1)) << "the machine is still there";
}

TEST_F(FeedTest, TellsWhatIsWrongWithAnEventAndGoesOn) {
  FeedClient feed(server_.port(), "shop");
  feed.StateMachines(1, kNode);
  feed.AddTask("", {.cpu = 1});
  feed.AddTask("negative", {.cpu = -1});
  feed.AddTask("lost", {.cpu = 1}, "nowhere");
  feed.TaskGone("unknown");
  feed.Add();
  feed.AddTask("good", {.cpu = 1});
  ASSERT_TRUE(feed.Settle());
  std::vector<std::pair<uint64_t, int>> problems;
  for (const v1::FeedProblem& problem : feed.problems()) {
    EXPECT_NE(problem.message(), "");
    problems.emplace_back(problem.sequence(), problem.code());
  }
  using Problem = v1::FeedProblem;
  EXPECT_THAT(problems, UnorderedElementsAre(Pair(4, Problem::INVALID),
                                             Pair(5, Problem::MALFORMED),
                                             Pair(6, Problem::MALFORMED),
                                             Pair(7, Problem::UNKNOWN),
                                             Pair(8, Problem::INVALID)));
  EXPECT_TRUE(feed.AwaitDeltas(1));
  EXPECT_EQ(client_.Status().quarantined_tasks(), 2);
}

TEST(FeedGrace, LetsAClientGoThatStandsStillInItsSnapshot) {
  Options options = MiniServer::OptionsFor(ReplyMode::kContract);
  options.feed_grace_ms = 1;
  const MiniServer server(options);
  FeedClient feed(server.port(), "shop");
  feed.BeginSnapshot();
  feed.Flush();  // The call may have ended already.
  EXPECT_EQ(feed.AwaitEnd().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
}

TEST(FeedGrace, LetsAClientGoThatDoesNotSayItsName) {
  Options options = MiniServer::OptionsFor(ReplyMode::kContract);
  options.feed_grace_ms = 1;
  const MiniServer server(options);
  FeedClient feed(server.port(), "");
  EXPECT_EQ(feed.AwaitEnd().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
}

TEST_F(FeedTest, HoldsBackWhatAClientDoesNotConfirm) {
  FeedClient feed(server_.port(), "shop");
  feed.StateMachines(1, kRoomyNode);
  constexpr int kTasks = 70000;
  constexpr size_t kUnconfirmed = 65536;
  for (int i = 0; i < kTasks; ++i) {
    feed.AddTask(StrCat("task-", i), {});
    if (i % 1000 == 0) {
      ASSERT_TRUE(feed.Settle());
    }
  }
  ASSERT_TRUE(feed.Settle());
  ASSERT_TRUE(feed.AwaitDeltas(kUnconfirmed));
  EXPECT_THAT(feed.deltas(), SizeIs(kUnconfirmed));
  ASSERT_TRUE(feed.Confirm());
  ASSERT_TRUE(feed.AwaitDeltas(kTasks));
  EXPECT_THAT(feed.Places(), SizeIs(kTasks));
}

TEST_F(FeedTest, GoesOnBesideAClientThatReadsNothing) {
  FeedClient deaf(server_.port(), "deaf");
  deaf.StateMachines(1, kRoomyNode);
  // Its messages stop somewhere: the daemon reads no more than it can answer.
  std::thread sending([&deaf] {
    const std::string name(900, 'x');
    for (int i = 0;; ++i) {
      deaf.AddTask(StrCat(name, i), {});
      if (i % 1000 == 0 && !deaf.Flush()) return;
    }
  });
  FeedClient feed(server_.port(), "shop");
  feed.BeginSnapshot();
  feed.AddTask("a", {});
  feed.EndSnapshot();
  feed.Flush();
  EXPECT_TRUE(feed.AwaitDeltas(1));
  deaf.Cut();
  sending.join();
}

}  // namespace
}  // namespace sluice
