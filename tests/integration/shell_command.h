// A program as a user runs it.

#ifndef SLUICE_TESTS_INTEGRATION_SHELL_COMMAND_H_
#define SLUICE_TESTS_INTEGRATION_SHELL_COMMAND_H_

#include <sys/wait.h>

#include <cstdio>
#include <string>

#include "base/strings.h"

namespace sluice {

// What the command prints, and a line with how it ended.  One that does not end
// within a minute is ended.
inline std::string OutputOf(const std::string& command) {
  FILE* pipe = popen(StrCat("timeout 60 ", command).c_str(), "r");
  std::string output;
  for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) {
    output += static_cast<char>(c);
  }
  return StrCat(output, "exit code ", WEXITSTATUS(pclose(pipe)), "\n");
}

}  // namespace sluice

#endif  // SLUICE_TESTS_INTEGRATION_SHELL_COMMAND_H_
