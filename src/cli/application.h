// sluicectl as a function: arguments in, texts and an exit code out.
//
// Threads: none; runs on the caller's thread.

#ifndef SLUICE_CLI_APPLICATION_H_
#define SLUICE_CLI_APPLICATION_H_

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "cli/base/console.h"
#include "cli/base/exit_code.h"
#include "sluice/base/clock.h"

namespace sluice {

// Runs the command in `arguments`, which do not begin with the program's name,
// and returns the exit code.  The flags in the file `config_file` are set
// first; an empty path means that there is none.
int RunSluicectl(std::span<const std::string> arguments, const Console& console,
                 const Clock& clock, const std::string& config_file = "");

// "0.1.0".
std::string_view ProgramVersion();

// kInvalidArgument that names `name` and the command that was probably meant.
absl::Status UnknownCommand(std::string_view name);

}  // namespace sluice

#endif  // SLUICE_CLI_APPLICATION_H_
