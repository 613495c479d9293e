#include "rpc/inspector_service.h"

#include <string>
#include <utility>

#include "base/status_macros.h"
#include "base/strings.h"
#include "constraints/shown_text.h"
#include "core/census.h"
#include "rpc/inspect_budgets.h"
#include "rpc/inspect_drain.h"
#include "rpc/inspect_network.h"
#include "rpc/inspect_plan.h"
#include "rpc/status.h"

namespace sluice {
namespace {

void Refuse(grpc::ServerUnaryReactor* reactor) {
  reactor->Finish(
      ToGrpcStatus(absl::ResourceExhaustedError("the mailbox is full")));
}

}  // namespace

InspectorService::InspectorService(CoreLoop& loop, const Gate& gate,
                                   const Clock& clock, DaemonInfo daemon)
    : loop_(loop), gate_(gate), clock_(clock), daemon_(std::move(daemon)) {}

bool InspectorService::Begin(Context* context, Reactor** reactor) const {
  *reactor = context->DefaultReactor();
  if (gate_.is_open()) return true;
  (*reactor)->Finish(gate_.Refusal());
  return false;
}

InspectorService::Reactor* InspectorService::Answer(
    Context* context, std::function<absl::Status(const CoreView&)> read) {
  Reactor* reactor = nullptr;
  if (!Begin(context, &reactor)) return reactor;
  const bool is_taken =
      loop_.Read([reactor, read = std::move(read)](const CoreView& view) {
        reactor->Finish(ToGrpcStatus(read(view)));
      });
  if (!is_taken) Refuse(reactor);
  return reactor;
}

// The request and response of a call live until it ends, so `read` may keep
// them.

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

InspectorService::Reactor* InspectorService::GetNetwork(
    Context* context, const v1::GetNetworkRequest* /*request*/,
    v1::RoundNetwork* response) {
  return Answer(context, [response](const CoreView& view) {
    InspectNetwork(view.scheduler.state(), view.scheduler.network_log(),
                   view.scheduler.policies().AggregateLabel(), response);
    return absl::OkStatus();
  });
}

InspectorService::Reactor* InspectorService::ListPolicies(
    Context* context, const v1::ListPoliciesRequest* /*request*/,
    v1::ListPoliciesResponse* response) {
  Reactor* reactor = nullptr;
  if (!Begin(context, &reactor)) return reactor;
  InspectPolicies(daemon_, response);
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

InspectorService::Reactor* InspectorService::ForgetStale(
    Context* context, const v1::ForgetStaleRequest* /*request*/,
    v1::ForgetStaleResponse* response) {
  Reactor* reactor = nullptr;
  if (!Begin(context, &reactor)) return reactor;
  const bool is_taken =
      loop_.Read([this, reactor, response](const CoreView& view) {
        const Census census = TakeCensus(view.scheduler.state());
        response->set_machines(census.stale_machines);
        response->set_tasks(census.stale_tasks);
        if (!loop_.Submit(
                sluice::ForgetStale(),
                [reactor](Ack) { reactor->Finish(grpc::Status::OK); },
                CoreLoop::Admission::kIfRoom)) {
          Refuse(reactor);
        }
      });
  if (!is_taken) Refuse(reactor);
  return reactor;
}

InspectorService::Reactor* InspectorService::PlanRebalance(
    Context* context, const v1::PlanRebalanceRequest* request,
    v1::RebalancePlan* response) {
  Reactor* reactor = nullptr;
  if (!Begin(context, &reactor)) return reactor;
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
  if (!is_taken) Refuse(reactor);
  return reactor;
}

InspectorService::Reactor* InspectorService::DrainMachine(
    Context* context, const v1::DrainMachineRequest* request,
    v1::Drain* response) {
  Reactor* reactor = nullptr;
  if (!Begin(context, &reactor)) return reactor;
  // Shows what will happen, once the command is stored.
  const auto answer = [this, reactor, response](const std::string& uuid,
                                                Ack ack) {
    if (ack != Ack::kOk) {
      reactor->Finish(ToGrpcStatus(absl::NotFoundError(
          StrCat("machine ", ShownText(uuid), " has departed"))));
      return;
    }
    const bool is_taken =
        loop_.Read([reactor, response, uuid](const CoreView& view) {
          const ClusterState& state = view.scheduler.state();
          if (const Machine* machine = state.FindMachine(uuid)) {
            InspectDrain(view.scheduler, *machine, response);
          }
          reactor->Finish(grpc::Status::OK);
        });
    if (!is_taken) Refuse(reactor);
  };
  const bool is_taken =
      loop_.Read([this, reactor, request, answer](const CoreView& view) {
        const absl::StatusOr<const Machine*> machine =
            FindMachineNamed(view.scheduler.state(), request->machine());
        if (!machine.ok()) {
          reactor->Finish(ToGrpcStatus(machine.status()));
          return;
        }
        const std::string uuid = (*machine)->uuid;
        if (!loop_.Submit(
                SetDraining{uuid, !request->cancel()},
                [answer, uuid](Ack ack) { answer(uuid, ack); },
                CoreLoop::Admission::kIfRoom)) {
          Refuse(reactor);
        }
      });
  if (!is_taken) Refuse(reactor);
  return reactor;
}

InspectorService::Reactor* InspectorService::GetDrain(
    Context* context, const v1::GetDrainRequest* request, v1::Drain* response) {
  return Answer(
      context, [request, response](const CoreView& view) -> absl::Status {
        ASSIGN_OR_RETURN(
            const Machine* machine,
            FindMachineNamed(view.scheduler.state(), request->machine()));
        InspectDrain(view.scheduler, *machine, response);
        return absl::OkStatus();
      });
}

}  // namespace sluice
