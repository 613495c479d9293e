// Where a test finds what was built beside it and what stands in its checkout.
//
// Nothing of this is compiled in: a test that names its checkout in its code
// would have to be compiled anew in each one.

#ifndef SLUICE_TESTS_UTIL_PATHS_H_
#define SLUICE_TESTS_UTIL_PATHS_H_

#include <string>
#include <string_view>

namespace sluice {

// The path of a program of this build, such as "sluiced".
std::string ProgramPath(std::string_view name);

// The path of a file of this checkout, such as "docs/metrics.md".
std::string SourcePath(std::string_view path);

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_PATHS_H_
