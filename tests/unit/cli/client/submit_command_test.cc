#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/strings.h"
#include "cli/application.h"
#include "unit/cli/fake_server.h"
#include "unit/cli/run_cli.h"

namespace sluice {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::SizeIs;
using testing::StartsWith;
using testing::UnorderedElementsAre;

CliResult Submit(FakeServer& server, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "submit");
  arguments.push_back("--server=" + server.Address());
  return RunCli(arguments);
}

uint64_t UidOf(const FakeServer& server, size_t index) {
  return server.scheduler.submitted()[index].task_descriptor().uid();
}

TEST(SubmitCommand, SubmitsOneTaskUnderItsName) {
  FakeServer server;
  const CliResult result = Submit(server, {"web"});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  ASSERT_THAT(server.scheduler.submitted(), SizeIs(1));
  const firmament::TaskDescription sent = server.scheduler.submitted()[0];
  const firmament::TaskDescriptor& task = sent.task_descriptor();
  EXPECT_EQ(task.name(), "web");
  EXPECT_EQ(task.job_id(), "web");
  EXPECT_EQ(sent.job_descriptor().uuid(), "web");
  EXPECT_EQ(sent.job_descriptor().name(), "web");
  EXPECT_EQ(task.namespace_(), "");
  EXPECT_EQ(task.resource_request().cpu_cores(), 0);
  EXPECT_THAT(result.out, AllOf(StartsWith("TASK"), HasSubstr(" UID\nweb  "),
                                HasSubstr(StrCat(task.uid(), "\n"))));
  // Schedule is somebody else's to call.
  EXPECT_THAT(server.scheduler.calls(),
              ElementsAre(StrCat("TaskSubmitted ", task.uid())));
}

TEST(SubmitCommand, SaysOfATaskWhatTheFlagsSay) {
  FakeServer server;
  const CliResult result = Submit(
      server, {"web", "--job=shop", "--namespace=prod", "--cpu=1.5",
               "--memory=1Gi", "--resource=nvidia.com/gpu=2",
               "--resource=a=b=1k", "--priority=7", "--label=app=web",
               "--label", "tier=", "--selector=disk=ssd", "--selector=eq=a=b"});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  ASSERT_THAT(server.scheduler.submitted(), SizeIs(1));
  const firmament::TaskDescription sent = server.scheduler.submitted()[0];
  const firmament::TaskDescriptor& task = sent.task_descriptor();
  EXPECT_EQ(task.job_id(), "shop");
  EXPECT_EQ(sent.job_descriptor().uuid(), "shop");
  EXPECT_EQ(task.namespace_(), "prod");
  EXPECT_EQ(task.priority(), 7u);
  const firmament::ResourceVector& request = task.resource_request();
  EXPECT_EQ(request.cpu_cores(), 1500);
  EXPECT_EQ(request.ram_cap(), 1000ull << 30);
  EXPECT_THAT(
      request.extended_resources(),
      UnorderedElementsAre(Pair("nvidia.com/gpu", 2), Pair("a=b", 1000)));
  ASSERT_EQ(task.labels_size(), 2);
  EXPECT_EQ(task.labels(0).key(), "app");
  EXPECT_EQ(task.labels(0).value(), "web");
  EXPECT_EQ(task.labels(1).key(), "tier");
  EXPECT_EQ(task.labels(1).value(), "");
  ASSERT_EQ(task.label_selectors_size(), 2);
  EXPECT_EQ(task.label_selectors(0).type(), firmament::LabelSelector::IN_SET);
  EXPECT_EQ(task.label_selectors(0).key(), "disk");
  EXPECT_THAT(task.label_selectors(0).values(), ElementsAre("ssd"));
  EXPECT_EQ(task.label_selectors(1).key(), "eq");
  EXPECT_THAT(task.label_selectors(1).values(), ElementsAre("a=b"));
}

TEST(SubmitCommand, NumbersSeveralTasksAndDrawsTheirUids) {
  FakeServer server;
  std::set<uint64_t> uids;
  for (const std::string name : {"web", "db"}) {
    EXPECT_EQ(Submit(server, {name, "--count=3"}).exit_code, kExitSuccess);
  }
  const std::vector<firmament::TaskDescription> sent =
      server.scheduler.submitted();
  ASSERT_THAT(sent, SizeIs(6));
  for (const firmament::TaskDescription& task : sent) {
    uids.insert(task.task_descriptor().uid());
    EXPECT_LT(task.task_descriptor().uid(), uint64_t{1} << 62);
  }
  EXPECT_THAT(uids, AllOf(SizeIs(6), Not(testing::Contains(0))));
  EXPECT_EQ(sent[0].task_descriptor().name(), "web-0");
  EXPECT_EQ(sent[2].task_descriptor().name(), "web-2");
  EXPECT_EQ(sent[2].task_descriptor().index(), 2u);
  EXPECT_EQ(sent[2].task_descriptor().job_id(), "web");
  FakeServer other;
  Submit(other, {"web", "--count=1"});
  EXPECT_EQ(other.scheduler.submitted()[0].task_descriptor().name(), "web-0");
}

