#include "rpc/convert.h"

#include <glog/logging.h>
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/limits.h"
#include "base/strings.h"
#include "util/cluster_builder.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using firmament::ResourceTopologyNodeDescriptor;
using firmament::TaskDescription;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using testing::StartsWith;

template <class Message>
Message Parse(const std::string& text) {
  Message message;
  CHECK(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

// Of descriptions that are understood in full.
absl::StatusOr<SubmitTask> ToSubmitTask(const TaskDescription& description) {
  Faults faults;
  absl::StatusOr<SubmitTask> command =
      sluice::ToSubmitTask(description, {}, &faults);
  EXPECT_EQ(faults.Text(), "");
  return command;
}
UpdateTask ToUpdateTask(const TaskDescription& description) {
  Faults faults;
  UpdateTask command = sluice::ToUpdateTask(description, {}, &faults);
  EXPECT_EQ(faults.Text(), "");
  return command;
}
AddMachine ToAddMachine(const ResourceTopologyNodeDescriptor& tree,
                        int64_t default_max_pods) {
  Faults faults;
  AddMachine command = sluice::ToAddMachine(tree, default_max_pods, &faults);
  EXPECT_EQ(faults.Text(), "");
  return command;
}
UpdateMachine ToUpdateMachine(const ResourceTopologyNodeDescriptor& tree,
                              int64_t default_max_pods) {
  Faults faults;
  UpdateMachine command =
      sluice::ToUpdateMachine(tree, default_max_pods, &faults);
  EXPECT_EQ(faults.Text(), "");
  return command;
}

std::string ReasonOf(const TaskDescription& description) {
  return ToSubmitTask(description)->spec.quarantine_reason;
}

std::string ReasonOf(const ResourceTopologyNodeDescriptor& tree) {
  return ToAddMachine(tree, 110).spec.quarantine_reason;
}

// ---------------------------------------------------------------------------
// Tasks

constexpr char kTask[] = R"(
  task_descriptor {
    uid: 7389156575254652907 name: "ns/pod" namespace: "ns" job_id: "j"
    priority: 3 task_type: DEVIL
    resource_request { cpu_cores: 250 ram_cap: 67108864000 ephemeral_cap: 5
                       net_rx_bw: 7 net_tx_bw: 8 disk_cap: 9 ram_bw: 9
                       extended_resources { key: "nvidia.com/gpu" value: 2 } }
    labels { key: "b" value: "2" } labels { key: "a" value: "1" }
    label_selectors { key: "disk" values: "ssd" }
    toleration { key: "dedicated" operator: "Exists" }
    owner_ref_kind: "ReplicaSet" owner_ref_uid: "u"
    host_ports { port: 80 }
    conflicts: "db"
    machine_id: "m"
    namespace_labels { key: "env" value: "test" }
    namespace_labels { key: "kubernetes.io/metadata.name" value: "other" }
  }
  job_descriptor { uuid: "other" name: "job" })";

TEST(ConvertTask, KeepsEveryFieldThatItIsScheduledBy) {
  const auto command = ToSubmitTask(Parse<TaskDescription>(kTask));
  ASSERT_THAT(command, IsOk());
  EXPECT_EQ(command->uid, TaskUid{7389156575254652907});
  EXPECT_EQ(command->job_uuid, "j");
  EXPECT_EQ(command->job_name, "job");
  EXPECT_EQ(command->gang.minimum, 0u);
  EXPECT_FALSE(command->reject_if_known);
  const TaskSpec& spec = command->spec;
  EXPECT_EQ(spec.quarantine_reason, "");
  EXPECT_EQ(spec.name, "ns/pod");
  EXPECT_EQ(spec.task_namespace, "ns");
  EXPECT_EQ(spec.priority, 3u);
  EXPECT_EQ(spec.task_type, 2);
  EXPECT_THAT(spec.request,
              ElementsAre(Pair("cpu", 250), Pair("ephemeral-storage", 5),
                          Pair("memory", 67108864000), Pair("net-rx-kb", 7),
                          Pair("net-tx-kb", 8), Pair("nvidia.com/gpu", 2)));
  EXPECT_THAT(spec.labels, ElementsAre(Pair("a", "1"), Pair("b", "2")));
  EXPECT_THAT(spec.rules.selectors, ElementsAre(LabelIn("disk", {"ssd"})));
  EXPECT_THAT(spec.rules.tolerations, ElementsAre(ToleratesKey("dedicated")));
  EXPECT_THAT(spec.rules.host_ports, ElementsAre(TcpPort(80)));
  EXPECT_THAT(spec.namespace_labels, ElementsAre(Pair("env", "test")));
  EXPECT_THAT(spec.rules.required, SizeIs(1));
  EXPECT_THAT(spec.rules.anti_affinity, SizeIs(1));
  EXPECT_EQ(spec.owner, (Owner{"ReplicaSet", "u"}));
  EXPECT_TRUE(spec.rules.owner.empty()) << "for the state to say";
}

TEST(ConvertTask, ReadsAnUpdateAsASubmission) {
  const auto description = Parse<TaskDescription>(kTask);
  const UpdateTask update = ToUpdateTask(description);
  const TaskSpec submitted = ToSubmitTask(description)->spec;
  EXPECT_EQ(update.uid, TaskUid{7389156575254652907});
  EXPECT_EQ(update.spec.request, submitted.request);
  EXPECT_EQ(update.spec.labels, submitted.labels);
  EXPECT_EQ(update.spec.priority, submitted.priority);
  EXPECT_EQ(update.spec.rules, submitted.rules);
  EXPECT_EQ(update.spec.owner, submitted.owner);
}

TEST(ConvertTask, TakesTheJobOfTheJobDescriptorWhereTheTaskNamesNone) {
  auto description = Parse<TaskDescription>(kTask);
  description.mutable_task_descriptor()->clear_job_id();
  EXPECT_EQ(ToSubmitTask(description)->job_uuid, "other");
}

TEST(ConvertTask, IsAGangOnlyWhereItSaysSo) {
  auto description = Parse<TaskDescription>(kTask);
  description.mutable_job_descriptor()->set_min_number_of_tasks(4);
  EXPECT_EQ(ToSubmitTask(description)->gang.minimum, 0u);
  description.mutable_job_descriptor()->set_is_gang_scheduling_job(true);
  EXPECT_EQ(ToSubmitTask(description)->gang, (Gang{4, 0}));
}

TEST(ConvertTask, IsOfAGangOfAllWhereNoMinimumIsStated) {
  auto description = Parse<TaskDescription>(kTask);
  firmament::JobDescriptor* job = description.mutable_job_descriptor();
  job->set_gang_timeout_seconds(7);
  EXPECT_EQ(ToSubmitTask(description)->gang, Gang());
  job->set_is_gang_scheduling_job(true);
  EXPECT_EQ(ToSubmitTask(description)->gang, (Gang{Gang::kAllTasks, 7000}));
}

TEST(ConvertTask, MakesAGangOfWhatRunsEverywhereAtOnce) {
  auto description = Parse<TaskDescription>(kTask);
  firmament::TaskDescriptor* task = description.mutable_task_descriptor();
  task->set_global(firmament::TaskDescriptor::ONE_A_MACHINE);
  EXPECT_EQ(ToSubmitTask(description)->gang, Gang());
  task->set_global(firmament::TaskDescriptor::EVERYWHERE_AT_ONCE);
  description.mutable_job_descriptor()->set_gang_timeout_seconds(7);
  EXPECT_EQ(ToSubmitTask(description)->gang, (Gang{Gang::kEveryMachine, 7000}));
}

TEST(ConvertTask, AsksForNothingWhereNothingIsStated) {
  auto description = Parse<TaskDescription>("task_descriptor { uid: 1 }");
  EXPECT_EQ(ReasonOf(description), "");
  EXPECT_THAT(ToSubmitTask(description)->spec.request, IsEmpty());
}

TEST(ConvertTask, RoundsAFractionOfAMillicoreUp) {
  for (const auto& [given, kept] :
       std::vector<std::pair<float, int64_t>>{{0.1F, 1},
                                              {1.0F, 1},
                                              {1.5F, 2},
                                              {1e-30F, 1},
                                              {16777216.0F, 1 << 24}}) {
    TaskDescription description;
    description.mutable_task_descriptor()
        ->mutable_resource_request()
        ->set_cpu_cores(given);
    EXPECT_THAT(ToSubmitTask(description)->spec.request,
                ElementsAre(Pair("cpu", kept)))
        << given;
  }
}

TEST(ConvertTask, GivesALabelThatComesTwiceItsLastValue) {
  const auto description = Parse<TaskDescription>(
      R"(task_descriptor { labels { key: "a" value: "1" }
                           labels { key: "a" value: "2" } })");
  EXPECT_THAT(ToSubmitTask(description)->spec.labels,
              ElementsAre(Pair("a", "2")));
}

