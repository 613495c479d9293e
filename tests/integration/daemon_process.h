// The real program bin/sluiced as a process that can be asked, ended and
// killed.
//
// Threads: none; confined to the test.

#ifndef SLUICE_TESTS_INTEGRATION_DAEMON_PROCESS_H_
#define SLUICE_TESTS_INTEGRATION_DAEMON_PROCESS_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

class DaemonProcess {
 public:
  // Starts it with these flags.
  explicit DaemonProcess(const std::vector<std::string>& flags);
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;
  // Kills it if it still runs.
  ~DaemonProcess();

  // Waits until it says that it is ready, and returns the port of its gRPC
  // server; 0 if it ended instead.
  int AwaitReady();

  // Waits until it listens as one of several on a store, and says whom it
  // follows or that etcd does not answer; returns as AwaitReady(), and 0 also
  // if it leads instead.
  int AwaitFollowing();

  // Waits until it has written a line with `text`; returns false if it ended
  // instead.
  bool AwaitLine(std::string_view text);

  // The port of its HTTP server, once it is ready or follows.
  int http_port() const;

  void Signal(int signal);

  // From now on it cannot open anything.
  void TakeDescriptors();

  // Waits for its end and returns its exit code, or -signal.
  int AwaitEnd();

  // The same if it has ended.  Does not wait, and reads what there is to be
  // read: one that nobody reads stands still in the end.
  std::optional<int> PollEnd();

  // What it has written to stderr, as far as it was read by these.
  const std::string& log() const { return log_; }

 private:
  bool HasLine(std::string_view text) const;
  int PortAfter(std::string_view text) const;
  // Reads more of its stderr; returns false at the end of it.
  bool ReadLog();
  int Reap();

  pid_t pid_ = -1;
  int stderr_ = -1;
  std::string log_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_INTEGRATION_DAEMON_PROCESS_H_
