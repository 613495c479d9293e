// This test binary once more, as another process that can be killed.
//
// The child runs one test, by convention a DISABLED_ one, which finds its
// argument with Argument() and reports lines with Report().

#ifndef SLUICE_TESTS_UNIT_PERSIST_CHILD_PROCESS_H_
#define SLUICE_TESTS_UNIT_PERSIST_CHILD_PROCESS_H_

#include <sys/types.h>

#include <optional>
#include <string>

namespace sluice {

class ChildProcess {
 public:
  // Starts `test` ("Suite.DISABLED_Name") with `argument`.
  ChildProcess(const std::string& test, const std::string& argument);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  // The next line that the child reports; nothing when it has ended.
  std::optional<std::string> ReadLine();
  // Ends it at once (SIGKILL).  What it reported until then can still be read.
  void Kill();

  // In the child: its argument; nothing where the test runs by itself.
  static std::optional<std::string> Argument();
  static void Report(const std::string& line);

 private:
  pid_t pid_ = -1;
  int output_ = -1;
  std::string unread_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_UNIT_PERSIST_CHILD_PROCESS_H_
