// Metrics and probes over HTTP.
//
//   /metrics   all metrics, in the text format of Prometheus
//   /healthz   200 as long as the process answers
//   /readyz    200 once the state is recovered and gRPC serves, otherwise 503
//
// Threads: any; requests are answered on threads of its own.

#ifndef SLUICE_SERVER_HTTP_SERVER_H_
#define SLUICE_SERVER_HTTP_SERVER_H_

#include <atomic>

#include "absl/status/status.h"
#include "observe/metrics.h"
#include "server/address.h"

struct mg_connection;
struct mg_context;

namespace sluice {

class HttpServer {
 public:
  // `metrics` must outlive the server.
  explicit HttpServer(const Metrics& metrics) : metrics_(metrics) {}
  ~HttpServer();

  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Listens on `address`; port 0 takes any that is free.
  // Errors: kUnavailable, naming the address, if nobody can listen on it.
  absl::Status Start(const Address& address);

  // The port that is listened on; 0 before Start().
  int port() const { return port_; }

  // What /readyz says.
  void SetReady(bool is_ready) { is_ready_ = is_ready; }

 private:
  // Handlers of civetweb; `server` is the HttpServer.
  static int ServeMetrics(mg_connection* connection, void* server);
  static int ServeHealth(mg_connection* connection, void* server);
  static int ServeReadiness(mg_connection* connection, void* server);
  static int ServeNothing(mg_connection* connection, void* server);

  const Metrics& metrics_;
  mg_context* context_ = nullptr;  // Owned; null before Start().
  int port_ = 0;
  std::atomic<bool> is_ready_ = false;
};

}  // namespace sluice

#endif  // SLUICE_SERVER_HTTP_SERVER_H_
