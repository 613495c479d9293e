#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/application.h"
#include "unit/cli/fake_server.h"
#include "unit/cli/run_cli.h"

namespace sluice {
namespace {

using testing::HasSubstr;
using testing::Not;

void Fill(v1::Status& status) {
  status.set_version("0.1.0");
  status.set_uptime_ms(61'000);
  status.set_machines(5);
  status.set_pending_tasks(2);
  status.set_running_tasks(10);
  status.add_cost_models("cpu_memory");
  status.set_store("memory");
  status.mutable_allocatable()->set_cpu_millicores(40'000);
  status.mutable_used()->set_cpu_millicores(10'000);
  (*status.mutable_allocatable()->mutable_extended())["nvidia.com/gpu"] = 3;
  (*status.mutable_used()->mutable_extended())["nvidia.com/gpu"] = 3;
}

TEST(StatusCommand, ShowsTheDaemonAndItsUse) {
  FakeServer server;
  Fill(server.inspector.status);
  server.inspector.status.mutable_last_round()->set_number(17);
  server.inspector.status.mutable_last_round()->set_total_us(3200);
  const std::string address = server.Address();
  const CliResult result = RunCli({"status", "--server=" + address});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_TRUE(result.out.starts_with("SLUICED             0.1.0 at " + address))
      << result.out;
  EXPECT_THAT(result.out, HasSubstr("\nuptime              1 min\n"));
  EXPECT_THAT(result.out, HasSubstr("2 pending, 10 running, 0 finished"));
  EXPECT_THAT(result.out, HasSubstr("\nround 17 "));
  EXPECT_THAT(result.out, HasSubstr("3.2 ms (build 0 us"));
  EXPECT_THAT(result.out, HasSubstr("cpu                  10           40   "
                                    "25 %\n"));
  EXPECT_THAT(result.out, HasSubstr("nvidia.com/gpu        3            3  "
                                    "100 %\n"));
}

TEST(StatusCommand, SaysNothingOfARoundThatHasNotBeen) {
  FakeServer server;
  Fill(server.inspector.status);
  const CliResult result = RunCli({"status", "--server", server.Address()});
  EXPECT_THAT(result.out, Not(HasSubstr("round")));
}

TEST(StatusCommand, PrintsJson) {
  FakeServer server;
  Fill(server.inspector.status);
  const CliResult result =
      RunCli({"status", "--output=json", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess);
  EXPECT_THAT(result.out, HasSubstr("\"pendingTasks\": \"2\""));
  EXPECT_TRUE(result.out.ends_with("}\n"));
}

}  // namespace
}  // namespace sluice
