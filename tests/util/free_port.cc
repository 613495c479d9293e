#include "util/free_port.h"

#include <glog/logging.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace sluice {
namespace {

// Below those that connections are dealt (ip_local_port_range).
constexpr int kFirst = 12000;
constexpr int kCount = 20000;

bool IsFree(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK_GE(fd, 0);
  const int on = 1;
  CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool is_free =
      bind(fd, static_cast<const sockaddr*>(static_cast<const void*>(&address)),
           sizeof(address)) == 0;
  close(fd);
  return is_free;
}

}  // namespace

int FreePort() {
  // Processes that run at once begin at places of their own, so far from each
  // other that none comes to the ports of the next, which are free for a moment
  // while what listens there is started again.
  static std::atomic<int> next =
      static_cast<int>(int64_t{getpid()} * 1009 % kCount);
  for (int attempts = 0; attempts < kCount; ++attempts) {
    const int port = kFirst + next.fetch_add(1) % kCount;
    if (IsFree(port)) return port;
  }
  LOG(FATAL) << "no port is free";
  return 0;
}

}  // namespace sluice
