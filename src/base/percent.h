// Ratios as people read them.
//
// Threads: a free function without state.

#ifndef SLUICE_BASE_PERCENT_H_
#define SLUICE_BASE_PERCENT_H_

#include <string>

namespace sluice {

// "at most 1.3 %" for 0.0123: rounds up.
// REQUIRES: 0 <= ratio <= 1.
std::string AtMostPercent(double ratio);

}  // namespace sluice

#endif  // SLUICE_BASE_PERCENT_H_
