// R1: no request whatever makes a call fail or the daemon end, in the modes
// that the bridge can live with; in strict mode a malformed one fails with
// INVALID_ARGUMENT and changes nothing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/rng.h"
#include "integration/mini_server.h"
#include "util/nested_tree.h"

namespace sluice {
namespace {

using firmament::ResourceTopologyNodeDescriptor;
using firmament::TaskDescription;
using testing::_;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::Values;

constexpr size_t kHuge = 10 << 20;

const std::vector<std::string>& Methods() {
  static const std::vector<std::string> methods = {
      "Schedule",    "TaskCompleted", "TaskFailed",   "TaskRemoved",
      "TaskUpdated", "NodeAdded",     "NodeFailed",   "NodeRemoved",
      "NodeUpdated", "AddTaskStats",  "AddNodeStats", "Check",
      "AddTaskInfo", "TaskSubmitted"};
  return methods;
}

class Malformed : public testing::TestWithParam<ReplyMode> {
 protected:
  Malformed() : server_(GetParam()), client_(server_.port()) {}

  bool is_strict() const { return GetParam() == ReplyMode::kStrict; }

  grpc::Status CallRaw(const std::string& method, const std::string& bytes) {
    std::string response;
    return client_.CallRaw("firmament.FirmamentScheduler/" + method, bytes,
                           &response);
  }

  // Whether a call may end so.
  void ExpectBearable(const grpc::Status& status, const std::string& what) {
    if (status.ok()) return;
    EXPECT_TRUE(is_strict()) << what << ": " << status.error_message();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << what;
  }

  // The daemon still does its work.
  void ExpectAlive() {
    EXPECT_EQ(client_.Submit(TaskMessage(4711)), firmament::TASK_SUBMITTED_OK);
    client_.AddNode(NodeMessage("alive"));
    EXPECT_THAT(PlacesOf(client_.Schedule()), ElementsAre(Pair(4711, _)));
  }

