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
using testing::Pair;

TEST(BenchCommand, MeasuresAndRemovesAllItAdded) {
  FakeServer server;
  const CliResult result =
      RunCli({"bench", "--machines=7", "--tasks=100", "--classes=3",
              "--concurrency=16", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_THAT(result.out, HasSubstr("machines                        7\n"));
  EXPECT_THAT(result.out, HasSubstr("placed                          100\n"));
  EXPECT_EQ(server.scheduler.task_count(), 0u);
  EXPECT_EQ(server.scheduler.machine_count(), 0u);
  EXPECT_EQ(server.scheduler.calls().size(), 2u * 107 + 1);
}

TEST(BenchCommand, KeepsWhatItAddedWhereAskedTo) {
  FakeServer server;
  const CliResult result =
      RunCli({"bench", "--machines=2", "--tasks=5", "--keep", "--output=json",
              "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\"placed\": 5,\n"));
  EXPECT_EQ(server.scheduler.task_count(), 5u);
  EXPECT_EQ(server.scheduler.machine_count(), 2u);
}

TEST(BenchCommand, RequiresAZoneOfSomeMachinesInTheAffinityProfile) {
  FakeServer server;
  const CliResult result =
      RunCli({"bench", "--profile=node_affinity", "--machines=5", "--tasks=8",
              "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_THAT(result.out,
              HasSubstr("profile                         node_affinity\n"));
  EXPECT_THAT(server.scheduler.label_counts(),
              ElementsAre(Pair("topology.kubernetes.io/zone=zone1", 3),
                          Pair("topology.kubernetes.io/zone=zone2", 2)));
  EXPECT_THAT(server.scheduler.expression_counts(),
              ElementsAre(Pair("topology.kubernetes.io/zone In zone1", 8)));
}

TEST(BenchCommand, FailsIfTasksStayUnplaced) {
  FakeServer server(10);
  const CliResult result = RunCli(
      {"bench", "--machines=2", "--tasks=5", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_THAT(result.err, HasSubstr("5 tasks were not placed, though all fit"));
  EXPECT_EQ(server.scheduler.task_count(), 0u);
}

TEST(BenchCommand, RefusesMoreTasksThanAMachineCanBeDescribedFor) {
  EXPECT_EQ(RunCli({"bench", "--machines=1", "--tasks=40000"}).exit_code,
            kExitUsage);
}

}  // namespace
}  // namespace sluice
