// Tasks that room is kept for on a machine that others leave, or to which
// others were told to move.
//
// A nominated task waits on, but in no class of ClusterState::pending().  What
// leaves the machine makes room for it; only what that is too little for is
// kept of what is free already (Machine::reserved).  Its host ports are kept as
// well, and who keeps away from it, or it from them, stays away as if it ran.
// So it is with the room of successions (state/successions.h).  Nominations are
// not stored, and whatever changes the task or takes the machine away ends
// them.
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
  // How many tasks of the class are nominated, by machine; none where none is.
  const absl::btree_map<MachineId, int64_t>& MachinesOf(
      const ClassKey& key) const;
  // Whether it is the successor of a task that was told to move there.
  bool IsSuccessor(TaskId task) const { return successors_.contains(task); }
  // Whether it keeps its room: it is a successor, which is not to wait for
  // others of its priority, or one for whom tasks were told to move, which
  // would have moved for nothing unless something more urgent takes the room.
  bool IsFinal(TaskId task) const {
    return IsSuccessor(task) || final_.contains(task);
  }
  // Whether its machine is reserved for it, though nobody was told to leave:
  // of what its tasks leave free that is kept.
  bool IsReservation(TaskId task) const { return reservations_.contains(task); }
  const absl::btree_set<TaskId>& reservations() const { return reservations_; }
  // How often one came or went.
  uint64_t changes() const { return changes_; }
  // What those hold on the machine that were told to leave it.
  Resources LeavingFrom(const Machine& machine) const;
  const Successions& successions() const { return successions_; }
  // Whether the machine will have room for all that is kept there once those
  // have left it that were told to or, where it is reserved, all tasks; but
  // for those that ask for `staying`.
  bool CanBeHeldBy(const Machine& machine, const Resources& staying = {}) const;

  // For the state.  REQUIRES: the task has none.
  void Add(TaskId task, Machine* machine, bool is_final);
  // REQUIRES: it has one, for this machine.
  void NoteReservation(TaskId task, Machine* machine);
  // REQUIRES: it has one.
  void NoteSuccessor(TaskId task) { successors_.insert(task); }
  // REQUIRES: it has one, for this machine.
  void Drop(TaskId task, Machine* machine);
  Successions& mutable_successions() { return successions_; }
  // `machine`: that of the succession, or null.  REQUIRES: the predecessor is
  // known, with these rules.
  void AddSuccession(uint64_t sequence, Succession succession,
                     Machine* machine);
  void DropSuccession(uint64_t sequence, Machine* machine);
  // After each change of what the machine runs, or offers.
  void UpdateReserved(Machine* machine) const;

 private:
  Resources KeptOn(const Machine& machine) const;
  bool IsReserved(const Machine& machine) const;

  const ClusterState& state_;
  PeerTable& peers_;
  absl::btree_map<TaskId, MachineId> machines_;
  std::map<ClassKey, absl::btree_map<MachineId, int64_t>> of_class_;
  absl::flat_hash_map<TaskId, uint64_t> expected_;  // PeerTable::Expect().
  absl::btree_set<TaskId> successors_;              // Of these,
  absl::btree_set<TaskId> final_;                   // and for whom tasks move.
  absl::btree_set<TaskId> reservations_;            // Those are final, too.
  uint64_t changes_ = 0;
  Successions successions_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_NOMINATIONS_H_
