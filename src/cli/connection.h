// The way to one sluiced: its services, and errors in words for people.
//
// Threads: any, as gRPC's stubs.

#ifndef SLUICE_CLI_CONNECTION_H_
#define SLUICE_CLI_CONNECTION_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "cli/command.h"
#include "firmament/firmament_scheduler.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "sluice/v1/inspector.grpc.pb.h"

namespace sluice {

class Connection {
 public:
  // Connects with the first call, not here.
  explicit Connection(const GlobalOptions& options);

  firmament::FirmamentScheduler::Stub& scheduler() { return *scheduler_; }
  v1::Inspector::Stub& inspector() { return *inspector_; }
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

  // A context for one call, with the deadline that the user asked for.
  std::unique_ptr<grpc::ClientContext> MakeContext() const;

  // What went wrong in a call, with the server's name:
  // "cannot reach 127.0.0.1:9090: connection refused".  OK stays OK.
  absl::Status StatusOf(const grpc::Status& status) const;

 private:
  const std::string server_;
  const int64_t timeout_s_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<firmament::FirmamentScheduler::Stub> scheduler_;
  const std::unique_ptr<v1::Inspector::Stub> inspector_;
};

}  // namespace sluice

#endif  // SLUICE_CLI_CONNECTION_H_
