// The way to one sluiced: its services, and errors in words for people.
//
// Threads: any, as gRPC's stubs.

#ifndef SLUICE_CLI_CLIENT_CONNECTION_H_
#define SLUICE_CLI_CLIENT_CONNECTION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/base/command.h"
#include "firmament/firmament_scheduler.pb.h"
#include "grpcpp/grpcpp.h"
#include "sluice/v1/inspector.pb.h"

namespace sluice {

// `server` with the port of sluiced, 9090, added if it has none: "localhost",
// "::1" and "[::1]" have none.  An address with a scheme, "unix:/path", stays
// as it is.
std::string WithPort(std::string_view server);

class Connection {
 public:
  // Connects with the first call, not here.
  explicit Connection(const GlobalOptions& options);
  ~Connection();

  // One call each.  Errors are those of StatusOf().
  absl::StatusOr<firmament::SchedulingDeltas> Schedule();
  absl::StatusOr<v1::Status> GetStatus();
  absl::StatusOr<v1::Job> GetJob(const v1::GetJobRequest& request);
  absl::StatusOr<v1::TaskExplanation> ExplainTask(
      const v1::ExplainTaskRequest& request);
  absl::StatusOr<v1::ForgetStaleResponse> ForgetStale();
  absl::StatusOr<v1::Drain> DrainMachine(
      const v1::DrainMachineRequest& request);
  absl::StatusOr<v1::Drain> GetDrain(const v1::GetDrainRequest& request);
  absl::StatusOr<v1::RebalancePlan> PlanRebalance(
      const v1::PlanRebalanceRequest& request);
  // All pages as one response.  They are fetched one by one, so that what
  // changes meanwhile may be missed.  kInternal if the server gives the same
  // page token twice in a row, since that would never end.
  absl::StatusOr<v1::ListMachinesResponse> ListMachines(
      v1::ListMachinesRequest request);
  absl::StatusOr<v1::ListTasksResponse> ListTasks(v1::ListTasksRequest request);
  absl::StatusOr<v1::ListBudgetsResponse> ListBudgets();
  absl::StatusOr<v1::RoundNetwork> GetNetwork();
  absl::StatusOr<v1::ListPoliciesResponse> ListPolicies();

  // For all other calls.
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

  // A context for one call, with the deadline that the user asked for.
  std::unique_ptr<grpc::ClientContext> MakeContext() const;

  // The error of a call, with the server's name:
  // "cannot reach 127.0.0.1:9090: connection refused".  OK stays OK.
  absl::Status StatusOf(const grpc::Status& status) const;

 private:
  struct Stubs;

  // `method` is one of `stub`'s.
  template <class Stub, class Request, class Response>
  absl::StatusOr<Response> Call(
      Stub& stub,
      grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                   Response*),
      const Request& request) const;
  template <class Stub, class Request, class Response>
  absl::StatusOr<Response> CallForAllPages(
      Stub& stub,
      grpc::Status (Stub::*list)(grpc::ClientContext*, const Request&,
                                 Response*),
      Request request) const;

  const std::string server_;
  const bool has_tls_;
  const int64_t timeout_s_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<Stubs> stubs_;
};

}  // namespace sluice

#endif  // SLUICE_CLI_CLIENT_CONNECTION_H_
