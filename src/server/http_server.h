// Metrics and probes over HTTP.
//
//   /metrics   all metrics, in the text format of Prometheus
//   /healthz   200 as long as the process answers
//   /readyz    200 once the state is recovered and gRPC serves, otherwise 503
//
// With secrets it speaks TLS 1.3, and /metrics needs the role `read` where
// there are roles: by a token, for certificates of clients are not asked for.
// Probes need nothing.
//
// A connection serves one request.  Their number is bounded
// (http_connections.h), and none of them holds up another.
//
// Threads: any; requests are answered on one thread of its own, which blocks on
// no socket.

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
  // Both must outlive the server.  No secrets: plain text, for everybody.
  HttpServer(Metrics& metrics, const Secrets* secrets);
  // Closes what is open without waiting for anybody.
  ~HttpServer();

  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Listens on `address`; port 0 takes any that is free.
  // Errors: kUnavailable, naming the address, if nobody can listen on it;
  // kInvalidArgument for a certificate that cannot be used.
  absl::Status Start(const Address& address);

  // The port that is listened on; 0 before Start().
  int port() const { return port_; }

  // What /readyz says.
  void SetReady(bool is_ready) { is_ready_ = is_ready; }

 private:
  struct Callbacks;  // What libmicrohttpd calls, on its thread.

  // What /metrics answers instead of them: a status and a text; 200 if nothing.
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
