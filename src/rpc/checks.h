// Checks that conversions share, with their error texts.
//
// Threads: pure functions.

#ifndef SLUICE_RPC_CHECKS_H_
#define SLUICE_RPC_CHECKS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "base/strings.h"

namespace sluice {

// As much of a text from outside as a message for people shows.
inline constexpr size_t kShownBytes = 64;

inline absl::Status Invalid(std::string text) {
  return absl::InvalidArgumentError(std::move(text));
}

inline absl::Status CheckSize(std::string_view what, std::string_view text,
                              size_t bytes_max) {
  if (text.size() <= bytes_max) return absl::OkStatus();
  return Invalid(StrCat(what, ": ", text.size(), " bytes, at most ", bytes_max,
                        " are allowed"));
}

}  // namespace sluice

#endif  // SLUICE_RPC_CHECKS_H_
