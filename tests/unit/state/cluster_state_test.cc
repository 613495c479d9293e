// The life of a task, and the job it belongs to.

#include "state/cluster_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/state/state_fixture.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class ClusterStateTest : public StateTest {};

TEST_F(ClusterStateTest, IsEmptyAtFirst) {
  EXPECT_THAT(state_.tasks(), IsEmpty());
  EXPECT_THAT(state_.jobs(), IsEmpty());
  EXPECT_THAT(state_.machines(), IsEmpty());
  EXPECT_THAT(state_.pending(), IsEmpty());
  EXPECT_THAT(state_.outbox(), IsEmpty());
  EXPECT_EQ(state_.FindHolder({1}), nullptr);
  EXPECT_EQ(state_.FindJob({0}), nullptr);
  EXPECT_EQ(state_.FindMachine("m"), nullptr);
}

TEST_F(ClusterStateTest, KeepsWhatASubmissionSays) {
  SubmitTask submit = Submitted(7, {.cpu = 500,
                                    .memory = 1000,
                                    .extended = {{"nvidia.com/gpu", 2}},
                                    .priority = 3,
                                    .name = "ns/web",
                                    .labels = {{"tier", "front"}}});
  submit.spec.task_namespace = "ns";
  submit.spec.task_type = 2;
  EXPECT_EQ(Do(submit, 1234), Ack::kOk);
  const Task& task = TaskOf(7);
  EXPECT_EQ(task.state, TaskState::kPending);
  EXPECT_EQ(task.name, "ns/web");
  EXPECT_EQ(task.task_namespace, "ns");
  EXPECT_EQ(task.task_type, 2);
  EXPECT_EQ(task.submitted_ms, 1234);
  EXPECT_EQ(task.class_key.priority, 3u);
  EXPECT_THAT(state_.ToNamed(task.class_key.request),
              ElementsAre(Pair("cpu", 500), Pair("memory", 1000),
                          Pair("pods", 1), Pair("nvidia.com/gpu", 2)));
  EXPECT_THAT(state_.ToPairs(task.labels), ElementsAre(Pair("tier", "front")));
}

TEST_F(ClusterStateTest, QueuesAClassByAgeAndClassesByPriority) {
  Do(Submitted(3, {.cpu = 100}));
  Do(Submitted(1, {.cpu = 100}));
  Do(Submitted(2, {.cpu = 100, .priority = 9}));
  ASSERT_EQ(state_.pending().size(), 2u);
  EXPECT_EQ(state_.pending_count(), 3);
  std::vector<uint64_t> uids;
  for (const auto& [key, tasks] : state_.pending()) {
    for (const auto& [sequence, task] : tasks) uids.push_back(task->id.value);
  }
  EXPECT_THAT(uids, ElementsAre(2, 3, 1));
}

TEST_F(ClusterStateTest, RefusesAKnownUidOnlyWhereAsked) {
  SubmitTask submit = Submitted(1);
  Do(submit);
  submit.reject_if_known = true;
  EXPECT_EQ(Do(submit), Ack::kAlreadyExists);
  EXPECT_EQ(TaskOf(1).client.expected_removals, 1);
  Do(Removed(1));
  EXPECT_EQ(Do(submit), Ack::kOk);
}

TEST_F(ClusterStateTest, FreesTheMachineOfATaskThatEnds) {
  Do(Added("m", {.cpu = 1000}));
  for (const auto end : {TaskState::kCompleted, TaskState::kFailed}) {
    Do(Submitted(1, {.cpu = 400}));
    Run(1, "m");
    EXPECT_EQ(UsedCpu("m"), 400);
    EXPECT_EQ(UsedPods("m"), 1);
    if (end == TaskState::kCompleted) {
      EXPECT_EQ(Do(Completed(1)), Ack::kOk);
    } else {
      EXPECT_EQ(Do(Failed(1)), Ack::kOk);
    }
    EXPECT_EQ(TaskOf(1).state, end);
    EXPECT_EQ(UsedCpu("m"), 0);
    EXPECT_EQ(Do(Removed(1)), Ack::kOk);
    EXPECT_EQ(state_.FindHolder({1}), nullptr);
  }
}

