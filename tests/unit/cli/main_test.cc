// The programs as users run them: bin/sluicectl against bin/sluiced.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "util/paths.h"

namespace sluice {
namespace {

using testing::HasSubstr;
using testing::Not;

// A daemon on a port of its own, with a store in memory.
class Daemon {
 public:
  Daemon() {
    std::array<int, 2> log = {};
    EXPECT_EQ(pipe(log.data()), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, log[1], STDERR_FILENO);
    posix_spawn_file_actions_addclose(&actions, log[0]);
    posix_spawn_file_actions_addclose(&actions, log[1]);
    std::vector<std::string> arguments = {ProgramPath("sluiced"),
                                          "--listen_address=127.0.0.1:0",
                                          "--http_address="};
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    EXPECT_EQ(
        posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ),
        0);
    posix_spawn_file_actions_destroy(&actions);
    close(log[1]);
    log_ = fdopen(log[0], "r");
    ReadAddress();
  }

  ~Daemon() {
    Stop();
    fclose(log_);
  }

  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  void Stop() {
    if (pid_ == 0) return;
    kill(pid_, SIGTERM);
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    pid_ = 0;
  }

  const std::string& address() const { return address_; }

 private:
  // Reads the log up to the line that says that the daemon is ready.
  void ReadAddress() {
    std::array<char, 4096> line = {};
    while (fgets(line.data(), line.size(), log_) != nullptr) {
      const std::string text = line.data();
      const std::string key = "ready: grpc=";
      const size_t found = text.find(key);
      if (found == std::string::npos) continue;
      const size_t begin = found + key.size();
      address_ = text.substr(begin, text.find(' ', begin) - begin);
      return;
    }
    ADD_FAILURE() << "sluiced ended before it was ready";
  }

