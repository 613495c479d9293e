// Nominated tasks: room is kept for them on a machine that others leave, or to
// which their predecessors were told to move.
//
// A nominated task still waits, but in no class of ClusterState::pending().
// What leaves the machine makes room for it.  Only what that does not cover is
// kept from what is already free (Machine::reserved).  Its host ports are kept
// as well, and required anti-affinity holds as if it ran.  The same is true of
// the room of successions (state/successions.h).  Nominations are not stored.
// They end when the task changes or its machine goes away.
//
// Threads: none of its own; confined to the core thread.

#ifndef SLUICE_STATE_NOMINATIONS_H_
#define SLUICE_STATE_NOMINATIONS_H_

#include <cstdint>
#include <map>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "sluice/base/ids.h"
#include "sluice/state/machine.h"
#include "sluice/state/resources.h"
#include "sluice/state/task.h"
#include "state/successions.h"

namespace sluice {

class ClusterState;
class PeerTable;

class Nominations {
 public:
  // What is passed must outlive this.
  Nominations(const ClusterState& state, PeerTable* peers)
      : state_(state), peers_(*peers) {}

  const absl::btree_map<TaskId, MachineId>& machines() const {
    return machines_;
  }
  bool Contains(TaskId task) const { return machines_.contains(task); }
  // The number of nominated tasks of the class by machine, without zeros.
  const absl::btree_map<MachineId, int64_t>& MachinesOf(
      const ClassKey& key) const;
  // True if it is the successor of a task that was told to move there.
  bool IsSuccessor(TaskId task) const { return successors_.contains(task); }
  // True if only something more urgent may take its room.  Either it is a
  // successor, which does not wait for others of its priority, or tasks were
  // told to move for it, which would have moved for nothing.
  bool IsFinal(TaskId task) const {
    return IsSuccessor(task) || final_.contains(task);
  }
  // True if its machine is reserved for it though no task was told to leave.
  // What the tasks there leave free is kept for it.
  bool IsReservation(TaskId task) const { return reservations_.contains(task); }
  const absl::btree_set<TaskId>& reservations() const { return reservations_; }
  // How many nominations have begun or ended so far.
  uint64_t changes() const { return changes_; }
  // What the tasks that were told to leave the machine hold there.
  Resources LeavingFrom(const Machine& machine) const;
  const Successions& successions() const { return successions_; }
  // True if the machine will have room for all that is kept there once the
  // tasks that were told to leave have left.  On a reserved machine all tasks
  // count as leaving.  `staying` is what tasks ask for that stay all the same.
  bool CanBeHeldBy(const Machine& machine, const Resources& staying = {}) const;

  // For the state.  REQUIRES: the task has no nomination.
  void Add(TaskId task, Machine* machine, bool is_final);
  // REQUIRES: it has one, for this machine.
  void NoteReservation(TaskId task, Machine* machine);
  // REQUIRES: it has one.
  void NoteSuccessor(TaskId task) { successors_.insert(task); }
  // REQUIRES: it has one, for this machine.
  void Drop(TaskId task, Machine* machine);
  Successions& mutable_successions() { return successions_; }
  // `machine` is that of the succession, or null.  REQUIRES: the predecessor is
  // known, with these rules.
  void AddSuccession(uint64_t sequence, Succession succession,
                     Machine* machine);
  void DropSuccession(uint64_t sequence, Machine* machine);
  // Call after each change of what the machine runs or offers.
  void UpdateReserved(Machine* machine) const;

 private:
  Resources KeptOn(const Machine& machine) const;
  bool IsReserved(const Machine& machine) const;

  const ClusterState& state_;
  PeerTable& peers_;
  absl::btree_map<TaskId, MachineId> machines_;
  std::map<ClassKey, absl::btree_map<MachineId, int64_t>> of_class_;
  absl::flat_hash_map<TaskId, uint64_t> expected_;  // PeerTable::Expect().
  absl::btree_set<TaskId> successors_;
  absl::btree_set<TaskId> final_;         // Those for whom tasks move.
  absl::btree_set<TaskId> reservations_;  // These are in final_, too.
  uint64_t changes_ = 0;
  Successions successions_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_NOMINATIONS_H_
