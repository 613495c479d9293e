// The core without a thread, a store or a transport.  What clients meet through
// the loop is in tests/unit/loop.

#include "core/core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "util/cluster_builder.h"
#include "util/fake_clock.h"
#include "util/status_matchers.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class Call final : public ScheduleCall {
 public:
  bool IsCancelled() const override { return false; }
  void Answer(ScheduleReply /*reply*/,
              std::function<void(bool)> /*done*/) override {}
};

class Session final : public FeedSession {
 public:
  bool AwaitReady() override { return true; }
  void Tell(FeedNews /*news*/) override { ++told; }
  void End(const absl::Status& status) override { end = status; }
  void Release() override { is_released = true; }

  int told = 0;
  absl::Status end;
  bool is_released = false;
};

class CoreTest : public testing::Test {
 protected:
  void Submit(Command command) {
    core_.Step(Contract::Request{std::move(command),
                                 [this](Ack ack) { acks_.push_back(ack); },
                                 clock_.MonotonicUs()});
  }
  // A machine and a task, both told.
  void Fill() {
    Submit(Added("m", {.cpu = 1000}));
    Submit(Submitted(1, {.cpu = 500}));
    core_.TakeReady();
  }
  void Solve(const RoundWork& work) {
    core_.Step(SolveResult{{scheduler_.Solve(work), absl::OkStatus()}, 0});
  }
  void FinishRound() {
    while (const std::optional<RoundWork> work = core_.NextWork()) {
      Solve(*work);
    }
  }

  FakeClock clock_;
  Metrics metrics_;
  TestScheduler scheduler_;
  Core core_{
      {scheduler_.mutable_state(), scheduler_.scheduler(), clock_, metrics_},
      {}};
  std::vector<Ack> acks_;
};

TEST_F(CoreTest, AnswersNobodyItself) {
  Submit(Submitted(1));
  const Core::Ready ready = core_.TakeReady();
  EXPECT_FALSE(ready.changes.empty());
  EXPECT_TRUE(ready.must_sync);
  ASSERT_THAT(ready.messages.acks, SizeIs(1));
  EXPECT_THAT(acks_, IsEmpty());
  ready.messages.acks[0].done(ready.messages.acks[0].ack);
  EXPECT_THAT(acks_, testing::ElementsAre(Ack::kOk));
}

TEST_F(CoreTest, GivesEachEffectOnce) {
  Submit(Submitted(1));
  core_.TakeReady();
  const Core::Ready ready = core_.TakeReady();
  EXPECT_TRUE(ready.changes.empty());
  EXPECT_FALSE(ready.must_sync);
  EXPECT_THAT(ready.messages.acks, IsEmpty());
}

TEST_F(CoreTest, AsksForOnePieceOfWorkAtATime) {
  Fill();
  EXPECT_EQ(core_.NextWork(), std::nullopt) << "nobody asked for a round";
  Call call;
  core_.Step(Core::Called{&call});
  const std::optional<RoundWork> work = core_.NextWork();
  ASSERT_TRUE(work.has_value());
  EXPECT_TRUE(core_.is_work_open());
  EXPECT_EQ(core_.NextWork(), std::nullopt);
  EXPECT_THAT(core_.TakeReady().messages.replies, IsEmpty());
  Solve(*work);
  FinishRound();
  EXPECT_FALSE(core_.is_work_open());
  const Core::Ready ready = core_.TakeReady();
  EXPECT_TRUE(ready.must_sync) << "a placement is written before it is told";
  EXPECT_FALSE(ready.changes.empty());
  ASSERT_THAT(ready.messages.replies, SizeIs(1));
  EXPECT_EQ(ready.messages.replies[0].call, &call);
  EXPECT_THAT(ready.messages.replies[0].reply.deltas, SizeIs(1));
}

TEST_F(CoreTest, BeginsNoRoundBeforeTheReplyBeforeHasEnded) {
  Fill();
  Call first;
  Call second;
  core_.Step(Core::Called{&first});
  core_.Step(Core::Called{&second});
  FinishRound();
  EXPECT_THAT(core_.TakeReady().messages.replies, SizeIs(1));
  Submit(Submitted(2, {.cpu = 500}));
  EXPECT_EQ(core_.NextWork(), std::nullopt);
  core_.Step(Core::ReplyEnded{/*is_delivered=*/true});
  FinishRound();
  const Core::Ready ready = core_.TakeReady();
  ASSERT_THAT(ready.messages.replies, SizeIs(1));
  EXPECT_EQ(ready.messages.replies[0].call, &second);
  EXPECT_THAT(ready.messages.replies[0].reply.deltas, SizeIs(1));
}

TEST_F(CoreTest, TellsFeedsWithTheWriteOfWhatTheySent) {
  Session session;
  FeedBatch batch;
  batch.feed = "shop";
  batch.events = {{1, SnapshotBegan()}, {2, SnapshotEnded()}};
  batch.up_to = 2;
  core_.Step(Core::FeedSent{&session, std::nullopt});
  core_.Step(Core::FeedSent{&session, batch});
  Core::Ready ready = core_.TakeReady();
  EXPECT_EQ(session.told, 0);
  EXPECT_TRUE(ready.must_sync);
  SendToFeeds(&ready.messages);
  EXPECT_EQ(session.told, 1);
}

TEST_F(CoreTest, EndsAndReleasesSessionsAsMessages) {
  Session session;
  core_.Step(Core::FeedSent{&session, std::nullopt});
  core_.Step(Core::ShutdownBegun());
  core_.Step(Core::FeedEnded{&session});
  EXPECT_THAT(session.end, IsOk());
  Core::Ready ready = core_.TakeReady();
  EXPECT_FALSE(session.is_released);
  SendToFeeds(&ready.messages);
  EXPECT_THAT(session.end, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_TRUE(session.is_released);
}

TEST_F(CoreTest, MakesAPlanBetweenRounds) {
  Fill();
  Call call;
  core_.Step(Core::Called{&call});
  const std::optional<RoundWork> work = core_.NextWork();
  ASSERT_TRUE(work.has_value());
  core_.Step(Core::PlanAsked{Preemption::kFull, [](auto&, auto*) {}});
  EXPECT_EQ(core_.NextWork(), std::nullopt);
  EXPECT_THAT(core_.TakeReady().plans, IsEmpty());
  Solve(*work);
  FinishRound();
  FinishRound();
  EXPECT_THAT(core_.TakeReady().plans, SizeIs(1));
}

TEST_F(CoreTest, AnswersWhoeverWaitsAtItsEnd) {
  Call call;
  core_.Step(Core::Called{&call});
  core_.Step(Core::ShutdownBegun());
  core_.Step(Core::PlanAsked{Preemption::kFull, [](auto&, auto*) {}});
  core_.End();
  EXPECT_EQ(core_.NextWork(), std::nullopt);
  const Core::Ready ready = core_.TakeReady();
  EXPECT_THAT(ready.messages.replies, SizeIs(1));
  ASSERT_THAT(ready.plans, SizeIs(1));
  EXPECT_FALSE(ready.plans[0].plan.has_value());
}

}  // namespace
}  // namespace sluice
