// What clients say of preemption and makes no sense has a defined answer, by
// the contract and by a feed, and leaves all else as it was.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "integration/feed_client.h"
#include "integration/mini_server.h"

namespace sluice {
namespace {

using firmament::TaskDescription;
using firmament::TaskDescriptor;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;
using testing::Values;

Options OptionsFor(ReplyMode replies) {
  Options options = MiniServer::OptionsFor(replies);
  options.preemption.mode = Preemption::kPriority;
  options.removal_hold_ms = 0;
  return options;
}

class PreemptionInput : public testing::Test {
 protected:
  explicit PreemptionInput(ReplyMode replies = ReplyMode::kContract)
      : server_(OptionsFor(replies)), client_(server_.port()) {}

  // Those of all jobs and feeds.
  std::vector<v1::Budget> Budgets() {
    grpc::ClientContext context;
    v1::ListBudgetsResponse response;
    EXPECT_TRUE(client_.inspector().ListBudgets(&context, {}, &response).ok());
    return {response.budgets().begin(), response.budgets().end()};
  }

  MiniServer server_;
  Client client_;
};

class PreemptionInputByMode : public PreemptionInput,
                              public testing::WithParamInterface<ReplyMode> {
 protected:
  PreemptionInputByMode() : PreemptionInput(GetParam()) {}

  bool is_strict() const { return GetParam() == ReplyMode::kStrict; }

  // Submits what makes no sense, for a reason that a strict daemon tells.
  void SubmitBad(const TaskDescription& task, const std::string& reason) {
    grpc::ClientContext context;
    firmament::TaskSubmittedResponse response;
    const grpc::Status status =
        client_.scheduler().TaskSubmitted(&context, task, &response);
    ExpectAnswer(status, task, reason);
    if (status.ok()) {
      EXPECT_EQ(response.type(), firmament::TASK_SUBMITTED_OK) << reason;
    }
  }
  void UpdateBad(const TaskDescription& task, const std::string& reason) {
    grpc::ClientContext context;
    firmament::TaskUpdatedResponse response;
    const grpc::Status status =
        client_.scheduler().TaskUpdated(&context, task, &response);
    ExpectAnswer(status, task, reason);
    if (status.ok()) {
      EXPECT_EQ(response.type(), firmament::TASK_UPDATED_OK) << reason;
    }
  }

 private:
  void ExpectAnswer(const grpc::Status& status, const TaskDescription& task,
                    const std::string& reason) {
    EXPECT_EQ(status.ok(), !is_strict()) << reason;
    if (!is_strict()) return;
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    const TaskDescriptor& one = task.task_descriptor();
    EXPECT_THAT(
        status.error_message(),
        HasSubstr(StrCat("task ", one.uid(), " '", one.name(), "': ", reason)));
  }
};

std::string NameOf(const testing::TestParamInfo<ReplyMode>& mode) {
  switch (mode.param) {
    case ReplyMode::kContract:
      return "Contract";
    case ReplyMode::kLenient:
      return "Lenient";
    case ReplyMode::kStrict:
      return "Strict";
  }
  return "";
}

INSTANTIATE_TEST_SUITE_P(InEveryMode, PreemptionInputByMode,
                         Values(ReplyMode::kContract, ReplyMode::kLenient,
                                ReplyMode::kStrict),
                         &NameOf);

// ---------------------------------------------------------------------------
// Policies and costs

struct BadTerms {
  int policy;
  int cost;
  const char* reason;
};

constexpr BadTerms kBadTerms[] = {
    {7, 0, "preemption_policy: 7 is unknown"},
    {-1, 0, "preemption_policy: -1 is unknown"},
    {0, -1, "preemption_cost: -1 is not in 0 to 100000"},
    {0, 100001, "preemption_cost: 100001 is not in 0 to 100000"},
};

TaskDescription WithTerms(TaskDescription task, const BadTerms& terms) {
  TaskDescriptor* one = task.mutable_task_descriptor();
  one->set_preemption_policy(
      static_cast<TaskDescriptor::PreemptionPolicy>(terms.policy));
  one->set_preemption_cost(terms.cost);
  return task;
}

TEST_P(PreemptionInputByMode, ATaskWithSenselessTermsIsSetAsideAlone) {
  client_.AddNode(NodeMessage("n", {.cpu = 1000}));
  client_.Submit(TaskMessage(1, {.cpu = 1000}));
  EXPECT_THAT(client_.ScheduleTexts(), ElementsAre("PLACE 1 " + PuOf("n")));
  const TaskDescription task = TaskMessage(2, {.cpu = 1000, .priority = 1000});
  for (const BadTerms& bad : kBadTerms) {
    SubmitBad(WithTerms(task, bad), bad.reason);
    EXPECT_THAT(client_.ScheduleTexts(), IsEmpty()) << "nobody is stopped";
    EXPECT_EQ(client_.Explain(1).task().state(), v1::Task::RUNNING);
    if (is_strict()) {
      EXPECT_EQ(client_.Remove(2), firmament::TASK_NOT_FOUND);
      continue;
    }
    EXPECT_EQ(client_.Explain(2).task().state(), v1::Task::QUARANTINED);
    EXPECT_EQ(client_.Explain(2).summary(),
              StrCat("quarantined: ", bad.reason));
    EXPECT_EQ(client_.Remove(2), firmament::TASK_REMOVED_OK);
  }
}

TEST_P(PreemptionInputByMode, ATaskPreemptsOnceItsTermsMakeSense) {
  client_.AddNode(NodeMessage("n", {.cpu = 1000}));
  client_.Submit(TaskMessage(1, {.cpu = 1000}));
  client_.ScheduleTexts();
  const TaskDescription task = TaskMessage(2, {.cpu = 1000, .priority = 1000});
  SubmitBad(WithTerms(task, kBadTerms[0]), kBadTerms[0].reason);
  if (is_strict()) client_.Submit(task);
  EXPECT_EQ(client_.Update(task), firmament::TASK_UPDATED_OK);
  EXPECT_THAT(client_.ScheduleTexts(), ElementsAre("PREEMPT 1 " + PuOf("n")));
}

// Of equals the one goes that was placed last.
TEST_P(PreemptionInputByMode, ARunningTaskKeepsItsFormerCost) {
  client_.AddNode(NodeMessage("n", {.cpu = 1000}));
  client_.Submit(TaskMessage(1, {.cpu = 500}));
  client_.ScheduleTexts();
  TaskDescription dear = TaskMessage(2, {.cpu = 500});
  dear.mutable_task_descriptor()->set_preemption_cost(100000);
  EXPECT_EQ(client_.Submit(dear), firmament::TASK_SUBMITTED_OK);
  EXPECT_THAT(client_.ScheduleTexts(), ElementsAre("PLACE 2 " + PuOf("n")));
  for (const BadTerms& bad : kBadTerms) {
    UpdateBad(WithTerms(TaskMessage(2, {.cpu = 500}), bad), bad.reason);
  }
  client_.Submit(TaskMessage(3, {.cpu = 500, .priority = 1000}));
  EXPECT_THAT(client_.ScheduleTexts(), ElementsAre("PREEMPT 1 " + PuOf("n")));
}

TEST_F(PreemptionInput, AFeedIsToldWhichTaskAndFieldMakeNoSense) {
  FeedClient feed(server_.port(), "shop");
  feed.StateMachines(1, {.cpu = 1000});
  for (const BadTerms& bad : kBadTerms) {
    v1::TaskStated* task = feed.Add()->mutable_task();
    task->set_id("bad");
    *task->mutable_description() =
        WithTerms(TaskMessage(0, {.cpu = 10, .priority = 9}), bad);
    feed.AddTask(StrCat("good-", bad.reason), {.cpu = 10});
  }
  ASSERT_TRUE(feed.Settle());
  ASSERT_THAT(feed.problems(), SizeIs(std::size(kBadTerms)));
  for (size_t i = 0; i < std::size(kBadTerms); ++i) {
    EXPECT_EQ(feed.problems()[i].code(), v1::FeedProblem::MALFORMED);
    EXPECT_EQ(
        feed.problems()[i].message(),
        StrCat("task 'bad': ", kBadTerms[i].reason, ": it is quarantined"));
  }
  ASSERT_TRUE(feed.AwaitDeltas(std::size(kBadTerms)));
  EXPECT_FALSE(feed.Places().contains("bad"));
  EXPECT_EQ(client_.Status().quarantined_tasks(), 1);
}

// ---------------------------------------------------------------------------
// Budgets

firmament::DisruptionBudget Budget(const std::string& minimum,
                                   const std::string& maximum) {
  firmament::DisruptionBudget budget;
  budget.set_min_available(minimum);
  budget.set_max_unavailable(maximum);
  return budget;
}

firmament::DisruptionBudget Expecting(int64_t expected) {
  firmament::DisruptionBudget budget = Budget("1", "");
  budget.set_expected(expected);
  return budget;
}

firmament::DisruptionBudget Allowing(int64_t allowed) {
  firmament::DisruptionBudget budget = Budget("1", "");
  budget.set_allowed(allowed);
  return budget;
}

struct BadBudget {
  firmament::DisruptionBudget budget;
  std::string reason;
};

const std::vector<BadBudget>& BadBudgets() {
  const std::string no_number =
      "' is neither a number nor a percentage such as '40%'";
  static const std::vector<BadBudget> budgets = {
      {Budget("1", "1"), "min_available and max_unavailable: both are stated"},
      {Budget("", ""), "neither min_available nor max_unavailable is stated"},
      {Budget("-1", ""), "min_available: '-1" + no_number},
      {Budget("", "-1"), "max_unavailable: '-1" + no_number},
      {Budget("-1%", ""), "min_available: '-1%" + no_number},
      {Budget("101%", ""), "min_available: '101%' is more than 100%"},
      {Budget("", "101%"), "max_unavailable: '101%' is more than 100%"},
      {Expecting(-1), "expected: -1 is not in 0 to 1000000000"},
      {Allowing(-1), "allowed: -1 is not in 0 to 1000000000"},
  };
  return budgets;
}

TaskDescription OfJobWith(const firmament::DisruptionBudget& budget,
                          TaskDescription task) {
  *task.mutable_job_descriptor()->mutable_disruption_budget() = budget;
  return task;
}

TEST_P(PreemptionInputByMode, ASenselessFirstBudgetOfAJobIsNoneAndItsTaskRuns) {
  client_.AddNode(NodeMessage("n", {.cpu = 1000}));
  for (const BadBudget& bad : BadBudgets()) {
    SubmitBad(OfJobWith(bad.budget, TaskMessage(1, {.cpu = 1000})),
              "disruption_budget: " + bad.reason);
    EXPECT_THAT(Budgets(), IsEmpty()) << bad.reason;
    if (is_strict()) {
      EXPECT_EQ(client_.Remove(1), firmament::TASK_NOT_FOUND) << bad.reason;
      continue;
    }
    EXPECT_THAT(client_.ScheduleTexts(), ElementsAre("PLACE 1 " + PuOf("n")))
        << bad.reason;
    client_.Submit(TaskMessage(2, {.cpu = 1000, .priority = 1000}));
    EXPECT_THAT(client_.ScheduleTexts(), ElementsAre("PREEMPT 1 " + PuOf("n")))
        << "nothing protects it: " << bad.reason;
    client_.Remove(1);
    client_.Remove(2);
  }
}

TEST_P(PreemptionInputByMode,
       AJobKeepsItsFormerBudgetWhereTheNewOneMakesNoSense) {
  for (const BadBudget& bad : BadBudgets()) {
    client_.Submit(OfJobWith(Budget("7", ""), TaskMessage(1)));
    EXPECT_THAT(Budgets(), SizeIs(1));
    SubmitBad(OfJobWith(bad.budget, TaskMessage(2)),
              "disruption_budget: " + bad.reason);
    ASSERT_THAT(Budgets(), SizeIs(1)) << bad.reason;
    EXPECT_EQ(Budgets()[0].min_available(), "7") << bad.reason;
    client_.Remove(1);
    client_.Remove(2);
  }
}

TEST_F(PreemptionInput, AFeedKeepsTheFormerBudgetWhereTheNewOneMakesNoSense) {
  FeedClient feed(server_.port(), "shop");
  feed.BeginSnapshot();
  feed.EndSnapshot();
  const auto state = [&](const firmament::DisruptionBudget& budget) {
    v1::BudgetStated* stated = feed.Add()->mutable_budget();
    stated->set_id("shop/web");
    *stated->mutable_budget() = budget;
    stated->mutable_budget()->mutable_labelselector();
  };
  state(Budget("7", ""));
  for (const BadBudget& bad : BadBudgets()) state(bad.budget);
  ASSERT_TRUE(feed.Settle());
  ASSERT_THAT(feed.problems(), SizeIs(BadBudgets().size()));
  for (size_t i = 0; i < BadBudgets().size(); ++i) {
    EXPECT_EQ(feed.problems()[i].code(), v1::FeedProblem::INVALID);
    EXPECT_EQ(feed.problems()[i].message(),
              "budget 'shop/web': " + BadBudgets()[i].reason);
  }
  ASSERT_THAT(Budgets(), SizeIs(1));
  EXPECT_EQ(Budgets()[0].min_available(), "7");
}

// Its client has not said that the budget is gone.
TEST_F(PreemptionInput, AFeedKeepsTheFormerBudgetAlsoInItsNextSnapshot) {
  const auto state = [](FeedClient* feed, const std::string& minimum) {
    feed->BeginSnapshot();
    for (const char* id : {"shop/db", "shop/web"}) {
      v1::BudgetStated* stated = feed->Add()->mutable_budget();
      stated->set_id(id);
      stated->mutable_budget()->set_min_available(minimum);
      stated->mutable_budget()->mutable_labelselector();
      if (minimum != "7") break;
    }
    feed->EndSnapshot();
  };
  FeedClient feed(server_.port(), "shop");
  state(&feed, "7");
  ASSERT_TRUE(feed.Settle());
  EXPECT_THAT(Budgets(), SizeIs(2));
  state(&feed, "most");
  ASSERT_TRUE(feed.Settle());
  EXPECT_THAT(feed.problems(), SizeIs(1));
  ASSERT_THAT(Budgets(), SizeIs(1)) << "the other one was not stated again";
  EXPECT_EQ(Budgets()[0].name(), "shop/db");
  EXPECT_EQ(Budgets()[0].min_available(), "7");
}

// ---------------------------------------------------------------------------
// Budgets that mean nobody so far

firmament::DisruptionBudget OfWeb() {
  firmament::DisruptionBudget budget = Budget("1", "");
  budget.set_namespace_("ns");
  (*budget.mutable_labelselector()->mutable_match_labels_map())["app"] = "web";
  return budget;
}

TEST_F(PreemptionInput, ABudgetOfAJobThatMeansNobodyProtectsWhomItMeansLater) {
  client_.AddNode(NodeMessage("n", {.cpu = 1000}));
  client_.Submit(OfJobWith(OfWeb(), TaskMessage(1, {.cpu = 500})));
  client_.ScheduleTexts();
  ASSERT_THAT(Budgets(), SizeIs(1));
  EXPECT_EQ(Budgets()[0].expected(), 0);
  EXPECT_EQ(Budgets()[0].allowed(), 0);
  client_.Submit(
      TaskMessage(2, {.cpu = 1000, .job = "urgent", .priority = 1000}));
  EXPECT_THAT(client_.ScheduleTexts(), ElementsAre("PREEMPT 1 " + PuOf("n")))
      << "that no budget means";
  client_.Remove(2);
  client_.Remove(1);
  // One that was there before its job's newest message, and of another job.
  client_.Submit(OfJobWith(OfWeb(), TaskMessage(3, {.cpu = 100})));
  client_.Submit(
      TaskMessage(4, {.cpu = 500, .job = "other", .labels = {{"app", "web"}}}));
  EXPECT_THAT(client_.ScheduleTexts(), SizeIs(2));
  EXPECT_EQ(Budgets()[0].available(), 1);
  client_.Submit(
      TaskMessage(5, {.cpu = 1000, .job = "urgent", .priority = 1000}));
  EXPECT_THAT(client_.ScheduleTexts(), IsEmpty());
  EXPECT_THAT(client_.Explain(5).summary(),
              HasSubstr("disruption budgets protect these: job needs 1 "
                        "available tasks and has 1"));
}

TEST_F(PreemptionInput, ABudgetOfAFeedThatMeansNobodyProtectsWhomItMeansLater) {
  FeedClient feed(server_.port(), "shop");
  feed.BeginSnapshot();
  feed.AddMachine("m", {.cpu = 1000});
  v1::BudgetStated* stated = feed.Add()->mutable_budget();
  stated->set_id("shop/web");
  *stated->mutable_budget() = OfWeb();
  feed.AddTask("plain", {.cpu = 1000});
  feed.EndSnapshot();
  feed.Flush();
  ASSERT_TRUE(feed.AwaitDeltas(1));
  feed.AddTask("plain", {.cpu = 1000}, "m");
  feed.AddTask("urgent", {.cpu = 1000, .priority = 9});
  feed.Flush();
  ASSERT_TRUE(feed.AwaitDeltas(2));
  EXPECT_EQ(feed.deltas()[1].type(), v1::FeedDelta::PREEMPT);
  EXPECT_EQ(feed.deltas()[1].task(), "plain");
  feed.TaskGone("plain");
  feed.TaskGone("urgent");
  feed.AddTask("web", {.cpu = 1000, .labels = {{"app", "web"}}}, "m");
  ASSERT_TRUE(feed.Settle());
  feed.AddTask("urgent-too", {.cpu = 1000, .priority = 9});
  // Everything is decided on once this one is placed.
  feed.AddMachine("small", {.cpu = 10});
  feed.AddTask("last", {.cpu = 10});
  feed.Flush();
  while (!feed.Places().contains("last")) ASSERT_TRUE(feed.Read());
  for (size_t i = 2; i < feed.deltas().size(); ++i) {
    EXPECT_EQ(feed.deltas()[i].type(), v1::FeedDelta::PLACE);
  }
  ASSERT_THAT(Budgets(), SizeIs(1));
  EXPECT_EQ(Budgets()[0].available(), 1);
  EXPECT_EQ(Budgets()[0].allowed(), 0);
}

}  // namespace
}  // namespace sluice
