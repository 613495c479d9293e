// A client that calls Schedule and never reads: an HTTP/2 connection whose
// window for replies is empty from the start, so that the daemon cannot hand
// over a single byte.  Closing it breaks the call off.

#ifndef SLUICE_TESTS_INTEGRATION_STALLED_CLIENT_H_
#define SLUICE_TESTS_INTEGRATION_STALLED_CLIENT_H_

#include <string>

namespace sluice {

class StalledClient {
 public:
  // Connects and calls Schedule.
  explicit StalledClient(int port);
  StalledClient(const StalledClient&) = delete;
  StalledClient& operator=(const StalledClient&) = delete;
  ~StalledClient() { Close(); }

  void Close();

 private:
  void Send(const std::string& bytes);

  int socket_ = -1;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_INTEGRATION_STALLED_CLIENT_H_
