// The wire contract of the Firmament service, held against what is compiled.
//
// Clients of the contract are not rebuilt with the server, so no name, number
// or type of it may ever change.  kContract states all of them apart from the
// .proto files: a change there must be made here too, and is then seen for
// what it is.  kExtensions is what we added (unit/rpc/wire_extensions.h).
//
// The format is one type with its rows indented:
//   # file
//   message NAME         NUMBER [repeated] TYPE NAME
//   enum NAME            NUMBER NAME
//   service NAME         METHOD(REQUEST) returns (RESPONSE)
// A line indented twice continues the row above.

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "firmament/firmament_scheduler.grpc.pb.h"
#include "firmament/firmament_scheduler.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"
#include "unit/rpc/wire_extensions.h"

namespace sluice {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::DescriptorPool;
using ::google::protobuf::EnumDescriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::FileDescriptor;
using ::google::protobuf::MessageLite;
using ::google::protobuf::MethodDescriptor;
using ::google::protobuf::ServiceDescriptor;
using ::testing::IsEmpty;

// Numbers that the contract leaves to its users.
constexpr int kExtensionNumberMin = 1000;

constexpr std::string_view kContract = R"(
# label.proto
message Label
  1 string key
  2 string value
# label_selector.proto
message LabelSelector
  1 LabelSelector.SelectorType type
  2 string key
  3 repeated string values
enum LabelSelector.SelectorType
  0 IN_SET
  1 NOT_IN_SET
  2 EXISTS_KEY
  3 NOT_EXISTS_KEY
  4 GREATER_THAN
  5 LESSER_THAN
# reference_desc.proto
message ReferenceDescriptor
  1 bytes id
  2 ReferenceDescriptor.ReferenceType type
  3 ReferenceDescriptor.ReferenceScope scope
  4 bool non_deterministic
  5 uint64 size
  6 string location
  7 bytes inline_data
  8 uint64 producing_task
  9 uint64 time_to_compute
  10 uint64 version
enum ReferenceDescriptor.ReferenceType
  0 TOMBSTONE
  1 FUTURE
  2 CONCRETE
  3 STREAM
  4 VALUE
  5 ERROR
enum ReferenceDescriptor.ReferenceScope
  0 PUBLIC
  1 PRIVATE
# resource_vector.proto
message ResourceVector
  1 float cpu_cores
  2 uint64 ram_bw
  3 uint64 ram_cap
  4 uint64 disk_bw
  5 uint64 disk_cap
  6 uint64 net_tx_bw
  7 uint64 net_rx_bw
  8 uint64 ephemeral_cap
# task_final_report.proto
message TaskFinalReport
  1 uint64 task_id
  2 uint64 start_time
  3 uint64 finish_time
  4 uint64 instructions
  5 uint64 cycles
  6 uint64 llc_refs
  7 uint64 llc_misses
  8 double runtime
# node_affinity.proto
message NodeSelectorRequirement
  1 string key
  2 string operator
  3 repeated string values
message NodeSelectorTerm
  1 repeated NodeSelectorRequirement matchExpressions
message NodeSelector
  1 repeated NodeSelectorTerm nodeSelectorTerms
message PreferredSchedulingTerm
  1 int32 weight
  2 NodeSelectorTerm preference
message NodeAffinity
  1 NodeSelector requiredDuringSchedulingIgnoredDuringExecution
  2 repeated PreferredSchedulingTerm
    preferredDuringSchedulingIgnoredDuringExecution
# pod_affinity.proto
message MatchLabels
  1 string key
  2 string value
message LabelSelectorRequirement
  1 string key
  2 string operator
  3 repeated string values
message PodLabelSelector
  1 MatchLabels matchLabels
  2 repeated LabelSelectorRequirement matchExpressions
message PodAffinityTerm
  1 PodLabelSelector labelSelector
  2 repeated string namespaces
  3 string topologyKey
message WeightedPodAffinityTerm
  1 int32 weight
  2 PodAffinityTerm podAffinityTerm
message PodAffinity
  1 repeated PodAffinityTerm requiredDuringSchedulingIgnoredDuringExecution
  2 repeated WeightedPodAffinityTerm
    preferredDuringSchedulingIgnoredDuringExecution
# pod_anti_affinity.proto
message MatchLabelsAntiAff
  1 string key
  2 string value
message LabelSelectorRequirementAntiAff
  1 string key
  2 string operator
  3 repeated string values
message LabelSelectorAntiAff
  1 MatchLabelsAntiAff matchLabels
  2 repeated LabelSelectorRequirementAntiAff matchExpressions
message PodAffinityTermAntiAff
  1 LabelSelectorAntiAff labelSelector
  2 repeated string namespaces
  3 string topologyKey
message WeightedPodAffinityTermAntiAff
  1 int32 weight
  2 PodAffinityTermAntiAff podAffinityTerm
message PodAntiAffinity
  1 repeated PodAffinityTermAntiAff
    requiredDuringSchedulingIgnoredDuringExecution
  2 repeated WeightedPodAffinityTermAntiAff
    preferredDuringSchedulingIgnoredDuringExecution
# affinity.proto
message Affinity
  1 NodeAffinity node_affinity
  2 PodAffinity pod_affinity
  3 PodAntiAffinity pod_anti_affinity
# tolerations.proto
message Toleration
  1 string key
  2 string operator
  3 string value
  4 string effect
  5 int64 tolerationSeconds
# task_desc.proto
message TaskDescriptor
  1 uint64 uid
  2 string name
  3 TaskDescriptor.TaskState state
  4 string job_id
  5 uint64 index
  6 repeated ReferenceDescriptor dependencies
  7 repeated ReferenceDescriptor outputs
  8 string binary
  9 repeated string args
  10 repeated TaskDescriptor spawned
  11 string scheduled_to_resource
  12 string last_heartbeat_location
  13 uint64 last_heartbeat_time
  14 string delegated_to
  15 string delegated_from
  16 uint64 submit_time
  17 uint64 start_time
  18 uint64 finish_time
  19 uint64 total_unscheduled_time
  20 uint64 total_run_time
  21 uint64 relative_deadline
  22 uint64 absolute_deadline
  23 uint64 port
  24 uint64 input_size
  25 bool inject_task_lib
  26 ResourceVector resource_request
  27 uint32 priority
  28 TaskDescriptor.TaskType task_type
  29 TaskFinalReport final_report
  30 uint64 trace_job_id
  31 uint64 trace_task_id
  32 repeated Label labels
  33 repeated LabelSelector label_selectors
  34 Affinity affinity
  35 string namespace
  36 repeated Toleration toleration
  37 string owner_ref_kind
  38 string owner_ref_uid
enum TaskDescriptor.TaskState
  0 CREATED
  1 BLOCKING
  2 RUNNABLE
  3 ASSIGNED
  4 RUNNING
  5 COMPLETED
  6 FAILED
  7 ABORTED
  8 DELEGATED
  9 UNKNOWN
enum TaskDescriptor.TaskType
  0 SHEEP
  1 RABBIT
  2 DEVIL
  3 TURTLE
# job_desc.proto
message JobDescriptor
  1 string uuid
  2 string name
  3 JobDescriptor.JobState state
  4 TaskDescriptor root_task
  5 repeated bytes output_ids
  6 uint64 min_number_of_tasks
  7 uint64 scheduled_tasks_count
  8 bool is_gang_scheduling_job
enum JobDescriptor.JobState
  0 NEW
  1 CREATED
  2 RUNNING
  3 COMPLETED
  4 FAILED
  5 ABORTED
  6 UNKNOWN
# resource_stats.proto
message ResourceStats
  1 string resource_id
  2 uint64 timestamp
  3 repeated CpuStats cpus_stats
  4 int64 mem_allocatable
  5 int64 mem_capacity
  6 double mem_reservation
  7 double mem_utilization
  8 int64 disk_bw
  9 int64 net_rx_bw
  10 int64 net_tx_bw
  11 int64 ephemeral_storage_allocatable
  12 int64 ephemeral_storage_capacity
  13 double ephemeral_storage_reservation
  14 double ephemeral_storage_utilization
message CpuStats
  1 int64 cpu_allocatable
  2 int64 cpu_capacity
  3 double cpu_reservation
  4 double cpu_utilization
# coco_interference_scores.proto
message CoCoInterferenceScores
  1 uint32 devil_penalty
  2 uint32 rabbit_penalty
  3 uint32 sheep_penalty
  4 uint32 turtle_penalty
# whare_map_stats.proto
message WhareMapStats
  1 uint64 num_idle
  2 uint64 num_devils
  3 uint64 num_rabbits
  4 uint64 num_sheep
  5 uint64 num_turtles
# taints.proto
message Taint
  1 string key
  2 string value
  3 string effect
# avoid_pods_annotation.proto
message AvoidPodsAnnotation
  1 string kind
  2 string uid
# resource_desc.proto
message ResourceDescriptor
  1 string uuid
  2 string friendly_name
  3 string descriptive_name
  4 ResourceDescriptor.ResourceState state
  5 uint64 task_capacity
  6 uint64 last_heartbeat
  7 ResourceDescriptor.ResourceType type
  8 bool schedulable
  9 repeated uint64 current_running_tasks
  10 uint64 num_running_tasks_below
  11 uint64 num_slots_below
  12 ResourceVector available_resources
  13 ResourceVector reserved_resources
  14 ResourceVector min_available_resources_below
  15 ResourceVector max_available_resources_below
  16 ResourceVector min_unreserved_resources_below
  17 ResourceVector max_unreserved_resources_below
  18 ResourceVector resource_capacity
  19 WhareMapStats whare_map_stats
  20 CoCoInterferenceScores coco_interference_scores
  21 uint64 trace_machine_id
  32 repeated Label labels
  33 repeated Taint taints
  34 repeated AvoidPodsAnnotation avoids
  35 uint64 max_pods
enum ResourceDescriptor.ResourceState
  0 RESOURCE_UNKNOWN
  1 RESOURCE_IDLE
  2 RESOURCE_BUSY
  3 RESOURCE_LOST
enum ResourceDescriptor.ResourceType
  0 RESOURCE_PU
  1 RESOURCE_CORE
  2 RESOURCE_CACHE
  3 RESOURCE_NIC
  4 RESOURCE_DISK
  5 RESOURCE_SSD
  6 RESOURCE_MACHINE
  7 RESOURCE_LOGICAL
  8 RESOURCE_NUMA_NODE
  9 RESOURCE_SOCKET
  10 RESOURCE_COORDINATOR
# resource_topology_node_desc.proto
message ResourceTopologyNodeDescriptor
  1 ResourceDescriptor resource_desc
  2 repeated ResourceTopologyNodeDescriptor children
  3 string parent_id
# task_stats.proto
message TaskStats
  1 uint64 task_id
  2 string hostname
  3 uint64 timestamp
  4 int64 cpu_limit
  5 int64 cpu_request
  6 int64 cpu_usage
  7 int64 mem_limit
  8 int64 mem_request
  9 int64 mem_usage
  10 int64 mem_rss
  11 int64 mem_cache
  12 int64 mem_working_set
  13 int64 mem_page_faults
  14 double mem_page_faults_rate
  15 int64 major_page_faults
  16 double major_page_faults_rate
  17 int64 net_rx
  18 int64 net_rx_errors
  19 double net_rx_errors_rate
  20 double net_rx_rate
  21 int64 net_tx
  22 int64 net_tx_errors
  23 double net_tx_errors_rate
  24 double net_tx_rate
# scheduling_delta.proto
message SchedulingDelta
  1 uint64 task_id
  2 string resource_id
  3 SchedulingDelta.ChangeType type
enum SchedulingDelta.ChangeType
  0 NOOP
  1 PLACE
  2 PREEMPT
  3 MIGRATE
# firmament_scheduler.proto
message ScheduleRequest
message SchedulingDeltas
  1 repeated SchedulingDelta deltas
  2 repeated uint64 unscheduled_tasks
message TaskCompletedResponse
  1 TaskReplyType type
message TaskDescription
  1 TaskDescriptor task_descriptor
  2 JobDescriptor job_descriptor
message TaskSubmittedResponse
  1 TaskReplyType type
message TaskRemovedResponse
  1 TaskReplyType type
message TaskFailedResponse
  1 TaskReplyType type
message TaskUpdatedResponse
  1 TaskReplyType type
message NodeAddedResponse
  1 NodeReplyType type
message NodeRemovedResponse
  1 NodeReplyType type
message NodeFailedResponse
  1 NodeReplyType type
message NodeUpdatedResponse
  1 NodeReplyType type
message TaskStatsResponse
  1 TaskReplyType type
message ResourceStatsResponse
  1 NodeReplyType type
message TaskUID
  1 uint64 task_uid
message ResourceUID
  1 string resource_uid
message HealthCheckRequest
  1 string grpc_service
message HealthCheckResponse
  1 ServingStatus status
message TaskInfo
  1 string task_name
  2 string resource_id
  3 int64 cpu_utilization
  4 int64 mem_utilization
  5 int64 ephemeral_storage_utilization
  6 TaskInfoType type
message TaskInfoResponse
  1 TaskInfoReplyType type
enum TaskReplyType
  0 TASK_COMPLETED_OK
  1 TASK_SUBMITTED_OK
  2 TASK_REMOVED_OK
  3 TASK_FAILED_OK
  4 TASK_UPDATED_OK
  5 TASK_NOT_FOUND
  6 TASK_JOB_NOT_FOUND
  7 TASK_ALREADY_SUBMITTED
  8 TASK_STATE_NOT_CREATED
enum NodeReplyType
  0 NODE_ADDED_OK
  1 NODE_FAILED_OK
  2 NODE_REMOVED_OK
  3 NODE_UPDATED_OK
  4 NODE_NOT_FOUND
  5 NODE_ALREADY_EXISTS
enum ServingStatus
  0 UNKNOWN
  1 SERVING
  2 NOT_SERVING
enum TaskInfoReplyType
  0 TASKINFO_SUBMITTED_OK
  2 TASKINFO_REMOVED_OK
  3 TASKINFO_SUBMIT_FAILED
  4 TASKINFO_REMOVE_FAILED
enum TaskInfoType
  0 TASKINFO_ADD
  1 TASKINFO_REMOVE
service FirmamentScheduler
  Schedule(ScheduleRequest) returns (SchedulingDeltas)
  TaskCompleted(TaskUID) returns (TaskCompletedResponse)
  TaskFailed(TaskUID) returns (TaskFailedResponse)
  TaskRemoved(TaskUID) returns (TaskRemovedResponse)
  TaskSubmitted(TaskDescription) returns (TaskSubmittedResponse)
  TaskUpdated(TaskDescription) returns (TaskUpdatedResponse)
  NodeAdded(ResourceTopologyNodeDescriptor) returns (NodeAddedResponse)
  NodeFailed(ResourceUID) returns (NodeFailedResponse)
  NodeRemoved(ResourceUID) returns (NodeRemovedResponse)
  NodeUpdated(ResourceTopologyNodeDescriptor) returns (NodeUpdatedResponse)
  AddTaskStats(TaskStats) returns (TaskStatsResponse)
  AddNodeStats(ResourceStats) returns (ResourceStatsResponse)
  Check(HealthCheckRequest) returns (HealthCheckResponse)
  AddTaskInfo(TaskInfo) returns (TaskInfoResponse)
)";

