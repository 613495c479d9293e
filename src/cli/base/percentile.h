// Percentiles of a sample.
//
// Threads: free functions without state.

#ifndef SLUICE_CLI_BASE_PERCENTILE_H_
#define SLUICE_CLI_BASE_PERCENTILE_H_

#include <cstdint>
#include <vector>

namespace sluice {

// The least value that at least `percent` percent of `values` do not exceed
// (the nearest rank; an actual value, never one in between), 0 of none.
// REQUIRES: 0 < percent <= 100.
int64_t Percentile(std::vector<int64_t> values, int percent);

}  // namespace sluice

#endif  // SLUICE_CLI_BASE_PERCENTILE_H_