TEST(ConvertTask, BoundsAnIdOfAnyLengthAndKeepsItDistinct) {
  auto description = Parse<TaskDescription>(kTask);
  std::string id(kIdBytesMax + 1, 'x');
  description.mutable_task_descriptor()->set_job_id(id);
  const std::string first = ToSubmitTask(description)->job_uuid;
  id.back() = 'y';
  description.mutable_task_descriptor()->set_job_id(id);
  const std::string second = ToSubmitTask(description)->job_uuid;
  EXPECT_LE(first.size(), kIdBytesMax);
  EXPECT_NE(first, second);
  EXPECT_EQ(ReasonOf(description), "");
}

TEST(ConvertTask, TellsABudgetThatMakesNoSenseFromNone) {
  auto description = Parse<TaskDescription>(kTask);
  EXPECT_FALSE(ToSubmitTask(description)->keeps_budget);
  firmament::DisruptionBudget* budget =
      description.mutable_job_descriptor()->mutable_disruption_budget();
  budget->set_min_available("3");
  EXPECT_EQ(ToSubmitTask(description)->budget->amount, 3);
  budget->set_min_available("most");
  Faults faults;
  const auto command = sluice::ToSubmitTask(description, {}, &faults);
  EXPECT_TRUE(command->keeps_budget);
  EXPECT_EQ(command->spec.quarantine_reason, "");
  EXPECT_THAT(
      faults.Text(),
      StartsWith("disruption_budget: min_available: 'most' is neither"));
}

