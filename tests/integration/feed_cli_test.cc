// sluicectl's feed and bench --feed against the real daemon.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/strings.h"
#include "integration/await.h"
#include "integration/client.h"
#include "integration/daemon_process.h"
#include "integration/feed_client.h"
#include "integration/shell_command.h"
#include "unit/persist/temporary_directory.h"
#include "util/paths.h"

namespace sluice {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class FeedCli : public testing::Test {
 protected:
  FeedCli()
      : daemon_({"--listen_address=127.0.0.1:0", "--http_address="}),
        port_(daemon_.AwaitReady()) {}

  // Both streams of what the command prints, and how it ended.
  std::string Sluicectl(const std::string& arguments) const {
    return OutputOf(StrCat(ProgramPath("sluicectl"), " --server=127.0.0.1:",
                           port_, " ", arguments, " 2>&1"));
  }
  std::string FileWith(const std::string& text) const {
    const std::string path = StrCat(directory_.path(), "/events");
    std::ofstream(path) << text;
    return path;
  }

  const TemporaryDirectory directory_;
  DaemonProcess daemon_;
  const int port_;
};

constexpr const char* kCluster = R"(# A machine and a task.
{"machine": {"resourceDesc": {"uuid": "n1", "availableResources": {"cpuCores": 4000}}}}

{"task": {"id": "web-1", "description": {"taskDescriptor": {"jobId": "web"}}}}
)";

TEST_F(FeedCli, StatesASnapshotAndPrintsWhatIsDecided) {
  const std::string file = FileWith(kCluster);
  EXPECT_EQ(Sluicectl(StrCat("feed shop ", file, " --snapshot --for=5")),
            "PLACE web-1 n1\nexit code 0\n");
  std::string status;
  Await([&] {
    status = Sluicectl("status");
    return status.find("not connected") != std::string::npos;
  });
  EXPECT_THAT(status, HasSubstr("feed shop           not connected"));
  EXPECT_EQ(Sluicectl("feed shop /dev/null --snapshot"), "exit code 0\n");
  EXPECT_THAT(Sluicectl("status"), HasSubstr("machines            0 usable"));
}

// By priorities as the client counts, which are 100 less than the daemon's.
TEST_F(FeedCli, ShowsWhatWaitsOfEachPriority) {
  FeedClient feed(port_, "shop");
  feed.Add()->mutable_begin_snapshot()->set_priority_zero(100);
  feed.AddMachine("n1", {.cpu = 1000});
  feed.AddTask("web-1", {.cpu = 600, .priority = 105});
  feed.AddTask("web-2", {.cpu = 600, .priority = 105});
  feed.AddTask("batch", {.cpu = 600, .priority = 98});
  feed.EndSnapshot();
  ASSERT_TRUE(feed.Flush());
  ASSERT_TRUE(feed.AwaitDeltas(1));
  // Then a round may follow in which nothing can be placed, which says the
  // same.
  ASSERT_TRUE(feed.Confirm());
  ASSERT_TRUE(feed.Settle());
  const std::string status = Sluicectl("status");
  EXPECT_THAT(status, HasSubstr("round gap           none: as good as can be"));
  EXPECT_THAT(status,
              ContainsRegex("LEVEL +PRIORITY +WAITING COST +AT LEAST +GAP\n"
                            "1 +5 and above +2560000 +2560000 +none\n"
                            "2 +-2 to 4 +2560000 +2560000 +none\n"
                            "cost +"));
}

TEST_F(FeedCli, PrintsLinesForProgramsAndTellsOfProblems) {
  const std::string file =
      FileWith(StrCat(kCluster, R"({"taskGone": {"id": "nobody"}})"));
  EXPECT_THAT(
      Sluicectl(
          StrCat("feed shop ", file, " --snapshot --for=5 --output=json")),
      AllOf(HasSubstr(R"({"problem":{"sequence":"4","code":"UNKNOWN",)"
                      R"("message":"task 'nobody' is not known"}})"),
            HasSubstr(R"({"delta":{"sequence":"1","task":"web-1",)"
                      R"("type":"PLACE","machine":"n1","resource":"n1"}})"),
            HasSubstr("1 of 5 events had problems"), HasSubstr("exit code 1")));
}

TEST_F(FeedCli, NamesTheLineThatMakesNoSense) {
  const std::string file = FileWith("{\"beginSnapshot\": {}}\n{\"tusk\": 1}\n");
  EXPECT_THAT(Sluicectl(StrCat("feed shop ", file)),
              AllOf(HasSubstr("line 2: "), HasSubstr("tusk")));
}

TEST_F(FeedCli, TellsHowTheDaemonEndedTheCall) {
  const std::string file = FileWith(R"({"taskGone": {"id": "a"}})");
  EXPECT_THAT(Sluicectl(StrCat("feed shop ", file)),
              AllOf(HasSubstr("begin_snapshot must come first"),
                    HasSubstr("exit code 1")));
  EXPECT_THAT(Sluicectl("feed shop /no/such/file"), HasSubstr("/no/such/file"));
}

TEST_F(FeedCli, BenchmarksTheFeedAndLeavesNothing) {
  EXPECT_THAT(
      Sluicectl("bench --feed --resync --latency=3 --machines=4 --tasks=50 "
                "--output=json"),
      AllOf(HasSubstr("\"tasks_per_s\""), HasSubstr("\"resync_us\""),
            HasSubstr("\"latency_p99_us\""), HasSubstr("exit code 0")));
  const v1::Status status = Client(port_).Status();
  EXPECT_EQ(status.machines() + status.jobs() + status.running_tasks(), 0);
}

TEST_F(FeedCli, LeavesWhatABenchmarkIsToldToKeep) {
  EXPECT_THAT(Sluicectl("bench --feed --keep --machines=4 --tasks=50"),
              AllOf(HasSubstr("tasks placed"), Not(HasSubstr("removed")),
                    HasSubstr("exit code 0")));
  const v1::Status status = Client(port_).Status();
  EXPECT_EQ(status.machines(), 4);
  EXPECT_EQ(status.running_tasks(), 50);
}

TEST_F(FeedCli, SaysWhatTheDaemonLacksToBenchmarkPreemption) {
  EXPECT_THAT(Sluicectl("bench --feed --profile=preemption --machines=3 "
                        "--tasks=2"),
              AllOf(HasSubstr("2 tasks wait and the daemon stops no others for "
                              "them: run it with --preemption=priority"),
                    HasSubstr("exit code 1")));
}

TEST(PreemptionBench, StopsThreeForEachTaskAndLeavesNothing) {
  DaemonProcess daemon({"--listen_address=127.0.0.1:0",
                        "--http_address=", "--preemption=priority"});
  const int port = daemon.AwaitReady();
  EXPECT_THAT(
      OutputOf(StrCat(ProgramPath("sluicectl"), " --server=127.0.0.1:", port,
                      " bench --feed --profile=preemption --machines=12 "
                      "--tasks=10 --resync --latency=2 --output=json 2>&1")),
      AllOf(HasSubstr("\"fillers\": 48,"), HasSubstr("\"victims\": 30,"),
            ContainsRegex("\"nominating_us\": [1-9]"),
            ContainsRegex("\"tasks_per_s\": [1-9]"),
            ContainsRegex("\"rounds\": [1-9]"), HasSubstr("\"resync_us\""),
            HasSubstr("exit code 0")));
  const v1::Status status = Client(port).Status();
  EXPECT_EQ(status.machines() + status.jobs() + status.running_tasks(), 0);
}

}  // namespace
}  // namespace sluice
