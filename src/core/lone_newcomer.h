// The task of a class that takes part in a packing by itself, for the packing
// does not heed the rules of its class: where it may go as things are, and who
// would have to leave a machine for it.
//
// Those are tasks of that machine, as in kube-scheduler: who is stopped on one
// machine for the sake of another might be stopped for nothing.  But who keeps
// it out of a domain by anti-affinity is known to a packing on any machine
// (PackingPeers::NoteLeaving).
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_CORE_LONE_NEWCOMER_H_
#define SLUICE_CORE_LONE_NEWCOMER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "constraints/class_peers.h"
#include "constraints/constraint_set.h"
#include "core/gang_victims.h"
#include "sluice/base/ids.h"
#include "sluice/state/task.h"
#include "state/cluster_state.h"

namespace sluice {

class LoneNewcomer {
 public:
  // What is passed must outlive this.  REQUIRES: the state's peers are in sync.
  LoneNewcomer(const ClusterState& state, const ConstraintSet& constraints,
               const ClassKey& key)
      : state_(state), key_(key), peers_(state, constraints, key) {}

  const ClassKey& key() const { return key_; }
  // Whether its affinity means such a task.
  bool Needs(const ClassKey& running) const;
  // Whether one of the two keeps the other out of its domain of the topology.
  bool IsKeptOutBy(const ClassKey& running, const Topology& topology) const;
  // Whether it may be there as things are, or was opened to it.
  bool MayBeOn(const Machine& machine) const {
    return opened_.contains(machine.id) || peers_.Allows(machine);
  }
  // The same if these tasks, which run there or elsewhere, were gone.
  bool MayBeOnWithout(const Machine& machine,
                      std::span<const Task* const> leavers) const {
    return peers_.AllowsWithout(machine, leavers);
  }
  // Whom of these that run on the machine its rules, or theirs, keep away from
  // there, as few as can be: those are spared first that come first.  Nothing
  // if it is kept away all the same, or nobody stays that it must be near.
  // `gangs`: those that may leave, of which some do so on other machines, too.
  std::optional<std::vector<const Task*>> FindInTheWay(
      const Machine& machine, std::span<const Task* const> leavers,
      const GangVictims& gangs) const;
  // Those who are in the way have to leave before it comes.
  void Open(MachineId machine) { opened_.insert(machine); }

 private:
  // Whether it may matter to it that the task is there.
  bool Concerns(const Task& task) const;

  const ClusterState& state_;
  const ClassKey key_;
  const ClassPeers peers_;
  absl::flat_hash_set<MachineId> opened_;
};

}  // namespace sluice

#endif  // SLUICE_CORE_LONE_NEWCOMER_H_
