// Amounts as people write them.
//
// Threads: free functions without state.

#ifndef SLUICE_CLI_BASE_QUANTITY_H_
#define SLUICE_CLI_BASE_QUANTITY_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace sluice {

// Cores: "250m" if less than one, otherwise "3.8" or "32".
std::string FormatCpu(int64_t millicores);

// Thousandths of what `text` says as Kubernetes' quantities do: "2", "0.5",
// "500m", "1Gi", "1.5G", "1e3".  Rounds up.
// Errors: kInvalidArgument if it is none, or is not in 0 to 2^60 thousandths,
// with a message that quotes it.
absl::StatusOr<int64_t> ParseQuantity(std::string_view text);

// "384 GiB", "1.5 GiB", "64 MiB", "512 KiB", "100 B": in the largest unit that
// the amount holds at least once, with one decimal unless that is zero.
std::string FormatMemory(int64_t millibytes);

// "850 us", "3.2 ms", "1.5 s": for latencies.
std::string FormatMicroseconds(int64_t us);

// "5 s", "12 min", "3 h 12 min", "2 d 5 h": for ages.
std::string FormatAge(int64_t ms);

// "26.4 %" of 0.264.  REQUIRES: 0 <= ratio < 10^6.
std::string FormatPart(double ratio);

// "26.4 %"; "-" if `whole` is not positive.
std::string FormatShare(int64_t part, int64_t whole);

// With at most one decimal: "12345", "0.3".  REQUIRES: |value| < 10^17.
std::string FormatDecimal(double value);

}  // namespace sluice

#endif  // SLUICE_CLI_BASE_QUANTITY_H_
