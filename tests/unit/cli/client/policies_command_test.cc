#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/cli/fake_server.h"
#include "unit/cli/run_cli.h"

namespace sluice {
namespace {

using testing::HasSubstr;

void AddPolicies(FakeInspector& inspector) {
  v1::ListPoliciesResponse::Policy* policy = inspector.policies.add_policies();
  policy->set_name("cpu_memory");
  policy->set_reads("requests");
  policy->set_summary("The emptiest machine first.");
  policy->set_in_force(true);
  policy = inspector.policies.add_policies();
  policy->set_name("taint");
  policy->set_reads("taints");
  policy->set_summary("Tainted machines last.");
}

TEST(PoliciesCommand, ListsThemWithWhatEachReads) {
  FakeServer server;
  AddPolicies(server.inspector);
  const CliResult result = RunCli({"policies", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_EQ(result.out,
            "POLICY      IN FORCE  READS     WHAT IT WANTS\n"
            "cpu_memory  yes       requests  The emptiest machine first.\n"
            "taint       -         taints    Tainted machines last.\n");
}

TEST(PoliciesCommand, PrintsJson) {
  FakeServer server;
  AddPolicies(server.inspector);
  const CliResult result =
      RunCli({"policies", "--output=json", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\"inForce\": true"));
  EXPECT_THAT(result.out, HasSubstr("\"inForce\": false"));
}

TEST(PoliciesCommand, TakesNoArguments) {
  EXPECT_EQ(RunCli({"policies", "cpu_memory"}).exit_code, kExitUsage);
}

}  // namespace
}  // namespace sluice
