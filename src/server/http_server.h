// Metrics and probes over HTTP.
//
//   /metrics   all metrics, in the text format of Prometheus
//   /healthz   200 as long as the process answers
//   /readyz    200 once the state is recovered and gRPC serves, otherwise 503
//
// With secrets the server speaks TLS 1.3.  If there are roles, too, /metrics
// needs the role `read`, shown by a token, since the server asks clients for no
// certificates.  Probes need nothing.
//
// A connection serves one request.  The number of connections is bounded
// (http_connections.h), and none of them holds up another.
//
// Threads: any; one thread of its own answers requests and blocks on no
// socket.

#ifndef SLUICE_SERVER_HTTP_SERVER_H_
#define SLUICE_SERVER_HTTP_SERVER_H_

#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "access/secrets.h"
#include "observe/metrics.h"
#include "server/address.h"
#include "server/http_connections.h"
#include "server/http_tls.h"

struct MHD_Connection;
struct MHD_Daemon;

namespace sluice {

class HttpServer {
 public:
  // Both must outlive the server.  Null `secrets`: plain text, for everybody.
  HttpServer(Metrics& metrics, const Secrets* secrets);
  // Closes open connections without waiting for clients.
  ~HttpServer();

  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Listens on `address`; port 0 takes any that is free.
  // Errors: kUnavailable, naming the address, if nobody can listen on it;
  // kInvalidArgument for a certificate that cannot be used.
  absl::Status Start(const Address& address);

  // The port on which it listens; 0 before Start().
  int port() const { return port_; }

  // What /readyz says.
  void SetReady(bool is_ready) { is_ready_ = is_ready; }

 private:
  struct Callbacks;  // What libmicrohttpd calls, on its thread.

  // What /metrics answers instead of metrics: a status and a text; 200:
  // metrics.
  std::pair<unsigned int, std::string> Refusal(
      MHD_Connection* connection) const;

  Metrics& metrics_;
  const Secrets* const secrets_;
  std::optional<HttpTls> tls_;    // Confined to the thread of `daemon_`.
  MHD_Daemon* daemon_ = nullptr;  // Owned; null before Start().
  int port_ = 0;
  std::atomic<bool> is_ready_ = false;
  HttpConnections connections_;  // Confined to the thread of `daemon_`.
};

}  // namespace sluice

#endif  // SLUICE_SERVER_HTTP_SERVER_H_
