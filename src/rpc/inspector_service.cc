#include "rpc/inspector_service.h"

#include <utility>

#include "loop/census.h"
#include "rpc/inspect_budgets.h"
#include "rpc/inspect_plan.h"
#include "rpc/status.h"

namespace sluice {

InspectorService::InspectorService(CoreLoop& loop, const Clock& clock,
                                   DaemonInfo daemon)
    : loop_(loop), clock_(clock), daemon_(std::move(daemon)) {}

InspectorService::Reactor* InspectorService::Answer(
    Context* context, std::function<absl::Status(const CoreView&)> read) {
  Reactor* reactor = context->DefaultReactor();
  const bool is_taken =
      loop_.Read([reactor, read = std::move(read)](const CoreView& view) {
        reactor->Finish(ToGrpcStatus(read(view)));
      });
  if (!is_taken) {
    reactor->Finish(
        ToGrpcStatus(absl::ResourceExhaustedError("the mailbox is full")));
  }
  return reactor;
}

// Request and response of a call live until it ends, so `read` may keep them.

InspectorService::Reactor* InspectorService::GetStatus(
    Context* context, const v1::GetStatusRequest* /*request*/,
    v1::Status* response) {
  return Answer(context, [this, response](const CoreView& view) {
    *response = InspectStatus(view, daemon_, clock_.MonotonicUs());
    return absl::OkStatus();
  });
}

InspectorService::Reactor* InspectorService::ListMachines(
    Context* context, const v1::ListMachinesRequest* request,
    v1::ListMachinesResponse* response) {
  return Answer(context, [request, response](const CoreView& view) {
    return InspectMachines(view, *request, response);
  });
}

InspectorService::Reactor* InspectorService::ListTasks(
    Context* context, const v1::ListTasksRequest* request,
    v1::ListTasksResponse* response) {
  return Answer(context, [request, response](const CoreView& view) {
    return InspectTasks(view, *request, response);
  });
}

InspectorService::Reactor* InspectorService::GetJob(
    Context* context, const v1::GetJobRequest* request, v1::Job* response) {
  return Answer(context, [request, response](const CoreView& view) {
    return InspectJob(view, *request, response);
  });
}

InspectorService::Reactor* InspectorService::ListBudgets(
    Context* context, const v1::ListBudgetsRequest* request,
    v1::ListBudgetsResponse* response) {
  return Answer(context, [request, response](const CoreView& view) {
    return InspectBudgets(view.scheduler.state(), *request, response);
  });
}

InspectorService::Reactor* InspectorService::ExplainTask(
    Context* context, const v1::ExplainTaskRequest* request,
    v1::TaskExplanation* response) {
  return Answer(context, [request, response](const CoreView& view) {
    return InspectTask(view, *request, response);
  });
}

InspectorService::Reactor* InspectorService::ForgetStale(
    Context* context, const v1::ForgetStaleRequest* /*request*/,
    v1::ForgetStaleResponse* response) {
  Reactor* reactor = context->DefaultReactor();
  const auto refuse = [reactor] {
    reactor->Finish(
        ToGrpcStatus(absl::ResourceExhaustedError("the mailbox is full")));
  };
  const bool is_taken =
      loop_.Read([this, refuse, reactor, response](const CoreView& view) {
        const Census census = TakeCensus(view.scheduler.state());
        response->set_machines(census.stale_machines);
        response->set_tasks(census.stale_tasks);
        if (!loop_.Submit(
                sluice::ForgetStale(),
                [reactor](Ack) { reactor->Finish(grpc::Status::OK); },
                CoreLoop::Admission::kIfRoom)) {
          refuse();
        }
      });
  if (!is_taken) refuse();
  return reactor;
}

InspectorService::Reactor* InspectorService::PlanRebalance(
    Context* context, const v1::PlanRebalanceRequest* request,
    v1::RebalancePlan* response) {
  Reactor* reactor = context->DefaultReactor();
  const Preemption mode =
      request->preemption() == v1::PlanRebalanceRequest::PRIORITY
          ? Preemption::kPriority
          : Preemption::kFull;
  const bool is_taken =
      loop_.Plan(mode, [reactor, response](const ClusterState& state,
                                           const RebalancePlan* plan) {
        if (plan == nullptr) {
          reactor->Finish(ToGrpcStatus(
              absl::UnavailableError("the daemon is shutting down")));
          return;
        }
        InspectPlan(state, *plan, response);
        reactor->Finish(grpc::Status::OK);
      });
  if (!is_taken) {
    reactor->Finish(
        ToGrpcStatus(absl::ResourceExhaustedError("the mailbox is full")));
  }
  return reactor;
}

}  // namespace sluice
