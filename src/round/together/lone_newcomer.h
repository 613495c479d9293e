// A task that takes part in a packing alone, since the packing does not heed
// the rules of its class: where it may go as things are, and which tasks would
// have to leave a machine for it.
// Those tasks are on that same machine, as in kube-scheduler: a task stopped on
// one machine for the sake of another might be stopped for nothing.  But a
// packing knows, on any machine, the tasks that keep it out of a domain by
// anti-affinity (PackingPeers::NoteLeaving).
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_ROUND_TOGETHER_LONE_NEWCOMER_H_
#define SLUICE_ROUND_TOGETHER_LONE_NEWCOMER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "constraints/class_peers.h"
#include "constraints/constraint_set.h"
#include "round/together/gang_victims.h"
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
  // True if its affinity selects such a task.
  bool Needs(const ClassKey& running) const;
  // True if one of the two keeps the other out of its domain of the topology.
  bool IsKeptOutBy(const ClassKey& running, const Topology& topology) const;
  // True if it may be there as things are, or the machine was opened to it.
  bool MayBeOn(const Machine& machine) const {
    return opened_.contains(machine.id) || peers_.Allows(machine);
  }
  // The same if these tasks, which run there or elsewhere, were gone.
  bool MayBeOnWithout(const Machine& machine,
                      std::span<const Task* const> leavers) const {
    return peers_.AllowsWithout(machine, leavers);
  }
  // The fewest of these tasks on the machine that must leave because of its
  // rules or theirs.  The first ones are spared first.  Nullopt if it is kept
  // away even without all of them, or no task stays that it must be near.
  // `gangs`: those that may leave, some of whose tasks may be on other
  // machines.
  std::optional<std::vector<const Task*>> FindInTheWay(
      const Machine& machine, std::span<const Task* const> leavers,
      const GangVictims& gangs) const;
  // The tasks in its way must leave before it comes.
  void Open(MachineId machine) { opened_.insert(machine); }

 private:
  // True if the presence of the task may matter to it.
  bool Concerns(const Task& task) const;

  const ClusterState& state_;
  const ClassKey key_;
  const ClassPeers peers_;
  absl::flat_hash_set<MachineId> opened_;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_TOGETHER_LONE_NEWCOMER_H_
