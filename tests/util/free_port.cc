#include "util/free_port.h"

#include <glog/logging.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/strings.h"

namespace sluice {
namespace {

// Below those that connections are dealt (ip_local_port_range).
constexpr int kFirst = 12000;
constexpr int kCount = 20000;

// Makes the port this process's until it ends, whether or not something listens
// there: a name that no two sockets can have says so to other tests.
bool Claim(int port) {
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  CHECK_GE(fd, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  // An abstract name begins with a null byte, and needs no file.
  const std::string name = StrCat("sluice test port ", port);
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const size_t size = offsetof(sockaddr_un, sun_path) + 1 + name.size();
  const bool is_claimed =
      bind(fd, static_cast<const sockaddr*>(static_cast<const void*>(&address)),
           static_cast<socklen_t>(size)) == 0;
  if (!is_claimed) close(fd);
  return is_claimed;
}

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
  // Processes that run at once begin at places of their own.
  static std::atomic<int> next =
      static_cast<int>(int64_t{getpid()} * 1009 % kCount);
  for (int attempts = 0; attempts < kCount; ++attempts) {
    const int port = kFirst + next.fetch_add(1) % kCount;
    if (Claim(port) && IsFree(port)) return port;
  }
  LOG(FATAL) << "no port is free";
  return 0;
}

}  // namespace sluice