TEST(ConvertTask, ReadsWhatBecomesOfTasksThatFail) {
  using Job = firmament::JobDescriptor;
  using Action = OnFailure::Action;
  struct Row {
    int on_failure;
    int32_t failures_max;
    int32_t backoff_seconds;
    OnFailure expected;
  };
  for (const auto& [on_failure, failures_max, backoff_seconds, expected] :
       std::vector<Row>{
           {Job::UNSET, 0, 0, OnFailure()},
           {Job::NEVER, 0, 0, {.action = Action::kNever}},
           {Job::REQUEUE, 0, 0, {Action::kRequeue, 3, 10000}},
           {Job::REQUEUE, 7, 300, {Action::kRequeue, 7, 300000}}}) {
    auto description = Parse<TaskDescription>(kTask);
    Job* job = description.mutable_job_descriptor();
    job->set_on_failure(static_cast<Job::OnFailure>(on_failure));
    job->set_failures_max(failures_max);
    job->set_backoff_seconds(backoff_seconds);
    EXPECT_EQ(ToSubmitTask(description)->on_failure, expected) << on_failure;
  }
}

TEST(ConvertTask, TellsWhatIsWrongWithWhatBecomesOfTasksThatFail) {
  using Job = firmament::JobDescriptor;
  struct Row {
    int on_failure;
    int32_t failures_max;
    int32_t backoff_seconds;
    std::string fault;
  };
  const std::string for_requeue =
      "failures_max and backoff_seconds: require on_failure REQUEUE";
  for (const auto& [on_failure, failures_max, backoff_seconds, fault] :
       std::vector<Row>{
           {9, 0, 0, "on_failure: 9 is unknown"},
           {-1, 0, 0, "on_failure: -1 is unknown"},
           {Job::REQUEUE, -1, 0, "failures_max: -1 is not in 0 to 1000000"},
           {Job::REQUEUE, 1000001, 0,
            "failures_max: 1000001 is not in 0 to 1000000"},
           {Job::REQUEUE, 0, 301, "backoff_seconds: 301 is not in 0 to 300"},
           {Job::REQUEUE, 0, -5, "backoff_seconds: -5 is not in 0 to 300"},
           {Job::NEVER, 1, 0, for_requeue},
           {Job::UNSET, 0, 1, for_requeue}}) {
    auto description = Parse<TaskDescription>(kTask);
    Job* job = description.mutable_job_descriptor();
    job->set_on_failure(static_cast<Job::OnFailure>(on_failure));
    job->set_failures_max(failures_max);
    job->set_backoff_seconds(backoff_seconds);
    Faults faults;
    const auto command = sluice::ToSubmitTask(description, {}, &faults);
    EXPECT_EQ(command->on_failure, std::nullopt) << fault;
    EXPECT_EQ(command->spec.quarantine_reason, "") << fault;
    EXPECT_EQ(faults.Text(), fault);
  }
}

TEST(ConvertTask, RefusesATaskThatIsNotCreated) {
  for (const int state : {1, 4, 9, 77, -1}) {
    TaskDescription description;
    description.mutable_task_descriptor()->set_state(
        static_cast<firmament::TaskDescriptor::TaskState>(state));
    EXPECT_THAT(ToSubmitTask(description).status(),
                StatusIs(absl::StatusCode::kFailedPrecondition))
        << state;
  }
}

// What makes no sense in a task, and what is said of it.
struct TaskFault {
  const char* name;
  std::function<void(TaskDescription*)> break_it;
  std::string reason;
};

