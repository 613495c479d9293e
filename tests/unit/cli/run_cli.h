// Runs sluicectl in process and catches what it writes.

#ifndef SLUICE_TESTS_UNIT_CLI_RUN_CLI_H_
#define SLUICE_TESTS_UNIT_CLI_RUN_CLI_H_

#include <sstream>
#include <string>
#include <vector>

#include "cli/application.h"
#include "cli/base/console.h"
#include "sluice/base/clock.h"

namespace sluice {

struct CliResult {
  int exit_code = 0;
  std::string out;
  std::string err;
};

inline CliResult RunCli(const std::vector<std::string>& arguments,
                        const std::string& input = "",
                        const std::string& config_file = "") {
  std::istringstream in(input);
  std::ostringstream out;
  std::ostringstream err;
  const SystemClock clock;
  const int exit_code = RunSluicectl(
      arguments, {.in = in, .out = out, .err = err, .err_is_terminal = false},
      clock, config_file);
  return {.exit_code = exit_code, .out = out.str(), .err = err.str()};
}

}  // namespace sluice

#endif  // SLUICE_TESTS_UNIT_CLI_RUN_CLI_H_
