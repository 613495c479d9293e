// Gangs of several jobs, which name one group.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "explain/explanation.h"
#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class GangGroupsTest : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  void Submit(uint64_t uid, const std::string& job, const Gang& gang,
              const TaskOptions& options = {.cpu = 1000}) {
    TaskOptions of_job = options;
    of_job.job = job;
    cluster_.Apply(Submitted(uid, of_job, {.gang = gang}));
  }
  std::vector<std::string> Reply() { return cluster_.Reply(++now_ms_); }

  static constexpr uint64_t kAll = Gang::kAllTasks;
  TestScheduler cluster_;
  int64_t now_ms_ = 0;
};

TEST_F(GangGroupsTest, StartTogetherOrNotAtAll) {
  cluster_.Apply(Added("m", {.cpu = 2000}));
  const Gang gang = {.minimum = 3, .group = "app"};
  Submit(1, "web", gang);
  Submit(2, "web", gang);
  EXPECT_THAT(Reply(), IsEmpty()) << "too few are known";
  Submit(3, "db", gang);
  EXPECT_THAT(Reply(), IsEmpty()) << "all but one fit";
  EXPECT_THAT(Explain(cluster_.TaskOf(3), cluster_.scheduler(), 0).summary,
              HasSubstr("until its gang fits as a whole: 3 start together"));
  cluster_.Apply(Added("n", {.cpu = 1000}));
  EXPECT_THAT(Reply(), SizeIs(3));
}

TEST_F(GangGroupsTest, CountAllThatAreKnownOfAllJobs) {
  cluster_.Apply(Added("m", {.cpu = 1000}));
  const Gang gang = {.minimum = kAll, .group = "app"};
  Submit(1, "web", gang);
  Submit(2, "db", gang);
  EXPECT_THAT(Reply(), IsEmpty());
  cluster_.Apply(Removed(2));
  EXPECT_THAT(Reply(), UnorderedElementsAre("PLACE 1 on m"));
}

// A leader by itself is of no use where its follower can never run.
TEST_F(GangGroupsTest, LeaveALeaderWaitingWhoseFollowerFitsNowhere) {
  cluster_.Apply(Added("m", {.cpu = 1000, .labels = {{"zone", "z"}}}));
  const Gang gang = {.minimum = kAll, .group = "app"};
  Submit(1, "db", gang, {.cpu = 500, .labels = {{"app", "db"}}});
  TaskOptions follower = {.cpu = 800, .labels = {{"app", "web"}}};
  follower.rules.affinity = {{App("db"), "zone"}};
  Submit(2, "web", gang, follower);
  EXPECT_THAT(Reply(), IsEmpty());
  cluster_.Apply(Added("n", {.cpu = 800, .labels = {{"zone", "y"}}}));
  EXPECT_THAT(Reply(), IsEmpty()) << "they would not be in one zone";
  cluster_.Apply(Added("o", {.cpu = 800, .labels = {{"zone", "z"}}}));
  EXPECT_THAT(Reply(), UnorderedElementsAre("PLACE 1 on m", "PLACE 2 on o"));
}

TEST_F(GangGroupsTest, AreHealedAsOne) {
  cluster_.Apply(Added("m", {.cpu = 1000}));
  cluster_.Apply(Added("n", {.cpu = 1000}));
  const Gang gang = {.minimum = 2, .group = "app"};
  Submit(1, "web", gang);
  Submit(2, "db", gang);
  ASSERT_THAT(Reply(), SizeIs(2));
  cluster_.Apply(Failed(1));
  cluster_.Apply(Removed(1));
  // It is not started anew: one more is placed by itself.
  Submit(3, "web", gang);
  Submit(9, "other", {});
  EXPECT_THAT(Reply(), SizeIs(1));
  EXPECT_NE(cluster_.MachineOf(3), "");
  EXPECT_EQ(cluster_.state().jobs().size(), 4U) << "three jobs and the group";
}

TEST_F(GangGroupsTest, AreOfSeveralPriorities) {
  cluster_.Apply(Added("m", {.cpu = 2000}));
  const Gang gang = {.minimum = 3, .group = "app"};
  Submit(1, "web", gang, {.cpu = 1000, .priority = 9});
  Submit(2, "web", gang, {.cpu = 1000, .priority = 9});
  Submit(3, "db", gang, {.cpu = 1000, .priority = 1});
  Submit(4, "other", {}, {.cpu = 1000, .priority = 5});
  EXPECT_THAT(Reply(), UnorderedElementsAre("PLACE 4 on m"));
  cluster_.Apply(Added("n", {.cpu = 2000}));
  EXPECT_THAT(Reply(), SizeIs(3));
}

TEST_F(GangGroupsTest, EndWithTheLastOfTheirJobs) {
  const Gang gang = {.minimum = 2, .group = "app"};
  Submit(1, "app", gang);
  Submit(2, "db", gang);
  EXPECT_EQ(cluster_.state().jobs().size(), 3U) << "a job may have its name";
  cluster_.Apply(Removed(1));
  EXPECT_EQ(cluster_.state().jobs().size(), 2U);
  cluster_.Apply(Removed(2));
  EXPECT_EQ(cluster_.state().jobs().size(), 0U);
  // Its minimum is that of the message that makes it known.
  Submit(3, "db", {.minimum = kAll, .group = "app"});
  cluster_.Apply(Added("m", {.cpu = 1000}));
  EXPECT_THAT(Reply(), UnorderedElementsAre("PLACE 3 on m"));
}

}  // namespace
}  // namespace sluice