TEST(SubmitCommand, PrintsOneJsonObjectATask) {
  FakeServer server;
  const CliResult result =
      Submit(server, {"web", "--count=2", "--output=json"});
  EXPECT_EQ(result.out, StrCat("{\"submitted\":\"", UidOf(server, 0),
                               "\",\"name\":\"web-0\"}\n{\"submitted\":\"",
                               UidOf(server, 1), "\",\"name\":\"web-1\"}\n"));
}

TEST(SubmitCommand, RefusesFlagsThatMakeNoSense) {
  struct Case {
    std::string flag;
    std::string error;
  };
  for (const Case& bad : std::vector<Case>{
           {"--cpu=1x", "--cpu: '1x' is not a quantity such as 2, 500m or 1Gi"},
           {"--cpu=-1", "--cpu: '-1' is not a quantity such as 2, 500m or 1Gi"},
           {"--memory=1gb",
            "--memory: '1gb' is not a quantity such as 2, 500m or 1Gi"},
           {"--memory=1Ei", "--memory: '1Ei' is more than any machine has"},
           {"--resource=gpu", "--resource: 'gpu' is not NAME=AMOUNT"},
           {"--resource=gpu=1.5", "--resource: '1.5' is not whole"},
           {"--resource=gpu=x",
            "--resource: 'x' is not a quantity such as 2, 500m or 1Gi"},
           {"--label=app", "--label: 'app' is not KEY=VALUE"},
           {"--label==web", "--label: '=web' is not KEY=VALUE"},
           {"--selector=disk", "--selector: 'disk' is not KEY=VALUE"},
           {"--priority=-1",
            "--priority: '-1' is not a whole number from 0 to 4294967295"},
           {"--count=0", "--count: '0' is not a whole number from 1 to 10000"},
           {"--wait=0", "--wait: '0' is not a whole number from 1 to 1000000"},
           {"--labels=a=b", "unknown flag '--labels'; did you mean --label?"},
       }) {
    const CliResult result = RunCli({"submit", "web", bad.flag});
    EXPECT_EQ(result.exit_code, kExitUsage) << bad.flag;
    EXPECT_EQ(result.err, StrCat("sluicectl: ", bad.error,
                                 "\nTry 'sluicectl submit --help'.\n"));
  }
  EXPECT_THAT(RunCli({"submit", "web", "--label=a=1", "--label=a=2"}).err,
              StartsWith("sluicectl: --label: 'a' is given twice\n"));
  EXPECT_THAT(RunCli({"submit", ""}).err,
              StartsWith("sluicectl: NAME is empty\n"));
  EXPECT_EQ(RunCli({"submit", "web", "db"}).exit_code, kExitUsage);
}

TEST(SubmitCommand, RefusesANameThatIsInUse) {
  FakeServer server;
  v1::Task& task = server.inspector.tasks.emplace_back();
  task.set_uid(7);
  task.set_name("web-1");
  task.set_state(v1::Task::RUNNING);
  const CliResult result = Submit(server, {"web", "--count=2"});
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_EQ(result.err,
            "sluicectl: there is a task 'web-1' already: 7, running\n");
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(server.scheduler.calls(), IsEmpty());
  task.set_state(v1::Task::COMPLETED);
  EXPECT_EQ(Submit(server, {"web", "--count=2"}).exit_code, kExitSuccess);
}

TEST(SubmitCommand, StopsAtTheFirstRefusalAndShowsWhatIsThere) {
  FakeServer server;
  server.scheduler.Refuse("web-1");
  const CliResult result = Submit(server, {"web", "--count=3", "--wait=9"});
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_THAT(result.err, AllOf(StartsWith("sluicectl: task 'web-1', uid "),
                                HasSubstr(": TASK_ALREADY_SUBMITTED\n")));
  EXPECT_THAT(result.out, HasSubstr(StrCat(UidOf(server, 0), "\n")));
  EXPECT_THAT(result.out, Not(HasSubstr("web-1")));
  EXPECT_THAT(server.scheduler.calls(), SizeIs(2));
}

