#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cli/application.h"
#include "unit/cli/fake_server.h"
#include "unit/cli/run_cli.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

CliResult Remove(FakeServer& server, const std::string& task) {
  return RunCli({"remove", task, "--server", server.Address()});
}

TEST(RemoveCommand, RemovesATaskByItsName) {
  FakeServer server;
  server.inspector.explanation.mutable_task()->set_uid(7);
  server.inspector.explanation.mutable_task()->set_name("demo/t");
  RunCli({"inject", "-", "--server", server.Address()},
         "{\"taskSubmitted\": {\"taskDescriptor\": {\"uid\": 7}}}\n");
  const CliResult result = Remove(server, "demo/t");
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_EQ(result.out, "removed 7  demo/t\n");
  EXPECT_THAT(server.scheduler.calls(),
              ElementsAre("TaskSubmitted 7", "TaskRemoved 7"));
  const CliResult again = Remove(server, "demo/t");
  EXPECT_EQ(again.exit_code, kExitFailure);
  EXPECT_EQ(again.err, "sluicectl: task 7: TASK_NOT_FOUND\n");
}

TEST(RemoveCommand, LeavesTasksOfFeedsToTheirFeed) {
  FakeServer server;
  server.inspector.explanation.mutable_task()->set_name("demo/t");
  server.inspector.explanation.mutable_task()->set_feed("kubernetes");
  const CliResult result = Remove(server, "demo/t");
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_THAT(result.err, HasSubstr("is of the feed 'kubernetes'"));
  EXPECT_THAT(server.scheduler.calls(), IsEmpty());
}

TEST(RemoveCommand, SaysWhichTaskIsUnknown) {
  FakeServer server;
  const CliResult result = Remove(server, "nobody");
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_THAT(result.err, HasSubstr("no task nobody"));
  EXPECT_EQ(RunCli({"remove"}).exit_code, kExitUsage);
}

}  // namespace
}  // namespace sluice
