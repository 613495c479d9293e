// The command line of a test program.

#ifndef SLUICE_TESTS_UTIL_PROGRAM_FLAGS_H_
#define SLUICE_TESTS_UTIL_PROGRAM_FLAGS_H_

#include <cstdint>
#include <limits>

#include "base/flag_set.h"

namespace sluice {

inline constexpr IntegerRange kFromZero = {
    .min = 0, .max = std::numeric_limits<int64_t>::max()};
// What also fits into 32 bits.
inline constexpr IntegerRange kFromOne = {
    .min = 1, .max = std::numeric_limits<int32_t>::max()};

// Sets the targets of `flags`.  Ends the program with their help where that is
// asked for, and with a message and exit code 1 where the line is wrong.
void ParseProgramFlags(int argc, char** argv, FlagSet& flags);

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_PROGRAM_FLAGS_H_
