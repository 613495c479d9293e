// Tasks that wait for others to leave a machine, on which room is kept for
// them.
//
// A nominated task waits on, but in no class of ClusterState::pending().  What
// leaves the machine makes room for it; only what that is too little for is
// kept of what is free already (Machine::reserved).  Nominations are not
// stored, and whatever changes the task or takes the machine away ends them.
//
// Threads: none of its own; confined to the core thread.

#ifndef SLUICE_STATE_NOMINATIONS_H_
#define SLUICE_STATE_NOMINATIONS_H_

#include <cstdint>

#include "absl/container/btree_map.h"
#include "sluice/base/ids.h"
#include "sluice/state/machine.h"
#include "sluice/state/resources.h"

namespace sluice {

class ClusterState;

class Nominations {
 public:
  // `state` must outlive this.
  explicit Nominations(const ClusterState& state) : state_(state) {}

  const absl::btree_map<TaskId, MachineId>& machines() const {
    return machines_;
  }
  bool Contains(TaskId task) const { return machines_.contains(task); }
  // How often one came or went.
  uint64_t changes() const { return changes_; }
  // What those hold on the machine that were told to leave it.
  Resources LeavingFrom(const Machine& machine) const;
  // Whether the machine will have room for all that is nominated there once
  // those have left it that were told to.
  bool CanBeHeldBy(const Machine& machine) const;

  // For the state.  REQUIRES: the task has none.
  void Add(TaskId task, Machine* machine);
  // REQUIRES: it has one, for this machine.
  void Drop(TaskId task, Machine* machine);
  // After each change of what the machine runs.
  void UpdateReserved(Machine* machine) const;

 private:
  const ClusterState& state_;
  absl::btree_map<TaskId, MachineId> machines_;
  uint64_t changes_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_STATE_NOMINATIONS_H_
