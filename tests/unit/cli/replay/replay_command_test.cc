#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "cli/application.h"
#include "unit/cli/fake_server.h"
#include "unit/cli/run_cli.h"
#include "util/paths.h"

namespace sluice {
namespace {

using testing::HasSubstr;

std::vector<std::string> Arguments(FakeServer& server) {
  return {"replay",
          "openb",
          "--server",
          server.Address(),
          "--nodes=" + SourcePath("tests/testdata/openb_nodes.csv"),
          "--pods=" + SourcePath("tests/testdata/openb_pods.csv")};
}

TEST(ReplayCommand, PlaysTheSample) {
  FakeServer server(40'000);
  std::vector<std::string> arguments = Arguments(server);
  arguments.push_back("--batch=4");
  const CliResult result = RunCli(arguments);
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_THAT(result.out, HasSubstr("machines                          19\n"));
  EXPECT_THAT(result.out, HasSubstr("placed                            18\n"));
  EXPECT_THAT(result.out, HasSubstr("completed                         18\n"));
  EXPECT_THAT(result.out, HasSubstr("gave up                           1\n"));
  EXPECT_THAT(result.out, HasSubstr("pending at the end                0\n"));
  EXPECT_EQ(server.scheduler.task_count(), 0u);
  EXPECT_EQ(server.scheduler.machine_count(), 19u);
}

TEST(ReplayCommand, PlaysItTwice) {
  FakeServer server;
  EXPECT_EQ(RunCli(Arguments(server)).exit_code, kExitSuccess);
  EXPECT_EQ(RunCli(Arguments(server)).exit_code, kExitSuccess);
}

TEST(ReplayCommand, TakesOnlyTheFirstPodsWhereAskedTo) {
  FakeServer server;
  std::vector<std::string> arguments = Arguments(server);
  arguments.insert(arguments.end(), {"--limit=5", "--output=json"});
  const CliResult result = RunCli(arguments);
  EXPECT_THAT(result.out, HasSubstr("\"tasks\": 5,\n"));
}

TEST(ReplayCommand, LetsAllPodsStayWhereAskedTo) {
  FakeServer server(40'000);
  std::vector<std::string> arguments = Arguments(server);
  arguments.insert(arguments.end(), {"--stay", "--output=json"});
  const CliResult result = RunCli(arguments);
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\"completed\": 0,\n"));
  EXPECT_THAT(result.out, HasSubstr("\"pending\": 1,\n"));
  EXPECT_EQ(server.scheduler.task_count(), 19u);
}

TEST(ReplayCommand, PlaysAWindowOfTimeAtOnce) {
  FakeServer server;
  std::vector<std::string> arguments = Arguments(server);
  arguments.insert(arguments.end(), {"--speedup=1e9", "--output=json"});
  const CliResult result = RunCli(arguments);
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\"rounds\": 1,\n"));
}

TEST(ReplayCommand, SubmitsAllAtOnceWhereTheFileHasNoTimes) {
  const std::string path = testing::TempDir() + "/timeless_pods.csv";
  std::ofstream(path) << "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n"
                         "a,1000,1024,0,0\nb,1000,1024,1,500\n";
  FakeServer server;
  std::vector<std::string> arguments = Arguments(server);
  arguments.back() = "--pods=" + path;
  arguments.push_back("--batch=1");
  const CliResult result = RunCli(arguments);
  std::remove(path.c_str());
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_THAT(result.err, HasSubstr("has no column creation_time"));
  EXPECT_THAT(result.out, HasSubstr("rounds                            1\n"));
  EXPECT_EQ(server.scheduler.task_count(), 2u);
}

TEST(ReplayCommand, NamesFileLineAndColumnOfAnError) {
  const std::string path = testing::TempDir() + "/bad_pods.csv";
  std::ofstream(path) << "name,cpu_milli,memory_mib,num_gpu\na,1,1,one\n";
  FakeServer server;
  std::vector<std::string> arguments = Arguments(server);
  arguments.back() = "--pods=" + path;
  const CliResult result = RunCli(arguments);
  std::remove(path.c_str());
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_THAT(result.err, HasSubstr(path + ":2: column num_gpu: 'one' is not"));
  EXPECT_TRUE(server.scheduler.calls().empty());
}

TEST(ReplayCommand, NeedsAFormatAndBothFiles) {
  EXPECT_EQ(RunCli({"replay"}).exit_code, kExitUsage);
  EXPECT_EQ(RunCli({"replay", "openb", "--nodes=x"}).exit_code, kExitUsage);
  const CliResult result = RunCli({"replay", "other", "--nodes=x", "--pods=y"});
  EXPECT_EQ(result.exit_code, kExitUsage);
  EXPECT_THAT(result.err, HasSubstr("unknown format 'other'; there is openb"));
}

TEST(ReplayCommand, RefusesToBeSlowerThanTheTrace) {
  const CliResult result =
      RunCli({"replay", "openb", "--nodes=x", "--pods=y", "--speedup=1e-300"});
  EXPECT_EQ(result.exit_code, kExitUsage);
  EXPECT_THAT(result.err, HasSubstr("--speedup must be 0, or 1 or more"));
}

}  // namespace
}  // namespace sluice