  pid_t pid_ = 0;
  FILE* log_ = nullptr;
  std::string address_;
};

struct Result {
  int exit_code = -1;
  // Standard output and standard error.
  std::string text;
};

Result Sluicectl(const std::string& arguments) {
  const std::string command =
      StrCat(ProgramPath("sluicectl"), " ", arguments, " 2>&1");
  FILE* const output = popen(command.c_str(), "r");
  EXPECT_NE(output, nullptr);
  Result result;
  std::array<char, 4096> chunk = {};
  while (fgets(chunk.data(), chunk.size(), output) != nullptr) {
    result.text += chunk.data();
  }
  const int status = pclose(output);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  return result;
}

TEST(SluicectlBinary, TellsTheStoryOfTheExample) {
  const Daemon daemon;
  const std::string server = StrCat(" --server=", daemon.address());
  const Result injected = Sluicectl(
      StrCat("inject ", SourcePath("deploy/examples/demo.jsonl"), server));
  EXPECT_EQ(injected.exit_code, 0) << injected.text;
  EXPECT_THAT(injected.text, HasSubstr("schedule: 8 deltas, 0 unscheduled\n"));
  EXPECT_THAT(injected.text, HasSubstr("schedule: 3 deltas, 1 unscheduled\n"));
  EXPECT_THAT(injected.text, HasSubstr("schedule: 1 deltas, 0 unscheduled\n"));
  EXPECT_THAT(injected.text, HasSubstr("schedule: 0 deltas, 2 unscheduled\n"));
  EXPECT_THAT(injected.text, HasSubstr("unscheduled: 305, 501\n"));

  const Result status = Sluicectl("status" + server);
  EXPECT_EQ(status.exit_code, 0);
  EXPECT_THAT(status.text,
              HasSubstr("2 pending, 10 running, 1 finished, 0 quarantined\n"));
  EXPECT_THAT(Sluicectl("machines" + server).text,
              HasSubstr("nvidia.com/gpu: 2/2"));
  const Result pending = Sluicectl("tasks --pending" + server);
  EXPECT_THAT(pending.text, HasSubstr("demo/training-5"));
  EXPECT_THAT(pending.text, HasSubstr("demo/simulation-1"));
  EXPECT_THAT(pending.text, Not(HasSubstr("demo/shop-1")));
  EXPECT_THAT(Sluicectl("job training" + server).text,
              HasSubstr("\nrunning      3\n"));
  EXPECT_THAT(Sluicectl("explain 305" + server).text,
              HasSubstr("5 insufficient nvidia.com/gpu"));
  EXPECT_THAT(Sluicectl("explain demo/simulation-1" + server).text,
              HasSubstr("5 insufficient cpu"));
}

TEST(SluicectlBinary, TakesTheExampleTwice) {
  const Daemon daemon;
  const std::string inject =
      StrCat("inject ", SourcePath("deploy/examples/demo.jsonl"),
             " --server=", daemon.address());
  EXPECT_EQ(Sluicectl(inject).exit_code, 0);
  const Result again = Sluicectl(inject);
  EXPECT_EQ(again.exit_code, 0) << again.text;
}

// What the examples under deploy/examples tell.
struct Story {
  const char* file;
  // Of its rounds: deltas, and how many tasks wait after them.
  std::vector<const char*> rounds;
  // Of further commands, what they print.
  std::vector<std::pair<const char*, const char*>> told = {};
};

void PrintTo(const Story& story, std::ostream* out) { *out << story.file; }

class ExamplesTest : public testing::TestWithParam<Story> {};

TEST_P(ExamplesTest, TellTheirStory) {
  const Story& story = GetParam();
  const Daemon daemon;
  const std::string server = StrCat(" --server=", daemon.address());
  const Result injected = Sluicectl(StrCat(
      "inject ", SourcePath("deploy/examples/"), story.file, ".jsonl", server));
  EXPECT_EQ(injected.exit_code, 0) << injected.text;
  for (const char* round : story.rounds) {
    EXPECT_THAT(injected.text,
                HasSubstr(StrCat("schedule: ", round, " unscheduled\n")));
  }
  for (const auto& [command, text] : story.told) {
    EXPECT_THAT(Sluicectl(command + server).text, HasSubstr(text));
  }
}

const std::vector<std::pair<const char*, const char*>> kWishes = {
    {"explain demo/model-2", "runs on machine 'gpu', as it prefers"},
    {"explain demo/report-1", "runs on machine 'plain', 1 weight short"},
    {"status", "as good as can be"}};

INSTANTIATE_TEST_SUITE_P(
    SluicectlBinary, ExamplesTest,
    testing::Values(
        Story{"wishes_large_first", {"2 deltas, 0"}, kWishes},
        Story{"wishes_small_first", {"2 deltas, 0"}, kWishes},
        Story{"replaces",
              {"1 deltas, 0", "2 deltas, 0", "0 deltas, 1"},
              {{"explain demo/web-3", "runs on machine 'm2'"},
               {"explain demo/web-2", "told to leave"}}},
        Story{
            "gang_group", {"0 deltas, 3", "3 deltas, 0"}, {{"job db", "shop"}}},
        Story{"alternatives",
              {"1 deltas, 1", "0 deltas, 1", "1 deltas, 0"},
              {{"explain demo/train-gpu", "runs on machine 'm2'"}}},
        Story{"claims", {"2 deltas, 1", "1 deltas, 2"}},
        Story{"during_execution",
              {"2 deltas, 0", "1 deltas, 0"},
              {{"explain demo/strict-2", "lacks the label zone=a"},
               {"job strict-2", "\nstate        running\n"}}},
        Story{"on_failure",
              {"2 deltas, 0", "1 deltas, 0"},
              {{"explain demo/batch", "runs on machine 'm2'"},
               {"explain demo/once", "m1', which has gone away"}}},
        Story{"soft_taints",
              {"1 deltas, 0"},
              {{"explain demo/first", "runs on machine 'm3'"},
               {"explain demo/second", "runs on machine 'm2'"},
               {"explain demo/third", "runs on machine 'm1'"}}},
        Story{"companions",
              {"0 deltas, 1", "0 deltas, 2", "2 deltas, 0"},
              {{"explain demo/db", "runs on machine 'm2'"},
               {"explain demo/cache", "runs on machine 'm3'"}}},
        Story{"volumes",
              {"4 deltas, 1", "2 deltas, 2"},
              {{"explain demo/db-5",
                "2 insufficient attachable-volumes-aws-ebs"}}},
        Story{"parts",
              {"2 deltas, 2", "1 deltas, 2", "5 deltas, 3"},
              {{"explain demo/solver-3", "a NUMA node with room for all of it"},
               {"explain demo/solver-4",
                "a processing unit with room for all of it"},
               {"explain demo/solver-5", "runs on machine 'm1'"},
               {"explain demo/shard-3",
                "a NUMA node with room away from the others of 'shard'"}}},
        Story{"template",
              {"1 deltas, 0", "0 deltas, 0"},
              {{"explain 1", "1 of these run and 0 wait"},
               {"explain demo/agent-m3", "runs on machine 'm3'"},
               {"explain demo/agent-m1", "unknown"},
               {"tasks", "template"}}},
        Story{"adoption",
              {"0 deltas, 2", "1 deltas, 1"},
              {{"explain demo/web-1", "runs on machine 'm1'"},
               {"explain demo/web-2", "runs on machine 'm1'"},
               {"explain demo/web-3", "runs on 'm3-uuid', as its client says"},
               {"explain demo/web-4", "runs on machine 'm2'"},
               {"status", "1 overcommitted"}}}),
    [](const auto& story) { return std::string(story.param.file); });

TEST(SluicectlBinary, SubmitsTasksAndSeesThemRun) {
  const Daemon daemon;
  const std::string server = StrCat(" --server=", daemon.address());
  const std::string path = testing::TempDir() + "/main_test_submit.jsonl";
  std::ofstream(path) << R"({"nodeAdded": {"resourceDesc": {"uuid": "m1", )"
                         R"("type": "RESOURCE_MACHINE", )"
                         R"("availableResources": {"cpuCores": 4000, )"
                         R"("ramCap": "8589934592000"}}}})"
                      << '\n';
  ASSERT_EQ(Sluicectl(StrCat("inject ", path, server)).exit_code, 0);
  std::remove(path.c_str());
  const Result waits = Sluicectl("submit first --cpu=1" + server);
  EXPECT_EQ(waits.exit_code, 0) << waits.text;
  EXPECT_THAT(Sluicectl("tasks --pending" + server).text, HasSubstr("first"));

  const Result runs = Sluicectl(
      "submit shop/web --count=2 --namespace=shop --cpu=1500m --memory=1Gi "
      "--schedule --wait=30" +
      server);
  EXPECT_EQ(runs.exit_code, 0) << runs.text;
  EXPECT_THAT(runs.text, HasSubstr("took from their client: 1\n"));
  EXPECT_THAT(runs.text, HasSubstr("  running  m1\n"));
  EXPECT_THAT(Sluicectl("explain shop/web-1" + server).text,
              HasSubstr("runs on machine 'm1'"));
  const Result again = Sluicectl("submit shop/web --count=2" + server);
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.text, HasSubstr("there is a task 'shop/web-"));

