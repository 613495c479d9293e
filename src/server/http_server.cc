#include "server/http_server.h"

#include <microhttpd.h>
#include <netdb.h>
#include <sys/socket.h>

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "access/role.h"
#include "base/limits.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace sluice {
namespace {

// A connection on which nothing moves is closed after this time.
constexpr unsigned int kIdleSecondsMax = 10;

// The memory for a request's line and headers.  Prometheus sends 300 bytes.
constexpr size_t kConnectionBytes = 16 << 10;

constexpr char kTls13[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3";

// The bytes of a response that the kernel buffers: a page of metrics.
constexpr int kSendBytes = 16 << 10;

MHD_Result Respond(MHD_Connection* connection, unsigned int status,
                   const char* content_type, std::string body) {
  MHD_Response* const response = MHD_create_response_from_buffer(
      body.size(), body.data(), MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
  const MHD_Result result = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return result;
}

int SocketOf(MHD_Connection* connection) {
  return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
      ->connect_fd;
}

// The peer's address without its port; empty if the peer is gone already.
std::string PeerOf(int socket) {
  sockaddr_storage storage = {};
  auto* const peer = static_cast<sockaddr*>(static_cast<void*>(&storage));
  socklen_t size = sizeof(storage);
  char host[NI_MAXHOST] = "";
  if (getpeername(socket, peer, &size) != 0 ||
      getnameinfo(peer, size, host, sizeof(host), nullptr, 0, NI_NUMERICHOST)) {
    return "";
  }
  return host;
}

// Makes libmicrohttpd see the connection as closed by its peer.  Data that the
// peer has not read are dropped; the kernel would keep them for minutes.
void Abort(int socket) {
  const linger at_once = {.l_onoff = 1, .l_linger = 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  shutdown(socket, SHUT_RDWR);
}

}  // namespace

struct HttpServer::Callbacks {
  // libmicrohttpd fixes the parameters.
  // NOLINTNEXTLINE(readability-function-size)
  static MHD_Result Answer(void* closure, MHD_Connection* connection,
                           const char* url, const char* method,
                           const char* /*version*/, const char* /*upload*/,
                           size_t* /*upload_size*/, void** /*state*/) {
    const HttpServer& server = *static_cast<HttpServer*>(closure);
    const std::string_view path = url;
    const std::string_view verb = method;
    if (verb != MHD_HTTP_METHOD_GET && verb != MHD_HTTP_METHOD_HEAD) {
      return Respond(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain",
                     "GET and HEAD only\n");
    }
    if (path == "/metrics") {
      if (auto [status, why] = server.Refusal(connection);
          status != MHD_HTTP_OK) {
        return Respond(connection, status, "text/plain", std::move(why));
      }
      return Respond(connection, MHD_HTTP_OK, "text/plain; version=0.0.4",
                     server.metrics_.Text());
    }
    if (path == "/healthz") {
      return Respond(connection, MHD_HTTP_OK, "text/plain", "ok\n");
    }
    if (path == "/readyz") {
      const bool is_ready = server.is_ready_;
      return Respond(connection,
                     is_ready ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE,
                     "text/plain", is_ready ? "ready\n" : "not ready\n");
    }
    return Respond(connection, MHD_HTTP_NOT_FOUND, "text/plain", "not found\n");
  }

  static void Notify(void* closure, MHD_Connection* connection,
                     void** /*state*/, MHD_ConnectionNotificationCode code) {
    HttpServer& server = *static_cast<HttpServer*>(closure);
    // Called before the handshake, on the thread of the handshake.
    if (server.tls_.has_value()) server.tls_->ServeThisThread();
    const int socket = SocketOf(connection);
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
      server.connections_.Remove(socket);
      return;
    }
    if (const auto displaced =
            server.connections_.Add(socket, PeerOf(socket))) {
      server.metrics_.http_connections_displaced.Increment();
      Abort(*displaced);
    }
  }
};

HttpServer::HttpServer(Metrics& metrics, const Secrets* secrets)
    : metrics_(metrics), secrets_(secrets) {
  if (secrets != nullptr) tls_.emplace(*secrets);
}

std::pair<unsigned int, std::string> HttpServer::Refusal(
    MHD_Connection* connection) const {
  if (secrets_ == nullptr) return {MHD_HTTP_OK, ""};
  const char* const authorization = MHD_lookup_connection_value(
      connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
  const absl::Status status = secrets_->Check(
      {.names = {},
       .authorization = authorization == nullptr ? "" : authorization},
      Role::kRead);
  if (status.ok()) return {MHD_HTTP_OK, ""};
  return {status.code() == absl::StatusCode::kUnauthenticated
              ? MHD_HTTP_UNAUTHORIZED
              : MHD_HTTP_FORBIDDEN,
          StrCat(Message(status), "\n")};
}

absl::Status HttpServer::Start(const Address& address) {
  if (tls_.has_value()) RETURN_IF_ERROR(tls_->Check());
  ASSIGN_OR_RETURN(const int socket, Listen(address));
  // Connections inherit this.  What slow readers have not read waits in this
  // process, which bounds it.  The kernel would keep it for minutes after the
  // connection is closed.
  setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &kSendBytes, sizeof(kSendBytes));
  // Without epoll: with it, libmicrohttpd spins while a handshake waits for the
  // peer.
  constexpr unsigned int kFlags = MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_ITC;
  daemon_ = MHD_start_daemon(
      tls_.has_value() ? kFlags | MHD_USE_TLS : kFlags, 0, nullptr, nullptr,
      &Callbacks::Answer, this,  //
      MHD_OPTION_LISTEN_SOCKET, socket,
      // A displaced connection counts until libmicrohttpd notices its end.
      MHD_OPTION_CONNECTION_LIMIT,
      static_cast<unsigned int>(2 * kHttpConnectionsMax),
      MHD_OPTION_CONNECTION_TIMEOUT, kIdleSecondsMax,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionBytes,
      MHD_OPTION_NOTIFY_CONNECTION, &Callbacks::Notify, this,
      // Both are ignored without TLS.
      MHD_OPTION_HTTPS_CERT_CALLBACK, &HttpTls::Retrieve,
      MHD_OPTION_HTTPS_PRIORITIES, kTls13, MHD_OPTION_END);
  if (daemon_ == nullptr) {
    return absl::UnavailableError(
        StrCat("cannot serve HTTP on ", ToString(address)));
  }
  port_ = MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_BIND_PORT)->port;
  return absl::OkStatus();
}

HttpServer::~HttpServer() {
  if (daemon_ != nullptr) MHD_stop_daemon(daemon_);
}

}  // namespace sluice