// A type ("message Label") and one thing that is stated of it, be it a row or
// the file it is in.
using Statement = std::pair<std::string, std::string>;
using Statements = std::set<Statement>;

Statements Parse(std::string_view table) {
  Statements statements;
  std::string file;
  Statement current;
  std::istringstream lines{std::string(table)};
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    if (line.starts_with("# ")) {
      file = line.substr(2);
      continue;
    }
    if (line.starts_with("    ")) {
      statements.erase(current);
      current.second += line.substr(3);
    } else if (line.starts_with("  ")) {
      current.second = line.substr(2);
    } else {
      current = {line, "in " + file};
    }
    statements.insert(current);
  }
  return statements;
}

// The name without the package, which the contract leaves out.
std::string ShortName(std::string_view full_name) {
  constexpr std::string_view kPackage = "firmament.";
  if (full_name.starts_with(kPackage)) full_name.remove_prefix(kPackage.size());
  return std::string(full_name);
}

std::string TypeName(const FieldDescriptor& field) {
  if (field.is_map()) {
    return "map<" + TypeName(*field.message_type()->map_key()) + ", " +
           TypeName(*field.message_type()->map_value()) + ">";
  }
  if (field.message_type() != nullptr) {
    return ShortName(field.message_type()->full_name());
  }
  if (field.enum_type() != nullptr) {
    return ShortName(field.enum_type()->full_name());
  }
  return field.type_name();
}

