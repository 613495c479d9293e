#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/strings.h"
#include "cli/application.h"
#include "cli/bench/bench_profiles.h"
#include "unit/cli/fake_server.h"
#include "unit/cli/run_cli.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
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

TEST(BenchCommand, DealsTasksWithPeersToJobsInTurn) {
  FakeServer server;
  const CliResult result =
      RunCli({"bench", "--profile=bridge_affinity", "--machines=4", "--tasks=8",
              "--classes=3", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_THAT(
      server.scheduler.expression_counts(),
      ElementsAre(Pair("app In bench-job-1", 3), Pair("app In bench-job-2", 3),
                  Pair("app In bench-job-3", 2)));
}

TEST(BenchCommand, MeasuresEveryProfile) {
  for (const BenchProfile& profile : BenchProfiles()) {
    if (profile.Preempts()) continue;  // Over a feed only.
    FakeServer server;
    const CliResult result =
        RunCli({"bench", StrCat("--profile=", profile.name), "--machines=4",
                "--tasks=6", "--classes=2", "--server", server.Address()});
    EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
    EXPECT_THAT(result.out, HasSubstr(StrCat("profile                         ",
                                             profile.name, "\n")));
    EXPECT_THAT(result.out, HasSubstr("placed                          6\n"));
  }
}

TEST(BenchCommand, PreemptsOverAFeedOnly) {
  FakeServer server;
  const CliResult result =
      RunCli({"bench", "--profile=preemption", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitUsage);
  EXPECT_THAT(result.err, HasSubstr("--profile=preemption needs --feed"));
  EXPECT_THAT(server.scheduler.calls(), IsEmpty());
}

TEST(BenchCommand, TakesItsSizesFromTheProfile) {
  FakeServer server;
  const CliResult result = RunCli({"bench", "--profile=bridge_anti_affinity",
                                   "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_THAT(result.out, HasSubstr("machines                        200\n"));
  EXPECT_THAT(result.out, HasSubstr("tasks                           3600\n"));
  EXPECT_THAT(result.out, HasSubstr("classes                         36\n"));
}

TEST(BenchCommand, SaysWhatTheProfilesAre) {
  const CliResult result = RunCli({"bench", "--help"});
  EXPECT_EQ(result.exit_code, kExitSuccess);
  EXPECT_THAT(result.out, HasSubstr(R"(
      One of these (basic):
      basic: 1000 machines, 10000 tasks, 10 classes
        A task runs wherever it fits.
)"));
  EXPECT_THAT(result.out, HasSubstr(R"(
      pod_affinity: 5000 machines, 5000 tasks, 1 class
        A task requires the zone of its peers; there is one zone.
        (scheduler_perf's SchedulingPodAffinity)
)"));
  EXPECT_THAT(result.out, HasSubstr(R"(
      preemption: 5000 machines, 5000 tasks, 1 class
        A task displaces three of the four that fill a machine.
        (scheduler_perf's PreemptionBasic)
)"));
}

TEST(BenchCommand, FailsIfTasksStayUnplaced) {
  FakeServer server(10);
  const CliResult result = RunCli(
      {"bench", "--machines=2", "--tasks=5", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_THAT(result.err,
              HasSubstr("5 tasks were not placed, although all fit"));
  EXPECT_EQ(server.scheduler.task_count(), 0u);
}

TEST(BenchCommand, RefusesMoreTasksThanAMachineCanBeDescribedFor) {
  EXPECT_EQ(RunCli({"bench", "--machines=1", "--tasks=40000"}).exit_code,
            kExitUsage);
}

TEST(BenchCommand, RefusesMorePeersThanMachinesThatKeepThemApart) {
  const CliResult result = RunCli(
      {"bench", "--profile=pod_anti_affinity", "--machines=5", "--tasks=6"});
  EXPECT_EQ(result.exit_code, kExitUsage);
  EXPECT_THAT(result.err, HasSubstr("--tasks=6 are too many for --machines=5"));
}

}  // namespace
}  // namespace sluice
