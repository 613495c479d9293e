// What clients do, or leave undone, about tasks that were told to leave.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "integration/mini_server.h"
#include "util/http_get.h"

namespace sluice {
namespace {

using firmament::TaskDescription;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Options OptionsFor(Preemption mode) {
  Options options = MiniServer::OptionsFor(ReplyMode::kContract);
  options.http_address = "127.0.0.1:0";
  options.preemption.mode = mode;
  options.preemption.moves.min_run_ms = 0;
  options.removal_hold_ms = 0;
  return options;
}

class PreemptionLife : public testing::Test {
 protected:
  explicit PreemptionLife(Preemption mode = Preemption::kPriority)
      : server_(OptionsFor(mode)), client_(server_.port()) {}

  // The line of a metric that has no labels.
  std::string MetricLine(const std::string& name) {
    const std::string text = HttpGet(server_.http_port(), "/metrics").body;
    const size_t begin = text.find(StrCat("\n", name, " "));
    if (begin == std::string::npos) return "";
    return text.substr(begin + 1, text.find('\n', begin + 1) - begin - 1);
  }
  void ExpectMetric(const std::string& name, int value) {
    EXPECT_EQ(MetricLine(name), StrCat(name, " ", value));
  }
  // Node `n` of a core, of which task 1 of priority 0 has 600, and task 2 of
  // priority 1000 is to have 900.
  void StopTaskOne() {
    client_.AddNode(NodeMessage("n", {.cpu = 1000}));
    client_.Submit(TaskMessage(1, {.cpu = 600}));
    client_.ScheduleTexts();
    client_.Submit(TaskMessage(2, {.cpu = 900, .priority = 1000}));
    ASSERT_THAT(client_.ScheduleTexts(), ElementsAre("PREEMPT 1 " + PuOf("n")));
  }

  MiniServer server_;
  Client client_;
};

// ---------------------------------------------------------------------------
// Budgets that are exceeded before anybody is stopped

TaskDescription Protected(uint64_t uid, const std::string& minimum) {
  TaskDescription task = TaskMessage(uid, {.cpu = 1000, .job = "web"});
  task.mutable_job_descriptor()->mutable_disruption_budget()->set_min_available(
      minimum);
  return task;
}

TEST_F(PreemptionLife, ABudgetThatNeedsMoreThanRunsLetsNobodyGo) {
  for (const char* node : {"a", "b"}) {
    client_.AddNode(NodeMessage(node, {.cpu = 1000}));
  }
  for (const uint64_t uid : {1, 2}) client_.Submit(Protected(uid, "3"));
  EXPECT_THAT(client_.ScheduleTexts(), SizeIs(2));
  client_.Submit(
      TaskMessage(3, {.cpu = 500, .job = "urgent", .priority = 1000}));
  for (int i = 0; i < 3; ++i) EXPECT_THAT(client_.ScheduleTexts(), IsEmpty());
  EXPECT_THAT(client_.Explain(3).summary(),
              HasSubstr("2 machines would have room for it without the less "
                        "urgent tasks, but disruption budgets protect these: "
                        "web needs 3 available tasks and has 2"));
  ExpectMetric("sluice_preemptions_total", 0);
  ExpectMetric("sluice_tasks_nominated", 0);
  ExpectMetric("sluice_budgets_exhausted", 1);
}

TEST_F(PreemptionLife, ABudgetThatATaskFellShortOfLetsNobodyGo) {
  for (const char* node : {"a", "b", "c"}) {
    client_.AddNode(NodeMessage(node, {.cpu = 1000}));
  }
  for (const uint64_t uid : {1, 2, 3}) client_.Submit(Protected(uid, "2"));
  EXPECT_THAT(client_.ScheduleTexts(), SizeIs(3));
  // The machine of one goes, and another one ends by itself.
  std::string node = client_.Explain(1).task().resource_id();
  node.resize(node.find('-'));
  EXPECT_EQ(client_.FailNode(node), firmament::NODE_FAILED_OK);
  EXPECT_EQ(client_.Complete(2), firmament::TASK_COMPLETED_OK);
  client_.Submit(
      TaskMessage(4, {.cpu = 1000, .job = "urgent", .priority = 1000}));
  EXPECT_THAT(client_.ScheduleTexts(), ElementsAre(HasSubstr("PLACE 4 ")))
      << "where the ended one was";
  client_.Submit(
      TaskMessage(5, {.cpu = 1000, .job = "urgent", .priority = 1000}));
  EXPECT_THAT(client_.ScheduleTexts(), IsEmpty());
  EXPECT_THAT(client_.Explain(5).summary(),
              HasSubstr("disruption budgets protect these: web needs 2 "
                        "available tasks and has 1"));
}

// ---------------------------------------------------------------------------
// Victims

TEST_F(PreemptionLife, AVictimThatCompletesMakesRoomAndIsNotToldOfAgain) {
  StopTaskOne();
  ExpectMetric("sluice_tasks_nominated", 1);
  EXPECT_EQ(client_.Complete(1), firmament::TASK_COMPLETED_OK);
  EXPECT_THAT(client_.ScheduleTexts(), ElementsAre("PLACE 2 " + PuOf("n")));
  EXPECT_EQ(client_.Status().running_tasks(), 1);
  EXPECT_EQ(client_.Status().used().cpu_millicores(), 900);
  EXPECT_EQ(client_.Remove(1), firmament::TASK_REMOVED_OK);
  EXPECT_THAT(client_.ScheduleTexts(), IsEmpty());
  EXPECT_EQ(client_.Status().running_tasks(), 1);
  ExpectMetric("sluice_preemptions_total", 1);
  ExpectMetric("sluice_tasks_nominated", 0);
}

TEST_F(PreemptionLife, AVictimThatIsNeverRemovedKeepsItsRoom) {
  StopTaskOne();
  for (int i = 0; i < 3; ++i) EXPECT_THAT(client_.ScheduleTexts(), IsEmpty());
  EXPECT_EQ(client_.Status().used().cpu_millicores(), 600);
  // Neither in the room that is kept nor in what is free beside the victim.
  client_.Submit(TaskMessage(3, {.cpu = 400, .priority = 5}));
  EXPECT_THAT(client_.ScheduleTexts(), IsEmpty());
  client_.AddNode(NodeMessage("small", {.cpu = 500}));
  EXPECT_THAT(client_.ScheduleTexts(), ElementsAre("PLACE 3 " + PuOf("small")));
  EXPECT_THAT(client_.ScheduleTexts(), IsEmpty());
  EXPECT_EQ(client_.Status().used().cpu_millicores(), 1000);
  EXPECT_THAT(
      client_.Explain(2).summary(),
      HasSubstr("room is kept for it on machine 'n' until 1 task has left: "
                "ns/pod-1; "));
  EXPECT_THAT(client_.Explain(1).summary(),
              HasSubstr("was told to leave it to make room for ns/pod-2 of "
                        "priority 1000"));
  ExpectMetric("sluice_preemptions_total", 1);
  ExpectMetric("sluice_tasks_nominated", 1);
}

// A client that restarted submits what it knows, and asks so what became of it.
TEST_F(PreemptionLife, AVictimThatIsSubmittedAgainIsToldToLeaveAgain) {
  StopTaskOne();
  client_.Submit(TaskMessage(1, {.cpu = 600}));
  EXPECT_THAT(client_.ScheduleTexts(), ElementsAre("PREEMPT 1 " + PuOf("n")));
  EXPECT_THAT(client_.ScheduleTexts(), IsEmpty());
  ExpectMetric("sluice_preemptions_total", 1);
  ExpectMetric("sluice_tasks_nominated", 1);
}

// ---------------------------------------------------------------------------
// Counts

class FullPreemptionLife : public PreemptionLife {
 protected:
  FullPreemptionLife() : PreemptionLife(Preemption::kFull) {}