// R8: the end of a task is reported in any state and more than once.
TEST_F(ClusterStateTest, AcceptsTheEndOfATaskInAnyState) {
  Do(Submitted(1));
  EXPECT_EQ(Do(Failed(1)), Ack::kOk);
  EXPECT_FALSE(IsWaiting(1));
  EXPECT_EQ(Do(Failed(1)), Ack::kOk);
  EXPECT_EQ(Do(Completed(1)), Ack::kOk);
  EXPECT_EQ(Do(Completed(1)), Ack::kOk);
  EXPECT_EQ(TaskOf(1).state, TaskState::kCompleted);
  EXPECT_EQ(Do(Removed(1)), Ack::kOk);
}

TEST_F(ClusterStateTest, RemovesATaskInAnyState) {
  Do(Added("m", {.cpu = 1000}));
  Do(Submitted(1));
  EXPECT_EQ(Do(Removed(1)), Ack::kOk);
  Do(Submitted(2, {.cpu = 100}));
  Run(2, "m");
  EXPECT_EQ(Do(Removed(2)), Ack::kOk);
  EXPECT_EQ(UsedCpu("m"), 0);
  EXPECT_THAT(state_.tasks(), IsEmpty());
}

// R10: what was never known, or is no more, is not found.
TEST_F(ClusterStateTest, DoesNotFindWhatItDoesNotKnow) {
  Do(Submitted(1));
  Do(Removed(1));
  for (const uint64_t uid : {1u, 2u}) {
    EXPECT_EQ(Do(Completed(uid)), Ack::kNotFound);
    EXPECT_EQ(Do(Failed(uid)), Ack::kNotFound);
    EXPECT_EQ(Do(Removed(uid)), Ack::kNotFound);
    EXPECT_EQ(Do(Updated(uid, {})), Ack::kNotFound);
    EXPECT_EQ(Do(ReportTaskUsage{TaskUid{uid}}), Ack::kNotFound);
  }
}

TEST_F(ClusterStateTest, AcceptsUsageOfWhatItKnows) {
  Do(Submitted(1));
  Do(Added("m", {.pus = {{"m-pu", {}}}}));
  EXPECT_EQ(Do(ReportTaskUsage{TaskUid{1}}), Ack::kOk);
  EXPECT_EQ(Do(ReportMachineUsage{"m"}), Ack::kOk);
  EXPECT_EQ(Do(ReportMachineUsage{"m-pu"}), Ack::kOk);
  EXPECT_EQ(Do(ReportMachineUsage{"other"}), Ack::kNotFound);
}

TEST_F(ClusterStateTest, KeepsTheNewestSamplesOfAMachine) {
  Do(Added("m", {.cpu = 1000}));
  state_.measured_use().SetOptions({.kept_samples = 2});
  for (const int64_t ppm : {1, 2, 3}) {
    Do(ReportMachineUsage{"m", {.cpu_ppm = ppm}});
  }
  const auto& samples = MachineOf("m").usage.samples();
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].cpu_ppm, 2);
  EXPECT_EQ(samples[1].cpu_ppm, 3);
}

TEST_F(ClusterStateTest, KeepsTheLastSampleOfATaskWhileItRuns) {
  Do(Added("m", {.cpu = 1000}));
  Do(Added("n", {.cpu = 1000}));
  Do(Submitted(1, {.cpu = 100}));
  Do(ReportTaskUsage{TaskUid{1}, {.cpu = 7}});
  EXPECT_EQ(TaskOf(1).usage.cpu, 0) << "it does not run";
  state_.Place(TaskId{1}, MachineOf("m").id, 0);
  Do(ReportTaskUsage{TaskUid{1}, {.cpu = 8}});
  Do(Updated(1, {.cpu = 200}));
  EXPECT_EQ(TaskOf(1).usage.cpu, 8) << "it runs on as it did";
  Do(Removed("m"));
  state_.Place(TaskId{1}, MachineOf("n").id, 0);
  EXPECT_EQ(TaskOf(1).usage.cpu, 0) << "elsewhere it was never measured";
}

