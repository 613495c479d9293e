#include "integration/daemon_process.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "util/paths.h"

extern char** environ;

namespace sluice {
namespace {

constexpr std::string_view kReady = "ready: grpc=127.0.0.1:";

}  // namespace

DaemonProcess::DaemonProcess(const std::vector<std::string>& flags) {
  // setpriv: it goes with the test, however that ends.
  std::vector<std::string> arguments = {"setpriv", "--pdeathsig", "KILL",
                                        ProgramPath("sluiced")};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  int pipe_ends[2];
  CHECK_EQ(pipe2(pipe_ends, O_CLOEXEC), 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
  const int error =
      posix_spawnp(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
  CHECK_EQ(error, 0) << argv[0];
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  stderr_ = pipe_ends[0];
}

DaemonProcess::~DaemonProcess() {
  if (pid_ > 0) {
    Signal(SIGKILL);
    AwaitEnd();
  }
  close(stderr_);
}

bool DaemonProcess::ReadLog() {
  char buffer[4096];
  ssize_t n = 0;
  do {
    n = read(stderr_, buffer, sizeof(buffer));
  } while (n < 0 && errno == EINTR);
  if (n <= 0) return false;
  log_.append(buffer, static_cast<size_t>(n));
  return true;
}

bool DaemonProcess::HasLine(std::string_view text) const {
  const size_t at = log_.find(text);
  return at != std::string::npos && log_.find('\n', at) != std::string::npos;
}

int DaemonProcess::PortAfter(std::string_view text) const {
  return std::atoi(log_.c_str() + log_.find(text) + text.size());
}

bool DaemonProcess::AwaitLine(std::string_view text) {
  while (!HasLine(text)) {
    if (!ReadLog()) return false;
  }
  return true;
}

int DaemonProcess::AwaitReady() {
  return AwaitLine(kReady) ? PortAfter(kReady) : 0;
}

int DaemonProcess::AwaitFollowing() {
  while (!HasLine("] following ") && !HasLine("; trying again")) {
    if (HasLine(kReady) || !ReadLog()) return 0;
  }
  return PortAfter("started: grpc=127.0.0.1:");
}

int DaemonProcess::http_port() const {
  constexpr std::string_view kPort = " http_port=";
  const size_t at = log_.find(kPort);
  CHECK_NE(at, std::string::npos) << log_;
  return std::atoi(log_.c_str() + at + kPort.size());
}

void DaemonProcess::Signal(int signal) {
  CHECK_GT(pid_, 0) << "it has ended";
  CHECK_EQ(kill(pid_, signal), 0);
}

void DaemonProcess::TakeDescriptors() {
  const rlimit none = {.rlim_cur = 0, .rlim_max = 0};
  CHECK_EQ(prlimit(pid_, RLIMIT_NOFILE, &none, nullptr), 0);
}

int DaemonProcess::AwaitEnd() {
  while (ReadLog()) {
  }
  return Reap();
}

std::optional<int> DaemonProcess::PollEnd() {
  pollfd wait = {stderr_, POLLIN, 0};
  while (poll(&wait, 1, 0) == 1) {
    if (!ReadLog()) return Reap();
  }
  return {};
}

int DaemonProcess::Reap() {
  int status = 0;
  CHECK_EQ(waitpid(pid_, &status, 0), pid_);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace sluice
