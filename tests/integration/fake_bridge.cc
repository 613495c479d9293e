#include "integration/fake_bridge.h"

#include <glog/logging.h>

#include <type_traits>

namespace sluice {

using Stub = firmament::FirmamentScheduler::Stub;

FakeBridge::FakeBridge(const std::shared_ptr<grpc::Channel>& schedule_channel,
                       const std::shared_ptr<grpc::Channel>& watch_channel)
    : schedule_stub_(firmament::FirmamentScheduler::NewStub(schedule_channel)),
      watch_stub_(firmament::FirmamentScheduler::NewStub(watch_channel)) {}

FakeBridge::~FakeBridge() {
  AwaitAll();
  queue_.Shutdown();
  void* tag = nullptr;
  bool is_ok = false;
  while (queue_.Next(&tag, &is_ok)) {
  }
}

void FakeBridge::Die(std::string cause) {
  if (cause_of_death_.empty()) cause_of_death_ = std::move(cause);
}

template <class Request, class Response, class Prepare>
void FakeBridge::Start(Prepare prepare, const Request& request,
                       std::function<void(const Response&)> end) {
  struct TypedCall : PendingCall {
    Response response;
    std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> reader;
  };
  auto call = std::make_unique<TypedCall>();
  TypedCall* const raw = call.get();
  raw->end = [this, raw, end = std::move(end)] {
    if (!raw->status.ok()) {
      Die(StrCat(Request::descriptor()->name(),
                 " failed: ", raw->status.error_message()));
      return;
    }
    end(raw->response);
  };
  constexpr bool is_of_scheduling =
      std::is_same_v<Request, firmament::ScheduleRequest> ||
      std::is_same_v<Request, firmament::HealthCheckRequest>;
  Stub& stub = is_of_scheduling ? *schedule_stub_ : *watch_stub_;
  raw->reader = (stub.*prepare)(&raw->context, request, &queue_);
  raw->reader->StartCall();
  PendingCall* const tag = call.release();
  calls_.insert(tag);
  raw->reader->Finish(&raw->response, &raw->status, tag);
}

void FakeBridge::End(void* tag) {
  const std::unique_ptr<PendingCall> call(static_cast<PendingCall*>(tag));
  calls_.erase(call.get());
  if (!is_abandoned_) call->end();
}

void FakeBridge::AwaitOne() {
  CHECK_GT(in_flight(), 0);
  void* tag = nullptr;
  bool is_ok = false;
  CHECK(queue_.Next(&tag, &is_ok));
  End(tag);
}

bool FakeBridge::AwaitOneFor(int64_t timeout_us) {
  void* tag = nullptr;
  bool is_ok = false;
  const gpr_timespec deadline =
      gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                   gpr_time_from_micros(timeout_us, GPR_TIMESPAN));
  if (queue_.AsyncNext(&tag, &is_ok, deadline) !=
      grpc::CompletionQueue::GOT_EVENT) {
    return false;
  }
  End(tag);
  return true;
}

void FakeBridge::Abandon() {
  is_abandoned_ = true;
  for (PendingCall* call : calls_) call->context.TryCancel();
}

void FakeBridge::Check(Done done) {
  Start<firmament::HealthCheckRequest, firmament::HealthCheckResponse>(
      &Stub::PrepareAsyncCheck, firmament::HealthCheckRequest(),
      [this, done](const firmament::HealthCheckResponse& response) {
        if (response.status() != firmament::SERVING) {
          Die("the daemon is not serving");
        }
        if (done) done();
      });
}

void FakeBridge::Submit(uint64_t uid, const TaskFields& fields, Done done) {
  const firmament::TaskDescription task = TaskMessage(uid, fields);
  known_pods_[uid] = task.task_descriptor().name();
  Start<firmament::TaskDescription, firmament::TaskSubmittedResponse>(
      &Stub::PrepareAsyncTaskSubmitted, task,
      [this, uid, done](const firmament::TaskSubmittedResponse& response) {
        if (response.type() != firmament::TASK_SUBMITTED_OK) {
          Die(StrCat("task ", uid, " was not submitted"));
        }
        live_pods_.insert(uid);
        if (done) done();
      });
}

void FakeBridge::Update(uint64_t uid, const TaskFields& fields) {
  Start<firmament::TaskDescription, firmament::TaskUpdatedResponse>(
      &Stub::PrepareAsyncTaskUpdated, TaskMessage(uid, fields),
      [this, uid](const firmament::TaskUpdatedResponse& response) {
        if (response.type() != firmament::TASK_UPDATED_OK) {
          Die(StrCat("task ", uid, " was not updated"));
        }
      });
}

