#include "cli/client/connection.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "base/strings.h"
#include "firmament/firmament_scheduler.grpc.pb.h"
#include "sluice/v1/errors.pb.h"
#include "sluice/v1/inspector.grpc.pb.h"

namespace sluice {
namespace {

// Errors repeat no more than this of a message from the server.
constexpr size_t kShownBytes = 1024;

std::shared_ptr<grpc::ChannelCredentials> MakeCredentials(
    const Identity& identity) {
  if (!identity.uses_tls()) return grpc::InsecureChannelCredentials();
  std::shared_ptr<grpc::ChannelCredentials> credentials =
      grpc::SslCredentials({.pem_root_certs = identity.ca,
                            .pem_private_key = identity.key,
                            .pem_cert_chain = identity.cert});
  if (identity.token.empty()) return credentials;
  return grpc::CompositeChannelCredentials(
      credentials, grpc::AccessTokenCredentials(identity.token));
}

std::shared_ptr<grpc::Channel> MakeChannel(const GlobalOptions& options) {
  grpc::ChannelArguments arguments;
  // The server bounds its replies; a client that refused them would lose
  // deltas, which are delivered once.
  arguments.SetMaxReceiveMessageSize(-1);
  // A failure is reported, not retried behind the user's back.  Retries and the
  // bookkeeping for channelz, which nothing here serves, would take a fifth of
  // the time of a call.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_CHANNELZ, 0);
  if (const std::string& name = options.identity.server_name; !name.empty()) {
    arguments.SetSslTargetNameOverride(name);
  }
  return grpc::CreateCustomChannel(
      options.server, MakeCredentials(options.identity), arguments);
}

// The leader that a follower names in its error; empty if it knows of none;
// nullopt if the error is a different one.
std::optional<std::string> LeaderIn(const grpc::Status& status) {
  v1::ErrorStatus details;
  if (!details.ParseFromString(status.error_details())) return std::nullopt;
  for (const google::protobuf::Any& any : details.details()) {
    v1::NotLeading detail;
    if (any.UnpackTo(&detail)) return Printable(detail.leader(), kShownBytes);
  }
  return std::nullopt;
}

}  // namespace

std::string WithPort(std::string_view server) {
  constexpr std::string_view kPort = ":9090";
  if (server.empty() || server.find('/') != std::string_view::npos) {
    return std::string(server);
  }
  if (server.starts_with('[')) {
    return StrCat(server, server.ends_with(']') ? kPort : "");
  }
  const auto colons = std::ranges::count(server, ':');
  if (colons == 0) return StrCat(server, kPort);
  const std::string_view address = server.substr(0, server.find('%'));
  const bool is_ipv6 =
      colons > 1 && address.find_first_not_of("0123456789abcdefABCDEF:.") ==
                        std::string_view::npos;
  return is_ipv6 ? StrCat("[", server, "]", kPort) : std::string(server);
}

struct Connection::Stubs {
  explicit Stubs(const std::shared_ptr<grpc::Channel>& channel)
      : scheduler(channel), inspector(channel) {}

  firmament::FirmamentScheduler::Stub scheduler;
  v1::Inspector::Stub inspector;
};

Connection::Connection(const GlobalOptions& options)
    : server_(options.server),
      has_tls_(options.identity.uses_tls()),
      timeout_s_(options.timeout_s),
      channel_(MakeChannel(options)),
      stubs_(std::make_unique<Stubs>(channel_)) {}

Connection::~Connection() = default;

template <class Stub, class Request, class Response>
absl::StatusOr<Response> Connection::Call(
    Stub& stub,
    grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                 Response*),
    const Request& request) const {
  Response response;
  RETURN_IF_ERROR(
      StatusOf((stub.*method)(MakeContext().get(), request, &response)));
  return response;
}

template <class Stub, class Request, class Response>
absl::StatusOr<Response> Connection::CallForAllPages(
    Stub& stub,
    grpc::Status (Stub::*list)(grpc::ClientContext*, const Request&, Response*),
    Request request) const {
  Response all;
  while (true) {
    ASSIGN_OR_RETURN(const Response page, Call(stub, list, request));
    all.MergeFrom(page);
    if (page.next_page_token().empty()) {
      all.clear_next_page_token();
      return all;
    }
    if (page.next_page_token() == request.page_token()) {
      return absl::InternalError("the server gave the same page twice");
    }
    request.set_page_token(page.next_page_token());
  }
}