// States beyond the listing's format what would change the encoding of a field;
// the contract has none of it.  Whether an absent field can be told from a zero
// is the server's own affair.
std::string Describe(const FieldDescriptor& field) {
  std::string text = std::to_string(field.number()) + " ";
  if (field.real_containing_oneof() != nullptr) text += "oneof ";
  if (field.is_repeated() && !field.is_map()) text += "repeated ";
  if (field.is_packable() && !field.is_packed()) text += "unpacked ";
  return text + TypeName(field) + " " + field.name();
}

std::string Describe(const MethodDescriptor& method) {
  return method.name() + "(" + (method.client_streaming() ? "stream " : "") +
         ShortName(method.input_type()->full_name()) + ") returns (" +
         (method.server_streaming() ? "stream " : "") +
         ShortName(method.output_type()->full_name()) + ")";
}

std::string InFile(const FileDescriptor& file) {
  std::string_view name = file.name();
  constexpr std::string_view kFolder = "firmament/";
  if (name.starts_with(kFolder)) name.remove_prefix(kFolder.size());
  const bool is_proto3 = file.syntax() == FileDescriptor::SYNTAX_PROTO3;
  return (is_proto3 ? "in " : "not proto3, in ") + std::string(name);
}

void AddEnum(const EnumDescriptor& type, Statements* statements) {
  const std::string name = "enum " + ShortName(type.full_name());
  statements->emplace(name, InFile(*type.file()));
  for (int i = 0; i < type.value_count(); ++i) {
    statements->emplace(name, std::to_string(type.value(i)->number()) + " " +
                                  type.value(i)->name());
  }
}

