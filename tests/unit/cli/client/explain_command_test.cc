#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/application.h"
#include "unit/cli/fake_server.h"
#include "unit/cli/run_cli.h"

namespace sluice {
namespace {

using testing::HasSubstr;

void Fill(v1::TaskExplanation& explanation) {
  explanation.mutable_task()->set_uid(7);
  explanation.mutable_task()->set_name("demo/t");
  explanation.mutable_task()->set_state(v1::Task::PENDING);
  explanation.mutable_task()->add_node_selector("disk=ssd");
  explanation.mutable_task()->add_node_selector("!gpu");
  v1::TaskRule* rules = explanation.mutable_task()->add_rules();
  rules->set_name("a_kind");
  rules->add_texts("key: \"a\"");
  rules->add_texts("key: \"b\"");
  explanation.mutable_task()->add_required_affinity("zone=a");
  explanation.mutable_task()->add_required_affinity("zone=b");
  explanation.mutable_task()->add_preferred_affinity("10: fast");
  explanation.mutable_task()->add_tolerations("sick:NoExecute for 300s");
  explanation.mutable_task()->add_host_ports("TCP 0.0.0.0:80");
  explanation.mutable_task()->add_pod_affinity("app=db in the same zone");
  explanation.mutable_task()->add_pod_anti_affinity(
      "job a on the same machine");
  explanation.mutable_task()->add_pod_anti_affinity(
      "job b on the same machine");
  explanation.mutable_task()->add_preferred_pod_affinity(
      "5: job c in the same x");
  explanation.mutable_task()->add_topology_spread(
      "app=web over zone with maxSkew 1");
  explanation.mutable_task()->set_replaces("17 web-3");
  explanation.set_summary("0/3 machines: 2 insufficient cpu, 1 other");
  v1::Reason& reason = *explanation.add_reasons();
  reason.set_machines(2);
  reason.set_text("insufficient cpu");
  reason.set_code("insufficient_cpu");
  v1::NearMiss& nearest = *explanation.add_nearest();
  nearest.set_machine_uuid("u1");
  nearest.set_lacks("lacks 500m cpu");
}

TEST(ExplainCommand, ShowsSummaryReasonsAndNearestMachines) {
  FakeServer server;
  Fill(server.inspector.explanation);
  const CliResult result =
      RunCli({"explain", "demo/t", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_TRUE(result.out.starts_with("TASK         7  demo/t\n")) << result.out;
  EXPECT_THAT(result.out,
              HasSubstr("\n\n0/3 machines: 2 insufficient cpu, 1 other\n\n"
                        "MACHINES  REASON            CODE\n"
                        "       2  insufficient cpu  insufficient_cpu\n\n"
                        "NEAREST  WHY NOT\n"
                        "u1       lacks 500m cpu\n"));
}

TEST(ExplainCommand, ShowsWhatPoliciesWouldCharge) {
  FakeServer server;
  v1::TaskExplanation& explanation = server.inspector.explanation;
  explanation.mutable_task()->set_name("demo/t");
  explanation.mutable_task()->set_state(v1::Task::RUNNING);
  explanation.set_summary("runs on machine 'node-1'");
  for (const char* machine : {"node-1", "node-2"}) {
    v1::MachineCost* cost = explanation.add_costs();
    cost->set_machine_name(machine);
    for (const char* policy : {"cpu_memory", "taint"}) {
      v1::PolicyCost* charged = cost->add_policies();
      charged->set_policy(policy);
      charged->set_points(cost->policies_size() == 1 ? 2400 : 450000);
    }
  }
  const CliResult result =
      RunCli({"explain", "demo/t", "--server", server.Address()});
  EXPECT_THAT(result.out,
              HasSubstr("\n\nwhat policies would charge now, in points\n"
                        "POLICY      node-1  node-2 (next)\n"
                        "cpu_memory    2400           2400\n"
                        "taint       450000         450000\n"));
}

TEST(ExplainCommand, ShowsWhatTheTaskSaysAboutMachines) {
  FakeServer server;
  Fill(server.inspector.explanation);
  const CliResult result =
      RunCli({"explain", "demo/t", "--server", server.Address()});
  EXPECT_THAT(
      result.out,
      HasSubstr("selector     disk=ssd, !gpu\n"
                "requires     zone=a or zone=b\n"
                "prefers      10: fast\n"
                "tolerates    sick:NoExecute for 300s\n"
                "ports        TCP 0.0.0.0:80\n"
                "near         app=db in the same zone\n"
                "away from    job a on the same machine, job b on the same "
                "machine\n"
                "rather near  5: job c in the same x\n"
                "spread       app=web over zone with maxSkew 1\n"
                "a kind       key: \"a\", key: \"b\"\n"
                "replaces     17 web-3\n"));
}

TEST(ExplainCommand, PrintsJson) {
  FakeServer server;
  Fill(server.inspector.explanation);
  const CliResult result = RunCli(
      {"explain", "demo/t", "--output=json", "--server", server.Address()});
  EXPECT_THAT(result.out, HasSubstr("\"code\": \"insufficient_cpu\""));
}

TEST(ExplainCommand, FailsForATaskThatIsNotThere) {
  FakeServer server;
  const CliResult result =
      RunCli({"explain", "nobody", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitFailure);
  EXPECT_THAT(result.err, HasSubstr("no task nobody"));
}

}  // namespace
}  // namespace sluice