const std::vector<TaskFault>& TaskFaults() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto request = [](TaskDescription* task) {
    return task->mutable_task_descriptor()->mutable_resource_request();
  };
  const auto extended = [=](std::string name, int64_t amount) {
    return [=](TaskDescription* task) {
      (*request(task)->mutable_extended_resources())[name] = amount;
    };
  };
  const auto label = [](std::string key, std::string value) {
    return [=](TaskDescription* task) {
      firmament::Label* added = task->mutable_task_descriptor()->add_labels();
      added->set_key(key);
      added->set_value(value);
    };
  };
  static const std::vector<TaskFault> faults = {
      {"Missing", [](auto* task) { task->clear_task_descriptor(); },
       "task_descriptor is missing"},
      {"CpuNan",
       [=](auto* task) { request(task)->set_cpu_cores(std::nanf("")); },
       "cpu_cores: not a number"},
      {"CpuNegative", [=](auto* task) { request(task)->set_cpu_cores(-1); },
       "cpu_cores: -1 < 0"},
      {"CpuInfinite",
       [=](auto* task) { request(task)->set_cpu_cores(kInfinity); },
       "cpu_cores: more than 1152921504606846976"},
      {"CpuNegativeInfinite",
       [=](auto* task) { request(task)->set_cpu_cores(-kInfinity); },
       "cpu_cores: -inf < 0"},
      {"MemoryTwoToThe63",
       [=](auto* task) { request(task)->set_ram_cap(uint64_t{1} << 63); },
       "ram_cap: more than 1152921504606846976"},
      {"EphemeralAll",
       [=](auto* task) { request(task)->set_ephemeral_cap(~uint64_t{0}); },
       "ephemeral_cap: more than 1152921504606846976"},
      // A negative number arrives so.
      {"ReceivesLessThanNothing",
       [=](auto* task) { request(task)->set_net_rx_bw(-uint64_t{1}); },
       "net_rx_bw: more than 1152921504606846976"},
      {"SendsTooMuch",
       [=](auto* task) { request(task)->set_net_tx_bw(kAmountMax + 1); },
       "net_tx_bw: more than 1152921504606846976"},
      {"BandwidthTwice",
       [=](auto* task) {
         request(task)->set_net_rx_bw(5);
         extended("net-rx-kb", 5)(task);
       },
       "extended resource 'net-rx-kb': is also stated by its field"},
      {"ExtendedNegative", extended("gpu", -1), "extended resource 'gpu': -1"},
      {"ExtendedTooLarge", extended("gpu", kAmountMax + 1),
       "extended resource 'gpu': more than"},
      {"ExtendedCpu", extended("cpu", 1), "'cpu': has a field of its own"},
      {"ExtendedMemory", extended("memory", 1), "'memory': has a field"},
      {"ExtendedStorage", extended("ephemeral-storage", 1), "has a field"},
      {"ExtendedPods", extended("pods", 1), "'pods': has a field of its own"},
      {"ExtendedNameEmpty", extended("", 1), "its name is empty"},
      {"ExtendedNameTooLong", extended(std::string(kNameBytesMax + 1, 'x'), 1),
       "4097 bytes, at most 4096 are allowed"},
      {"LabelKeyTooLong", label(std::string(10 << 20, 'x'), "v"),
       "label key: 10485760 bytes, at most 4096 are allowed"},
      {"LabelValueTooLong", label("k", std::string(10 << 20, 'x')),
       "value of label 'k': 10485760 bytes, at most 4096 are allowed"},
      {"NameTooLong",
       [](auto* task) {
         task->mutable_task_descriptor()->set_name(std::string(10 << 20, 'x'));
       },
       "name: 10485760 bytes, at most 4096 are allowed"},
      {"HostPort",
       [](auto* task) {
         task->mutable_task_descriptor()->add_host_ports()->set_port(-1);
       },
       "host_ports: port -1"},
      {"OwnerTooLong",
       [](auto* task) {
         task->mutable_task_descriptor()->set_owner_ref_uid(
             std::string(10 << 20, 'x'));
       },
       "owner_ref_uid: 10485760 bytes"},
      {"NamespaceTooLong",
       [](auto* task) {
         task->mutable_task_descriptor()->set_namespace_(
             std::string(10 << 20, 'x'));
       },
       "namespace: 10485760 bytes"},
      {"NamespaceLabelTooLong",
       [](auto* task) {
         (*task->mutable_task_descriptor()->mutable_namespace_labels())["k"] =
             std::string(10 << 20, 'x');
       },
       "namespace_labels: value of label 'k': 10485760 bytes"},
      {"Peers",
       [](auto* task) {
         task->mutable_task_descriptor()->add_conflicts(
             std::string(10 << 20, 'x'));
       },
       "conflicts: 10485760 bytes"},
      {"GangMinimum",
       [](auto* task) {
         task->mutable_job_descriptor()->set_is_gang_scheduling_job(true);
         task->mutable_job_descriptor()->set_min_number_of_tasks(
             kGangMinimumMax + 1);
       },
       "min_number_of_tasks: more than 16777216"},
      {"GangTimeout",
       [](auto* task) {
         task->mutable_job_descriptor()->set_is_gang_scheduling_job(true);
         task->mutable_job_descriptor()->set_gang_timeout_seconds(-1);
       },
       "gang_timeout_seconds: -1 is not in 0 to 31622400"},
      {"JobNameTooLong",
       [](auto* task) {
         task->mutable_job_descriptor()->set_name(std::string(10 << 20, 'x'));
       },
       "job name: 10485760 bytes"}};
  return faults;
}