void AddMessage(const Descriptor& type, Statements* statements) {
  if (type.options().map_entry()) return;  // Stated by the map's field.
  const std::string name = "message " + ShortName(type.full_name());
  statements->emplace(name, InFile(*type.file()));
  // The test of each kind of rules pins how it is stated.
  if (type.full_name() == "firmament.TaskRules") return;
  for (int i = 0; i < type.field_count(); ++i) {
    statements->emplace(name, Describe(*type.field(i)));
  }
  for (int i = 0; i < type.enum_type_count(); ++i) {
    AddEnum(*type.enum_type(i), statements);
  }
  for (int i = 0; i < type.nested_type_count(); ++i) {
    AddMessage(*type.nested_type(i), statements);
  }
}

void AddService(const ServiceDescriptor& service, Statements* statements) {
  const std::string name = "service " + ShortName(service.full_name());
  statements->emplace(name, InFile(*service.file()));
  for (int i = 0; i < service.method_count(); ++i) {
    statements->emplace(name, Describe(*service.method(i)));
  }
}

// `file` and all that it imports.  Imports form no cycle; a file that is
// imported twice states the same twice.
void AddFile(const FileDescriptor& file, Statements* statements) {
  for (int i = 0; i < file.message_type_count(); ++i) {
    AddMessage(*file.message_type(i), statements);
  }
  for (int i = 0; i < file.enum_type_count(); ++i) {
    AddEnum(*file.enum_type(i), statements);
  }
  for (int i = 0; i < file.service_count(); ++i) {
    AddService(*file.service(i), statements);
  }
  for (int i = 0; i < file.dependency_count(); ++i) {
    AddFile(*file.dependency(i), statements);
  }
}

