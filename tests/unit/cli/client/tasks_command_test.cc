#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/application.h"
#include "unit/cli/fake_server.h"
#include "unit/cli/run_cli.h"

namespace sluice {
namespace {

using testing::HasSubstr;

void AddTasks(FakeInspector& inspector) {
  for (uint64_t uid = 1; uid <= 3; ++uid) {
    v1::Task& task = inspector.tasks.emplace_back();
    task.set_uid(uid);
    task.set_name("ns/t" + std::to_string(uid));
    task.set_job_uuid("j");
    task.set_state(v1::Task::RUNNING);
    task.set_machine_name("m");
    task.mutable_request()->set_cpu_millicores(1500);
    task.mutable_request()->set_memory_millibytes(64ll * 1000 << 20);
  }
  v1::Task& pending = inspector.tasks[1];
  pending.set_state(v1::Task::PENDING);
  pending.set_waiting_ms(125'000);
  pending.clear_machine_name();
  (*pending.mutable_request()->mutable_extended())["gpu"] = 2;
}

TEST(TasksCommand, ListsAllPages) {
  FakeServer server;
  AddTasks(server.inspector);
  server.inspector.tasks[2].set_evicted(true);
  const CliResult result = RunCli({"tasks", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_EQ(result.out,
            "TASK  NAME   STATE    MACHINE  CPU  MEMORY  EXTENDED  PRIORITY  "
            "WAITING  JOB  NOTE\n"
            "   1  ns/t1  running  m        1.5  64 MiB  -                0  "
            "      -  j\n"
            "   2  ns/t2  pending  -        1.5  64 MiB  gpu: 2           0  "
            "  2 min  j\n"
            "   3  ns/t3  running  m        1.5  64 MiB  -                0  "
            "      -  j    evicted\n");
}

TEST(TasksCommand, ShowsWhatWasMeasured) {
  FakeServer server;
  AddTasks(server.inspector);
  v1::TaskSample* sample = server.inspector.tasks[0].mutable_usage();
  sample->set_cpu_millicores(700);
  sample->set_memory_millibytes(32ll * 1000 << 20);
  sample->set_age_ms(5000);
  const CliResult result =
      RunCli({"tasks", "--usage", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_EQ(result.out,
            "TASK  NAME   STATE    MACHINE  CPU ASKED  CPU USED  MEMORY ASKED  "
            "MEMORY USED  AGE\n"
            "   1  ns/t1  running  m              1.5      700m        64 MiB  "
            "     32 MiB  5 s\n"
            "   2  ns/t2  pending  -              1.5         -        64 MiB  "
            "          -    -\n"
            "   3  ns/t3  running  m              1.5         -        64 MiB  "
            "          -    -\n");
}

TEST(TasksCommand, ListsOnlyWhatWaitsWhereAskedTo) {
  FakeServer server;
  AddTasks(server.inspector);
  const CliResult result = RunCli(
      {"tasks", "--pending", "--output=json", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess);
  EXPECT_THAT(result.out, HasSubstr("\"uid\": \"2\""));
  EXPECT_THAT(result.out, testing::Not(HasSubstr("\"uid\": \"1\"")));
}

TEST(TasksCommand, ListsOnlyWhatItsFlagsSay) {
  FakeServer server;
  AddTasks(server.inspector);
  server.inspector.tasks[0].set_namespace_("shop");
  server.inspector.tasks[2].set_job_uuid("other");
  const auto names = [&](const std::string& flag) {
    const CliResult result =
        RunCli({"tasks", flag, "--server", server.Address()});
    EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
    std::string found;
    for (const char* name : {"t1", "t2", "t3"}) {
      if (result.out.find(name) != std::string::npos) found += name;
    }
    return found;
  };
  EXPECT_EQ(names("--job=j"), "t1t2");
  EXPECT_EQ(names("--machine=m"), "t1t3");
  EXPECT_EQ(names("--namespace=shop"), "t1");
  EXPECT_EQ(names("--state=pending"), "t2");
  EXPECT_EQ(names("--state=failed"), "");
  EXPECT_EQ(RunCli({"tasks", "--state=lost"}).exit_code, kExitUsage);
}

TEST(TasksCommand, NamesTasksOfFeedsAndMachinesWithoutNames) {
  FakeServer server;
  v1::Task& task = server.inspector.tasks.emplace_back();
  task.set_uid(~uint64_t{0});
  task.set_feed("kubernetes");
  task.set_feed_task_id("shop/web-1");
  task.set_state(v1::Task::RUNNING);
  task.set_machine_uuid("m-uuid");
  const std::string address = server.Address();
  EXPECT_THAT(RunCli({"tasks", "--server", address}).out,
              HasSubstr("\nshop/web-1        running  m-uuid "));
  EXPECT_THAT(RunCli({"tasks", "--usage", "--server", address}).out,
              HasSubstr("\nshop/web-1        running  m-uuid "));
}

}  // namespace
}  // namespace sluice
