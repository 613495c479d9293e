#include "util/tcp_connection.h"

#include <arpa/inet.h>
#include <glog/logging.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

namespace sluice {

TcpConnection::TcpConnection(int port, int receive_bytes)
    : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  PCHECK(socket_ >= 0);
  if (receive_bytes != 0) {
    PCHECK(setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_bytes,
                      sizeof(receive_bytes)) == 0);
  }
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  PCHECK(
      connect(socket_,
              static_cast<const sockaddr*>(static_cast<const void*>(&address)),
              sizeof(address)) == 0);
}

TcpConnection::TcpConnection(TcpConnection&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)) {}

void TcpConnection::Send(const std::string& bytes) {
  CHECK_EQ(send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
           static_cast<ssize_t>(bytes.size()));
}

std::string TcpConnection::ReadToEnd() {
  std::string result;
  char buffer[4096];
  for (;;) {
    const ssize_t n = read(socket_, buffer, sizeof(buffer));
    if (n > 0) {
      result.append(buffer, static_cast<size_t>(n));
    } else if (n == 0 || errno != EINTR) {
      return result;
    }
  }
}

void TcpConnection::Close() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
}

}  // namespace sluice