Statements Compiled() {
  Statements statements;
  const FileDescriptor* file = DescriptorPool::generated_pool()->FindFileByName(
      "firmament/firmament_scheduler.proto");
  if (file != nullptr) AddFile(*file, &statements);
  return statements;
}

Statements Without(const Statements& from, const Statements& what) {
  Statements rest;
  std::ranges::set_difference(from, what, std::inserter(rest, rest.end()));
  return rest;
}

// The number at the start of a row, -1 where there is none.
int NumberOf(const std::string& row) {
  int number = -1;
  std::from_chars(row.data(), row.data() + row.size(), number);
  return number;
}

std::string Hex(const MessageLite& message) {
  return absl::BytesToHexString(message.SerializeAsString());
}

// The bytes of a reply of type `Reply` that says `type`.
template <typename Reply, typename Type>
std::string ReplyHex(Type type) {
  Reply reply;
  reply.set_type(type);
  return Hex(reply);
}

TEST(WireContract, IsCompiledInFull) {
  EXPECT_THAT(Without(Parse(kContract), Compiled()), IsEmpty());
}

TEST(WireContract, HasOnlyTheListedExtensions) {
  const Statements added = Without(Compiled(), Parse(kContract));
  const Statements extensions = Parse(kExtensions);
  EXPECT_THAT(Without(added, extensions), IsEmpty()) << "added, not listed";
}

