#include "explain/replacement_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "util/peer_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

// Task 1 runs on m and fills it; another one is to take its place.
class ReplacementTextTest : public testing::Test {
 protected:
  ReplacementTextTest() {
    cluster_.Apply(Added("m", {.cpu = 1000}));
    cluster_.Apply(Submitted(1, {.cpu = 1000}));
    cluster_.Round();
    cluster_.Deliver();
  }

  void SubmitNewcomer(uint64_t uid, TaskOptions options = {.cpu = 1000}) {
    options.rules.replaces = TaskUid{1};
    cluster_.Apply(Submitted(uid, options));
  }
  std::string TextOf(uint64_t uid) {
    cluster_.mutable_state().SyncPeers();
    return ReplacementText(cluster_.TaskOf(uid), cluster_.scheduler());
  }

  TestScheduler cluster_;
};

TEST_F(ReplacementTextTest, SaysWhosePlaceItWaitsForAndWhatIsInTheWay) {
  SubmitNewcomer(2);
  EXPECT_EQ(
      TextOf(2),
      "waits for the place of task 1 task-1 on machine 'm', and gets it in "
      "the next round");
  SubmitNewcomer(
      3, {.cpu = 1500, .rules = {.selectors = {LabelIn("disk", {"ssd"})}}});
  EXPECT_EQ(TextOf(3),
            "waits for the place of task 1 task-1 on machine 'm', but could "
            "not have it: "
            "lacks the label disk=ssd, lacks 500m cpu");
  cluster_.Apply(SetDraining{.machine_uuid = "m"});
  EXPECT_EQ(
      TextOf(2),
      "waits for the place of task 1 task-1 on machine 'm'; the machine takes "
      "no tasks now");
}

TEST_F(ReplacementTextTest, SaysThatItsFormerIsLeaving) {
  SubmitNewcomer(2);
  SubmitNewcomer(3);
  cluster_.Round();
  EXPECT_EQ(
      TextOf(3),
      "waits for the place of task 1 task-1 on machine 'm'; that task was "
      "told to leave: once it is gone, this one is placed like any other");
}

TEST_F(ReplacementTextTest, SaysWhoRunsInItsPlace) {
  cluster_.Apply(Submitted(7, {.cpu = 5000}));
  TaskOptions newcomer = {.cpu = 6000};
  newcomer.rules.replaces = TaskUid{7};
  cluster_.Apply(Submitted(8, newcomer));
  cluster_.Round();
  EXPECT_EQ(TextOf(7), "task 8 task-8 is to run in its place, and waits");
  cluster_.Apply(Added("large", {.cpu = 6000}));
  cluster_.Round();
  EXPECT_EQ(
      TextOf(7),
      "task 8 task-8 is to run in its place, and runs on machine 'large'");
}

TEST_F(ReplacementTextTest, SaysWhichAlternativeGoes) {
  cluster_.Apply(Added("n", {.cpu = 1000}));
  TaskOptions options = {.cpu = 1000, .job = "job"};
  options.rules.alternatives = {{"either"}};
  cluster_.Apply(Submitted(2, options));
  cluster_.Round();
  cluster_.Apply(Submitted(3, options));
  EXPECT_EQ(TextOf(3),
            "task 2 task-2, an alternative to it, runs on machine 'n'");
  cluster_.Apply(Completed(2));
  EXPECT_EQ(TextOf(3), "task 2 task-2, an alternative to it, has completed");
}

TEST_F(ReplacementTextTest, NamesATaskOfAFeedByItsIdThere) {
  ClusterState& state = cluster_.mutable_state();
  const FeedId feed = state.OpenFeed("shop");
  TaskOptions options = {.cpu = 1000};
  options.rules.alternatives = {{"either"}};
  state.Apply(feed, SnapshotBegan(), 0);
  state.Apply(feed, MachineStated{MachineSpecOf("n", {.cpu = 1000})}, 0);
  for (const char* id : {"pod-1", "pod-2"}) {
    state.Apply(feed,
                TaskStated{.id = id,
                           .job_uuid = "job",
                           .job_name = "job",
                           .gang = {},
                           .spec = TaskSpecOf(0, options),
                           .machine_uuid = id[4] == '1' ? "n" : ""},
                0);
  }
  state.Apply(feed, SnapshotEnded(), 0);
  const TaskId waiting = state.feeds().at(feed).tasks.at("pod-2");
  EXPECT_EQ(TextOf(waiting.value),
            "task pod-1 task-0, an alternative to it, runs on machine 'n'");
}

}  // namespace
}  // namespace sluice
