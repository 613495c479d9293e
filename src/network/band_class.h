// The input and output of a pass (network/band_network.h).
//
// Threads: values.

#ifndef SLUICE_NETWORK_BAND_CLASS_H_
#define SLUICE_NETWORK_BAND_CLASS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "constraints/class_peers.h"
#include "sluice/base/ids.h"
#include "sluice/flow/problem.h"
#include "sluice/state/resources.h"
#include "sluice/state/task.h"

namespace sluice {

// The tasks of one class that a pass may place, the most urgent first.
struct BandClass {
  ClassKey key;
  std::vector<const Task*> tasks;
  // How it stands to the running tasks; null if that makes no difference.
  const ClassPeers* peers = nullptr;
  // How many tasks should have room where the first one goes.
  int64_t followers = 0;
  // The minimum of tasks of a gang that is placed as a whole; the same for all
  // its classes.
  int64_t gang_minimum = 0;
  // The groups that it may use, of those that its rules allow; empty: all.
  std::vector<bool> open_groups = {};
  // What its machine must have room for, if more than one task's request.
  std::optional<Resources> reserved = {};

  const Resources& Room() const {
    return reserved.has_value() ? *reserved : key.request;
  }
  bool IsOpen(size_t group) const {
    return open_groups.empty() || open_groups[group];
  }
};

// A class that may use machines of some kind, and what it prefers.
struct Interest {
  size_t class_index = 0;
  FlowCost preference = 0;
};

// How many machines of a group a task may look at for one that it likes better.
inline constexpr int64_t kSpareMachines = 16;

// A task that a network is to place.
struct Newcomer {
  TaskId task;
  JobId job;
};

struct Proposal {
  size_t class_index = 0;  // Of the network's classes.
  TaskId task;
  MachineId machine;
};

}  // namespace sluice

#endif  // SLUICE_NETWORK_BAND_CLASS_H_