TEST(WireContract, KeepsEveryListedExtension) {
  EXPECT_THAT(Without(Parse(kExtensions), Compiled()), IsEmpty());
}

// Other servers of the contract may use any number below.
TEST(WireContract, IsExtendedFromNumber1000Up) {
  std::set<std::string> contract_types;
  for (const auto& [type, row] : Parse(kContract)) contract_types.insert(type);
  for (const auto& [type, row] : Without(Compiled(), Parse(kContract))) {
    if (!contract_types.contains(type)) continue;
    EXPECT_GE(NumberOf(row), kExtensionNumberMin) << type << ": " << row;
  }
}

TEST(WireContract, IsServedUnderTheNameThatClientsCall) {
  EXPECT_STREQ(firmament::FirmamentScheduler::service_full_name(),
               "firmament.FirmamentScheduler");
}

// The bridge takes replies of at most 4 MiB; how many deltas fit follows from
// this size.
TEST(WireContract, EncodesAPlacementOnAUuidIn52Bytes) {
  firmament::SchedulingDeltas deltas;
  firmament::SchedulingDelta* delta = deltas.add_deltas();
  delta->set_task_id(7389156575254652907);
  delta->set_resource_id("339eb506-25fd-4db9-9795-42a09bc4ac44");
  delta->set_type(firmament::SchedulingDelta::PLACE);
  EXPECT_EQ(deltas.ByteSizeLong(), 52U);
  EXPECT_EQ(Hex(deltas),
            "0a3208ebcfaece97d8e3c566122433333965623530362d323566642d3464"
            "62392d393739352d3432613039626334616334341801");
}

TEST(WireContract, EncodesADeltaByItsType) {
  firmament::SchedulingDelta delta;
  delta.set_type(firmament::SchedulingDelta::NOOP);
  EXPECT_EQ(Hex(delta), "");
  delta.set_type(firmament::SchedulingDelta::PLACE);
  EXPECT_EQ(Hex(delta), "1801");
  delta.set_type(firmament::SchedulingDelta::PREEMPT);
  EXPECT_EQ(Hex(delta), "1802");
  delta.set_type(firmament::SchedulingDelta::MIGRATE);
  EXPECT_EQ(Hex(delta), "1803");
}

TEST(WireContract, PacksUnscheduledTasks) {
  firmament::SchedulingDeltas deltas;
  deltas.add_unscheduled_tasks(7);
  deltas.add_unscheduled_tasks(300);
  EXPECT_EQ(Hex(deltas), "120307ac02");
}

