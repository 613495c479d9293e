#include "cli/client/call_pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/client/contract.h"
#include "firmament/firmament_scheduler.pb.h"
#include "unit/cli/fake_server.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::ElementsAre;

std::unique_ptr<google::protobuf::Message> Uid(uint64_t uid) {
  auto request = std::make_unique<firmament::TaskUID>();
  request->set_task_uid(uid);
  return request;
}

std::unique_ptr<google::protobuf::Message> Task(uint64_t uid) {
  auto request = std::make_unique<firmament::TaskDescription>();
  request->mutable_task_descriptor()->set_uid(uid);
  return request;
}

GlobalOptions OptionsFor(const std::string& address) {
  GlobalOptions options;
  options.server = address;
  return options;
}

TEST(CallPipeline, KeepsTheOrderOfEachKey) {
  FakeServer server;
  const Connection connection(OptionsFor(server.Address()));
  CallPipeline pipeline(connection, 16);
  constexpr uint64_t kTasks = 200;
  std::vector<std::vector<std::string>> answers(kTasks);
  for (uint64_t uid = 0; uid < kTasks; ++uid) {
    const auto keep = [&answers, uid](const google::protobuf::Message& reply) {
      answers[uid].push_back(AnswerOf(reply).name);
    };
    ASSERT_THAT(
        pipeline.Send(SchedulerMethod("TaskSubmitted"), uid, Task(uid), keep),
        IsOk());
    ASSERT_THAT(
        pipeline.Send(SchedulerMethod("TaskCompleted"), uid, Uid(uid), keep),
        IsOk());
    ASSERT_THAT(
        pipeline.Send(SchedulerMethod("TaskRemoved"), uid, Uid(uid), keep),
        IsOk());
  }
  ASSERT_THAT(pipeline.Drain(), IsOk());
  for (const auto& of_task : answers) {
    EXPECT_THAT(of_task, ElementsAre("TASK_SUBMITTED_OK", "TASK_COMPLETED_OK",
                                     "TASK_REMOVED_OK"));
  }
  EXPECT_EQ(server.scheduler.calls().size(), 3 * kTasks);
}

TEST(CallPipeline, WorksWithOneCallAtATime) {
  FakeServer server;
  const Connection connection(OptionsFor(server.Address()));
  CallPipeline pipeline(connection, 1);
  int replies = 0;
  for (uint64_t uid = 1; uid <= 5; ++uid) {
    ASSERT_THAT(
        pipeline.Send(SchedulerMethod("TaskSubmitted"), 0, Task(uid),
                      [&](const google::protobuf::Message&) { ++replies; }),
        IsOk());
  }
  ASSERT_THAT(pipeline.Drain(), IsOk());
  EXPECT_EQ(replies, 5);
  EXPECT_THAT(
      server.scheduler.calls(),
      ElementsAre("TaskSubmitted 1", "TaskSubmitted 2", "TaskSubmitted 3",
                  "TaskSubmitted 4", "TaskSubmitted 5"));
}

TEST(CallPipeline, SendsNothingAfterAFailure) {
  GlobalOptions options = OptionsFor("127.0.0.1:1");
  const Connection connection(options);
  CallPipeline pipeline(connection, 2);
  int replies = 0;
  const auto count = [&](const google::protobuf::Message&) { ++replies; };
  // Two of one key: the second waits for the first, and is dropped with it.
  EXPECT_THAT(pipeline.Send(SchedulerMethod("TaskRemoved"), 1, Uid(1), count),
              IsOk());
  EXPECT_THAT(pipeline.Send(SchedulerMethod("TaskRemoved"), 1, Uid(1), count),
              IsOk());
  EXPECT_THAT(pipeline.Drain(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(pipeline.Send(SchedulerMethod("TaskRemoved"), 2, Uid(2), count),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(pipeline.Drain(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(replies, 0);
}

TEST(CallPipeline, MayBeDroppedWithCallsInFlight) {
  FakeServer server;
  const Connection connection(OptionsFor(server.Address()));
  CallPipeline pipeline(connection, 64);
  for (uint64_t uid = 1; uid <= 32; ++uid) {
    ASSERT_THAT(pipeline.Send(SchedulerMethod("TaskSubmitted"), uid, Task(uid),
                              [](const google::protobuf::Message&) {}),
                IsOk());
  }
}

}  // namespace
}  // namespace sluice
