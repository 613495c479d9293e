// sluice.v1.Inspector: what the scheduler knows, page by page.
//
// Threads: any; answers are built on the core thread, between batches.

#ifndef SLUICE_RPC_INSPECTOR_SERVICE_H_
#define SLUICE_RPC_INSPECTOR_SERVICE_H_

#include <functional>

#include "absl/status/status.h"
#include "loop/core_loop.h"
#include "rpc/gate.h"
#include "rpc/inspect.h"
#include "sluice/base/clock.h"
#include "sluice/v1/inspector.grpc.pb.h"

namespace sluice {

class InspectorService final : public v1::Inspector::CallbackService {
 public:
  // All references must outlive the service; `loop` must run while the gate is
  // open.
  InspectorService(CoreLoop& loop, const Gate& gate, const Clock& clock,
                   DaemonInfo daemon);

  using Reactor = grpc::ServerUnaryReactor;
  using Context = grpc::CallbackServerContext;

  Reactor* GetStatus(Context*, const v1::GetStatusRequest*,
                     v1::Status*) override;
  Reactor* ListMachines(Context*, const v1::ListMachinesRequest*,
                        v1::ListMachinesResponse*) override;
  Reactor* ListTasks(Context*, const v1::ListTasksRequest*,
                     v1::ListTasksResponse*) override;
  Reactor* GetJob(Context*, const v1::GetJobRequest*, v1::Job*) override;
  Reactor* ListBudgets(Context*, const v1::ListBudgetsRequest*,
                       v1::ListBudgetsResponse*) override;
  Reactor* ExplainTask(Context*, const v1::ExplainTaskRequest*,
                       v1::TaskExplanation*) override;
  Reactor* ForgetStale(Context*, const v1::ForgetStaleRequest*,
                       v1::ForgetStaleResponse*) override;
  Reactor* PlanRebalance(Context*, const v1::PlanRebalanceRequest*,
                         v1::RebalancePlan*) override;
  Reactor* DrainMachine(Context*, const v1::DrainMachineRequest*,
                        v1::Drain*) override;
  Reactor* GetDrain(Context*, const v1::GetDrainRequest*, v1::Drain*) override;
  Reactor* GetNetwork(Context*, const v1::GetNetworkRequest*,
                      v1::RoundNetwork*) override;
  Reactor* ListPolicies(Context*, const v1::ListPoliciesRequest*,
                        v1::ListPoliciesResponse*) override;

 private:
  // Begins the answer to a call.  If this daemon follows, ends the call and
  // returns false.
  bool Begin(Context* context, Reactor** reactor) const;
  // Runs `read` on the core thread and ends the call with what it returns.
  Reactor* Answer(Context* context,
                  std::function<absl::Status(const CoreView&)> read);

  CoreLoop& loop_;
  const Gate& gate_;
  const Clock& clock_;
  const DaemonInfo daemon_;
};

}  // namespace sluice

#endif  // SLUICE_RPC_INSPECTOR_SERVICE_H_
