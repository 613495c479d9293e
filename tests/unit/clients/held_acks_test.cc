#include "clients/held_acks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "util/cluster_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr int64_t kReadUs = 500'000;
constexpr int64_t kReusedUs = 30'000'000;

class HeldAcksTest : public testing::Test {
 protected:
  void SetUp() override {
    cluster_.Apply(Added("m", {.cpu = 1000}));
    for (uint64_t uid = 1; uid <= 2; ++uid) {
      cluster_.Apply(Submitted(uid, {.cpu = 100, .job = "web"}));
    }
  }
  // Removes the task.  Returns true if the acknowledgment is held.
  bool Remove(uint64_t uid, int64_t now_us, bool keeps_uid = false) {
    const Command command = RemoveTask{{uid}, keeps_uid};
    const std::optional<HeldAcks::Hold> hold = held_.HoldFor(command, now_us);
    const Ack ack = cluster_.Apply(command);
    if (hold.has_value()) held_.Add(*hold, {[](Ack) {}, ack, now_us});
    return hold.has_value();
  }
  size_t ReleaseDue(int64_t now_us) {
    std::vector<AckMessage> released;
    held_.ReleaseDue(now_us, /*is_shutting_down=*/false, &released);
    return released.size();
  }
  // The client calls Schedule again.
  size_t Read(int64_t now_us) {
    std::vector<AckMessage> released;
    held_.NoteRepliesRead(now_us, &released);
    return released.size();
  }
  void Place(uint64_t uid) {
    cluster_.mutable_state().Place(cluster_.TaskOf(uid).id, {0}, 0);
  }
  static SubmitTask Newer() {
    return Submitted(1, {.cpu = 100, .job = "web", .name = "newer"});
  }
  // The task with the uid runs, as its client has read, and a newer one gets
  // it.
  void ReuseUid() {
    Place(1);
    cluster_.Deliver();
    Read(0);
    cluster_.Apply(Newer());
  }

  TestScheduler cluster_;
  HeldAcks held_{&cluster_.mutable_state(),
                 &cluster_.replies(),
                 {.removal_hold_us = kReadUs, .reused_uid_hold_us = kReusedUs}};
};

TEST_F(HeldAcksTest, AreNoneWhereNoReplyNamesWhatIsRemoved) {
  EXPECT_FALSE(Remove(1, 0));
  EXPECT_EQ(held_.DueUs(), std::numeric_limits<int64_t>::max());
}

TEST_F(HeldAcksTest, WaitUntilTheReplyInFlightIsRead) {
  Place(1);
  cluster_.replies().Take(kReplyBytesMax);
  EXPECT_TRUE(Remove(1, 0));
  EXPECT_EQ(ReleaseDue(10 * kReusedUs), 0u) << "it may not have arrived";
  cluster_.replies().End(/*is_delivered=*/true);
  held_.NoteReplyEnd(/*is_delivered=*/true, 1000);
  EXPECT_EQ(held_.DueUs(), 1000 + kReadUs);
  EXPECT_EQ(ReleaseDue(1000 + kReadUs - 1), 0u);
  EXPECT_EQ(ReleaseDue(1000 + kReadUs), 1u);
}

TEST_F(HeldAcksTest, AreReleasedOnceTheClientHasShownThatItRead) {
  Place(1);
  cluster_.Deliver();
  held_.NoteReplyEnd(/*is_delivered=*/true, 1000);
  EXPECT_TRUE(Remove(1, 2000));
  EXPECT_EQ(Read(3000), 1u);
}

TEST_F(HeldAcksTest, AreReleasedAtOnceIfTheReplyDidNotArrive) {
  Place(1);
  cluster_.replies().Take(kReplyBytesMax);
  EXPECT_TRUE(Remove(1, 0));
  cluster_.replies().End(/*is_delivered=*/false);
  held_.NoteReplyEnd(/*is_delivered=*/false, 1000);
  EXPECT_EQ(ReleaseDue(1000), 1u);
}