  const Result large = Sluicectl(
      "submit large --cpu=1 --schedule --wait=1 --interval_ms=100" + server);
  EXPECT_EQ(large.exit_code, 1);
  EXPECT_THAT(large.text, HasSubstr("1 of 1 wait after 1 s; task 'large': "
                                    "0/1 machines: 1 insufficient cpu"));
  const Result bad = Sluicectl("submit bad --resource=cpu=1" + server);
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.text, HasSubstr("cpu': has a field of its own"));
  EXPECT_THAT(bad.text, HasSubstr("tasks that are quarantined: 1\n"));
}

TEST(SluicectlBinary, ExitsAsItsHelpSays) {
  Daemon daemon;
  const std::string server = StrCat(" --server=", daemon.address());
  EXPECT_EQ(Sluicectl("status" + server).exit_code, 0);
  const Result unknown = Sluicectl("explain nobody" + server);
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.text, HasSubstr("nobody"));
  EXPECT_EQ(Sluicectl("job nobody" + server).exit_code, 1);
  EXPECT_EQ(Sluicectl("explain" + server).exit_code, 2);
  EXPECT_EQ(Sluicectl("--nonsense").exit_code, 2);
  daemon.Stop();
  const Result unreachable = Sluicectl("status" + server);
  EXPECT_EQ(unreachable.exit_code, 1);
  EXPECT_THAT(unreachable.text,
              HasSubstr("cannot reach " + daemon.address() + ": "));
}

