#include "server/http_server.h"

#include <civetweb.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/status_macros.h"
#include "base/strings.h"

namespace sluice {
namespace {

// Handlers return the status that they answered with.
int Respond(mg_connection* connection, int status, const char* reason,
            const char* content_type, std::string_view body) {
  mg_printf(connection,
            "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
            "Connection: close\r\n\r\n",
            status, reason, content_type, body.size());
  mg_write(connection, body.data(), body.size());
  return status;
}

}  // namespace

absl::Status HttpServer::Start(const Address& address) {
  const std::string port = ToString(address);
  const char* options[] = {"listening_ports", port.c_str(), "num_threads", "16",
                           // A connection that sends nothing must not hold a
                           // thread that a probe waits for.
                           "request_timeout_ms", "2000", nullptr};
  mg_callbacks callbacks = {};
  // civetweb writes its errors to stderr otherwise; ours say the same.
  callbacks.log_message = [](const mg_connection*, const char*) { return 1; };
  context_ = mg_start(&callbacks, this, options);
  if (context_ == nullptr) {
    RETURN_IF_ERROR(ProbeListen(address));
    return absl::UnavailableError(
        StrCat("cannot listen on ", ToString(address), " for HTTP"));
  }
  mg_server_port ports[1];
  if (mg_get_server_ports(context_, 1, ports) != 1) {
    return absl::InternalError("the HTTP server does not tell its port");
  }
  port_ = ports[0].port;
  for (const auto& [uri, handler] : {std::pair("/metrics$", &ServeMetrics),
                                     std::pair("/healthz$", &ServeHealth),
                                     std::pair("/readyz$", &ServeReadiness),
                                     std::pair("**", &ServeNothing)}) {
    mg_set_request_handler(context_, uri, handler, this);
  }
  return absl::OkStatus();
}

HttpServer::~HttpServer() {
  if (context_ != nullptr) mg_stop(context_);
}

int HttpServer::ServeMetrics(mg_connection* connection, void* server) {
  return Respond(connection, 200, "OK", "text/plain; version=0.0.4",
                 static_cast<HttpServer*>(server)->metrics_.Text());
}

int HttpServer::ServeHealth(mg_connection* connection, void* /*server*/) {
  return Respond(connection, 200, "OK", "text/plain", "ok\n");
}

int HttpServer::ServeReadiness(mg_connection* connection, void* server) {
  if (static_cast<HttpServer*>(server)->is_ready_) {
    return Respond(connection, 200, "OK", "text/plain", "ready\n");
  }
  return Respond(connection, 503, "Service Unavailable", "text/plain",
                 "not ready\n");
}

int HttpServer::ServeNothing(mg_connection* connection, void* /*server*/) {
  return Respond(connection, 404, "Not Found", "text/plain", "not found\n");
}

}  // namespace sluice
