#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "cli/application.h"
#include "unit/cli/fake_server.h"
#include "unit/cli/run_cli.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

CliResult Inject(FakeServer& server, const std::string& lines,
                 std::vector<std::string> flags = {}) {
  std::vector<std::string> arguments = {"inject", "-",
                                        "--server=" + server.Address()};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  return RunCli(arguments, lines);
}

constexpr char kSubmit[] =
    R"({"taskSubmitted": {"taskDescriptor": {"uid": 7}}})"
    "\n";

TEST(InjectCommand, SendsEventsInOrderAndShowsDeltas) {
  FakeServer server;
  const CliResult result =
      Inject(server, std::string("# a comment\n\n") + kSubmit +
                         "  // another\n"
                         "{\"schedule\": {}}\n"
                         "{\"taskRemoved\": {\"taskUid\": \"7\"}}\n");
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_THAT(server.scheduler.calls(),
              ElementsAre("TaskSubmitted 7", "Schedule", "TaskRemoved 7"));
  EXPECT_EQ(result.out,
            "line 5: schedule: 1 deltas, 0 unscheduled\n"
            "TASK  TYPE   RESOURCE\n"
            "   7  PLACE  pu\n"
            "\n"
            "EVENT          REPLY              COUNT\n"
            "schedule       OK                     1\n"
            "taskRemoved    TASK_REMOVED_OK        1\n"
            "taskSubmitted  TASK_SUBMITTED_OK      1\n");
  EXPECT_EQ(result.err, "");
}

TEST(InjectCommand, ListsWhatTheRoundLeftWaiting) {
  FakeServer server(100);
  const CliResult result = Inject(
      server,
      "{\"taskSubmitted\": {\"taskDescriptor\": {\"uid\": 8, "
      "\"resourceRequest\": {\"cpuCores\": 101}}}}\n{\"schedule\": {}}\n");
  EXPECT_THAT(result.out, HasSubstr("0 deltas, 1 unscheduled\n"
                                    "unscheduled: 8\n"));
}

TEST(InjectCommand, SendsNothingFromABadLineOn) {
  FakeServer server;
  const CliResult result =
      Inject(server, std::string(kSubmit) +
                         "{\"taskCompleted\": {\"taskUid\": \"x\"}}\n" +
                         "{\"schedule\": {}}\n");
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_TRUE(result.err.starts_with("sluicectl: line 2: taskCompleted: "))
      << result.err;
  EXPECT_THAT(server.scheduler.calls(), ElementsAre("TaskSubmitted 7"));
}

TEST(InjectCommand, ShowsTheErrorAloneWhereTheFirstLineIsBad) {
  const std::string path = testing::TempDir() + "/inject_command_test.jsonl";
  std::ofstream(path) << "# nothing\n{\"taskRemoved\": {\"uid\": 7}}\n";
  FakeServer server;
  const CliResult result =
      RunCli({"inject", path, "--server=" + server.Address()});
  std::remove(path.c_str());
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "sluicectl: " + path +
                            ", line 2: taskRemoved: there is no field 'uid'\n");
}

TEST(InjectCommand, ReportsRefusalsAndGoesOn) {
  FakeServer server;
  const CliResult result =
      Inject(server, std::string(kSubmit) + kSubmit + "{\"schedule\": {}}\n");
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_EQ(result.err,
            "line 2: taskSubmitted: TASK_ALREADY_SUBMITTED\n"
            "sluicectl: 1 of 3 events were refused by the server\n");
  EXPECT_EQ(server.scheduler.calls().size(), 3u);
}

TEST(InjectCommand, GoesOnWhereAStrictServerRefuses) {
  FakeServer server;
  const CliResult result =
      Inject(server, "{\"nodeAdded\": {}}\n" + std::string(kSubmit));
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_THAT(result.out, HasSubstr("INVALID_ARGUMENT"));
  EXPECT_THAT(result.err, HasSubstr("line 1: "));
  EXPECT_THAT(result.err, HasSubstr("uuid is empty"));
  EXPECT_THAT(result.err, HasSubstr("1 of 2 events were refused"));
  EXPECT_EQ(server.scheduler.calls().size(), 2u);
}

