// How the program starts and ends: exit codes, and messages that name what is
// wrong.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "integration/client.h"
#include "integration/daemon_process.h"
#include "integration/feed_client.h"
#include "integration/stalled_client.h"
#include "unit/persist/temporary_directory.h"
#include "util/tcp_connection.h"

namespace sluice {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr char kAnyPort[] = "--listen_address=127.0.0.1:0";
constexpr char kNoHttp[] = "--http_address=";

// Starts the daemon, which must not come up, and returns what it said.
std::string FailedStart(const std::vector<std::string>& flags) {
  DaemonProcess daemon(flags);
  EXPECT_EQ(daemon.AwaitReady(), 0);
  EXPECT_EQ(daemon.AwaitEnd(), 1);
  return daemon.log();
}

TEST(Process, EndsWellAtSigtermAndSigint) {
  for (const int signal : {SIGTERM, SIGINT}) {
    DaemonProcess daemon({kAnyPort, kNoHttp});
    ASSERT_NE(daemon.AwaitReady(), 0) << daemon.log();
    daemon.Signal(signal);
    EXPECT_EQ(daemon.AwaitEnd(), 0) << daemon.log();
  }
}

// An hour is left to calls under way, of which there are none.
TEST(Process, EndsWithoutWaitingForConnectionsThatAskNothing) {
  DaemonProcess daemon({kAnyPort, "--http_address=127.0.0.1:0",
                        "--shutdown_timeout_ms=3600000"});
  const int port = daemon.AwaitReady();
  const TcpConnection silent(port);
  const TcpConnection silent_http(daemon.http_port());
  TcpConnection half_a_request(daemon.http_port());
  half_a_request.Send("GET /hea");
  FeedClient nameless(port, "");
  Client idle(port);
  idle.Status();
  daemon.Signal(SIGTERM);
  EXPECT_EQ(daemon.AwaitEnd(), 0) << daemon.log();
}

TEST(Process, GivesUpClientsThatDoNotReadTheirReplies) {
  DaemonProcess daemon({kAnyPort, kNoHttp, "--shutdown_timeout_ms=1"});
  const int port = daemon.AwaitReady();
  Client client(port);
  client.AddNode(NodeMessage("n"));
  client.Submit(TaskMessage(1));
  const StalledClient stalled(port);
  while (client.Status().last_round().number() < 1) {
  }
  daemon.Signal(SIGTERM);
  EXPECT_EQ(daemon.AwaitEnd(), 0) << daemon.log();
}

TEST(Process, TakesNoCallForMalformedThatWasBrokenOff) {
  DaemonProcess daemon({kAnyPort, "--http_address=127.0.0.1:0"});
  const int port = daemon.AwaitReady();
  ASSERT_NE(port, 0) << daemon.log();
  for (const char* method : {"Check", "Schedule", "TaskSubmitted", "NodeAdded",
                             "AddTaskInfo", "TaskRemoved"}) {
    BreakOffCall(port, method);
  }
  daemon.Signal(SIGTERM);
  EXPECT_EQ(daemon.AwaitEnd(), 0);
  EXPECT_THAT(daemon.log(), Not(HasSubstr("malformed")));
}

TEST(Process, AnswersTheScheduleCallsThatWaitWhenItEnds) {
  DaemonProcess daemon({kAnyPort, kNoHttp});
  const int port = daemon.AwaitReady();
  ASSERT_NE(port, 0);
  Client client(port);
  client.AddNode(NodeMessage("n"));
  client.Submit(TaskMessage(1));
  // Nobody is served behind a reply that is stuck.
  StalledClient stalled(port);
  while (client.Status().last_round().number() < 1) {
  }
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  const auto call =
      client.scheduler().PrepareAsyncSchedule(&context, {}, &queue);
  call->StartCall();
  firmament::SchedulingDeltas reply;
  grpc::Status status;
  call->Finish(&reply, &status, &context);
  client.Status();  // Over the same connection, behind the call.
  daemon.Signal(SIGTERM);
  void* tag = nullptr;
  bool is_ok = false;
  ASSERT_TRUE(queue.Next(&tag, &is_ok));
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_THAT(reply.deltas(), IsEmpty());
  EXPECT_EQ(daemon.AwaitEnd(), 0) << daemon.log();
}

TEST(Process, KeepsEverythingOverAGracefulEnd) {
  const TemporaryDirectory directory;
  const std::string data_dir = "--data_dir=" + directory.path();
  {
    DaemonProcess daemon({kAnyPort, kNoHttp, data_dir});
    Client client(daemon.AwaitReady());
    client.AddNode(NodeMessage("n", {.cpu = 1000}));
    client.Submit(TaskMessage(1, {.cpu = 600}));
    client.Submit(TaskMessage(2, {.cpu = 600}));
    EXPECT_EQ(client.Schedule().deltas_size(), 1);
    daemon.Signal(SIGTERM);
    EXPECT_EQ(daemon.AwaitEnd(), 0);
  }
  DaemonProcess daemon({kAnyPort, kNoHttp, data_dir});
  Client client(daemon.AwaitReady());
  EXPECT_THAT(daemon.log(), HasSubstr("machines=1 jobs=1 tasks=2 deltas=0"));
  EXPECT_THAT(client.Schedule().deltas(), IsEmpty());
  EXPECT_EQ(client.Status().used().cpu_millicores(), 600);
}

// gRPC closes its port for good, and everything else would go on.
TEST(Process, EndsWhenItHasNoDescriptorForAConnection) {
  DaemonProcess daemon({kAnyPort, kNoHttp});
  const int port = daemon.AwaitReady();
  ASSERT_NE(port, 0) << daemon.log();
  daemon.TakeDescriptors();
  const TcpConnection one_more(port);
  EXPECT_EQ(daemon.AwaitEnd(), 1);
  EXPECT_THAT(daemon.log(), HasSubstr("gRPC no longer listens: Failed accept4: "
                                      "Too many open files; ending"));
}

TEST(Process, SaysThatItsPortIsInUse) {
  DaemonProcess first({kAnyPort, kNoHttp});
  const std::string address = StrCat("127.0.0.1:", first.AwaitReady());
  EXPECT_THAT(
      FailedStart({"--listen_address=" + address, kNoHttp}),
      HasSubstr("cannot listen on " + address + ": address already in use"));
  EXPECT_THAT(
      FailedStart({kAnyPort, "--http_address=" + address}),
      HasSubstr("cannot listen on " + address + ": address already in use"));
}

TEST(Process, WarnsOfPreferencesThatItsCostModelsIgnore) {
  DaemonProcess daemon({kAnyPort, kNoHttp, "--cost_model=taint"});
  ASSERT_NE(daemon.AwaitReady(), 0) << daemon.log();
  EXPECT_THAT(daemon.log(),
              HasSubstr("--cost_model=taint ignores preferences of tasks: "
                        "preferred node affinity (node_affinity);"));
}

TEST(Process, NamesTheFlagThatIsWrong) {
  EXPECT_THAT(FailedStart({"--nonsense"}),
              HasSubstr("unknown flag '--nonsense'"));
  EXPECT_THAT(FailedStart({"--improve_budget=x"}),
              HasSubstr("--improve_budget: 'x' is not a whole number from 0"));
  EXPECT_THAT(FailedStart({"--cost_model=magic"}),
              HasSubstr("--cost_model=magic: "));
  EXPECT_THAT(
      FailedStart({"--replies=loud"}),
      HasSubstr("--replies: 'loud' is not contract or lenient or strict"));
  EXPECT_THAT(FailedStart({"--listen_address=9090"}),
              HasSubstr("--listen_address: '9090': is not HOST:PORT"));
}

TEST(Process, NamesTheDataDirectoryThatItCannotUse) {
  const TemporaryDirectory directory;
  const std::string file = directory / "file";
  std::ofstream(file) << "not a directory";
  EXPECT_THAT(FailedStart({kAnyPort, kNoHttp, "--data_dir=" + file}),
              HasSubstr(file));
  const std::string closed = directory / "closed";
  ASSERT_EQ(mkdir(closed.c_str(), 0), 0);
  if (geteuid() == 0) return;  // Root reads everything.
  EXPECT_THAT(FailedStart({kAnyPort, kNoHttp, "--data_dir=" + closed}),
              HasSubstr(closed));
}

TEST(Process, SaysThatItsDataDirectoryIsInUse) {
  const TemporaryDirectory directory;
  const std::string data_dir = "--data_dir=" + directory.path();
  DaemonProcess first({kAnyPort, kNoHttp, data_dir});
  ASSERT_NE(first.AwaitReady(), 0);
  EXPECT_THAT(FailedStart({kAnyPort, kNoHttp, data_dir}),
              HasSubstr("is in use by another process"));
}

TEST(Process, RefusesAStoreThatItCannotTrust) {
  const TemporaryDirectory directory;
  const std::string data_dir = "--data_dir=" + directory.path();
  {
    DaemonProcess daemon({kAnyPort, kNoHttp, data_dir});
    Client client(daemon.AwaitReady());
    client.AddNode(NodeMessage("n"));
    daemon.Signal(SIGTERM);
    EXPECT_EQ(daemon.AwaitEnd(), 0);
  }
  ASSERT_EQ(unlink((directory / "CURRENT").c_str()), 0);
  std::ofstream(directory / "CURRENT") << "MANIFEST-999999\n";
  EXPECT_THAT(FailedStart({kAnyPort, kNoHttp, data_dir}),
              HasSubstr(directory.path()));
}

}  // namespace
}  // namespace sluice
