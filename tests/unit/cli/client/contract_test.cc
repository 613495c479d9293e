#include "cli/client/contract.h"

#include <gtest/gtest.h>

#include "firmament/firmament_scheduler.pb.h"

namespace sluice {
namespace {

TEST(EventName, BeginsInLowerCase) {
  EXPECT_EQ(EventName(SchedulerMethod("NodeAdded")), "nodeAdded");
  EXPECT_EQ(EventName(SchedulerMethod("AddTaskInfo")), "addTaskInfo");
}

TEST(MakeMessage, MakesTheGeneratedType) {
  const auto message =
      MakeMessage(*SchedulerMethod("TaskCompleted").input_type());
  EXPECT_NE(dynamic_cast<const firmament::TaskUID*>(message.get()), nullptr);
}

TEST(AnswerOf, TellsWhatWasDoneFromWhatWasRefused) {
  firmament::TaskSubmittedResponse submitted;
  submitted.set_type(firmament::TASK_SUBMITTED_OK);
  EXPECT_EQ(AnswerOf(submitted).name, "TASK_SUBMITTED_OK");
  EXPECT_TRUE(AnswerOf(submitted).is_done);
  submitted.set_type(firmament::TASK_ALREADY_SUBMITTED);
  EXPECT_EQ(AnswerOf(submitted).name, "TASK_ALREADY_SUBMITTED");
  EXPECT_FALSE(AnswerOf(submitted).is_done);
}

TEST(AnswerOf, CountsAMachineThatIsThereAsDone) {
  firmament::NodeAddedResponse added;
  added.set_type(firmament::NODE_ALREADY_EXISTS);
  EXPECT_TRUE(AnswerOf(added).is_done);
  added.set_type(firmament::NODE_NOT_FOUND);
  EXPECT_FALSE(AnswerOf(added).is_done);
}

TEST(AnswerOf, ReadsTheHealthOfTheServer) {
  firmament::HealthCheckResponse health;
  EXPECT_FALSE(AnswerOf(health).is_done);
  health.set_status(firmament::SERVING);
  EXPECT_TRUE(AnswerOf(health).is_done);
  EXPECT_EQ(AnswerOf(health).name, "SERVING");
}

TEST(AnswerOf, TakesDeltasForOk) {
  EXPECT_EQ(AnswerOf(firmament::SchedulingDeltas()).name, "OK");
  EXPECT_TRUE(AnswerOf(firmament::SchedulingDeltas()).is_done);
}

TEST(AnswerOf, RefusesValuesOfALaterContract) {
  firmament::TaskSubmittedResponse reply;
  reply.set_type(static_cast<firmament::TaskReplyType>(77));
  EXPECT_EQ(AnswerOf(reply).name, "unknown reply 77");
  EXPECT_FALSE(AnswerOf(reply).is_done);
}

TEST(AnswerOf, DoesNotTakeASampleForAMachineThatWasAdded) {
  const firmament::ResourceStatsResponse machine;
  EXPECT_EQ(AnswerOf(machine).name, "taken, or dropped as malformed");
  EXPECT_TRUE(AnswerOf(machine).is_done);
  firmament::TaskStatsResponse task;
  EXPECT_EQ(AnswerOf(task).name, "taken, or dropped as malformed");
  task.set_type(firmament::TASK_NOT_FOUND);
  EXPECT_FALSE(AnswerOf(task).is_done);
}

}  // namespace
}  // namespace sluice