TEST(ConvertTask, QuarantinesWhatMakesNoSenseAndSaysWhy) {
  for (const TaskFault& fault : TaskFaults()) {
    auto description = Parse<TaskDescription>(kTask);
    fault.break_it(&description);
    const SubmitTask command = *ToSubmitTask(description);
    EXPECT_THAT(command.spec.quarantine_reason, HasSubstr(fault.reason))
        << fault.name;
    EXPECT_THAT(command.spec.request, IsEmpty()) << fault.name;
    EXPECT_THAT(command.spec.labels, IsEmpty()) << fault.name;
    EXPECT_EQ(command.spec.rules, NoRules()) << fault.name;
    EXPECT_TRUE(command.spec.owner.empty()) << fault.name;
    EXPECT_LE(command.spec.name.size(), kNameBytesMax) << fault.name;
    EXPECT_LE(command.job_name.size(), kNameBytesMax) << fault.name;
    EXPECT_EQ(ToUpdateTask(description).spec.quarantine_reason,
              command.spec.quarantine_reason)
        << fault.name;
  }
}

TEST(ConvertTask, BoundsTheNumberOfLabelsAndExtendedResources) {
  TaskDescription labels;
  for (size_t i = 0; i <= kLabelsMax; ++i) {
    labels.mutable_task_descriptor()->add_labels()->set_key(StrCat(i));
  }
  EXPECT_THAT(ReasonOf(labels), HasSubstr("1025 of them, at most 1024"));
  TaskDescription resources;
  auto* extended = resources.mutable_task_descriptor()
                       ->mutable_resource_request()
                       ->mutable_extended_resources();
  for (size_t i = 0; i <= kExtendedResourceNamesMax; ++i) {
    (*extended)[StrCat("r", i)] = 1;
  }
  EXPECT_THAT(ReasonOf(resources), HasSubstr("257 of them, at most 256"));
  TaskDescription namespaced;
  for (size_t i = 0; i <= kLabelsMax; ++i) {
    (*namespaced.mutable_task_descriptor()
          ->mutable_namespace_labels())[StrCat(i)] = "v";
  }
  EXPECT_THAT(ReasonOf(namespaced),
              HasSubstr("namespace_labels: 1025 of them, at most 1024"));
}

TEST(ConvertTask, AcceptsWhatIsExactlyAtABound) {
  TaskDescription description;
  firmament::TaskDescriptor* task = description.mutable_task_descriptor();
  task->set_name(std::string(kNameBytesMax, 'x'));
  task->mutable_resource_request()->set_ram_cap(uint64_t{1} << 60);
  task->mutable_resource_request()->set_cpu_cores(std::ldexp(1.0F, 60));
  for (size_t i = 0; i < kLabelsMax; ++i)
    task->add_labels()->set_key(StrCat(i));
  EXPECT_EQ(ReasonOf(description), "");
}

// ---------------------------------------------------------------------------
// Machines

constexpr char kMachine[] = R"(
  resource_desc {
    uuid: "m" friendly_name: "node" type: RESOURCE_MACHINE max_pods: 42
    available_resources { cpu_cores: 3800 ram_cap: 900 }
    resource_capacity { cpu_cores: 4000 ram_cap: 1000 ephemeral_cap: 7 }
    labels { key: "zone" value: "a" }
    taints { key: "dedicated" value: "ml" effect: "NoSchedule" }
    unschedulable: true
    avoids { kind: "ReplicaSet" uid: "u" }
  }
  children {
    resource_desc { uuid: "socket" type: RESOURCE_SOCKET }
    children { resource_desc { uuid: "pu0" resource_capacity { cpu_cores: 1 }
                               labels { key: "zone" value: "outdated" }
                               taints { key: "outdated" } } }
    children { resource_desc { uuid: "pu1" resource_capacity { cpu_cores: 2 } } }
  }
  children { resource_desc { uuid: "pu2"
                             resource_capacity { cpu_cores: 9 }
                             available_resources { cpu_cores: 3 } } }
  children { resource_desc { type: RESOURCE_PU } })";

TEST(ConvertMachine, KeepsEveryFieldThatItIsScheduledBy) {
  const MachineSpec spec =
      ToAddMachine(Parse<ResourceTopologyNodeDescriptor>(kMachine), 110).spec;
  EXPECT_EQ(spec.quarantine_reason, "");
  EXPECT_EQ(spec.uuid, "m");
  EXPECT_EQ(spec.name, "node");
  EXPECT_THAT(
      spec.allocatable,
      ElementsAre(Pair("cpu", 3800), Pair("memory", 900), Pair("pods", 42)));
  EXPECT_THAT(spec.capacity,
              ElementsAre(Pair("cpu", 4000), Pair("ephemeral-storage", 7),
                          Pair("memory", 1000), Pair("pods", 42)));
  EXPECT_THAT(spec.labels, ElementsAre(Pair("zone", "a")));
  EXPECT_THAT(spec.taints,
              ElementsAre(NoSchedule("dedicated", "ml"),
                          NoSchedule("node.kubernetes.io/unschedulable")));
  EXPECT_THAT(spec.avoids, ElementsAre(Owner{"ReplicaSet", "u"}));
}

