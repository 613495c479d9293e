// What sluicectl returns to the shell.

#ifndef SLUICE_CLI_BASE_EXIT_CODE_H_
#define SLUICE_CLI_BASE_EXIT_CODE_H_

namespace sluice {

inline constexpr int kExitSuccess = 0;
// The server could not be reached, refused, or did not know what was asked for;
// or a file could not be read.
inline constexpr int kExitFailure = 1;
// The command line or the problem to solve makes no sense; nothing was done.
inline constexpr int kExitUsage = 2;
// The problem to solve has no solution, or none was found.
inline constexpr int kExitNoOptimum = 3;

}  // namespace sluice

#endif  // SLUICE_CLI_BASE_EXIT_CODE_H_
