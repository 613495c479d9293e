// sluiced: the scheduler daemon.

#include <glog/logging.h>
#include <pthread.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/status_macros.h"
#include "server/options.h"
#include "server/server.h"

namespace {

// Blocks the signals that end the daemon, in this thread and in all that it
// will start, so that main() can take them with sigwait() and no handler runs.
sigset_t BlockEndingSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // A client that hangs up is an error of its socket, not a signal.
  std::signal(SIGPIPE, SIG_IGN);
  return signals;
}

// Allows as many descriptors as the system does: gRPC stops listening for good
// once it has run out of them.
void RaiseFileLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int Fail(const absl::Status& status) {
  LOG(ERROR) << sluice::Message(status);
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  const sigset_t signals = BlockEndingSignals();
  RaiseFileLimit();
  // gRPC's mutexes look for deadlocks if abseil is built without NDEBUG, as on
  // Debian.  That takes one lock and a twentieth of the daemon's time.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  const absl::StatusOr<sluice::CommandLine> line =
      sluice::ParseCommandLine(std::vector<std::string>(argv + 1, argv + argc));
  google::InitGoogleLogging(argv[0]);
  if (!line.ok()) return Fail(line.status());
  if (!line->answer.empty()) {
    std::cout << line->answer;
    return EXIT_SUCCESS;
  }

  absl::StatusOr<std::unique_ptr<sluice::Server>> server =
      sluice::Server::Start(line->options);
  if (!server.ok()) return Fail(server.status());

  int signal = 0;
  sigwait(&signals, &signal);
  LOG(INFO) << (signal == SIGTERM ? "SIGTERM" : "SIGINT") << ": ending";
  server->reset();
  LOG(INFO) << "ended";
  return EXIT_SUCCESS;
}