TEST_F(ClusterStateTest, IsNotChangedBySamples) {
  Do(Added("m", {.cpu = 1000}));
  Do(Submitted(1, {.cpu = 100}));
  state_.Place(TaskId{1}, MachineOf("m").id, 0);
  state_.TakeChanges();
  const uint64_t version = state_.version();
  Do(ReportTaskUsage{TaskUid{1}, {.cpu = 8}});
  Do(ReportMachineUsage{"m", {.cpu_ppm = 1}});
  EXPECT_FALSE(state_.has_changes());
  EXPECT_EQ(state_.version(), version);
}

TEST_F(ClusterStateTest, MovesAPendingTaskToTheClassOfItsUpdate) {
  Do(Submitted(1, {.cpu = 100}));
  const uint64_t sequence = TaskOf(1).sequence;
  EXPECT_EQ(Do(Updated(1, {.cpu = 200, .priority = 5}), 99), Ack::kOk);
  ASSERT_EQ(state_.pending().size(), 1u);
  EXPECT_EQ(state_.pending().begin()->first.request[kCpu], 200);
  EXPECT_EQ(state_.pending().begin()->first.priority, 5u);
  EXPECT_EQ(TaskOf(1).sequence, sequence) << "an update must not cost its age";
  EXPECT_EQ(TaskOf(1).submitted_ms, 0);
}

// R14: an update of a running task changes what it is charged and no more.
TEST_F(ClusterStateTest, LeavesARunningTaskWhereItIsWhenItIsUpdated) {
  Do(Added("m", {.cpu = 1000}));
  Do(Submitted(1, {.cpu = 100}));
  Run(1, "m");
  EXPECT_EQ(Do(Updated(1, {.cpu = 5000, .labels = {{"a", "b"}}})), Ack::kOk);
  EXPECT_EQ(TaskOf(1).state, TaskState::kRunning);
  EXPECT_EQ(UsedCpu("m"), 5000);
  EXPECT_EQ(MachineOf("m").Free()[kCpu], -4000);
  EXPECT_THAT(Outbox(), IsEmpty());
  EXPECT_EQ(state_.ToPairs(TaskOf(1).labels).size(), 1u);
}

TEST_F(ClusterStateTest, UpdatesATaskThatHasEnded) {
  Do(Submitted(1, {.cpu = 100}));
  Do(Completed(1));
  EXPECT_EQ(Do(Updated(1, {.cpu = 200})), Ack::kOk);
  EXPECT_FALSE(IsWaiting(1));
}

TEST_F(ClusterStateTest, QuarantinesATaskUntilAnUpdateMakesSense) {
  Do(Submitted(1, {.quarantine_reason = "cpu is negative"}));
  EXPECT_TRUE(IsWaiting(1));
  EXPECT_EQ(state_.pending_count(), 0);
  EXPECT_EQ(TaskOf(1).quarantine_reason, "cpu is negative");
  Do(Updated(1, {.cpu = 100}));
  EXPECT_EQ(state_.pending_count(), 1);
  Do(Updated(1, {.quarantine_reason = "cpu is negative"}));
  EXPECT_EQ(state_.pending_count(), 0);
  EXPECT_TRUE(IsWaiting(1));
  EXPECT_EQ(Do(Removed(1)), Ack::kOk);
}

TEST_F(ClusterStateTest, KeepsTheLoadOfARunningTaskWhoseUpdateMakesNoSense) {
  Do(Added("m", {.cpu = 1000}));
  Do(Submitted(1, {.cpu = 100}));
  Run(1, "m");
  Do(Updated(1, {.cpu = 7, .quarantine_reason = "no"}));
  EXPECT_EQ(UsedCpu("m"), 100);
  EXPECT_EQ(TaskOf(1).state, TaskState::kRunning);
}

TEST_F(ClusterStateTest, SortsLabelsAndForgetsThoseNobodyUses) {
  Do(Submitted(1, {.labels = {{"b", "2"}, {"a", "1"}, {"a", "0"}}}));
  EXPECT_THAT(state_.ToPairs(TaskOf(1).labels),
              ElementsAre(Pair("a", "0"), Pair("a", "1"), Pair("b", "2")));
  const std::vector<Label> first = TaskOf(1).labels;
  Do(Removed(1));
  Do(Submitted(2, {.labels = {{"b", "2"}, {"a", "1"}, {"a", "0"}}}));
  // Ids are dealt again only where they were given back.
  for (const Label& label : TaskOf(2).labels) {
    EXPECT_LT(label.key, 5u);
    EXPECT_LT(label.value, 5u);
  }
}

