#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "unit/cli/fake_server.h"
#include "unit/cli/run_cli.h"

namespace sluice {
namespace {

using testing::HasSubstr;

void AddBudgets(FakeInspector& inspector) {
  v1::Budget& db = inspector.budgets.emplace_back();
  db.set_name("shop/db");
  db.set_feed("kubernetes");
  db.set_min_available("2");
  db.set_expected(3);
  db.set_available(3);
  db.set_needed(2);
  db.set_allowed(1);
  v1::Budget& web = inspector.budgets.emplace_back();
  web.set_name("web");
  web.set_job_uuid("5f1c");
  web.set_max_unavailable("40%");
  web.set_expected(10);
  web.set_available(5);
  web.set_needed(6);
  inspector.budgets.push_back(web);
  inspector.budgets.back().set_name("web-2");
}

TEST(BudgetsCommand, ListsAllPages) {
  FakeServer server;
  AddBudgets(server.inspector);
  const CliResult result = RunCli({"budgets", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_EQ(result.out,
            "NAME     OF               LIMIT                EXPECTED  "
            "AVAILABLE  NEEDED  ALLOWED\n"
            "shop/db  feed kubernetes  min available 2             3  "
            "        3       2        1\n"
            "web      job 5f1c         max unavailable 40%        10  "
            "        5       6        0\n"
            "web-2    job 5f1c         max unavailable 40%        10  "
            "        5       6        0\n");
}

TEST(BudgetsCommand, PrintsOneJsonObjectForAllPages) {
  FakeServer server;
  AddBudgets(server.inspector);
  const CliResult result =
      RunCli({"budgets", "--output=json", "--server", server.Address()});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_TRUE(result.out.starts_with("{\n \"budgets\": [\n")) << result.out;
  EXPECT_THAT(result.out, HasSubstr("\"name\": \"shop/db\""));
  EXPECT_THAT(result.out, HasSubstr("\"name\": \"web-2\""));
  EXPECT_THAT(result.out, HasSubstr("\"nextPageToken\": \"\""));
}

TEST(BudgetsCommand, TakesNoArguments) {
  EXPECT_EQ(RunCli({"budgets", "web"}).exit_code, kExitUsage);
}

}  // namespace
}  // namespace sluice
