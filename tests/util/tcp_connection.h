// A connection to a server on this machine, byte by byte.
//
// Threads: none; confined to the test.

#ifndef SLUICE_TESTS_UTIL_TCP_CONNECTION_H_
#define SLUICE_TESTS_UTIL_TCP_CONNECTION_H_

#include <string>

namespace sluice {

class TcpConnection {
 public:
  // A receive_bytes other than 0 is about how much the other end can send
  // before this one reads.
  explicit TcpConnection(int port, int receive_bytes = 0);
  TcpConnection(TcpConnection&& other) noexcept;
  TcpConnection& operator=(TcpConnection&&) = delete;
  ~TcpConnection() { Close(); }

  void Send(const std::string& bytes);

  // Waits until the other end has closed the connection, and returns what it
  // sent.
  std::string ReadToEnd();

  void Close();

 private:
  int socket_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_TCP_CONNECTION_H_