TEST(ConvertMachine, ReadsTaintsAndAvoidsInUpdatesToo) {
  const auto tree = Parse<ResourceTopologyNodeDescriptor>(kMachine);
  const MachineSpec added = ToAddMachine(tree, 110).spec;
  const MachineSpec updated = ToUpdateMachine(tree, 110).spec;
  EXPECT_EQ(updated.taints, added.taints);
  EXPECT_EQ(updated.avoids, added.avoids);
}

TEST(ConvertMachine, FindsTheProcessingUnitsAtEveryLevelInTheOrderOfTheTree) {
  const MachineSpec spec =
      ToAddMachine(Parse<ResourceTopologyNodeDescriptor>(kMachine), 110).spec;
  ASSERT_THAT(spec.pus, SizeIs(3)) << "the child without a uuid is no unit";
  EXPECT_EQ(spec.pus[0].uuid, "pu0");
  EXPECT_EQ(spec.pus[1].uuid, "pu1");
  EXPECT_EQ(spec.pus[2].uuid, "pu2");
  EXPECT_THAT(spec.pus[1].capacity, ElementsAre(Pair("cpu", 2)));
  EXPECT_THAT(spec.pus[2].capacity, ElementsAre(Pair("cpu", 3)));
  EXPECT_THAT(spec.other_uuids, ElementsAre("socket"));
}

TEST(ConvertMachine, RoundsWhatItOffersDown) {
  firmament::ResourceTopologyNodeDescriptor tree;
  tree.mutable_resource_desc()->set_uuid("m");
  auto* available = tree.mutable_resource_desc()->mutable_available_resources();
  available->set_cpu_cores(1999.9F);
  EXPECT_THAT(ToAddMachine(tree, 110).spec.allocatable,
              testing::Contains(Pair("cpu", 1999)));
  available->set_cpu_cores(0.3F);
  EXPECT_THAT(ToAddMachine(tree, 110).spec.allocatable,
              testing::Not(testing::Contains(Pair("cpu", testing::_))));
}

TEST(ConvertMachine, OffersItsCapacityWhereItDoesNotSayWhatIsAvailable) {
  auto tree = Parse<ResourceTopologyNodeDescriptor>(kMachine);
  tree.mutable_resource_desc()->clear_available_resources();
  const MachineSpec spec = ToAddMachine(tree, 110).spec;
  EXPECT_EQ(spec.allocatable, spec.capacity);
  EXPECT_THAT(spec.allocatable, testing::Contains(Pair("cpu", 4000)));
}

TEST(ConvertMachine, HasWhatIsAvailableWhereItDoesNotSayItsCapacity) {
  auto tree = Parse<ResourceTopologyNodeDescriptor>(kMachine);
  tree.mutable_resource_desc()->clear_resource_capacity();
  const MachineSpec spec = ToAddMachine(tree, 110).spec;
  EXPECT_EQ(spec.allocatable, spec.capacity);
  EXPECT_THAT(spec.allocatable, testing::Contains(Pair("cpu", 3800)));
}

TEST(ConvertMachine, OffersTheBandwidthThatItStates) {
  const auto tree = Parse<ResourceTopologyNodeDescriptor>(R"(
    resource_desc {
      uuid: "m"
      available_resources { net_rx_bw: 900 net_tx_bw: 800 }
      resource_capacity { net_rx_bw: 1000 net_tx_bw: 1000 } })");
  const MachineSpec spec = ToAddMachine(tree, 110).spec;
  EXPECT_THAT(spec.allocatable,
              ElementsAre(Pair("net-rx-kb", 900), Pair("net-tx-kb", 800),
                          Pair("pods", 110)));
  EXPECT_THAT(spec.capacity,
              ElementsAre(Pair("net-rx-kb", 1000), Pair("net-tx-kb", 1000),
                          Pair("pods", 110)));
  EXPECT_EQ(ToUpdateMachine(tree, 110).spec.allocatable, spec.allocatable);
}

TEST(ConvertMachine, MayStateBandwidthByName) {
  const auto tree = Parse<ResourceTopologyNodeDescriptor>(R"(
    resource_desc {
      uuid: "m"
      resource_capacity {
        extended_resources { key: "net-rx-kb" value: 1000 } } })");
  EXPECT_THAT(ToAddMachine(tree, 110).spec.allocatable,
              ElementsAre(Pair("net-rx-kb", 1000), Pair("pods", 110)));
}

