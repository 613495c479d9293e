#include "util/tcp_proxy.h"

#include <glog/logging.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <vector>

#include "util/free_port.h"

namespace sluice {
namespace {

constexpr size_t kKeptBytesMax = 65536;

int Socket() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  PCHECK(fd >= 0);
  return fd;
}

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

const sockaddr* Plain(const sockaddr_in& address) {
  return static_cast<const sockaddr*>(static_cast<const void*>(&address));
}

}  // namespace

TcpProxy::TcpProxy(int server_port)
    : server_port_(server_port),
      port_(FreePort()),
      listener_(Socket()),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  PCHECK(wake_ >= 0);
  const int on = 1;
  PCHECK(setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0);
  const sockaddr_in address = Loopback(port_);
  PCHECK(bind(listener_, Plain(address), sizeof(address)) == 0) << port_;
  PCHECK(listen(listener_, SOMAXCONN) == 0);
  thread_ = std::thread([this] { Run(); });
}

TcpProxy::~TcpProxy() {
  is_ending_ = true;
  eventfd_write(wake_, 1);
  thread_.join();
  for (const Connection& connection : connections_) Close(connection);
  close(listener_);
  close(wake_);
}

void TcpProxy::SetMode(Mode mode) {
  const MutexLock lock(mutex_);
  mode_ = mode;
  const int64_t time = ++times_set_;
  eventfd_write(wake_, 1);
  while (times_followed_ < time) is_followed_.Wait(mutex_);
}

TcpProxy::Mode TcpProxy::Follow() {
  const MutexLock lock(mutex_);
  times_followed_ = times_set_;
  is_followed_.NotifyAll();
  return mode_;
}

void TcpProxy::Run() {
  while (!is_ending_) {
    const Mode mode = Follow();
    std::vector<pollfd> waits = {{wake_, POLLIN, 0}};
    if (mode != Mode::kIsSilent) {
      waits.push_back({listener_, POLLIN, 0});
      for (const Connection& connection : connections_) {
        for (const Way* way : {&connection.request, &connection.answer}) {
          if (way == &connection.answer && mode == Mode::kLosesAnswers) break;
          if (!way->kept.empty()) {
            waits.push_back({way->to, POLLOUT, 0});
          } else if (!way->has_ended) {
            waits.push_back({way->from, POLLIN, 0});
          }
        }
      }
    }
    PCHECK(poll(waits.data(), waits.size(), -1) >= 0 || errno == EINTR);
    eventfd_t ignored = 0;
    eventfd_read(wake_, &ignored);
    if (mode == Mode::kIsSilent) continue;
    if ((waits[1].revents & POLLIN) != 0) Accept();
    for (auto i = connections_.begin(); i != connections_.end();) {
      const bool goes_on = Move(&i->request) &&
                           (mode == Mode::kLosesAnswers || Move(&i->answer)) &&
                           !(i->request.has_ended && i->answer.has_ended);
      if (!goes_on) Close(*i);
      i = goes_on ? std::next(i) : connections_.erase(i);
    }
  }
}

void TcpProxy::Accept() {
  const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  const int server = Socket();
  const sockaddr_in address = Loopback(server_port_);
  if (connect(server, Plain(address), sizeof(address)) != 0) {
    close(client);
    close(server);
    return;
  }
  connections_.push_back({.request = {.from = client, .to = server},
                          .answer = {.from = server, .to = client}});
}

bool TcpProxy::Move(Way* way) {
  std::array<char, kKeptBytesMax> bytes;
  while (true) {
    while (!way->kept.empty()) {
      const ssize_t sent = send(way->to, way->kept.data(), way->kept.size(),
                                MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0) return errno == EAGAIN || errno == EINTR;
      way->kept.erase(0, static_cast<size_t>(sent));
    }
    if (way->has_ended) return true;
    const ssize_t got =
        recv(way->from, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) {
      way->has_ended = true;
      shutdown(way->to, SHUT_WR);
      return true;
    }
    way->kept.assign(bytes.data(), static_cast<size_t>(got));
  }
}

void TcpProxy::Close(const Connection& connection) {
  close(connection.request.from);
  close(connection.request.to);
}

}  // namespace sluice
