#include "rpc/inspect_budgets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/strings.h"
#include "util/cluster_builder.h"
#include "util/rules_builder.h"
#include "util/status_matchers.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Limit = DisruptionBudget::Limit;

TaskSelector Web() {
  return {.labels = std::vector<LabelRequirement>{LabelIn("app", {"web"})},
          .namespaces = {""}};
}

class InspectBudgetsTest : public testing::Test {
 protected:
  InspectBudgetsTest() { cluster_.Apply(Added("m", {.cpu = 10000})); }

  // Tasks that run, of a job with this budget.
  void RunTasks(int count, const std::string& job,
                const DisruptionBudget& budget) {
    for (int i = 0; i < count; ++i) {
      cluster_.Apply(Submitted(++last_uid_, {.cpu = 100,
                                             .job = job,
                                             .labels = {{"app", "web"}},
                                             .budget = budget}));
    }
    cluster_.Reply(0);
  }
  void State(const std::string& feed_name, const std::string& id,
             const DisruptionBudget& budget) {
    ClusterState& state = cluster_.mutable_state();
    const FeedId feed = state.OpenFeed(feed_name);
    state.Apply(feed, SnapshotBegan(), 0);
    state.Apply(feed, BudgetStated{id, budget}, 0);
    state.SyncPeers();
  }
  v1::ListBudgetsResponse List(const v1::ListBudgetsRequest& request = {}) {
    v1::ListBudgetsResponse response;
    EXPECT_THAT(InspectBudgets(cluster_.state(), request, &response), IsOk());
    return response;
  }

  TestScheduler cluster_;
  uint64_t last_uid_ = 0;
};

TEST_F(InspectBudgetsTest, ShowsWhatABudgetAllowsAndWhy) {
  RunTasks(5, "web",
           {.limit = Limit::kMaxUnavailable, .amount = 40, .is_percent = true});
  State("shop", "pdb",
        {.tasks = Web(), .amount = 2, .expected = 9, .allowed = 1});
  const v1::ListBudgetsResponse all = List();
  ASSERT_EQ(all.budgets_size(), 2);
  const v1::Budget& pdb = all.budgets(0);
  EXPECT_EQ(pdb.name(), "pdb");
  EXPECT_EQ(pdb.feed(), "shop");
  EXPECT_EQ(pdb.job_uuid(), "");
  EXPECT_EQ(pdb.min_available(), "2");
  EXPECT_EQ(pdb.max_unavailable(), "");
  EXPECT_EQ(pdb.expected(), 9);
  EXPECT_EQ(pdb.available(), 5);
  EXPECT_EQ(pdb.needed(), 2);
  EXPECT_EQ(pdb.allowed(), 1);
  EXPECT_EQ(pdb.allowed_by_client(), 1);
  const v1::Budget& web = all.budgets(1);
  EXPECT_EQ(web.name(), "web");
  EXPECT_EQ(web.job_uuid(), "web");
  EXPECT_EQ(web.feed(), "");
  EXPECT_EQ(web.min_available(), "");
  EXPECT_EQ(web.max_unavailable(), "40%");
  EXPECT_EQ(web.expected(), 5);
  EXPECT_EQ(web.needed(), 3);
  EXPECT_EQ(web.allowed(), 2);
  EXPECT_FALSE(web.has_allowed_by_client());
}

TEST_F(InspectBudgetsTest, ListsThemByNameThoughSomeComeAndGoBetweenPages) {
  const DisruptionBudget one = {.amount = 1};
  const DisruptionBudget web = {.tasks = Web(), .amount = 1};
  for (const char* job : {"d", "b", "3:b/feed x"}) RunTasks(1, job, one);
  State("shop", "b", web);
  State("mail", "b", web);
  std::vector<std::string> seen;
  v1::ListBudgetsRequest request;
  request.set_page_size(1);
  for (int page = 0;; ++page) {
    const v1::ListBudgetsResponse response = List(request);
    ASSERT_EQ(response.budgets_size(), 1);
    const v1::Budget& budget = response.budgets(0);
    seen.push_back(
        StrCat(budget.name(), " ", budget.job_uuid(), budget.feed()));
    if (page == 0) {
      // The last one of the page, and one before it.
      cluster_.Apply(Removed(uint64_t{3}));
      RunTasks(1, "1", one);
    }
    if (response.next_page_token().empty()) break;
    request.set_page_token(response.next_page_token());
  }
  EXPECT_THAT(seen, ElementsAre("3:b/feed x 3:b/feed x", "b b", "b mail",
                                "b shop", "d d"));
}

TEST_F(InspectBudgetsTest, RefusesSizesAndTokensThatAreNone) {
  v1::ListBudgetsRequest request;
  v1::ListBudgetsResponse response;
  request.set_page_size(-1);
  EXPECT_THAT(
      InspectBudgets(cluster_.state(), request, &response),
      StatusIs(absl::StatusCode::kInvalidArgument, "page_size: -1 < 0"));
  request.set_page_size(0);
  for (const char* token : {"x", ":", "-1:a/job b", "9:web/job b", "3:web",
                            "3:web/pod b", "3web/job b"}) {
    request.set_page_token(token);
    EXPECT_THAT(InspectBudgets(cluster_.state(), request, &response),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("is not a token")))
        << token;
  }
}

}  // namespace
}  // namespace sluice
