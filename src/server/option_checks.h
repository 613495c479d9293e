// Checks of options against each other; each is already valid by itself.
//
// Threads: a free function without state.

#ifndef SLUICE_SERVER_OPTION_CHECKS_H_
#define SLUICE_SERVER_OPTION_CHECKS_H_

#include "absl/status/status.h"
#include "server/options.h"

namespace sluice {

// Errors: kInvalidArgument, naming the flag, for a text that is no address,
// for flags that need or exclude each other, for a daemon that strangers could
// reach, and for unknown cost models.
absl::Status CheckOptions(const Options& options);

}  // namespace sluice

#endif  // SLUICE_SERVER_OPTION_CHECKS_H_
