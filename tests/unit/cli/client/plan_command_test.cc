#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/application.h"
#include "unit/cli/fake_server.h"
#include "unit/cli/run_cli.h"

namespace sluice {
namespace {

using testing::HasSubstr;

void Fill(v1::RebalancePlan& plan) {
  v1::RebalancePlan::Move& move = *plan.add_moves();
  move.set_task("17");
  move.set_task_name("shop/web-1");
  move.set_from("node-1");
  move.set_to("node-2");
  move.set_gain(-30'000);
  v1::RebalancePlan::Stop& stop = *plan.add_stops();
  stop.set_task("18");
  stop.set_machine("node-1");
  stop.set_priority(5);
  stop.set_cost(350);
  v1::RebalancePlan::Served& served = *plan.add_served();
  served.set_task("19");
  served.set_task_name("shop/db-0");
  served.set_machine("node-1");
  served.set_priority(1000);
}

TEST(PlanCommand, ListsMovesStopsAndWhoIsServed) {
  FakeServer server;
  Fill(server.inspector.plan);
  const CliResult result = RunCli({"plan", "--server=" + server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_THAT(result.out,
              HasSubstr("move       shop/web-1  node-1  node-2            "
                        "-30000"));
  EXPECT_THAT(result.out, HasSubstr("stop       18          node-1"));
  EXPECT_THAT(result.out, HasSubstr("350\n"));
  EXPECT_THAT(result.out, HasSubstr("keep room  shop/db-0           node-1"));
  EXPECT_THAT(result.out,
              HasSubstr("\nmoves 1 with a gain of -30000, stops 1 at a cost of "
                        "350, and keeps room for 1\n"));
}

TEST(PlanCommand, SaysThatNothingWouldHappen) {
  FakeServer server;
  Fill(server.inspector.plan);
  const CliResult result =
      RunCli({"plan", "--preemption=priority", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_EQ(result.out, "nothing would be moved or stopped\n");
}

TEST(PlanCommand, SaysThatItIsAboutAPart) {
  FakeServer server;
  Fill(server.inspector.plan);
  server.inspector.plan.set_machines_in_part(133);
  const CliResult result = RunCli({"plan", "--server=" + server.Address()});
  EXPECT_THAT(result.out, HasSubstr("in one part, here of 133 machines;"));
  EXPECT_THAT(result.out, HasSubstr("move       shop/web-1  node-1  node-2"));
}

TEST(PlanCommand, IsForPrograms) {
  FakeServer server;
  Fill(server.inspector.plan);
  const CliResult result =
      RunCli({"plan", "--output=json", "--server", server.Address()});
  EXPECT_THAT(result.out, HasSubstr("\"gain\": \"-30000\""));
}

TEST(PlanCommand, NamesAModeThatIsNone) {
  const CliResult result = RunCli({"plan", "--preemption=often"});
  EXPECT_NE(result.exit_code, kExitSuccess);
  EXPECT_THAT(result.err, HasSubstr("often"));
}

}  // namespace
}  // namespace sluice
