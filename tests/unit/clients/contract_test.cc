// What a contract does by itself.  How long acknowledgments are held is in
// core_loop_test.

#include "clients/contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "util/cluster_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class Call final : public ScheduleCall {
 public:
  bool IsCancelled() const override { return is_cancelled; }
  void Answer(ScheduleReply /*reply*/,
              std::function<void(bool)> /*done*/) override {}

  ConnectionId connection() const override { return of; }

  bool is_cancelled = false;
  ConnectionId of;
};

class ContractTest : public testing::Test {
 protected:
  std::optional<Ack> Apply(Command command, int64_t now_us,
                           ConnectionId connection = {}) {
    Contract::Request request = {std::move(command), [](Ack) {}, now_us,
                                 connection};
    return contract_.Apply(request, now_us / 1000, now_us);
  }
  bool Enter(Call* call, int64_t now_us) {
    return contract_.Call(call, now_us / 1000, now_us);
  }
  Messages Take() {
    Messages messages;
    contract_.TakeMessages(&messages);
    return messages;
  }

  TestScheduler scheduler_;
  Contract contract_{&scheduler_.mutable_state(), {}};
};

TEST_F(ContractTest, TakesTwoBeginningsOfOneMomentForOne) {
  AddMachine add = Added("m", {});
  add.may_begin_anew = true;
  EXPECT_EQ(Apply(add, 1000), Ack::kOk);
  const uint32_t before = scheduler_.state().counters().announcement;
  EXPECT_EQ(Apply(add, 2000000), Ack::kAlreadyExists);
  EXPECT_EQ(scheduler_.state().counters().announcement, before + 1);
  EXPECT_EQ(Apply(BeginAnnouncement(), 2100000), std::nullopt);
  EXPECT_EQ(scheduler_.state().counters().announcement, before + 1);
  EXPECT_THAT(Take().acks, SizeIs(3)) << "it is acknowledged all the same";
}

TEST_F(ContractTest, EndsAnAnnouncementOnceItsClientIsQuiet) {
  Apply(BeginAnnouncement(), 1000000);
  Apply(Submitted(1), 1100000);
  EXPECT_FALSE(contract_.Tend(3000, 3000000));
  EXPECT_TRUE(contract_.Tend(3200, 3200000));
  EXPECT_FALSE(contract_.Tend(9000, 9000000)) << "it has ended";
}

// A client that asked whether there is a scheduler, and calls Schedule.
class NewcomerTest : public ContractTest {
 protected:
  void SetUp() override {
    Apply(Added("m", {}), 1000);
    Apply(Submitted(1), 1000);
    newcomers_.of = {1};
    contract_.Greet({1});
    EXPECT_TRUE(Enter(&newcomers_, 1000000));
  }
  // True if a round may begin for the newcomer.
  bool IsLetGoOn() {
    contract_.BeginCall(/*is_in_round=*/false);
    return contract_.has_call();
  }
  bool IsStale(uint64_t uid) { return scheduler_.TaskOf(uid).client.is_stale; }

  Call newcomers_;
};

TEST_F(NewcomerTest, WaitsUntilItMentionsSomethingThatIsKnown) {
  EXPECT_FALSE(IsLetGoOn());
  Apply(Submitted(2), 1100000);
  EXPECT_FALSE(IsLetGoOn()) << "anybody may submit a new task";
  EXPECT_FALSE(IsStale(1));
  Apply(Submitted(1), 1200000);
  EXPECT_TRUE(IsLetGoOn());
  EXPECT_FALSE(IsStale(1));
  EXPECT_FALSE(IsStale(2)) << "it was mentioned in time";
  EXPECT_TRUE(scheduler_.state().FindMachine("m")->is_stale);
}

TEST_F(NewcomerTest, IsNoBeginnerIfItStaysSilent) {
  EXPECT_FALSE(contract_.Tend(10900, 10900000));
  EXPECT_FALSE(IsLetGoOn());
  EXPECT_TRUE(contract_.Tend(11000, 11000000));
  EXPECT_TRUE(IsLetGoOn());
  EXPECT_FALSE(IsStale(1));
  Apply(Submitted(1), 11100000);
  EXPECT_FALSE(scheduler_.state().FindMachine("m")->is_stale)
      << "another client may submit again what it likes";
}

TEST_F(NewcomerTest, IsAwaitedNoLongerBecauseOthersCome) {
  Apply(BeginAnnouncement{.is_certain = false}, 9000000);
  EXPECT_EQ(contract_.DueUs(), 11000000);
  EXPECT_TRUE(contract_.Tend(11000, 11000000));
  Apply(BeginAnnouncement{.is_certain = false}, 11000000);
  EXPECT_TRUE(IsLetGoOn()) << "its time is over, whoever comes now";
}

