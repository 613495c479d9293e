// Percentiles of a sample.
//
// Threads: free functions without state.

#ifndef SLUICE_CLI_BASE_PERCENTILE_H_
#define SLUICE_CLI_BASE_PERCENTILE_H_

#include <cstdint>
#include <vector>

namespace sluice {

// The smallest of `values` that at least `percent` percent of them do not
// exceed (the nearest rank, so always one of them); 0 if there are none.
// REQUIRES: 0 < percent <= 100.
int64_t Percentile(std::vector<int64_t> values, int percent);

}  // namespace sluice

#endif  // SLUICE_CLI_BASE_PERCENTILE_H_