  MiniServer server_;
  Client client_;
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

INSTANTIATE_TEST_SUITE_P(InEveryMode, Malformed,
                         Values(ReplyMode::kContract, ReplyMode::kLenient,
                                ReplyMode::kStrict),
                         &NameOf);

TEST_P(Malformed, BytesThatAreNoMessageAreAnsweredByEveryMethod) {
  for (const std::string& method : Methods()) {
    for (const std::string& bytes :
         {std::string("\xff\xff\xff\xff"), std::string("\x08"),
          std::string("\x0c"), std::string("\x00", 1),
          std::string(kHuge, '\xff')}) {
      const grpc::Status status = CallRaw(method, bytes);
      ExpectBearable(status, method);
      EXPECT_EQ(status.ok(), !is_strict()) << method;
    }
  }
  ExpectAlive();
}

TEST_P(Malformed, ArbitraryBytesAreAnsweredByEveryMethod) {
  Rng rng(20240611);
  for (int i = 0; i < 1400; ++i) {
    const std::string& method = Methods()[rng.Below(Methods().size())];
    std::string bytes(rng.Below(60), '\0');
    for (char& byte : bytes) byte = static_cast<char>(rng.Next());
    ExpectBearable(CallRaw(method, bytes), method);
  }
  EXPECT_EQ(client_.Check(""), firmament::SERVING);
}

TEST_P(Malformed, EmptyMessagesAreAnsweredByEveryMethod) {
  for (const std::string& method : Methods()) {
    ExpectBearable(CallRaw(method, ""), method);
  }
  EXPECT_EQ(client_.Check(""), firmament::SERVING);
}

TEST_P(Malformed, ATreeOfAThousandLevelsIsAMachineAndADeeperOneIsAnswered) {
  ResourceTopologyNodeDescriptor tree = NodeMessage("deep");
  ResourceTopologyNodeDescriptor* node = &tree;
  for (int level = 0; level < 1000; ++level) {
    node = node->add_children();
    node->mutable_resource_desc()->set_uuid(StrCat("level-", level));
  }
  EXPECT_EQ(client_.AddNode(tree), firmament::NODE_ADDED_OK);
  ExpectBearable(CallRaw("NodeAdded", NestedTree(100000)), "too deep");
  ExpectAlive();
}

// ---------------------------------------------------------------------------
// Tasks that make no sense

struct BadTask {
  const char* name;
  std::function<void(TaskDescription*)> spoil;
};

const std::vector<BadTask>& BadTasks() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto cpu = [](float value) {
    return [value](TaskDescription* task) {
      task->mutable_task_descriptor()
          ->mutable_resource_request()
          ->set_cpu_cores(value);
    };
  };
  static const std::vector<BadTask> tasks = {
      {"Nan", cpu(std::nanf(""))},
      {"Negative", cpu(-1)},
      {"Infinite", cpu(kInfinity)},
      {"TwoToThe63",
       [](auto* task) {
         task->mutable_task_descriptor()
             ->mutable_resource_request()
             ->set_ram_cap(uint64_t{1} << 63);
       }},
      {"NegativeBandwidth",
       [](auto* task) {
         task->mutable_task_descriptor()
             ->mutable_resource_request()
             ->set_net_rx_bw(-uint64_t{1});
       }},
      {"HugeName",
       [](auto* task) {
         task->mutable_task_descriptor()->set_name(std::string(kHuge, 'n'));
       }},
      {"HugeLabel",
       [](auto* task) {
         task->mutable_task_descriptor()->add_labels()->set_key(
             std::string(kHuge, 'k'));
       }},
      {"HugeJobName", [](auto* task) {
         task->mutable_job_descriptor()->set_name(std::string(kHuge, 'j'));
       }}};
  return tasks;
}

TEST_P(Malformed, ATaskThatMakesNoSenseIsKnownAndExplainedAndNotScheduled) {
  client_.AddNode(NodeMessage("n", {.cpu = 1e9F}));
  for (const BadTask& bad : BadTasks()) {
    TaskDescription task = TaskMessage(5);
    bad.spoil(&task);
    grpc::ClientContext context;
    firmament::TaskSubmittedResponse response;
    const grpc::Status status =
        client_.scheduler().TaskSubmitted(&context, task, &response);
    if (is_strict()) {
      EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT)
          << bad.name;
      EXPECT_THAT(status.error_message(), HasSubstr("task 5")) << bad.name;
      EXPECT_EQ(client_.Remove(5), firmament::TASK_NOT_FOUND) << bad.name;
      continue;
    }
    EXPECT_TRUE(status.ok()) << bad.name;
    EXPECT_EQ(response.type(), firmament::TASK_SUBMITTED_OK) << bad.name;
    const firmament::SchedulingDeltas reply = client_.Schedule();
    EXPECT_THAT(reply.deltas(), IsEmpty()) << bad.name;
    EXPECT_THAT(WaitingOf(reply), ElementsAre(5)) << bad.name;
    const v1::TaskExplanation explanation = client_.Explain(5);
    EXPECT_EQ(explanation.task().state(), v1::Task::QUARANTINED) << bad.name;
    EXPECT_THAT(explanation.summary(), HasSubstr("quarantined: ")) << bad.name;
    EXPECT_EQ(client_.Remove(5), firmament::TASK_REMOVED_OK) << bad.name;
  }
}

TEST_P(Malformed, ATaskIsScheduledOnceAnUpdateMakesSense) {
  if (is_strict()) GTEST_SKIP() << "nothing is kept of it";
  client_.AddNode(NodeMessage("n"));
  EXPECT_EQ(client_.Submit(TaskMessage(5, {.cpu = std::nanf("")})),
            firmament::TASK_SUBMITTED_OK);
  EXPECT_THAT(client_.Schedule().deltas(), IsEmpty());
  EXPECT_EQ(client_.Update(TaskMessage(5, {.cpu = 10})),
            firmament::TASK_UPDATED_OK);
  EXPECT_THAT(PlacesOf(client_.Schedule()), ElementsAre(Pair(5, PuOf("n"))));
  // A running task keeps its place, whatever is said of it.
  EXPECT_EQ(client_.Update(TaskMessage(5, {.cpu = -1})),
            firmament::TASK_UPDATED_OK);
  EXPECT_EQ(client_.Status().used().cpu_millicores(), 10);
}

TEST_P(Malformed, AnUpdateThatMakesNoSenseOfAnUnknownTaskIsAnswered) {
  grpc::ClientContext context;
  firmament::TaskUpdatedResponse response;
  const grpc::Status status = client_.scheduler().TaskUpdated(
      &context, TaskMessage(8, {.cpu = -1}), &response);
  EXPECT_EQ(status.ok(), !is_strict());
  if (is_strict()) return;
  EXPECT_EQ(response.type(), firmament::TASK_UPDATED_OK);
}

TEST_P(Malformed, ATaskDescriptionWithoutATaskIsAnswered) {
  grpc::ClientContext context;
  firmament::TaskSubmittedResponse response;
  const grpc::Status status =
      client_.scheduler().TaskSubmitted(&context, {}, &response);
  ExpectBearable(status, "empty");
  if (is_strict()) return;
  EXPECT_EQ(response.type(), firmament::TASK_SUBMITTED_OK);
  EXPECT_EQ(client_.Explain(0).summary(),
            "quarantined: task_descriptor is missing");
}

TEST_P(Malformed, UnknownEnumValuesAndLabelsThatComeTwiceAreTaken) {
  client_.AddNode(NodeMessage("n"));
  TaskDescription task = TaskMessage(1);
  task.mutable_task_descriptor()->set_task_type(
      static_cast<firmament::TaskDescriptor::TaskType>(99));
  for (const char* value : {"first", "last"}) {
    firmament::Label* label = task.mutable_task_descriptor()->add_labels();
    label->set_key("a");
    label->set_value(value);
  }
  task.mutable_job_descriptor()->set_state(
      static_cast<firmament::JobDescriptor::JobState>(99));
  EXPECT_EQ(client_.Submit(task), firmament::TASK_SUBMITTED_OK);
  EXPECT_EQ(client_.Explain(1).task().labels().at("a"), "last");
  EXPECT_EQ(PlacesOf(client_.Schedule()).size(), 1u);
  task = TaskMessage(2);
  task.mutable_task_descriptor()->set_state(
      static_cast<firmament::TaskDescriptor::TaskState>(99));
  EXPECT_EQ(client_.Submit(task), firmament::TASK_STATE_NOT_CREATED);
}

// ---------------------------------------------------------------------------
// Machines and foreign pods that make no sense

struct BadNode {
  const char* name;
  std::function<void(ResourceTopologyNodeDescriptor*)> spoil;
};

const std::vector<BadNode>& BadNodes() {
  static const std::vector<BadNode> nodes = {
      {"Nan",
       [](auto* node) {
         node->mutable_resource_desc()
             ->mutable_available_resources()
             ->set_cpu_cores(std::nanf(""));
       }},
      {"Negative",
       [](auto* node) {
         node->mutable_resource_desc()
             ->mutable_resource_capacity()
             ->set_cpu_cores(-1);
       }},
      {"TwoToThe63",
       [](auto* node) {
         node->mutable_resource_desc()
             ->mutable_available_resources()
             ->set_ram_cap(uint64_t{1} << 63);
       }},
      {"NegativeBandwidth",
       [](auto* node) {
         node->mutable_resource_desc()
             ->mutable_available_resources()
             ->set_net_tx_bw(-uint64_t{1});
       }},
      {"UuidTwice",
       [](auto* node) { *node->add_children() = node->children(0); }},
      {"HugeName", [](auto* node) {
         node->mutable_resource_desc()->set_friendly_name(
             std::string(kHuge, 'n'));
       }}};
  return nodes;
}

TEST_P(Malformed, AMachineThatMakesNoSenseIsKnownAndNotUsedUntilItDoes) {
  for (const BadNode& bad : BadNodes()) {
    const std::string uuid = bad.name;
    ResourceTopologyNodeDescriptor node = NodeMessage(uuid);
    bad.spoil(&node);
    grpc::ClientContext context;
    firmament::NodeAddedResponse response;
    const grpc::Status status =
        client_.scheduler().NodeAdded(&context, node, &response);
    if (is_strict()) {
      EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
      EXPECT_EQ(client_.RemoveNode(uuid), firmament::NODE_NOT_FOUND) << uuid;
      continue;
    }
    EXPECT_TRUE(status.ok()) << uuid;
    EXPECT_EQ(response.type(), firmament::NODE_ADDED_OK) << uuid;
    EXPECT_EQ(client_.Status().quarantined_machines(), 1) << uuid;
    client_.Submit(TaskMessage(1));
    EXPECT_THAT(client_.Schedule().deltas(), IsEmpty()) << uuid;
    EXPECT_EQ(client_.UpdateNode(NodeMessage(uuid)),
              firmament::NODE_UPDATED_OK);
    EXPECT_EQ(PlacesOf(client_.Schedule()).size(), 1u) << uuid;
    EXPECT_EQ(client_.Remove(1), firmament::TASK_REMOVED_OK);
    EXPECT_EQ(client_.RemoveNode(uuid), firmament::NODE_REMOVED_OK);
  }
}

TEST_P(Malformed, ForeignPodsThatMakeNoSenseAreNotTaken) {
  client_.AddNode(NodeMessage("n"));
  firmament::TaskInfo unknown_type = ForeignPodMessage("p", "n", 1, 1);
  unknown_type.set_type(static_cast<firmament::TaskInfoType>(9));
  for (const firmament::TaskInfo& info :
       {ForeignPodMessage("p", "n", -1, 0), ForeignPodMessage("p", "n", 0, -1),
        ForeignPodMessage("p", "n", 0, std::numeric_limits<int64_t>::max()),
        unknown_type}) {
    grpc::ClientContext context;
    firmament::TaskInfoResponse response;
    const grpc::Status status =
        client_.scheduler().AddTaskInfo(&context, info, &response);
    EXPECT_EQ(status.ok(), !is_strict());
    if (!status.ok()) continue;
    EXPECT_EQ(response.type(), firmament::TASKINFO_SUBMIT_FAILED);
  }
  EXPECT_EQ(client_.Status().used().pods(), 0);
}

TEST_P(Malformed, SamplesWithoutCpusAreTakenAndAbsurdOnesAnswered) {
  client_.AddNode(NodeMessage("n"));
  firmament::ResourceStats stats;
  stats.set_resource_id("n");
  stats.set_mem_capacity(std::numeric_limits<int64_t>::min());  // Not read.
  EXPECT_EQ(client_.AddStats(stats), firmament::NODE_ADDED_OK);
  stats.set_mem_utilization(std::nan(""));
  const grpc::Status status =
      CallRaw("AddNodeStats", stats.SerializeAsString());
  ExpectBearable(status, "a fraction that is no number");
  EXPECT_EQ(status.ok(), !is_strict());
  ExpectAlive();
}

}  // namespace
}  // namespace sluice