TEST_F(NewcomerTest, IsNoBeginnerBecauseSomebodyReusesAUid) {
  Apply(Submitted(1, {.name = "newer"}), 1100000);
  EXPECT_FALSE(IsLetGoOn());
  EXPECT_FALSE(scheduler_.state().FindMachine("m")->is_stale);
}

// Its client would read a reply that names them before it forgets them.
TEST_F(NewcomerTest, DelaysNoRemovalsUnlessItBeginsAnew) {
  Apply(Submitted(2), 1100000);
  Take();
  Apply(Removed(2), 1100000);
  EXPECT_THAT(Take().acks, SizeIs(1));
  Apply(Submitted(1), 1200000);
  Apply(Submitted(2), 1200000);
  Take();
  Apply(Removed(2), 1300000);
  EXPECT_THAT(Take().acks, IsEmpty()) << "it counts its tasks";
}

TEST_F(NewcomerTest, DoesNotHoldUpOthers) {
  Call other;
  Enter(&other, 1100000);
  EXPECT_TRUE(IsLetGoOn());
  contract_.AnswerCall();
  const std::vector<ReplyMessage> replies = Take().replies;
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_EQ(replies[0].call, &other);
}

TEST_F(NewcomerTest, DoesNotHoldUpTheAcknowledgmentsOfOthers) {
  scheduler_.Round();
  Call other;
  Enter(&other, 1100000);
  contract_.BeginCall(/*is_in_round=*/false);
  contract_.AnswerCall();
  contract_.EndReply(/*is_delivered=*/true, 1100000);
  Take();
  Apply(Removed(1), 1200000);
  EXPECT_THAT(Take().acks, IsEmpty()) << "its client may read the reply yet";
  Call next;
  Enter(&next, 2000000);
  EXPECT_THAT(Take().acks, SizeIs(1));
}

TEST_F(NewcomerTest, IsAnsweredWhenItGoesOrTheDaemonStops) {
  newcomers_.is_cancelled = true;
  EXPECT_EQ(contract_.BeginCall(/*is_in_round=*/false), 1);
  Call next;
  next.of = {2};
  contract_.Greet({2});
  Enter(&next, 1100000);
  contract_.BeginShutdown();
  contract_.BeginCall(/*is_in_round=*/false);
  EXPECT_THAT(Take().replies, SizeIs(2));
}

TEST_F(NewcomerTest, IsNobodyWhoCalledSomethingElse) {
  Call other;
  other.of = {2};
  contract_.Greet({2});
  Apply(Submitted(2), 1100000, {2});
  EXPECT_FALSE(Enter(&other, 1200000));
  EXPECT_TRUE(IsLetGoOn());
}

TEST_F(NewcomerTest, IsExpectedToBeginOnce) {
  Call next;
  next.of = {1};
  EXPECT_FALSE(Enter(&next, 1100000));
  EXPECT_FALSE(IsLetGoOn()) << "both wait";
}

TEST_F(ContractTest, LetsANewcomerGoOnWhereNothingIsKnown) {
  Call call;
  call.of = {1};
  contract_.Greet({1});
  Enter(&call, 1000000);
  contract_.BeginCall(/*is_in_round=*/false);
  EXPECT_TRUE(contract_.has_call());
}

TEST_F(ContractTest, BeginsOneCallAtATime) {
  Call first;
  Call gone;
  Call second;
  gone.is_cancelled = true;
  for (Call* call : {&first, &gone, &second}) Enter(call, 0);
  EXPECT_EQ(contract_.BeginCall(/*is_in_round=*/true), 0);
  EXPECT_FALSE(contract_.has_call());
  EXPECT_EQ(contract_.BeginCall(/*is_in_round=*/false), 0);
  EXPECT_TRUE(contract_.has_call());
  EXPECT_NE(contract_.AnswerCall(), nullptr);
  EXPECT_EQ(contract_.BeginCall(/*is_in_round=*/false), 0) << "it is in flight";
  EXPECT_FALSE(contract_.has_call());
  contract_.EndReply(/*is_delivered=*/true, 0);
  EXPECT_EQ(contract_.BeginCall(/*is_in_round=*/false), 1);
  EXPECT_TRUE(contract_.has_call());
  second.is_cancelled = true;
  EXPECT_EQ(contract_.AnswerCall(), nullptr);
  const std::vector<ReplyMessage> replies = Take().replies;
  ASSERT_THAT(replies, SizeIs(3));
  EXPECT_TRUE(replies[0].is_in_flight);
  EXPECT_EQ(replies[1].call, &gone);
  EXPECT_FALSE(replies[2].is_in_flight);
}

TEST_F(ContractTest, AnswersAllCallsAtTheEnd) {
  Call call;
  Enter(&call, 0);
  contract_.BeginShutdown();
  contract_.BeginCall(/*is_in_round=*/true);
  EXPECT_FALSE(contract_.has_call());
  EXPECT_THAT(Take().replies, SizeIs(1));
  EXPECT_THAT(Take().replies, IsEmpty());
}

}  // namespace
}  // namespace sluice