TEST(SluicectlBinary, SolvesAFileWithoutADaemon) {
  const std::string path = testing::TempDir() + "/main_test_problem.txt";
  std::ofstream(path) << "p min 2 1\nn 1 3\nn 2 -3\na 1 2 0 9 2\n";
  const Result solved = Sluicectl(StrCat("solve --output=json ", path));
  EXPECT_EQ(solved.exit_code, 0) << solved.text;
  EXPECT_THAT(solved.text, HasSubstr("\"objective\": 6,"));
  const Result piped = Sluicectl("solve - <" + path);
  EXPECT_EQ(piped.exit_code, 0) << piped.text;
  std::ofstream(path) << "p min 2 1\nn 1 3\nn 2 -3\na 1 2 0 1 2\n";
  EXPECT_EQ(Sluicectl("solve " + path).exit_code, 3);
  std::ofstream(path) << "p min\n";
  EXPECT_EQ(Sluicectl("solve " + path).exit_code, 2);
  std::remove(path.c_str());
  EXPECT_EQ(Sluicectl("solve " + path).exit_code, 1);
}

TEST(SluicectlBinary, FailsWhereItCannotWrite) {
  const Daemon daemon;
  const Result result =
      Sluicectl(StrCat("status --server=", daemon.address(), " >/dev/full"));
  EXPECT_EQ(result.exit_code, 1);
}

TEST(SluicectlBinary, ReplaysTheSample) {
  const Daemon daemon;
  const Result result = Sluicectl(
      StrCat("replay openb --batch=4 --output=json --server=", daemon.address(),
             " --nodes=", SourcePath("tests/testdata/openb_nodes.csv"),
             " --pods=", SourcePath("tests/testdata/openb_pods.csv")));
  EXPECT_EQ(result.exit_code, 0) << result.text;
  // pod-07 asks for more GPUs than any machine has.
  EXPECT_THAT(result.text, HasSubstr("\"placed\": 18,"));
  EXPECT_THAT(result.text, HasSubstr("\"gave_up\": 1,"));
  EXPECT_THAT(result.text, HasSubstr("\"pending\": 0,"));
  EXPECT_THAT(Sluicectl(StrCat("status --server=", daemon.address())).text,
              HasSubstr("0 pending, 0 running, 0 finished, 0 quarantined\n"));
}

TEST(SluicectlBinary, BenchPlacesAllAndLeavesNothing) {
  const Daemon daemon;
  const std::string server = StrCat(" --server=", daemon.address());
  const Result result = Sluicectl(
      "bench --machines=40 --tasks=1000 --seed=7 --output=json" + server);
  EXPECT_EQ(result.exit_code, 0) << result.text;
  EXPECT_THAT(result.text, HasSubstr("\"placed\": 1000,"));
  EXPECT_THAT(Sluicectl("status" + server).text,
              HasSubstr("0 pending, 0 running, 0 finished, 0 quarantined\n"));
}

TEST(SluicectlBinary, ReplaysTheRealTrace) {
  const char* const folder = std::getenv("SLUICE_OPENB_DIR");
  if (folder == nullptr) {
    GTEST_SKIP() << "set SLUICE_OPENB_DIR to the folder of the openb traces";
  }
  const Daemon daemon;
  const Result result =
      Sluicectl(StrCat("replay openb --output=json --server=", daemon.address(),
                       " --nodes=", folder, "/openb_node_list_all_node.csv",
                       " --pods=", folder, "/openb_pod_list_default.csv"));
  EXPECT_EQ(result.exit_code, 0) << result.text;
  EXPECT_THAT(result.text, HasSubstr("\"machines\": 1523,"));
  EXPECT_THAT(result.text, HasSubstr("\"placed\": 8152,"));
  EXPECT_THAT(result.text, HasSubstr("\"completed\": 8152,"));
}

}  // namespace
}  // namespace sluice
