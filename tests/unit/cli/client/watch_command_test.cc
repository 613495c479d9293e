#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/application.h"
#include "unit/cli/fake_server.h"
#include "unit/cli/run_cli.h"

namespace sluice {
namespace {

TEST(WatchCommand, PrintsALineAtATime) {
  FakeServer server;
  server.inspector.status.set_machines(5);
  server.inspector.status.set_pending_tasks(1234567);
  server.inspector.status.mutable_last_round()->set_number(17);
  server.inspector.status.mutable_last_round()->set_placed(3);
  const CliResult result = RunCli(
      {"watch", "--lines=2", "--interval_ms=1", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  const std::string line =
      "       5  1234567        0            0            0       17        3"
      "        0        0\n";
  EXPECT_EQ(result.out,
            "MACHINES  PENDING  RUNNING  QUARANTINED  UNDELIVERED    ROUND   "
            "PLACED  STOPPED    MOVED\n" +
                line + line);
}

TEST(WatchCommand, PrintsOneObjectALine) {
  FakeServer server;
  const CliResult result =
      RunCli({"watch", "--lines=3", "--interval_ms=1", "--output=json",
              "--server", server.Address()});
  EXPECT_EQ(std::ranges::count(result.out, '\n'), 3);
  EXPECT_TRUE(result.out.starts_with("{\"version\":")) << result.out;
}

}  // namespace
}  // namespace sluice