TEST(InjectCommand, StopsAtARefusalWhereAskedTo) {
  FakeServer server;
  const CliResult result =
      Inject(server, std::string(kSubmit) + kSubmit + "{\"schedule\": {}}\n",
             {"--stop_on_error"});
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_EQ(server.scheduler.calls().size(), 2u);
}

TEST(InjectCommand, TakesAMachineThatIsThereForDone) {
  FakeServer server;
  const std::string add =
      "{\"nodeAdded\": {\"resourceDesc\": {\"uuid\": \"m\"}}}\n";
  const CliResult result = Inject(server, add + add, {"--stop_on_error"});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_THAT(result.out, HasSubstr("NODE_ALREADY_EXISTS"));
}

TEST(InjectCommand, PrintsOneJsonObjectAReply) {
  FakeServer server;
  const CliResult result =
      Inject(server, std::string(kSubmit) + "\n{\"schedule\": {}}\n",
             {"--output=json"});
  EXPECT_EQ(result.out, R"({"line":1,"event":"taskSubmitted","reply":)"
                        R"({"type":"TASK_SUBMITTED_OK"}})"
                        "\n"
                        R"({"line":3,"event":"schedule","reply":{"deltas":[)"
                        R"({"taskId":"7","resourceId":"pu","type":"PLACE"}],)"
                        R"("unscheduledTasks":[]}})"
                        "\n");
}

TEST(InjectCommand, FailsWhereACallFails) {
  FakeServer server;
  const CliResult result = Inject(server, "{\"nodeFailed\": {}}\n");
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_THAT(result.err, HasSubstr("sluicectl: line 1: "));
  EXPECT_THAT(result.err, HasSubstr("does not offer this call"));
}

TEST(InjectCommand, NamesAFileItCannotRead) {
  const CliResult result = RunCli({"inject", "/nonexistent/file"});
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_EQ(result.err, "sluicectl: cannot read /nonexistent/file\n");
}

TEST(InjectCommand, OfNothingSendsNothing) {
  FakeServer server;
  EXPECT_EQ(Inject(server, "").exit_code, kExitSuccess);
  EXPECT_THAT(server.scheduler.calls(), IsEmpty());
}

TEST(InjectCommand, NamesWhatOfItIsQuarantined) {
  FakeServer server;
  for (const uint64_t uid : {7, 8}) {  // 8 is somebody else's.
    v1::Task& task = server.inspector.tasks.emplace_back();
    task.set_uid(uid);
    task.set_name("web");
    task.set_state(v1::Task::QUARANTINED);
    task.set_quarantine_reason("cpu_cores: -5 < 0");
  }
  const CliResult result = Inject(server, std::string("\n") + kSubmit);
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_THAT(result.out,
              HasSubstr("\n\nLINE  QUARANTINED  ID  NAME  REASON\n"
                        "   2  task         7   web   cpu_cores: -5 < 0\n"));
  EXPECT_THAT(result.out, Not(HasSubstr(" 8 ")));
}

TEST(InjectCommand, FailsOnQuarantineWhereItIsStrict) {
  FakeServer server;
  v1::Machine& machine = server.inspector.machines.emplace_back();
  machine.set_uuid("m");
  machine.set_condition(v1::Machine::QUARANTINED);
  machine.set_quarantine_reason("no sense");
  const CliResult result =
      Inject(server, "{\"nodeAdded\": {\"resourceDesc\": {\"uuid\": \"m\"}}}\n",
             {"--strict", "--output=json"});
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_EQ(result.err,
            "sluicectl: tasks and machines that are quarantined: 1\n");
  EXPECT_THAT(result.out,
              HasSubstr("{\"line\":1,\"quarantined\":\"machine\",\"id\":\"m\","
                        "\"name\":\"\",\"reason\":\"no sense\"}\n"));
}

}  // namespace
}  // namespace sluice
