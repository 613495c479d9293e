// The resources of the Inspector's messages, as cells of a table.
//
// Threads: free functions without state.

#ifndef SLUICE_CLI_CLIENT_RESOURCE_TEXT_H_
#define SLUICE_CLI_CLIENT_RESOURCE_TEXT_H_

#include <cstdint>
#include <map>
#include <string>

#include "sluice/v1/inspector.pb.h"

namespace sluice {

// Whole units of one extended resource.
struct ExtendedAmounts {
  int64_t used = 0;
  int64_t allocatable = 0;
};

// Every extended resource that is used or offered, by name.  One may be in use
// although none of it is offered any more.
std::map<std::string, ExtendedAmounts> ExtendedUse(
    const v1::Resources& used, const v1::Resources& allocatable);

// "nvidia.com/gpu: 1/2", used of allocatable, separated by commas; "-" if there
// are none.
std::string FormatExtendedUse(const v1::Resources& used,
                              const v1::Resources& allocatable);

// "nvidia.com/gpu: 2", in the order of the names; "-" if there are none.
std::string FormatExtended(const v1::Resources& resources);

}  // namespace sluice

#endif  // SLUICE_CLI_CLIENT_RESOURCE_TEXT_H_
