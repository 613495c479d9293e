// Tasks that stand together or instead of each other, as clients state them.

#include <gtest/gtest.h>

#include <string>

#include "base/limits.h"
#include "rpc/convert.h"
#include "sluice/state/placement_rules.h"
#include "state/task_selector.h"

namespace sluice {
namespace {

firmament::TaskDescription Description() {
  firmament::TaskDescription description;
  firmament::TaskDescriptor* task = description.mutable_task_descriptor();
  task->set_uid(7);
  task->set_name("ns/web");
  task->set_state(firmament::TaskDescriptor::CREATED);
  task->mutable_resource_request()->set_cpu_cores(100);
  description.mutable_job_descriptor()->set_name("web");
  return description;
}

// Why it is quarantined; "" where it is not.
std::string FaultOf(const firmament::TaskDescription& description) {
  Faults faults;
  const auto command = ToSubmitTask(description, {}, &faults);
  return command.ok() ? command->spec.quarantine_reason
                      : std::string(command.status().message());
}

TEST(ConvertGroups, RefuseAGroupThatIsNoGang) {
  firmament::TaskDescription description = Description();
  firmament::JobDescriptor* job = description.mutable_job_descriptor();
  job->set_gang_group("shop");
  EXPECT_EQ(FaultOf(description),
            "gang_group: requires is_gang_scheduling_job");
  job->set_is_gang_scheduling_job(true);
  EXPECT_EQ(FaultOf(description), "");
  Faults faults;
  EXPECT_EQ(ToSubmitTask(description, {}, &faults)->gang.group, "shop");
  job->set_gang_group(std::string(kNameBytesMax + 1, 'x'));
  EXPECT_NE(FaultOf(description).find("gang_group: "), std::string::npos);
  job->set_gang_group("shop");
  description.mutable_task_descriptor()->set_global(
      firmament::TaskDescriptor::EVERYWHERE_AT_ONCE);
  EXPECT_EQ(FaultOf(description),
            "gang_group: a task on every machine cannot be in a gang of "
            "several jobs");
}

TEST(ConvertGroups, HaveOneAlternativeOfAJobRun) {
  firmament::TaskDescription description = Description();
  firmament::TaskDescriptor* task = description.mutable_task_descriptor();
  task->mutable_rules()->add_alternatives()->set_name("gpu-or-cpu");
  Faults faults;
  const TaskSpec spec = ToSubmitTask(description, {}, &faults)->spec;
  EXPECT_EQ(spec.quarantine_reason, "");
  const std::string label = "alternatives.sluice.io/gpu-or-cpu";
  EXPECT_EQ(spec.labels, (LabelPairs{{label, ""}}));
  ASSERT_EQ(spec.rules.spread.size(), 1u);
  const SpreadConstraint& one = spec.rules.spread.front();
  EXPECT_EQ(one.max_skew, 1);
  EXPECT_EQ(one.term.topology_key, "*");
  EXPECT_EQ(one.term.tasks.job, "web");
  EXPECT_TRUE(Selects(one.term.tasks, {.labels = spec.labels, .job = "web"}));
  EXPECT_FALSE(Selects(one.term.tasks, {.job = "web"}));
  EXPECT_FALSE(
      Selects(one.term.tasks, {.labels = spec.labels, .job = "other"}));
}

TEST(ConvertGroups, RefuseAlternativesOfNoName) {
  firmament::TaskDescription description = Description();
  firmament::Label* label = description.mutable_task_descriptor()->add_labels();
  label->set_key("alternatives.sluice.io/a");
  label->set_value("mine");
  auto* one = description.mutable_task_descriptor()
                  ->mutable_rules()
                  ->add_alternatives();
  EXPECT_EQ(FaultOf(description), "rules: alternatives: name: is empty");
  one->set_name("a");
  EXPECT_EQ(FaultOf(description), "");
  one->set_name(std::string(kLabelBytesMax, 'x'));
  EXPECT_NE(FaultOf(description).find("alternatives: name"), std::string::npos);
  one->set_name("a");
  description.mutable_job_descriptor()->clear_name();
  EXPECT_EQ(FaultOf(description), "alternatives: its job has no name");
}

TEST(ConvertGroups, KeepTasksWithOneClaimApart) {
  firmament::TaskDescription description = Description();
  firmament::TaskRules* rules =
      description.mutable_task_descriptor()->mutable_rules();
  rules->add_claims()->set_name("disk");
  auto* volume = rules->add_claims();
  volume->set_name("volume");
  volume->set_one_at_all(true);
  Faults faults;
  const TaskSpec spec = ToSubmitTask(description, {}, &faults)->spec;
  EXPECT_EQ(spec.quarantine_reason, "");
  ASSERT_EQ(spec.rules.anti_affinity.size(), 2u);
  for (const PeerTerm& term : spec.rules.anti_affinity) {
    const bool is_disk =
        term.tasks.labels->front().key == "claims.sluice.io/disk";
    EXPECT_EQ(term.topology_key, is_disk ? "" : "*");
    EXPECT_TRUE(Selects(
        term.tasks,
        {.task_namespace = "any", .labels = spec.labels, .job = "other"}));
    EXPECT_FALSE(Selects(term.tasks, {.job = "web"}));
  }
}

}  // namespace
}  // namespace sluice
