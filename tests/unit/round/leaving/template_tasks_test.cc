#include "round/leaving/template_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explain/explanation.h"
#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class TemplateTasksTest : public testing::Test {
 protected:
  explicit TemplateTasksTest(const RoundOptions& options = {})
      : cluster_(options) {}
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  void AddMachine(const std::string& uuid, int64_t cpu = 1000,
                  const LabelPairs& labels = {}) {
    cluster_.Apply(Added(uuid, {.cpu = cpu, .labels = labels}));
  }
  void SubmitTemplate(uint64_t uid, const TaskOptions& options) {
    SubmitTask submit = Submitted(uid, options);
    submit.spec.is_template = true;
    cluster_.Apply(submit);
  }
  // Plays a round, and tells by machine what each delta of tasks that were made
  // says: "PLACE agent-m1".
  std::vector<std::string> Reply() {
    std::vector<std::string> texts;
    cluster_.Round(++now_ms_);
    const ScheduleReply reply = cluster_.Deliver();
    for (const ScheduleReply::Entry& entry : reply.deltas) {
      const Task& task = cluster_.TaskOf(entry.uid.value);
      const char* what = entry.type == DeltaType::kPlace ? "PLACE " : "STOP ";
      texts.push_back(what + task.name);
      const Task* made_from = TemplateOf(task);
      EXPECT_EQ(entry.made_from.has_value(), task.made_from.has_value());
      if (made_from != nullptr) {
        EXPECT_EQ(entry.made_from, made_from->client.uid);
      }
    }
    unscheduled_ = reply.unscheduled;
    return texts;
  }
  // Null if it was made from none.
  const Task* TemplateOf(const Task& task) const {
    return task.made_from.has_value()
               ? cluster_.state().FindTask(*task.made_from)
               : nullptr;
  }
  // Of the task that was made for the machine.
  TaskId IdOf(uint64_t uid, const std::string& machine) {
    return cluster_.state().templates().MadeFrom({uid}).at(
        cluster_.state().FindMachine(machine)->id);
  }

  TestScheduler cluster_;
  std::vector<TaskUid> unscheduled_;
  int64_t now_ms_ = 0;
};

TEST_F(TemplateTasksTest, AreMadeForEachMachineAsItJoins) {
  AddMachine("m1");
  AddMachine("m2");
  SubmitTemplate(1, {.cpu = 100, .name = "agent"});
  EXPECT_THAT(Reply(),
              UnorderedElementsAre("PLACE agent-m1", "PLACE agent-m2"));
  EXPECT_THAT(unscheduled_, IsEmpty());
  EXPECT_THAT(Reply(), IsEmpty());
  AddMachine("m3");
  EXPECT_THAT(Reply(), ElementsAre("PLACE agent-m3"));
  EXPECT_GE(IdOf(1, "m3").value, kMadeUidBegin);
  EXPECT_EQ(cluster_.TaskOf(1).state, TaskState::kPending);
}

TEST_F(TemplateTasksTest, AreMadeOnlyWhereTheRulesAllow) {
  AddMachine("gpu", 1000, {{"kind", "gpu"}});
  AddMachine("plain");
  PlacementRules rules;
  rules.selectors = {LabelIn("kind", {"gpu"})};
  SubmitTemplate(1, {.cpu = 100, .name = "agent", .rules = rules});
  EXPECT_THAT(Reply(), ElementsAre("PLACE agent-gpu"));
  // A label that comes makes one, a label that goes ends one.
  cluster_.Apply(Updated("plain", {.cpu = 1000, .labels = {{"kind", "gpu"}}}));
  cluster_.Apply(Updated("gpu", {.cpu = 1000}));
  EXPECT_THAT(Reply(),
              UnorderedElementsAre("PLACE agent-plain", "STOP agent-gpu"));
}

TEST_F(TemplateTasksTest, WaitForRoomOnTheirMachineAloneAndKeepNobodyWaiting) {
  AddMachine("full");
  cluster_.Apply(Submitted(9, {.cpu = 1000}));
  cluster_.Round(++now_ms_);
  cluster_.Deliver();
  AddMachine("free");
  SubmitTemplate(1, {.cpu = 100, .name = "agent"});
  cluster_.Apply(Submitted(2, {.cpu = 900, .name = "other"}));
  EXPECT_THAT(Reply(), UnorderedElementsAre("PLACE agent-free", "PLACE other"));
  EXPECT_THAT(unscheduled_, IsEmpty()) << "its client has not heard of it";
  const Task& waiting = cluster_.TaskOf(IdOf(1, "full").value);
  EXPECT_THAT(Explain(waiting, cluster_.scheduler(), now_ms_).summary,
              HasSubstr("1 insufficient cpu"));
  cluster_.Apply(Completed(9));
  EXPECT_THAT(Reply(), ElementsAre("PLACE agent-full"));
}

TEST_F(TemplateTasksTest, GoBehindWhatIsMoreUrgent) {
  AddMachine("m1", 100);
  cluster_.Apply(Submitted(9, {.cpu = 100, .priority = 5, .name = "urgent"}));
  SubmitTemplate(1, {.cpu = 100, .name = "agent"});
  EXPECT_THAT(Reply(), ElementsAre("PLACE urgent"));
}