TEST(SubmitCommand, NamesWhatIsQuarantinedAndDoesNotWaitForIt) {
  FakeServer server;
  server.inspector.scheduler = &server.scheduler;
  server.inspector.quarantine_reason = "no sense";
  const CliResult result = Submit(server, {"web", "--schedule", "--wait=9"});
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_EQ(result.err, "sluicectl: tasks that are quarantined: 1\n");
  EXPECT_THAT(result.out, HasSubstr("\n\nQUARANTINED  ID"));
  EXPECT_THAT(result.out,
              HasSubstr(StrCat("\ntask         ", UidOf(server, 0))));
  EXPECT_THAT(result.out, HasSubstr("  web   no sense\n"));
  EXPECT_THAT(server.scheduler.calls(), SizeIs(1));
  const CliResult json = Submit(server, {"db", "--output=json"});
  EXPECT_THAT(
      json.out,
      HasSubstr(StrCat("{\"quarantined\":\"task\",\"id\":\"", UidOf(server, 1),
                       "\",\"name\":\"db\",\"reason\":\"no sense\"}")));
}

TEST(SubmitCommand, SchedulesWhereAskedToAndSaysWhereTheyRun) {
  FakeServer server;
  server.inspector.scheduler = &server.scheduler;
  const CliResult result =
      Submit(server, {"web", "--count=2", "--schedule", "--wait=9"});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, HasSubstr("  STATE    MACHINE\n"));
  EXPECT_THAT(result.out,
              HasSubstr(StrCat(UidOf(server, 1), "  running  m\n")));
  EXPECT_EQ(server.scheduler.calls().back(), "Schedule");
  EXPECT_THAT(server.scheduler.calls(), SizeIs(3));
  const CliResult json = Submit(server, {"db", "--schedule", "--output=json"});
  EXPECT_THAT(json.out,
              HasSubstr(StrCat("}\n{\"uid\":\"", UidOf(server, 2),
                               "\",\"name\":\"db\",\"state\":\"running\","
                               "\"machine\":\"\",\"machineUuid\":\"m\"}\n")));
}

TEST(SubmitCommand, SaysHowManyDecisionsItTookFromOthers) {
  FakeServer server;
  server.inspector.scheduler = &server.scheduler;
  Submit(server, {"other", "--count=2"});
  const CliResult result = Submit(server, {"web", "--schedule"});
  EXPECT_EQ(result.exit_code, kExitSuccess);
  EXPECT_EQ(result.err,
            "sluicectl: decisions about other tasks that --schedule took from "
            "their client: 2\n");
}

TEST(SubmitCommand, SaysWhyTheFirstStillWaits) {
  FakeServer server(100);
  server.inspector.scheduler = &server.scheduler;
  server.inspector.explanation.set_summary("0/1 machines: 1 insufficient cpu");
  const std::vector<std::string> arguments = {"web",        "--count=2",
                                              "--cpu=200m", "--schedule",
                                              "--wait=3",   "--interval_ms=10"};
  const CliResult result = Submit(server, arguments);
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_EQ(result.err,
            "sluicectl: 2 of 2 wait after 3 s; task 'web-0': 0/1 machines: 1 "
            "insufficient cpu\n");
  EXPECT_THAT(result.out, HasSubstr("  pending  -\n"));
  // Again and again.
  EXPECT_GT(server.scheduler.calls().size(), 4u);
}

TEST(SubmitCommand, WaitsForAnotherClientToSchedule) {
  FakeServer server;
  server.inspector.scheduler = &server.scheduler;
  server.inspector.explanation.set_summary("fits");
  const CliResult result = Submit(server, {"web", "--wait=1"});
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_EQ(result.err, "sluicectl: 1 of 1 wait after 1 s; task 'web': fits\n");
  EXPECT_THAT(server.scheduler.calls(), SizeIs(1));
}

TEST(SubmitCommand, EndsWhereSomebodyRemovesATask) {
  FakeServer server;  // Whose Inspector lists nothing.
  const CliResult result = Submit(server, {"web", "--wait=9"});
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_EQ(result.err, "sluicectl: task 'web': somebody removed it\n");
  EXPECT_THAT(result.out, HasSubstr("  gone   -\n"));
}

TEST(SubmitCommand, FailsWhereNobodyAnswers) {
  const CliResult result = RunCli({"submit", "web", "--server=127.0.0.1:1"});
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_THAT(result.err, HasSubstr("cannot reach 127.0.0.1:1: "));
  EXPECT_EQ(result.out, "");
}

}  // namespace
}  // namespace sluice
