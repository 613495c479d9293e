#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/application.h"
#include "unit/cli/fake_server.h"
#include "unit/cli/run_cli.h"

namespace sluice {
namespace {

using testing::AllOf;
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
  EXPECT_THAT(result.out,
              HasSubstr("\nround               none yet: nothing was "
                        "scheduled\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("as good as can be")));
}

TEST(StatusCommand, SaysSoOfTheEmptyRoundOfADaemonThatHasJustBegun) {
  FakeServer server;
  Fill(server.inspector.status);
  server.inspector.status.mutable_last_round()->set_is_bound_known(true);
  EXPECT_THAT(RunCli({"status", "--server", server.Address()}).out,
              AllOf(HasSubstr("none yet: nothing was scheduled"),
                    Not(HasSubstr("as good as can be"))));
}

TEST(StatusCommand, CountsNamesakesIfThereAreAny) {
  FakeServer server;
  Fill(server.inspector.status);
  const std::string address = server.Address();
  EXPECT_THAT(RunCli({"status", "--server", address}).out,
              Not(HasSubstr("namesakes")));
  server.inspector.status.set_namesake_machines(3);
  EXPECT_THAT(RunCli({"status", "--server", address}).out,
              HasSubstr("\nnamesakes           3 machines share a name with "
                        "another\n"));
}

TEST(StatusCommand, ShowsTheLeaderAndItsFollowers) {
  FakeServer server;
  Fill(server.inspector.status);
  v1::Replicas& replicas = *server.inspector.status.mutable_replicas();
  replicas.set_leader("10.0.0.7:9090");
  replicas.set_term(42);
  for (const char* address : {"10.0.0.8:9090", "10.0.0.9:9090", "c:1"}) {
    replicas.add_followers()->set_address(address);
  }
  replicas.mutable_followers(0)->set_is_warm(true);
  replicas.mutable_followers(1)->set_is_warm(true);
  replicas.mutable_followers(1)->set_lag(3);
  const std::string address = server.Address();
  EXPECT_THAT(
      RunCli({"status", "--server", address}).out,
      HasSubstr("\nleader              10.0.0.7:9090, term 42\n"
                "follower            10.0.0.8:9090: warm, up to date\n"
                "follower            10.0.0.9:9090: warm, 3 behind\n"
                "follower            c:1: not warm: is reading the store\n"));
  EXPECT_THAT(RunCli({"status", "--output=json", "--server", address}).out,
              AllOf(HasSubstr("\"leader\": \"10.0.0.7:9090\""),
                    HasSubstr("\"lag\": \"3\"")));
}

v1::RoundLevel* AddLevel(int64_t cost, v1::Round& round) {
  v1::RoundLevel* level = round.add_levels();
  level->set_waiting_cost(cost);
  return level;
}

// Of three priorities that tasks wait of.
void FillLevels(bool is_bound_known, v1::Round& round) {
  round.set_number(17);
  round.set_placement_cost(80);
  v1::RoundLevel* urgent = AddLevel(0, round);
  urgent->set_lowest_priority(1000);
  v1::RoundLevel* middle = AddLevel(3000, round);
  middle->set_lowest_priority(7);
  middle->set_highest_priority(999);
  v1::RoundLevel* low = AddLevel(2000, round);
  low->set_lowest_priority(6);
  low->set_highest_priority(6);
  AddLevel(70, round)->set_highest_priority(5);
  if (!is_bound_known) return;
  round.set_is_bound_known(true);
  round.set_gap_ratio(0.15);
  round.set_placement_cost_bound(80);
  round.set_placement_gap_ratio(0);
  urgent->set_waiting_cost_bound(0);
  urgent->set_gap_ratio(0);
  middle->set_waiting_cost_bound(2750);
  middle->set_gap_ratio(0.25 / 3);
  low->set_waiting_cost_bound(1500);
  low->set_gap_ratio(0.25);
  round.mutable_levels(3)->set_waiting_cost_bound(70);
  round.mutable_levels(3)->set_gap_ratio(0);
}

TEST(StatusCommand, ShowsTheGapOfEachLevel) {
  FakeServer server;
  Fill(server.inspector.status);
  FillLevels(true, *server.inspector.status.mutable_last_round());
  const CliResult result = RunCli({"status", "--server", server.Address()});
  EXPECT_THAT(result.out,
              HasSubstr("\nround gap           "
                        "at most 15.0 % of its cost could be saved\n"
                        "\n"
                        "LEVEL  PRIORITY          WAITING COST  AT LEAST  "
                        "           GAP\n"
                        "1      1000 and above               0         0  "
                        "          none\n"
                        "2      7 to 999                  3000      2750  "
                        " at most 8.4 %\n"
                        "3      6                         2000      1500  "
                        "at most 25.0 %\n"
                        "4      5 and below                 70        70  "
                        "          none\n"
                        "cost   (what is placed)            80        80  "
                        "          none\n"
                        "\n"
                        "RESOURCE"));
}

TEST(StatusCommand, ShowsThatTheBoundsOfLevelsAreNotKnown) {
  FakeServer server;
  Fill(server.inspector.status);
  FillLevels(false, *server.inspector.status.mutable_last_round());
  const CliResult result = RunCli({"status", "--server", server.Address()});
  EXPECT_THAT(result.out, HasSubstr("\nround gap           not worked out\n"));
  EXPECT_THAT(result.out,
              HasSubstr("\n2      7 to 999                  3000         ?    "
                        "?\n"));
}

TEST(StatusCommand, ShowsNoLevelsWhereTheySayNothingMore) {
  FakeServer server;
  Fill(server.inspector.status);
  v1::Round& round = *server.inspector.status.mutable_last_round();
  round.set_is_bound_known(true);
  round.set_gap_ratio(0.5);
  AddLevel(100, round)->set_gap_ratio(0.5);
  EXPECT_THAT(RunCli({"status", "--server", server.Address()}).out,
              Not(HasSubstr("LEVEL")))
      << "it is the only one";
  round.mutable_levels(0)->set_gap_ratio(0);
  AddLevel(0, round);
  EXPECT_THAT(RunCli({"status", "--server", server.Address()}).out,
              Not(HasSubstr("LEVEL")))
      << "nothing waits of the other";
}

TEST(StatusCommand, ShowsNoCostOfARoundThatProvedNothing) {
  FakeServer server;
  Fill(server.inspector.status);
  server.inspector.status.mutable_last_round()->set_number(17);
  const std::string address = server.Address();
  EXPECT_THAT(RunCli({"status", "--server", address}).out,
              HasSubstr("\nround gap           not worked out\n"));
  const std::string json =
      RunCli({"status", "--output=json", "--server", address}).out;
  EXPECT_THAT(json, HasSubstr("\"isBoundKnown\": false"));
  EXPECT_THAT(json, Not(HasSubstr("Cost")));
  EXPECT_THAT(json, Not(HasSubstr("gapRatio")));
}

TEST(StatusCommand, PrintsAllLevelsAsJson) {
  FakeServer server;
  Fill(server.inspector.status);
  v1::Round& round = *server.inspector.status.mutable_last_round();
  AddLevel(5, round)->set_waiting_cost_bound(0);
  AddLevel(6, round)->set_highest_priority(-1);
  const CliResult result =
      RunCli({"status", "--output=json", "--server", server.Address()});
  EXPECT_THAT(result.out, HasSubstr(R"("levels": [
   {
    "waitingCost": "5",
    "waitingCostBound": "0"
   },
   {
    "waitingCost": "6",
    "highestPriority": "-1"
   }
  ])"));
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