TEST_F(TemplateTasksTest, EndWithTheirMachine) {
  AddMachine("m1");
  AddMachine("m2");
  SubmitTemplate(1, {.cpu = 100, .name = "agent"});
  Reply();
  const TaskId former = IdOf(1, "m1");
  cluster_.Apply(Removed("m1"));
  EXPECT_THAT(Reply(), IsEmpty());
  EXPECT_EQ(cluster_.state().FindTask(former), nullptr);
  AddMachine("m1");
  EXPECT_THAT(Reply(), ElementsAre("PLACE agent-m1"));
  EXPECT_NE(IdOf(1, "m1"), former);
}

TEST_F(TemplateTasksTest, EndWithTheirTemplate) {
  AddMachine("m1");
  AddMachine("full", 50);
  SubmitTemplate(1, {.cpu = 100, .name = "agent"});
  EXPECT_THAT(Reply(), ElementsAre("PLACE agent-m1"));
  const TaskId running = IdOf(1, "m1");
  cluster_.Apply(Removed(1));
  EXPECT_THAT(Reply(), ElementsAre("STOP agent-m1"));
  EXPECT_THAT(cluster_.state().tasks(), SizeIs(1)) << "one waited and is gone";
  EXPECT_THAT(Reply(), IsEmpty()) << "once";
  cluster_.Apply(Removed(running.value));
  EXPECT_TRUE(cluster_.state().templates().empty());
}

TEST_F(TemplateTasksTest, ThatEndedAreNotMadeAgainBeforeTheyAreRemoved) {
  AddMachine("m1");
  SubmitTemplate(1, {.cpu = 100, .name = "agent"});
  Reply();
  const TaskId first = IdOf(1, "m1");
  cluster_.Apply(Completed(first.value));
  EXPECT_THAT(Reply(), IsEmpty());
  cluster_.Apply(Removed(first.value));
  EXPECT_THAT(Reply(), ElementsAre("PLACE agent-m1"));
}

TEST_F(TemplateTasksTest, FollowTheirTemplate) {
  AddMachine("m1");
  SubmitTemplate(1, {.cpu = 100, .name = "agent"});
  Reply();
  UpdateTask update = Updated(1, {.cpu = 300, .name = "agent"});
  update.spec.is_template = true;
  cluster_.Apply(update);
  EXPECT_EQ(cluster_.state().FindMachine("m1")->used[kCpu], 300);
  // An update that makes no sense changes nothing of them.
  update.spec = TaskSpec();
  update.spec.name = "agent";
  update.spec.quarantine_reason = "nonsense";
  cluster_.Apply(update);
  EXPECT_THAT(Reply(), IsEmpty());
  EXPECT_EQ(cluster_.state().FindMachine("m1")->used[kCpu], 300);
  EXPECT_EQ(cluster_.TaskOf(IdOf(1, "m1").value).quarantine_reason, "");
}

TEST_F(TemplateTasksTest, StayOnTheirMachineWhateverTheirClientSaysOfThem) {
  AddMachine("m1", 100);
  AddMachine("m2");
  cluster_.Apply(Submitted(9, {.cpu = 100, .name = "first"}));
  PlacementRules rules;
  rules.selectors = {LabelIn("no", {"where"})};
  AddMachine("m0", 100, {{"no", "where"}});
  SubmitTemplate(1, {.cpu = 100, .name = "agent", .rules = rules});
  Reply();
  const TaskId id = IdOf(1, "m0");
  cluster_.Apply(Updated(id.value, {.cpu = 500, .name = "agent-m0"}));
  cluster_.Apply(Updated("m0", {.cpu = 100}));
  Reply();
  EXPECT_EQ(cluster_.TaskOf(id.value).machine,
            cluster_.state().FindMachine("m0")->id);
}

TEST_F(TemplateTasksTest, AreOfTheTaskThatTheirUidMeantThen) {
  AddMachine("m1");
  SubmitTemplate(1, {.cpu = 100, .name = "agent"});
  Reply();
  const TaskId made = IdOf(1, "m1");
  // Another task has the uid: the template is known no more.
  SubmitTemplate(1, {.cpu = 200, .name = "other"});
  EXPECT_EQ(TemplateOf(cluster_.TaskOf(made.value))->name, "agent");
  EXPECT_THAT(Reply(), UnorderedElementsAre("STOP agent-m1", "PLACE other-m1"));
}

class UrgentTemplateTasksTest : public TemplateTasksTest {
 protected:
  UrgentTemplateTasksTest()
      : TemplateTasksTest({.preemption = {.mode = Preemption::kPriority}}) {}
};

TEST_F(UrgentTemplateTasksTest, DisplaceWhatIsLessUrgent) {
  AddMachine("m1");
  AddMachine("m2");
  cluster_.Apply(Submitted(8, {.cpu = 1000, .name = "low"}));
  cluster_.Apply(Submitted(9, {.cpu = 1000, .priority = 9, .name = "high"}));
  cluster_.Round(++now_ms_);
  cluster_.Deliver();
  SubmitTemplate(1, {.cpu = 100, .priority = 5, .name = "agent"});
  EXPECT_THAT(Reply(), ElementsAre("STOP low"));
  cluster_.Apply(Removed(8));
  EXPECT_THAT(Reply(), SizeIs(1));
}

}  // namespace
}  // namespace sluice