void FakeBridge::Remove(uint64_t uid, Done done) {
  live_pods_.erase(uid);
  firmament::TaskUID request;
  request.set_task_uid(uid);
  Start<firmament::TaskUID, firmament::TaskRemovedResponse>(
      &Stub::PrepareAsyncTaskRemoved, request,
      [this, uid, done](const firmament::TaskRemovedResponse& response) {
        if (response.type() != firmament::TASK_REMOVED_OK) {
          Die(StrCat("task ", uid, " was not removed"));
        }
        known_pods_.erase(uid);
        placements_.erase(uid);
        if (done) done();
      });
}

void FakeBridge::AddNode(const std::string& uuid, const NodeFields& fields,
                         Done done) {
  known_nodes_.insert(PuOf(uuid));
  const firmament::ResourceTopologyNodeDescriptor node =
      NodeMessage(uuid, fields);
  first_pus_[uuid] = node.children(0).resource_desc();
  Start<firmament::ResourceTopologyNodeDescriptor,
        firmament::NodeAddedResponse>(
      &Stub::PrepareAsyncNodeAdded, node,
      [this, uuid, done](const firmament::NodeAddedResponse& response) {
        if (response.type() != firmament::NODE_ADDED_OK &&
            response.type() != firmament::NODE_ALREADY_EXISTS) {
          Die(StrCat("node ", uuid, " was not added"));
        }
        live_nodes_.insert(uuid);
        if (done) done();
      });
}

void FakeBridge::UpdateNode(const std::string& uuid, const NodeFields& fields) {
  firmament::ResourceTopologyNodeDescriptor node = NodeMessage(uuid, fields);
  *node.mutable_children(0)->mutable_resource_desc() = first_pus_.at(uuid);
  Start<firmament::ResourceTopologyNodeDescriptor,
        firmament::NodeUpdatedResponse>(
      &Stub::PrepareAsyncNodeUpdated, node,
      [this, uuid](const firmament::NodeUpdatedResponse& response) {
        if (response.type() != firmament::NODE_UPDATED_OK) {
          Die(StrCat("node ", uuid, " was not updated"));
        }
      });
}

void FakeBridge::RemoveNode(const std::string& uuid) {
  live_nodes_.erase(uuid);
  firmament::ResourceUID request;
  request.set_resource_uid(uuid);
  Start<firmament::ResourceUID, firmament::NodeRemovedResponse>(
      &Stub::PrepareAsyncNodeRemoved, request,
      [this, uuid](const firmament::NodeRemovedResponse& response) {
        if (response.type() != firmament::NODE_REMOVED_OK) {
          Die(StrCat("node ", uuid, " was not removed"));
        }
        known_nodes_.erase(PuOf(uuid));
      });
}

void FakeBridge::Schedule(Done done) {
  CHECK(!is_scheduling_) << "the bridge has one Schedule call at a time";
  is_scheduling_ = true;
  Start<firmament::ScheduleRequest, firmament::SchedulingDeltas>(
      &Stub::PrepareAsyncSchedule, firmament::ScheduleRequest(),
      [this, done](const firmament::SchedulingDeltas& reply) {
        is_scheduling_ = false;
        TakeReply(reply);
        if (done) done();
      });
}

void FakeBridge::TakeReply(const firmament::SchedulingDeltas& reply) {
  for (const firmament::SchedulingDelta& delta : reply.deltas()) {
    if (delta.type() != firmament::SchedulingDelta::PLACE) {
      Die(StrCat("delta of type ", static_cast<int>(delta.type())));
    } else if (const auto pod = known_pods_.find(delta.task_id());
               pod == known_pods_.end()) {
      Die(StrCat("placed task ", delta.task_id(), " without pod pairing"));
    } else if (!known_nodes_.contains(delta.resource_id())) {
      Die(StrCat("placed task ", delta.task_id(), " on ", delta.resource_id(),
                 " without node pairing"));
    } else if (bind_) {
      bind_(pod->second, delta.resource_id());
    } else if (!placements_.emplace(delta.task_id(), delta.resource_id())
                    .second) {
      Die(StrCat("placed task ", delta.task_id(), " twice"));
    }
    ++placement_count_;
  }
  waiting_ = {reply.unscheduled_tasks().begin(),
              reply.unscheduled_tasks().end()};
}

}  // namespace sluice
