// sluicectl as a function: arguments in, texts and an exit code out.
//
// Threads: none; runs on the caller's thread.

#ifndef SLUICE_CLI_APPLICATION_H_
#define SLUICE_CLI_APPLICATION_H_

#include <span>
#include <string>

#include "cli/console.h"
#include "sluice/base/clock.h"

namespace sluice {

// What sluicectl returns to the shell.
inline constexpr int kExitSuccess = 0;
// The server could not be reached, did not know what was asked for, or
// refused; or a file could not be read.
inline constexpr int kExitFailure = 1;
// The command line makes no sense; nothing was done.
inline constexpr int kExitUsage = 2;

// Runs the command that `arguments` (without the program's name) ask for.
int RunSluicectl(std::span<const std::string> arguments, const Console& console,
                 const Clock& clock);

}  // namespace sluice

#endif  // SLUICE_CLI_APPLICATION_H_
