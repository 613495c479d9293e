#include "unit/persist/child_process.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <vector>

#include "base/strings.h"

namespace sluice {
namespace {

constexpr char kArgumentVariable[] = "SLUICE_TEST_CHILD_ARGUMENT";
// Where the child reports; its standard output is GoogleTest's.
constexpr int kReportFd = 3;

}  // namespace

ChildProcess::ChildProcess(const std::string& test,
                           const std::string& argument) {
  std::array<int, 2> ends;
  CHECK_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  output_ = ends[0];

  std::vector<std::string> arguments = {"child", "--gtest_filter=" + test,
                                        "--gtest_also_run_disabled_tests",
                                        "--gtest_brief=1"};
  std::vector<char*> argv;
  for (std::string& text : arguments) argv.push_back(text.data());
  argv.push_back(nullptr);
  std::string variable = StrCat(kArgumentVariable, "=", argument);
  std::vector<char*> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    environment.push_back(*entry);
  }
  environment.push_back(variable.data());
  environment.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  CHECK_EQ(posix_spawn_file_actions_init(&actions), 0);
  CHECK_EQ(posix_spawn_file_actions_adddup2(&actions, ends[1], kReportFd), 0);
  CHECK_EQ(posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr, argv.data(),
                       environment.data()),
           0);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
}

ChildProcess::~ChildProcess() {
  Kill();
  close(output_);
}

std::optional<std::string> ChildProcess::ReadLine() {
  for (;;) {
    const size_t end = unread_.find('\n');
    if (end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    std::array<char, 4096> buffer;
    const ssize_t size = read(output_, buffer.data(), buffer.size());
    if (size <= 0) return std::nullopt;
    unread_.append(buffer.data(), static_cast<size_t>(size));
  }
}

void ChildProcess::Kill() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::optional<std::string> ChildProcess::Argument() {
  const char* argument = getenv(kArgumentVariable);
  if (argument == nullptr) return std::nullopt;
  return argument;
}

void ChildProcess::Report(const std::string& line) {
  const std::string text = line + "\n";
  CHECK_EQ(write(kReportFd, text.data(), text.size()),
           static_cast<ssize_t>(text.size()));
}

}  // namespace sluice
