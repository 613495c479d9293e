#include "cli/client/contract_client.h"

#include <memory>
#include <string>

#include "base/hash.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/client/contract.h"

namespace sluice {
namespace {

// Two machines may share a key.  Then their calls keep their order needlessly.
uint64_t MachineKey(std::string_view uuid) { return Fnv1a64(uuid); }

}  // namespace

ContractClient::ContractClient(const CommandContext& context, size_t calls_max)
    : context_(context),
      connection_(context.options),
      pipeline_(connection_, calls_max) {}

absl::Status ContractClient::Send(std::string_view method, uint64_t key,
                                  const google::protobuf::Message& request) {
  RETURN_IF_ERROR(refusal_);
  std::unique_ptr<google::protobuf::Message> copy(request.New());
  copy->CopyFrom(request);
  return pipeline_.Send(
      SchedulerMethod(method), key, std::move(copy),
      [this, method, key](const google::protobuf::Message& reply) {
        const Answer answer = AnswerOf(reply);
        if (answer.is_done || !refusal_.ok()) return;
        refusal_ = absl::FailedPreconditionError(
            StrCat("the server refused a call: ", method, " answered ",
                   answer.name, " (task or machine key ", key, ")"));
      });
}

absl::Status ContractClient::AddMachine(
    const firmament::ResourceTopologyNodeDescriptor& machine) {
  return Send("NodeAdded", MachineKey(machine.resource_desc().uuid()), machine);
}

absl::Status ContractClient::RemoveMachine(std::string_view uuid) {
  firmament::ResourceUID request;
  request.set_resource_uid(std::string(uuid));
  return Send("NodeRemoved", MachineKey(uuid), request);
}

absl::Status ContractClient::SubmitTask(
    const firmament::TaskDescription& task) {
  return Send("TaskSubmitted", task.task_descriptor().uid(), task);
}

absl::Status ContractClient::CompleteTask(uint64_t uid) {
  firmament::TaskUID request;
  request.set_task_uid(uid);
  return Send("TaskCompleted", uid, request);
}

absl::Status ContractClient::RemoveTask(uint64_t uid) {
  firmament::TaskUID request;
  request.set_task_uid(uid);
  return Send("TaskRemoved", uid, request);
}

absl::Status ContractClient::Drain() {
  RETURN_IF_ERROR(pipeline_.Drain());
  return refusal_;
}

absl::StatusOr<firmament::SchedulingDeltas> ContractClient::Schedule() {
  RETURN_IF_ERROR(Drain());
  const int64_t started_us = context_.clock.MonotonicUs();
  ASSIGN_OR_RETURN(firmament::SchedulingDeltas deltas, connection_.Schedule());
  round_us_.push_back(context_.clock.MonotonicUs() - started_us);
  return deltas;
}

}  // namespace sluice