TEST(ConvertMachine, TakesTheDefaultWhereItDoesNotSayHowManyPods) {
  auto tree = Parse<ResourceTopologyNodeDescriptor>(kMachine);
  tree.mutable_resource_desc()->clear_max_pods();
  EXPECT_THAT(ToAddMachine(tree, 250).spec.allocatable,
              testing::Contains(Pair("pods", 250)));
}

TEST(ConvertMachine, StatesAmountsInAnUpdateOnlyIfTheMessageHasAny) {
  auto tree = Parse<ResourceTopologyNodeDescriptor>(kMachine);
  EXPECT_THAT(ToUpdateMachine(tree, 110).spec.allocatable, SizeIs(3));
  tree.mutable_resource_desc()->clear_available_resources();
  EXPECT_THAT(ToUpdateMachine(tree, 110).spec.allocatable, SizeIs(4));
  tree.mutable_resource_desc()->clear_resource_capacity();
  const MachineSpec spec = ToUpdateMachine(tree, 110).spec;
  EXPECT_THAT(spec.allocatable, IsEmpty());
  EXPECT_THAT(spec.capacity, IsEmpty());
  EXPECT_THAT(spec.labels, SizeIs(1));
  EXPECT_EQ(spec.quarantine_reason, "");
}

TEST(ConvertMachine, AcceptsAMachineWithoutChildren) {
  auto tree = Parse<ResourceTopologyNodeDescriptor>(kMachine);
  tree.clear_children();
  EXPECT_EQ(ReasonOf(tree), "");
  EXPECT_THAT(ToAddMachine(tree, 110).spec.pus, IsEmpty());
}

TEST(ConvertMachine, AcceptsIdsThatAreNoUuids) {
  auto tree = Parse<ResourceTopologyNodeDescriptor>(kMachine);
  tree.mutable_resource_desc()->set_uuid("not a uuid \n");
  EXPECT_EQ(ReasonOf(tree), "");
  EXPECT_EQ(ToAddMachine(tree, 110).spec.uuid, "not a uuid \n");
  firmament::ResourceUID uid;
  uid.set_resource_uid("not a uuid \n");
  EXPECT_EQ(ToRemoveMachine(uid).uuid, "not a uuid \n");
}

TEST(ConvertMachine, TakesAResourceOfAnUnknownTypeForNoProcessingUnit) {
  auto tree = Parse<ResourceTopologyNodeDescriptor>(kMachine);
  tree.mutable_children(1)->mutable_resource_desc()->set_type(
      static_cast<firmament::ResourceDescriptor::ResourceType>(99));
  const MachineSpec spec = ToAddMachine(tree, 110).spec;
  EXPECT_THAT(spec.pus, SizeIs(2));
  EXPECT_THAT(spec.other_uuids, ElementsAre("socket", "pu2"));
}

TEST(ConvertMachine, WalksATreeAThousandLevelsDeep) {
  auto tree = Parse<ResourceTopologyNodeDescriptor>(kMachine);
  ResourceTopologyNodeDescriptor* node = &tree;
  for (int level = 0; level < 1000; ++level) {
    node = node->add_children();
    node->mutable_resource_desc()->set_uuid(StrCat("level-", level));
  }
  EXPECT_EQ(ReasonOf(tree), "");
  EXPECT_THAT(ToAddMachine(tree, 110).spec.pus, SizeIs(1003));
}

struct MachineFault {
  const char* name;
  std::function<void(ResourceTopologyNodeDescriptor*)> break_it;
  std::string reason;
};

