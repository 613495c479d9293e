// A client that calls Schedule and never reads: an HTTP/2 connection whose
// window for replies is empty from the start, so that the daemon cannot hand
// over a single byte.  Closing it breaks the call off.

#ifndef SLUICE_TESTS_INTEGRATION_STALLED_CLIENT_H_
#define SLUICE_TESTS_INTEGRATION_STALLED_CLIENT_H_

#include <string>

#include "util/tcp_connection.h"

namespace sluice {

class StalledClient {
 public:
  // Connects and calls Schedule.
  explicit StalledClient(int port);

  void Close() { connection_.Close(); }

 private:
  TcpConnection connection_;
};

// Calls a method of the contract, sends half a request, and cancels the call
// when the daemon has that; returns when the daemon knows.
void BreakOffCall(int port, const std::string& method);

}  // namespace sluice

#endif  // SLUICE_TESTS_INTEGRATION_STALLED_CLIENT_H_