TEST_F(ClusterStateTest, MakesOneJobOfTheTasksThatNameIt) {
  SubmitTask submit = Submitted(1, {.job = "uuid-a"});
  submit.job_name = "first name";
  submit.gang.minimum = 3;
  Do(submit);
  submit.uid = {2};
  submit.job_name = "second name";
  submit.gang.minimum = 9;
  Do(submit);
  Do(Submitted(3, {.job = "uuid-b"}));
  ASSERT_EQ(state_.jobs().size(), 2u);
  const Job& job = *state_.FindJob(TaskOf(1).job);
  EXPECT_EQ(TaskOf(2).job, job.id);
  EXPECT_EQ(job.uuid, "uuid-a");
  EXPECT_EQ(job.name, "first name") << "the first submission names the job";
  EXPECT_EQ(job.gang.minimum, 3u);
  EXPECT_EQ(job.task_count, 2);
}

TEST_F(ClusterStateTest, KeepsTheBudgetOfAJobWhereTheNewOneMakesNoSense) {
  const DisruptionBudget seven = {.amount = 7};
  Do(Submitted(1, {.job = "web", .budget = seven}));
  SubmitTask submit = Submitted(2, {.job = "web"});
  submit.keeps_budget = true;
  Do(submit);
  EXPECT_EQ(state_.FindJob(TaskOf(1).job)->budget, seven);
  Do(Submitted(3, {.job = "web"}));
  EXPECT_EQ(state_.FindJob(TaskOf(1).job)->budget, std::nullopt);
}

// S1 of old: a job outlives its first task, and goes with its last.
TEST_F(ClusterStateTest, KeepsAJobUntilItsLastTaskIsRemoved) {
  Do(Submitted(1));
  Do(Submitted(2));
  const JobId id = TaskOf(2).job;
  Do(Failed(1));
  Do(Removed(1));
  ASSERT_NE(state_.FindJob(id), nullptr);
  EXPECT_TRUE(IsWaiting(2));
  Do(Completed(2));
  EXPECT_NE(state_.FindJob(id), nullptr);
  Do(Removed(2));
  EXPECT_EQ(state_.FindJob(id), nullptr);
  Do(Submitted(3));
  EXPECT_NE(TaskOf(3).job, id) << "ids are never dealt twice";
}

TEST_F(ClusterStateTest, PlacesATaskAndSaysSoOnce) {
  Do(Added("m", {.cpu = 1000}));
  Do(Submitted(1, {.cpu = 1000}));
  Place(1, "m");
  EXPECT_EQ(TaskOf(1).state, TaskState::kRunning);
  EXPECT_FALSE(IsWaiting(1));
  ASSERT_EQ(Outbox().size(), 1u);
  EXPECT_EQ(Outbox()[0].task, TaskId{1});
  EXPECT_EQ(Outbox()[0].type, DeltaType::kPlace);
  EXPECT_EQ(Outbox()[0].machine, MachineOf("m").id);
  DeliverAll();
  EXPECT_THAT(Outbox(), IsEmpty());
}

using ClusterStateDeathTest = ClusterStateTest;

TEST_F(ClusterStateDeathTest, RefusesPlacementsThatAreNotLegal) {
  Do(Added("m", {.cpu = 1000}));
  Do(Added("gone", {.cpu = 1000}));
  Do(Removed("gone"));
  Do(Submitted(1, {.cpu = 1001}));
  Do(Submitted(2, {.cpu = 1000}));
  EXPECT_DEATH(Place(1, "m"), "FitsIn");
  EXPECT_DEATH(Place(2, "gone"), "IsUsable");
  Place(2, "m");
  EXPECT_DEATH(Place(2, "m"), "IsSchedulable");
}

}  // namespace
}  // namespace sluice
