#include "cli/connection.h"

#include "base/strings.h"

namespace sluice {
namespace {

// Of a message that the server sent.
constexpr size_t kShownBytes = 1024;

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& server) {
  grpc::ChannelArguments arguments;
  // The server bounds its replies; a client that refused them would lose
  // deltas, which are delivered once.
  arguments.SetMaxReceiveMessageSize(-1);
  // What fails is reported, not tried again behind the user's back; that and
  // the bookkeeping for channelz, which nothing here serves, take a fifth of
  // the time of a call.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_CHANNELZ, 0);
  return grpc::CreateCustomChannel(server, grpc::InsecureChannelCredentials(),
                                   arguments);
}

}  // namespace

Connection::Connection(const GlobalOptions& options)
    : server_(options.server),
      timeout_s_(options.timeout_s),
      channel_(MakeChannel(server_)),
      scheduler_(firmament::FirmamentScheduler::NewStub(channel_)),
      inspector_(v1::Inspector::NewStub(channel_)) {}

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
    return absl::UnavailableError(
        StrCat("cannot reach ", server_, ": ", detail));
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
