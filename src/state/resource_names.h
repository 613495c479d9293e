// The resources of a cluster by name and by index (sluice/state/resources.h).
//
// Threads: values.

#ifndef SLUICE_STATE_RESOURCE_NAMES_H_
#define SLUICE_STATE_RESOURCE_NAMES_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "sluice/state/resources.h"

namespace sluice {

struct ResourceNames {
  std::vector<std::string> by_index = {"cpu", "memory", "ephemeral-storage",
                                       "pods"};
  absl::flat_hash_map<std::string, ResourceIndex> indices = {
      {"cpu", kCpu},
      {"memory", kMemory},
      {"ephemeral-storage", kEphemeralStorage},
      {"pods", kPods}};
};

}  // namespace sluice

#endif  // SLUICE_STATE_RESOURCE_NAMES_H_
