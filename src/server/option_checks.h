// What must hold for the options together, each being fine by itself.
//
// Threads: a free function without state.

#ifndef SLUICE_SERVER_OPTION_CHECKS_H_
#define SLUICE_SERVER_OPTION_CHECKS_H_

#include "absl/status/status.h"
#include "server/options.h"

namespace sluice {

// Errors: kInvalidArgument, naming the flag, for an address that is none,
// flags that need or exclude each other, a daemon that anybody could reach who
// should not, and cost models that there are not.
absl::Status CheckOptions(const Options& options);

}  // namespace sluice

#endif  // SLUICE_SERVER_OPTION_CHECKS_H_
