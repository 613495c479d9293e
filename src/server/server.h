// The daemon, put together: store, core, loop, gRPC and HTTP.
//
// Start() opens and recovers the store before gRPC listens, so no client ever
// meets a daemon that has forgotten something.  The end goes the other way
// round: probes say no, Schedule calls are answered, gRPC finishes the calls
// that are under way, the loop what is in its mailbox, and the store is
// closed.
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
  virtual ~Server() = default;  // Stops it.

  // Errors: what is wrong with the options, or with what they name: the store,
  // the addresses.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const Options& options);

  // The ports that are listened on.  0 for HTTP where there is none.
  virtual int grpc_port() const = 0;
  virtual int http_port() const = 0;
};

}  // namespace sluice

#endif  // SLUICE_SERVER_SERVER_H_
