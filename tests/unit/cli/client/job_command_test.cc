#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/application.h"
#include "unit/cli/fake_server.h"
#include "unit/cli/run_cli.h"

namespace sluice {
namespace {

using testing::HasSubstr;

TEST(JobCommand, ShowsCountsAndTasks) {
  FakeServer server;
  server.inspector.job.set_uuid("j");
  server.inspector.job.set_name("shop");
  server.inspector.job.set_running_tasks(2);
  server.inspector.job.set_gang("at least 2");
  server.inspector.job.set_pending_tasks(3);
  server.inspector.job.set_backoff_tasks(1);
  server.inspector.job.set_on_failure("never run again");
  server.inspector.job.add_task_uids(101);
  server.inspector.job.add_task_ids("101");
  server.inspector.job.add_task_uids(~uint64_t{0});
  server.inspector.job.add_task_ids("shop/web-1");
  const CliResult result = RunCli({"job", "j", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_EQ(result.out,
            "JOB                  shop\n"
            "uuid                 j\n"
            "state                created\n"
            "pending              3\n"
            "of these in backoff  1\n"
            "running              2\n"
            "completed            0\n"
            "failed               0\n"
            "quarantined          0\n"
            "gang                 at least 2\n"
            "on failure           never run again\n"
            "\n"
            "TASKS\n"
            "101\n"
            "shop/web-1\n");
  EXPECT_THAT(
      RunCli({"job", "j", "--output=json", "--server", server.Address()}).out,
      HasSubstr("\"gang\": \"at least 2\""));
}

TEST(JobCommand, FailsForAJobThatIsNotThere) {
  FakeServer server;
  const std::string address = server.Address();
  const CliResult result = RunCli({"job", "x", "--server", address});
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_EQ(result.err, "sluicectl: " + address + ": no job x\n");
  EXPECT_EQ(result.out, "");
}

TEST(JobCommand, NeedsAnId) {
  EXPECT_EQ(RunCli({"job"}).exit_code, kExitUsage);
}

}  // namespace
}  // namespace sluice