TEST_F(HeldAcksTest, OfAContestedUidMuteItsNewHolderInTheEnd) {
  ReuseUid();
  EXPECT_TRUE(Remove(1, 0, /*keeps_uid=*/true));
  EXPECT_FALSE(cluster_.TaskOf(1).client.IsMuted()) << "it may be placed yet";
  EXPECT_EQ(Read(1000), 0u) << "it waits";
  EXPECT_EQ(ReleaseDue(kReusedUs), 1u);
  EXPECT_TRUE(cluster_.TaskOf(1).client.IsMuted());
}

TEST_F(HeldAcksTest, OfAContestedUidMuteNobodyOfALaterLife) {
  ReuseUid();
  EXPECT_TRUE(Remove(1, 0, /*keeps_uid=*/true));
  cluster_.Apply(BeginAnnouncement());
  cluster_.Apply(Newer());
  EXPECT_EQ(ReleaseDue(kReusedUs), 1u);
  EXPECT_FALSE(cluster_.TaskOf(1).client.IsMuted());
}

TEST_F(HeldAcksTest, OfAContestedUidMuteNobodyOfALifeThatWasOnlyExpected) {
  ReuseUid();
  cluster_.Apply(BeginAnnouncement{.is_certain = false});
  EXPECT_TRUE(Remove(1, 0, /*keeps_uid=*/true));
  cluster_.Apply(Newer());
  EXPECT_EQ(ReleaseDue(kReusedUs), 1u);
  EXPECT_FALSE(cluster_.TaskOf(1).client.IsMuted());
}

TEST_F(HeldAcksTest, OfAContestedUidMuteItIfNobodyBeganAnewAfterAll) {
  ReuseUid();
  EXPECT_TRUE(Remove(1, 0, /*keeps_uid=*/true));
  cluster_.Apply(BeginAnnouncement{.is_certain = false});
  cluster_.Apply(Updated(1, {.cpu = 100, .name = "newer"}));
  EXPECT_EQ(ReleaseDue(kReusedUs), 1u);
  EXPECT_TRUE(cluster_.TaskOf(1).client.IsMuted());
}

// It would give the uid of one that waits out again.
TEST_F(HeldAcksTest, OfAClientThatCountsWaitUntilAllOfTheJobIsTold) {
  held_.NoteCountingClient();
  EXPECT_TRUE(Remove(1, 0));
  EXPECT_EQ(Read(kReadUs), 0u) << "the other one waits";
  Place(2);
  cluster_.Deliver();
  EXPECT_EQ(Read(kReadUs), 1u);
  EXPECT_FALSE(Remove(2, 0)) << "it was the last of the job";
}

TEST_F(HeldAcksTest, OfAClientThatCountsWaitForATaskThatIsUnderWay) {
  held_.NoteCountingClient();
  EXPECT_TRUE(Remove(1, 0));
  cluster_.Apply(Submitted(1, {.cpu = 100, .job = "other", .name = "newer"}));
  held_.NoteSubmission({1}, 1000);
  EXPECT_EQ(ReleaseDue(kReusedUs), 0u);
  EXPECT_EQ(ReleaseDue(1000 + kReusedUs), 1u);
  EXPECT_TRUE(cluster_.TaskOf(1).client.IsMuted());
}

TEST_F(HeldAcksTest, AreAllReleasedWhereNobodyReadsAnyMore) {
  held_.NoteCountingClient();
  EXPECT_TRUE(Remove(1, 0));
  std::vector<AckMessage> released;
  held_.ReleaseDue(0, /*is_shutting_down=*/true, &released);
  EXPECT_THAT(released, SizeIs(1));
  released.clear();
  held_.ReleaseAll(&released);
  EXPECT_THAT(released, IsEmpty());
}

}  // namespace
}  // namespace sluice
