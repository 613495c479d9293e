#include "rpc/scheduler_service.h"

#include <glog/logging.h>
#include <google/protobuf/arena.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "base/hash.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "rpc/checks.h"
#include "rpc/convert.h"
#include "rpc/convert_usage.h"
#include "rpc/status.h"
#include "rpc/wire.h"

namespace sluice {
namespace {

constexpr std::string_view kUnparsable = "the request cannot be parsed";

// What a command is about, for a log line.
std::string Subject(const TaskSpec& spec, TaskUid uid) {
  return StrCat("task ", uid.value, " '", Printable(spec.name, kShownBytes),
                "'");
}
std::string Subject(const MachineSpec& spec) {
  return StrCat("machine '", Printable(spec.uuid, kShownBytes), "' '",
                Printable(spec.name, kShownBytes), "'");
}

// The subject of a description that makes no sense, wholly or in part, and why;
// empty if it makes sense.
struct Malformation {
  std::string subject;
  std::string reason;
  bool is_quarantined = false;
};

Malformation MalformationOf(const Command& command, const Faults& faults) {
  return std::visit(
      [&](const auto& one) -> Malformation {
        if constexpr (requires { one.spec.quarantine_reason; }) {
          const std::string& quarantine = one.spec.quarantine_reason;
          if (quarantine.empty() && faults.empty()) return {};
          Malformation result;
          if constexpr (requires { one.uid; }) {
            result.subject = Subject(one.spec, one.uid);
          } else {
            result.subject = Subject(one.spec);
          }
          result.is_quarantined = !quarantine.empty();
          result.reason = result.is_quarantined ? quarantine : faults.Text();
          return result;
        } else {
          if (faults.empty()) return {};
          // A report about a task.
          Malformation result;
          if constexpr (requires { one.uid; }) {
            result.subject = StrCat("task ", one.uid.value);
          }
          result.reason = faults.Text();
          return result;
        }
      },
      command);
}

// A Schedule call.  It is its own reactor, because the loop must know how it
// ended.  Once gRPC has it, it owns itself until OnDone().
class ScheduleReactor final : public grpc::ServerUnaryReactor,
                              public ScheduleCall {
 public:
  ScheduleReactor(const grpc::CallbackServerContext& context,
                  grpc::ByteBuffer* response, ConnectionId connection)
      : context_(context), response_(response), connection_(connection) {}

  bool IsCancelled() const override { return context_.IsCancelled(); }
  ConnectionId connection() const override { return connection_; }

  void Answer(ScheduleReply reply,
              std::function<void(bool is_delivered)> done) override {
    done_ = std::move(done);
    google::protobuf::Arena arena;
    auto* deltas =
        google::protobuf::Arena::CreateMessage<firmament::SchedulingDeltas>(
            &arena);
    for (ScheduleReply::Entry& entry : reply.deltas) {
      firmament::SchedulingDelta* delta = deltas->add_deltas();
      delta->set_task_id(entry.uid.value);
      delta->set_resource_id(std::move(entry.resource_id));
      delta->set_type(
          static_cast<firmament::SchedulingDelta::ChangeType>(entry.type));
      if (entry.type == DeltaType::kPlace && entry.made_from.has_value()) {
        delta->set_type(firmament::SchedulingDelta::CREATE);
        delta->set_template_id(entry.made_from->value);
      }
    }
    for (const TaskUid uid : reply.unscheduled) {
      deltas->add_unscheduled_tasks(uid.value);
    }
    *response_ = SerializeMessage(*deltas);
    Finish(grpc::Status::OK);
  }

  void OnDone() override {
    const std::unique_ptr<ScheduleReactor> self(this);
    // The transport marks every call as cancelled whose whole reply it could
    // not hand over.
    if (done_ != nullptr) done_(!context_.IsCancelled());
  }

 private:
  const grpc::CallbackServerContext& context_;
  grpc::ByteBuffer* const response_;
  const ConnectionId connection_;
  std::function<void(bool is_delivered)> done_;
};

// Ends a call of which no whole request arrived: its client has cancelled it,
// or has gone.  That is no malformed request, which has all its bytes.
grpc::ServerUnaryReactor* RefuseWithoutRequest(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer& request) {
  if (request.Valid()) return nullptr;
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(ToGrpcStatus(
      absl::InvalidArgumentError("the request has not arrived whole")));
  return reactor;
}

}  // namespace

SchedulerService::SchedulerService(Parts parts, Options options)
    : loop_(parts.loop),
      gate_(parts.gate),
      clock_(parts.clock),
      metrics_(parts.metrics),
      options_(std::move(options)) {}

ConnectionId SchedulerService::ConnectionOf(const Context& context) const {
  if (options_.replies == ReplyMode::kStrict) return {};
  // "ipv4:10.0.0.1:37036".  On a Unix socket all peers have the same name.
  const std::string peer = context.peer();
  return peer.starts_with("ipv") ? ConnectionId{Fnv1a64(peer)} : ConnectionId();
}

SchedulerService::Reactor* SchedulerService::Refuse(
    Context* context, const Bytes& request) const {
  if (Reactor* reactor = RefuseWithoutRequest(context, request)) return reactor;
  if (gate_.is_open()) return nullptr;
  Reactor* reactor = context->DefaultReactor();
  reactor->Finish(gate_.Refusal());
  return reactor;
}

void SchedulerService::CountMalformed(std::string_view method,
                                      std::string_view offender,
                                      std::string_view reason) {
  metrics_.malformed.With(method).Increment();
  if (const auto suppressed = malformed_log_.Admit(clock_.MonotonicUs())) {
    LOG(WARNING) << "malformed " << method << " of " << offender << ": "
                 << reason << " (" << *suppressed << " such lines suppressed)";
  }
}

template <class Response, class Codes>
void SchedulerService::AnswerMalformed(Call call, const Codes& codes,
                                       std::string_view offender,
                                       std::string_view reason) {
  CountMalformed(codes.method, offender, reason);
  if (options_.replies == ReplyMode::kStrict) {
    call.reactor->Finish(ToGrpcStatus(
        absl::InvalidArgumentError(StrCat(offender, ": ", reason))));
    return;
  }
  Response message;
  message.set_type(codes.malformed);
  *call.response = SerializeMessage(message);
  call.reactor->Finish(grpc::Status::OK);
}

template <class Response, class Codes>
void SchedulerService::Submit(Call call, const Codes& codes, Command&& command,
                              const Faults& faults) {
  const Malformation malformation = MalformationOf(command, faults);
  const bool is_strict = options_.replies == ReplyMode::kStrict;
  if (!malformation.reason.empty()) {
    if (is_strict) {
      AnswerMalformed<Response>(call, codes, malformation.subject,
                                malformation.reason);
      return;
    }
    CountMalformed(codes.method, malformation.subject, malformation.reason);
  }
  const bool is_taken = loop_.Submit(
      std::move(command),
      [call, &codes, is_quarantined = malformation.is_quarantined,
       mode = options_.replies](Ack ack) {
        Response message;
        message.set_type(codes.For(ack, mode, is_quarantined));
        *call.response = SerializeMessage(message);
        call.reactor->Finish(grpc::Status::OK);
      },
      is_strict ? CoreLoop::Admission::kIfRoom : CoreLoop::Admission::kAlways,
      call.connection);
  if (is_taken) return;
  call.reactor->Finish(ToGrpcStatus(
      is_strict ? absl::ResourceExhaustedError("the mailbox is full")
                : absl::UnavailableError("the daemon has stopped")));
}

template <class Request, class Response, class Codes, class Convert>
SchedulerService::Reactor* SchedulerService::Serve(Context* context,
                                                   const Bytes* request,
                                                   Bytes* response,
                                                   const Codes& codes,
                                                   Convert convert) {
  if (Reactor* refused = Refuse(context, *request)) return refused;
  const Call call = {context->DefaultReactor(), response,
                     ConnectionOf(*context)};
  google::protobuf::Arena arena;
  auto* message = google::protobuf::Arena::CreateMessage<Request>(&arena);
  if (!ParseMessage(*request, message)) {
    AnswerMalformed<Response>(call, codes, context->peer(), kUnparsable);
    return call.reactor;
  }
  Faults faults;
  absl::StatusOr<Command> command = convert(*message, &faults);
  if (command.ok()) {
    Submit<Response>(call, codes, *std::move(command), faults);
  } else if (absl::IsFailedPrecondition(command.status())) {
    Response refusal;
    refusal.set_type(codes.wrong_state);
    *response = SerializeMessage(refusal);
    call.reactor->Finish(grpc::Status::OK);
  } else {
    AnswerMalformed<Response>(call, codes, context->peer(),
                              Message(command.status()));
  }
  return call.reactor;
}

SchedulerService::Reactor* SchedulerService::Schedule(Context* context,
                                                      const Bytes* request,
                                                      Bytes* response) {
  if (Reactor* refused = Refuse(context, *request)) return refused;
  firmament::ScheduleRequest message;
  if (!ParseMessage(*request, &message)) {
    CountMalformed("Schedule", context->peer(), kUnparsable);
    if (options_.replies == ReplyMode::kStrict) {
      Reactor* reactor = context->DefaultReactor();
      reactor->Finish(
          ToGrpcStatus(absl::InvalidArgumentError(std::string(kUnparsable))));
      return reactor;
    }
    // It has no field that would be missed.
  }
  auto reactor = std::make_unique<ScheduleReactor>(*context, response,
                                                   ConnectionOf(*context));
  if (!loop_.Schedule(reactor.get())) {
    reactor->Finish(
        ToGrpcStatus(absl::UnavailableError("the daemon has stopped")));
  }
  return reactor.release();
}

SchedulerService::Reactor* SchedulerService::TaskSubmitted(Context* context,
                                                           const Bytes* request,
                                                           Bytes* response) {
  return Serve<firmament::TaskDescription, firmament::TaskSubmittedResponse>(
      context, request, response, kTaskSubmittedCodes,
      [this](const auto& message, Faults* faults) -> absl::StatusOr<Command> {
        ASSIGN_OR_RETURN(
            SubmitTask command,
            ToSubmitTask(message, options_.defaults.job_bounds, faults));
        if (!options_.heeds_bandwidth) IgnoreBandwidth(message, &command.spec);
        command.reject_if_known = options_.replies == ReplyMode::kStrict;
        return Command(std::move(command));
      });
}

SchedulerService::Reactor* SchedulerService::TaskUpdated(Context* context,
                                                         const Bytes* request,
                                                         Bytes* response) {
  return Serve<firmament::TaskDescription, firmament::TaskUpdatedResponse>(
      context, request, response, kTaskUpdatedCodes,
      [this](const auto& message, Faults* faults) {
        UpdateTask command =
            ToUpdateTask(message, options_.defaults.job_bounds, faults);
        if (!options_.heeds_bandwidth) IgnoreBandwidth(message, &command.spec);
        return Command(std::move(command));
      });
}

SchedulerService::Reactor* SchedulerService::TaskCompleted(Context* context,
                                                           const Bytes* request,
                                                           Bytes* response) {
  return Serve<firmament::TaskUID, firmament::TaskCompletedResponse>(
      context, request, response, kTaskCompletedCodes,
      [](const auto& message, Faults* faults) {
        return Command(ToCompleteTask(message, faults));
      });
}

SchedulerService::Reactor* SchedulerService::TaskFailed(Context* context,
                                                        const Bytes* request,
                                                        Bytes* response) {
  return Serve<firmament::TaskUID, firmament::TaskFailedResponse>(
      context, request, response, kTaskFailedCodes,
      [](const auto& message, Faults*) {
        return Command(FailTask{{message.task_uid()}});
      });
}

SchedulerService::Reactor* SchedulerService::TaskRemoved(Context* context,
                                                         const Bytes* request,
                                                         Bytes* response) {
  return Serve<firmament::TaskUID, firmament::TaskRemovedResponse>(
      context, request, response, kTaskRemovedCodes,
      [](const auto& message, Faults*) {
        return Command(RemoveTask{{message.task_uid()}});
      });
}

SchedulerService::Reactor* SchedulerService::NodeAdded(Context* context,
                                                       const Bytes* request,
                                                       Bytes* response) {
  return Serve<firmament::ResourceTopologyNodeDescriptor,
               firmament::NodeAddedResponse>(
      context, request, response, kNodeAddedCodes,
      [this](const auto& message, Faults* faults) {
        AddMachine command =
            ToAddMachine(message, options_.defaults.max_pods, faults);
        if (options_.defaults.conditions_evict) {
          AddEvictingTaints(message.resource_desc(), &command.spec.taints);
        }
        command.may_begin_anew = options_.replies != ReplyMode::kStrict;
        return absl::StatusOr<Command>(std::move(command));
      });
}

SchedulerService::Reactor* SchedulerService::NodeUpdated(Context* context,
                                                         const Bytes* request,
                                                         Bytes* response) {
  return Serve<firmament::ResourceTopologyNodeDescriptor,
               firmament::NodeUpdatedResponse>(
      context, request, response, kNodeUpdatedCodes,
      [this](const auto& message, Faults* faults) {
        UpdateMachine command =
            ToUpdateMachine(message, options_.defaults.max_pods, faults);
        if (options_.defaults.conditions_evict) {
          AddEvictingTaints(message.resource_desc(), &command.spec.taints);
        }
        return Command(std::move(command));
      });
}

SchedulerService::Reactor* SchedulerService::NodeFailed(Context* context,
                                                        const Bytes* request,
                                                        Bytes* response) {
  return Serve<firmament::ResourceUID, firmament::NodeFailedResponse>(
      context, request, response, kNodeFailedCodes,
      [](const auto& message, Faults*) {
        RemoveMachine command = ToRemoveMachine(message);
        command.has_failed = true;
        return Command(std::move(command));
      });
}

SchedulerService::Reactor* SchedulerService::NodeRemoved(Context* context,
                                                         const Bytes* request,
                                                         Bytes* response) {
  return Serve<firmament::ResourceUID, firmament::NodeRemovedResponse>(
      context, request, response, kNodeRemovedCodes,
      [](const auto& message, Faults*) {
        return Command(ToRemoveMachine(message));
      });
}

SchedulerService::Reactor* SchedulerService::AddTaskStats(Context* context,
                                                          const Bytes* request,
                                                          Bytes* response) {
  return Serve<firmament::TaskStats, firmament::TaskStatsResponse>(
      context, request, response, kAddTaskStatsCodes,
      [](const auto& message, Faults*) -> absl::StatusOr<Command> {
        return ToReportTaskUsage(message);
      });
}

SchedulerService::Reactor* SchedulerService::AddNodeStats(Context* context,
                                                          const Bytes* request,
                                                          Bytes* response) {
  return Serve<firmament::ResourceStats, firmament::ResourceStatsResponse>(
      context, request, response, kAddNodeStatsCodes,
      [](const auto& message, Faults*) -> absl::StatusOr<Command> {
        return ToReportMachineUsage(message);
      });
}

SchedulerService::Reactor* SchedulerService::AddTaskInfo(Context* context,
                                                         const Bytes* request,
                                                         Bytes* response) {
  if (Reactor* refused = Refuse(context, *request)) return refused;
  const Call call = {context->DefaultReactor(), response,
                     ConnectionOf(*context)};
  firmament::TaskInfo message;
  if (!ParseMessage(*request, &message)) {
    AnswerMalformed<firmament::TaskInfoResponse>(call, kTaskInfoAddedCodes,
                                                 context->peer(), kUnparsable);
    return call.reactor;
  }
  const auto& codes = message.type() == firmament::TASKINFO_REMOVE
                          ? kTaskInfoRemovedCodes
                          : kTaskInfoAddedCodes;
  absl::StatusOr<Command> command = ToForeignPod(message);
  if (command.ok()) {
    Submit<firmament::TaskInfoResponse>(call, codes, *std::move(command),
                                        Faults());
  } else {
    AnswerMalformed<firmament::TaskInfoResponse>(
        call, codes,
        StrCat("foreign pod '", Printable(message.task_name(), kShownBytes),
               "'"),
        Message(command.status()));
  }
  return call.reactor;
}

SchedulerService::Reactor* SchedulerService::Check(Context* context,
                                                   const Bytes* request,
                                                   Bytes* response) {
  if (Reactor* refused = RefuseWithoutRequest(context, *request)) {
    return refused;
  }
  Reactor* reactor = context->DefaultReactor();
  firmament::HealthCheckRequest message;
  const bool is_parsed = ParseMessage(*request, &message);
  if (!is_parsed) {
    CountMalformed("Check", context->peer(), kUnparsable);
    if (options_.replies == ReplyMode::kStrict) {
      reactor->Finish(
          ToGrpcStatus(absl::InvalidArgumentError(std::string(kUnparsable))));
      return reactor;
    }
  }
  if (gate_.is_open()) loop_.Greet(ConnectionOf(*context));
  firmament::HealthCheckResponse reply;
  if (!is_parsed || !message.grpc_service().empty()) {
    reply.set_status(firmament::UNKNOWN);
  } else {
    reply.set_status(gate_.is_open() ? firmament::SERVING
                                     : firmament::NOT_SERVING);
  }
  *response = SerializeMessage(reply);
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

}  // namespace sluice
