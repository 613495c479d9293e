#include "integration/client.h"

#include <grpcpp/generic/generic_stub.h>

#include <utility>
#include <vector>

#include "base/strings.h"

namespace sluice {
namespace {

// Calls `method` of `stub` and returns its response; the test fails, named
// after the method, if the call does.
template <class Stub, class Request, class Response>
Response Call(Stub& stub,
              grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                           Response*),
              const Request& request) {
  grpc::ClientContext context;
  Response response;
  const grpc::Status status = (stub.*method)(&context, request, &response);
  EXPECT_TRUE(status.ok()) << Request::descriptor()->name() << ": "
                           << status.error_code() << ": "
                           << status.error_message();
  return response;
}

firmament::TaskUID Uid(uint64_t uid) {
  firmament::TaskUID message;
  message.set_task_uid(uid);
  return message;
}

firmament::ResourceUID Uuid(const std::string& uuid) {
  firmament::ResourceUID message;
  message.set_resource_uid(uuid);
  return message;
}

}  // namespace

std::shared_ptr<grpc::Channel> Connect(int port) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(StrCat("127.0.0.1:", port),
                                   grpc::InsecureChannelCredentials(),
                                   arguments);
}

Client::Client(int port) : Client(Connect(port)) {}
Client::Client(std::shared_ptr<grpc::Channel> channel)
    : channel_(std::move(channel)),
      scheduler_(Scheduler::NewStub(channel_)),
      inspector_(v1::Inspector::NewStub(channel_)) {}

firmament::SchedulingDeltas Client::Schedule() {
  return Call(*scheduler_, &Scheduler::Stub::Schedule,
              firmament::ScheduleRequest());
}
std::vector<std::string> Client::ScheduleTexts() {
  std::vector<std::string> texts;
  const firmament::SchedulingDeltas reply = Schedule();
  for (const firmament::SchedulingDelta& delta : reply.deltas()) {
    texts.push_back(
        StrCat(firmament::SchedulingDelta::ChangeType_Name(delta.type()), " ",
               delta.task_id(), " ", delta.resource_id()));
  }
  return texts;
}
firmament::TaskReplyType Client::Submit(
    const firmament::TaskDescription& task) {
  return Call(*scheduler_, &Scheduler::Stub::TaskSubmitted, task).type();
}
firmament::TaskReplyType Client::Update(
    const firmament::TaskDescription& task) {
  return Call(*scheduler_, &Scheduler::Stub::TaskUpdated, task).type();
}
firmament::TaskReplyType Client::Complete(uint64_t uid) {
  return Call(*scheduler_, &Scheduler::Stub::TaskCompleted, Uid(uid)).type();
}
firmament::TaskReplyType Client::Fail(uint64_t uid) {
  return Call(*scheduler_, &Scheduler::Stub::TaskFailed, Uid(uid)).type();
}
firmament::TaskReplyType Client::Remove(uint64_t uid) {
  return Call(*scheduler_, &Scheduler::Stub::TaskRemoved, Uid(uid)).type();
}
firmament::NodeReplyType Client::AddNode(
    const firmament::ResourceTopologyNodeDescriptor& node) {
  return Call(*scheduler_, &Scheduler::Stub::NodeAdded, node).type();
}
firmament::NodeReplyType Client::UpdateNode(
    const firmament::ResourceTopologyNodeDescriptor& node) {
  return Call(*scheduler_, &Scheduler::Stub::NodeUpdated, node).type();
}
firmament::NodeReplyType Client::FailNode(const std::string& uuid) {
  return Call(*scheduler_, &Scheduler::Stub::NodeFailed, Uuid(uuid)).type();
}
firmament::NodeReplyType Client::RemoveNode(const std::string& uuid) {
  return Call(*scheduler_, &Scheduler::Stub::NodeRemoved, Uuid(uuid)).type();
}
firmament::TaskInfoReplyType Client::AddInfo(const firmament::TaskInfo& info) {
  return Call(*scheduler_, &Scheduler::Stub::AddTaskInfo, info).type();
}
firmament::TaskReplyType Client::AddStats(const firmament::TaskStats& stats) {
  return Call(*scheduler_, &Scheduler::Stub::AddTaskStats, stats).type();
}
firmament::NodeReplyType Client::AddStats(
    const firmament::ResourceStats& stats) {
  return Call(*scheduler_, &Scheduler::Stub::AddNodeStats, stats).type();
}
firmament::ServingStatus Client::Check(const std::string& service) {
  firmament::HealthCheckRequest request;
  request.set_grpc_service(service);
  return Call(*scheduler_, &Scheduler::Stub::Check, request).status();
}

v1::Status Client::Status() {
  return Call(*inspector_, &v1::Inspector::Stub::GetStatus,
              v1::GetStatusRequest());
}
v1::TaskExplanation Client::Explain(uint64_t uid) {
  v1::ExplainTaskRequest request;
  request.set_task(StrCat(uid));
  return Call(*inspector_, &v1::Inspector::Stub::ExplainTask, request);
}

v1::Drain Client::Drain(const std::string& machine, bool cancels) {
  v1::DrainMachineRequest request;
  request.set_machine(machine);
  request.set_cancel(cancels);
  return Call(*inspector_, &v1::Inspector::Stub::DrainMachine, request);
}

v1::RebalancePlan Client::Plan(v1::PlanRebalanceRequest::Preemption mode) {
  v1::PlanRebalanceRequest request;
  request.set_preemption(mode);
  return Call(*inspector_, &v1::Inspector::Stub::PlanRebalance, request);
}

grpc::Status Client::CallRaw(const std::string& method,
                             const std::string& request,
                             std::string* response) {
  grpc::GenericStub stub(channel_);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const grpc::Slice slice(request);
  const auto call = stub.PrepareUnaryCall(&context, StrCat("/", method),
                                          grpc::ByteBuffer(&slice, 1), &queue);
  call->StartCall();
  grpc::ByteBuffer bytes;
  grpc::Status status;
  call->Finish(&bytes, &status, &context);
  void* tag = nullptr;
  bool is_ok = false;
  queue.Next(&tag, &is_ok);
  std::vector<grpc::Slice> slices;
  if (status.ok() && bytes.Dump(&slices).ok()) {
    response->clear();
    for (const grpc::Slice& part : slices) {
      response->append(
          static_cast<const char*>(static_cast<const void*>(part.begin())),
          part.size());
    }
  }
  return status;
}

}  // namespace sluice