// A client ends its process on a reply that its call does not expect.
TEST(WireContract, EncodesTaskRepliesAsClientsExpect) {
  using firmament::TaskCompletedResponse;
  using firmament::TaskSubmittedResponse;
  EXPECT_EQ(ReplyHex<TaskCompletedResponse>(firmament::TASK_COMPLETED_OK), "");
  EXPECT_EQ(ReplyHex<TaskSubmittedResponse>(firmament::TASK_SUBMITTED_OK),
            "0801");
  EXPECT_EQ(
      ReplyHex<firmament::TaskRemovedResponse>(firmament::TASK_REMOVED_OK),
      "0802");
  EXPECT_EQ(ReplyHex<firmament::TaskFailedResponse>(firmament::TASK_FAILED_OK),
            "0803");
  EXPECT_EQ(
      ReplyHex<firmament::TaskUpdatedResponse>(firmament::TASK_UPDATED_OK),
      "0804");
  EXPECT_EQ(ReplyHex<firmament::TaskStatsResponse>(firmament::TASK_NOT_FOUND),
            "0805");
  EXPECT_EQ(ReplyHex<TaskCompletedResponse>(firmament::TASK_JOB_NOT_FOUND),
            "0806");
  EXPECT_EQ(ReplyHex<TaskSubmittedResponse>(firmament::TASK_ALREADY_SUBMITTED),
            "0807");
  EXPECT_EQ(ReplyHex<TaskSubmittedResponse>(firmament::TASK_STATE_NOT_CREATED),
            "0808");
}

TEST(WireContract, EncodesNodeRepliesAsClientsExpect) {
  EXPECT_EQ(ReplyHex<firmament::NodeAddedResponse>(firmament::NODE_ADDED_OK),
            "");
  EXPECT_EQ(ReplyHex<firmament::NodeFailedResponse>(firmament::NODE_FAILED_OK),
            "0801");
  EXPECT_EQ(
      ReplyHex<firmament::NodeRemovedResponse>(firmament::NODE_REMOVED_OK),
      "0802");
  EXPECT_EQ(
      ReplyHex<firmament::NodeUpdatedResponse>(firmament::NODE_UPDATED_OK),
      "0803");
  EXPECT_EQ(
      ReplyHex<firmament::ResourceStatsResponse>(firmament::NODE_NOT_FOUND),
      "0804");
  EXPECT_EQ(
      ReplyHex<firmament::NodeAddedResponse>(firmament::NODE_ALREADY_EXISTS),
      "0805");
}

// There is no reply 1.
TEST(WireContract, EncodesTaskInfoRepliesAsClientsExpect) {
  using firmament::TaskInfoResponse;
  EXPECT_EQ(ReplyHex<TaskInfoResponse>(firmament::TASKINFO_SUBMITTED_OK), "");
  EXPECT_EQ(ReplyHex<TaskInfoResponse>(firmament::TASKINFO_REMOVED_OK), "0802");
  EXPECT_EQ(ReplyHex<TaskInfoResponse>(firmament::TASKINFO_SUBMIT_FAILED),
            "0803");
  EXPECT_EQ(ReplyHex<TaskInfoResponse>(firmament::TASKINFO_REMOVE_FAILED),
            "0804");
}

TEST(WireContract, EncodesHealthAsClientsExpect) {
  firmament::HealthCheckResponse response;
  EXPECT_EQ(Hex(response), "");
  response.set_status(firmament::SERVING);
  EXPECT_EQ(Hex(response), "0801");
  response.set_status(firmament::NOT_SERVING);
  EXPECT_EQ(Hex(response), "0802");
}

// A quarter of a core, 64 MiB, 1000 of the network, 1 GiB of scratch space.
TEST(WireContract, EncodesARequestAsTheBridgeDoes) {
  firmament::ResourceVector request;
  request.set_cpu_cores(250);
  request.set_ram_cap(67'108'864'000);
  request.set_net_rx_bw(1000);
  request.set_ephemeral_cap(1'073'741'824'000);
  EXPECT_EQ(Hex(request), "0d00007a431880808080fa0138e8074080808080a01f");
}

TEST(WireContract, EncodesExtendedResourcesByName) {
  firmament::ResourceVector capacity;
  (*capacity.mutable_extended_resources())["nvidia.com/gpu"] = 4;
  EXPECT_EQ(Hex(capacity), "c23e120a0e6e76696469612e636f6d2f6770751004");
}

}  // namespace
}  // namespace sluice