absl::StatusOr<firmament::SchedulingDeltas> Connection::Schedule() {
  return Call(stubs_->scheduler, &firmament::FirmamentScheduler::Stub::Schedule,
              firmament::ScheduleRequest());
}

absl::StatusOr<v1::Status> Connection::GetStatus() {
  return Call(stubs_->inspector, &v1::Inspector::Stub::GetStatus,
              v1::GetStatusRequest());
}

absl::StatusOr<v1::Job> Connection::GetJob(const v1::GetJobRequest& request) {
  return Call(stubs_->inspector, &v1::Inspector::Stub::GetJob, request);
}

absl::StatusOr<v1::TaskExplanation> Connection::ExplainTask(
    const v1::ExplainTaskRequest& request) {
  return Call(stubs_->inspector, &v1::Inspector::Stub::ExplainTask, request);
}

absl::StatusOr<v1::ForgetStaleResponse> Connection::ForgetStale() {
  return Call(stubs_->inspector, &v1::Inspector::Stub::ForgetStale,
              v1::ForgetStaleRequest());
}

absl::StatusOr<v1::Drain> Connection::DrainMachine(
    const v1::DrainMachineRequest& request) {
  return Call(stubs_->inspector, &v1::Inspector::Stub::DrainMachine, request);
}

absl::StatusOr<v1::Drain> Connection::GetDrain(
    const v1::GetDrainRequest& request) {
  return Call(stubs_->inspector, &v1::Inspector::Stub::GetDrain, request);
}

absl::StatusOr<v1::ListPoliciesResponse> Connection::ListPolicies() {
  return Call(stubs_->inspector, &v1::Inspector::Stub::ListPolicies,
              v1::ListPoliciesRequest());
}

absl::StatusOr<v1::RoundNetwork> Connection::GetNetwork() {
  return Call(stubs_->inspector, &v1::Inspector::Stub::GetNetwork,
              v1::GetNetworkRequest());
}

absl::StatusOr<v1::RebalancePlan> Connection::PlanRebalance(
    const v1::PlanRebalanceRequest& request) {
  return Call(stubs_->inspector, &v1::Inspector::Stub::PlanRebalance, request);
}

absl::StatusOr<v1::ListMachinesResponse> Connection::ListMachines(
    v1::ListMachinesRequest request) {
  return CallForAllPages(stubs_->inspector, &v1::Inspector::Stub::ListMachines,
                         std::move(request));
}

absl::StatusOr<v1::ListTasksResponse> Connection::ListTasks(
    v1::ListTasksRequest request) {
  return CallForAllPages(stubs_->inspector, &v1::Inspector::Stub::ListTasks,
                         std::move(request));
}

absl::StatusOr<v1::ListBudgetsResponse> Connection::ListBudgets() {
  return CallForAllPages(stubs_->inspector, &v1::Inspector::Stub::ListBudgets,
                         v1::ListBudgetsRequest());
}

std::unique_ptr<grpc::ClientContext> Connection::MakeContext() const {
  auto context = std::make_unique<grpc::ClientContext>();
  if (timeout_s_ > 0) {
    context->set_deadline(gpr_time_from_seconds(timeout_s_, GPR_TIMESPAN));
  }
  return context;
}

absl::Status Connection::StatusOf(const grpc::Status& status) const {
  if (status.ok()) return absl::OkStatus();
  const std::string detail = Printable(status.error_message(), kShownBytes);
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
    if (const std::optional<std::string> leader = LeaderIn(status)) {
      return absl::UnavailableError(
          leader->empty() ? StrCat(server_, " follows, and nobody leads yet")
                          : StrCat(server_, " follows; ", *leader,
                                   " leads: --server=", *leader));
    }
    // This is all that gRPC says if the server wants TLS or a certificate.
    const std::string_view hint =
        !detail.ends_with("Socket closed") ? ""
        : has_tls_ ? "; does it ask for another certificate (--tls_cert)?"
                   : "; does it speak TLS (--tls)?";
    return absl::UnavailableError(
        StrCat("cannot reach ", server_, ": ", detail, hint));
  }
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
    return absl::DeadlineExceededError(StrCat(
        "no answer from ", server_, " within ", timeout_s_, " s: ", detail));
  }
  if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED) {
    return absl::UnimplementedError(
        StrCat(server_, " does not offer this call: ", detail));
  }
  // The codes of gRPC and absl are the same numbers.
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      StrCat(server_, ": ", detail));
}

}  // namespace sluice