const std::vector<MachineFault>& MachineFaults() {
  static const std::vector<MachineFault> faults = {
      {"NoDescription", [](auto* tree) { tree->clear_resource_desc(); },
       "uuid is empty"},
      {"NameTooLong",
       [](auto* tree) {
         tree->mutable_resource_desc()->set_friendly_name(
             std::string(10 << 20, 'x'));
       },
       "friendly_name: 10485760 bytes, at most 4096"},
      {"CpuNan",
       [](auto* tree) {
         tree->mutable_resource_desc()
             ->mutable_available_resources()
             ->set_cpu_cores(std::nanf(""));
       },
       "cpu_cores: not a number"},
      {"CapacityNegative",
       [](auto* tree) {
         tree->mutable_resource_desc()
             ->mutable_resource_capacity()
             ->set_cpu_cores(-5);
       },
       "cpu_cores: -5 < 0"},
      {"TooManyTaints",
       [](auto* tree) {
         for (size_t i = 0; i <= kTaintsMax; ++i) {
           tree->mutable_resource_desc()->add_taints()->set_key(StrCat(i));
           tree->mutable_resource_desc()
               ->mutable_taints()
               ->rbegin()
               ->set_effect("NoSchedule");
         }
       },
       "taints: more than 256 of them"},
      {"AvoidTooLong",
       [](auto* tree) {
         auto* avoid = tree->mutable_resource_desc()->add_avoids();
         avoid->set_kind("ReplicaSet");
         avoid->set_uid(std::string(kLabelBytesMax + 1, 'x'));
       },
       "uid of avoids: 4097 bytes"},
      {"TooManyPods",
       [](auto* tree) {
         tree->mutable_resource_desc()->set_max_pods(uint64_t{1} << 63);
       },
       "max_pods: more than"},
      {"UuidTwice",
       [](auto* tree) {
         tree->mutable_children(1)->mutable_resource_desc()->set_uuid("pu0");
       },
       "uuid 'pu0' appears twice in the tree"},
      {"UuidOfTheMachine",
       [](auto* tree) {
         tree->mutable_children(1)->mutable_resource_desc()->set_uuid("m");
       },
       "uuid 'm' appears twice in the tree"},
      {"UnitNan",
       [](auto* tree) {
         tree->mutable_children(1)
             ->mutable_resource_desc()
             ->mutable_available_resources()
             ->set_cpu_cores(std::nanf(""));
       },
       "processing unit 'pu2': cpu_cores: not a number"},
      {"TooManyNodes",
       [](auto* tree) {
         for (size_t i = 0; i < kTreeNodesMax; ++i) tree->add_children();
       },
       "children: more than 16384 nodes in the tree"}};
  return faults;
}

TEST(ConvertMachine, QuarantinesWhatMakesNoSenseAndSaysWhy) {
  for (const MachineFault& fault : MachineFaults()) {
    auto tree = Parse<ResourceTopologyNodeDescriptor>(kMachine);
    fault.break_it(&tree);
    const MachineSpec spec = ToAddMachine(tree, 110).spec;
    EXPECT_THAT(spec.quarantine_reason, StartsWith(fault.reason)) << fault.name;
    EXPECT_THAT(spec.allocatable, IsEmpty()) << fault.name;
    EXPECT_THAT(spec.capacity, IsEmpty()) << fault.name;
    EXPECT_THAT(spec.labels, IsEmpty()) << fault.name;
    EXPECT_THAT(spec.taints, IsEmpty()) << fault.name;
    EXPECT_THAT(spec.avoids, IsEmpty()) << fault.name;
    EXPECT_LE(spec.name.size(), kNameBytesMax) << fault.name;
    EXPECT_EQ(ToUpdateMachine(tree, 110).spec.quarantine_reason,
              spec.quarantine_reason)
        << fault.name;
  }
}

// ---------------------------------------------------------------------------
// Foreign pods and samples

TEST(ConvertTaskInfo, TurnsBytesIntoTheUnitOfEverythingElse) {
  const auto command = ToForeignPod(Parse<firmament::TaskInfo>(
      R"(task_name: "pod/ns" resource_id: "m" cpu_utilization: 250
         mem_utilization: 1024 ephemeral_storage_utilization: 3)"));
  ASSERT_THAT(command, IsOk());
  const auto& pod = std::get<AddForeignPod>(*command);
  EXPECT_EQ(pod.name, "pod/ns");
  EXPECT_EQ(pod.machine_uuid, "m");
  EXPECT_THAT(pod.usage,
              ElementsAre(Pair("cpu", 250), Pair("ephemeral-storage", 3000),
                          Pair("memory", 1024000)));
}

TEST(ConvertTaskInfo, NeedsOnlyTheNameOfWhatIsRemoved) {
  const auto command = ToForeignPod(Parse<firmament::TaskInfo>(
      R"(task_name: "pod/ns" type: TASKINFO_REMOVE mem_utilization: -1)"));
  ASSERT_THAT(command, IsOk());
  EXPECT_EQ(std::get<RemoveForeignPod>(*command).name, "pod/ns");
  EXPECT_EQ(std::get<RemoveForeignPod>(*command).machine_uuid, "");
}

TEST(ConvertTaskInfo, RefusesWhatMakesNoSense) {
  for (const auto& [text, message] :
       std::vector<std::pair<std::string, std::string>>{
           {"cpu_utilization: -1", "cpu_utilization: -1 < 0"},
           {"mem_utilization: -1", "mem_utilization: -1 < 0"},
           {"ephemeral_storage_utilization: -1", "_utilization: -1 < 0"},
           {"cpu_utilization: 9223372036854775807", "cpu_utilization: more"},
           {"mem_utilization: 1152921504606847",
            "mem_utilization: more than "
            "1152921504606846"}}) {
    EXPECT_THAT(
        ToForeignPod(Parse<firmament::TaskInfo>(text)),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  }
  firmament::TaskInfo unknown;
  unknown.set_type(static_cast<firmament::TaskInfoType>(9));
  EXPECT_THAT(ToForeignPod(unknown),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("type: 9 is unknown")));
}

}  // namespace
}  // namespace sluice
