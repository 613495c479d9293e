#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cli/application.h"
#include "unit/cli/fake_server.h"
#include "unit/cli/run_cli.h"

namespace sluice {
namespace {

using testing::HasSubstr;

v1::Drain Draining(int64_t left, int64_t leaving, int64_t movable) {
  v1::Drain drain;
  drain.set_machine_uuid("u1");
  drain.set_machine_name("node-1");
  drain.set_is_draining(true);
  drain.set_left(left);
  drain.set_leaving(leaving);
  drain.set_movable(movable);
  return drain;
}

void Hold(const std::string& text, bool is_for_now, v1::Drain* drain) {
  v1::Drain::Held* held = drain->add_held();
  held->set_text(text);
  held->set_tasks(2);
  held->add_task_names("shop/db-0");
  held->set_is_for_now(is_for_now);
}

TEST(DrainCommand, SaysWhatLeavesAndWhatHoldsTheRest) {
  FakeServer server;
  v1::Drain drain = Draining(3, 2, 1);
  Hold("no owner: nothing would create a replacement", false, &drain);
  server.inspector.drains = {drain};
  const CliResult result =
      RunCli({"drain", "node-1", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_EQ(
      result.out,
      "node-1 is draining: 3 have left, 2 were told to leave, 1 are to "
      "be told, 2 stay\n"
      "TASKS  WHY                                           WHICH\n"
      "    2  no owner: nothing would create a replacement  shop/db-0, ...\n");
}

TEST(DrainCommand, IsForPrograms) {
  FakeServer server;
  server.inspector.drains = {Draining(0, 0, 17)};
  const CliResult result =
      RunCli({"drain", "u1", "--output=json", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\"movable\": \"17\""));
}

TEST(DrainCommand, CancelsIt) {
  FakeServer server;
  server.inspector.drains = {Draining(1, 1, 0)};
  const CliResult result =
      RunCli({"drain", "u1", "--cancel", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_EQ(result.out, "node-1 is not draining\n");
}

TEST(DrainCommand, WaitsUntilNothingMayMoveYet) {
  FakeServer server;
  v1::Drain waits_for_budget = Draining(1, 0, 0);
  Hold("budget web allows no more now", true, &waits_for_budget);
  server.inspector.drains = {Draining(0, 0, 3), Draining(0, 1, 0),
                             waits_for_budget, Draining(3, 0, 0)};
  const CliResult result =
      RunCli({"drain", "node-1", "--wait", "--interval_ms=1", "--server",
              server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_EQ(result.out,
            "node-1 is draining: 3 have left, 0 were told to leave, 0 are to "
            "be told, 0 stay\n");
}

TEST(DrainCommand, FailsIfSomethingStays) {
  FakeServer server;
  v1::Drain held = Draining(1, 0, 0);
  Hold("of a gang", false, &held);
  server.inspector.drains = {Draining(0, 1, 0), held};
  const CliResult result =
      RunCli({"drain", "node-1", "--wait", "--interval_ms=1", "--server",
              server.Address()});
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_THAT(result.out, HasSubstr("of a gang"));
  EXPECT_THAT(result.err, HasSubstr("node-1: tasks that stay: 2"));
}

TEST(DrainCommand, FailsIfSomebodyElseCancelsIt) {
  FakeServer server;
  v1::Drain cancelled = Draining(0, 0, 1);
  cancelled.set_is_draining(false);
  server.inspector.drains = {Draining(0, 1, 0), cancelled};
  const CliResult result =
      RunCli({"drain", "node-1", "--wait", "--interval_ms=1", "--server",
              server.Address()});
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_THAT(result.err, HasSubstr("somebody cancelled the draining"));
}

TEST(DrainCommand, NamesAMachineThatIsNotKnown) {
  FakeServer server;
  const CliResult result =
      RunCli({"drain", "node-9", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_THAT(result.err, HasSubstr("node-9"));
}

TEST(DrainCommand, IsAskedForOneMachineAndOneThing) {
  EXPECT_EQ(RunCli({"drain"}).exit_code, kExitUsage);
  EXPECT_EQ(RunCli({"drain", "a", "b"}).exit_code, kExitUsage);
  EXPECT_EQ(RunCli({"drain", "a", "--wait", "--cancel"}).exit_code, kExitUsage);
}

}  // namespace
}  // namespace sluice