  void ExpectCounts(int preemptions, int moves, int nominated) {
    ExpectMetric("sluice_preemptions_total", preemptions);
    ExpectMetric("sluice_moves_total", moves);
    ExpectMetric("sluice_tasks_nominated", nominated);
  }
};

TEST_F(FullPreemptionLife, CountsMovesStopsAndWhoWaitsForThem) {
  client_.AddNode(NodeMessage("a", {.cpu = 1000}));
  client_.Submit(OwnedTaskMessage(1, {.cpu = 400, .job = "one"}));
  client_.ScheduleTexts();
  ExpectCounts(0, 0, 0);
  client_.AddNode(NodeMessage("b", {.cpu = 500}));
  client_.Submit(TaskMessage(3, {.cpu = 800, .job = "large"}));
  EXPECT_THAT(client_.ScheduleTexts(), ElementsAre("MIGRATE 1 " + PuOf("b")));
  ExpectCounts(0, 1, 1);
  client_.Submit(OwnedTaskMessage(21, {.cpu = 400, .job = "one"}));
  EXPECT_THAT(client_.ScheduleTexts(), ElementsAre("PLACE 21 " + PuOf("b")));
  client_.Remove(1);
  EXPECT_THAT(client_.ScheduleTexts(), ElementsAre("PLACE 3 " + PuOf("a")));
  ExpectCounts(0, 1, 0);
  client_.Submit(
      TaskMessage(4, {.cpu = 900, .job = "urgent", .priority = 1000}));
  EXPECT_THAT(client_.ScheduleTexts(), ElementsAre("PREEMPT 3 " + PuOf("a")));
  ExpectCounts(1, 1, 1);
  client_.Remove(3);
  EXPECT_THAT(client_.ScheduleTexts(), ElementsAre("PLACE 4 " + PuOf("a")));
  ExpectCounts(1, 1, 0);
}

}  // namespace
}  // namespace sluice
