// What a node of a pass's network stands for, for people to read.
//
// Threads: values.

#ifndef SLUICE_NETWORK_NODE_MEANING_H_
#define SLUICE_NETWORK_NODE_MEANING_H_

#include <cstddef>
#include <cstdint>

#include "sluice/base/ids.h"

namespace sluice {

struct NodeMeaning {
  enum class Kind : uint8_t {
    kGate,         // Between classes: part of a construct.
    kClass,        // Equal tasks: those of `class_index`.
    kDomain,       // For tasks of a class that is spread over domains.
    kMachines,     // `machine`, and all that are equal to it.
    kAggregate,    // What a policy charges together: `machine` and others.
    kUnscheduled,  // Where tasks of `job` wait.
    kLevel,        // Where all tasks of a level wait (network/share_network.h).
    kSink,
  };
  Kind kind = Kind::kGate;
  size_t class_index = 0;
  MachineId machine = {};
  size_t machine_count = 0;  // At most as many as are useful.
  JobId job = {};
  size_t level = 0;
};

}  // namespace sluice

#endif  // SLUICE_NETWORK_NODE_MEANING_H_
