// The daemon, put together: store, core, loop, gRPC and HTTP.
//
// Start() opens and recovers the store before gRPC listens, so no client ever
// meets a daemon that has forgotten something.  It stops in reverse: probes
// fail, Schedule calls are answered, gRPC finishes the calls that are under
// way, the loop empties its mailbox, and the store is closed.
//
// Threads: one owner.

#ifndef SLUICE_SERVER_SERVER_H_
#define SLUICE_SERVER_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/options.h"

namespace sluice {

class Server {
 public:
  virtual ~Server() = default;  // Stops the daemon.

  // Errors: what is wrong with the options, or with the store and the addresses
  // that they name.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const Options& options);

  // The ports on which it listens.  0 for HTTP if it is off.
  virtual int grpc_port() const = 0;
  virtual int http_port() const = 0;
};

}  // namespace sluice

#endif  // SLUICE_SERVER_SERVER_H_
