// What tasks say about other tasks, as a packing problem can say it: which
// classes share no machine, and where those that stay keep a class away.
//
// Both are heeded exactly where a term tells each machine from all others.  A
// class with other terms, or with tasks that others follow or count, depends on
// more than its machine and stays out of packings.  A bound leaves such terms
// out: they only forbid placements.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_CORE_PACKING_PEERS_H_
#define SLUICE_CORE_PACKING_PEERS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/placements.h"
#include "packing/packing_problem.h"
#include "state/cluster_state.h"

namespace sluice {

class PackingPeers {
 public:
  // `state` must outlive this, and must not change meanwhile.  REQUIRES: its
  // peers are in sync.
  explicit PackingPeers(const ClusterState& state) : state_(state) {}

  // Learns whose tasks others that wait, or have these placements, must or
  // would like to be near, keep away from farther than a machine, or count.
  void FindFollowed(std::span<const Placement> placements);
  // Whether of all tasks only those on the same machine matter to the class,
  // and it to no others.  REQUIRES: FindFollowed() was called.
  bool DependsOnMachineOnly(const ClassKey& key);

  // A task of the class is to leave the machine.
  void NoteFreed(const ClassKey& key, MachineId machine);
  // Says which of the classes share no machine, and finds where those that stay
  // keep them away.
  void KeepApart(std::span<const ClassKey> keys,
                 std::vector<PackingClass>* classes);
  // The classes, by index, that those that stay keep away from the machine.
  std::span<const size_t> KeptAwayFrom(MachineId machine) const;

 private:
  // Whether the term tells each usable machine from all others.
  bool IsOfOneMachine(const CountedTerm& term);
  bool HasTermsOfOneMachine(const ClassKey& key);
  // The class keeps away from where any of these stay.
  void KeepAway(size_t task_class, const Topology& topology,
                const Tally& tally);

  const ClusterState& state_;
  absl::flat_hash_map<std::pair<const PlacementRules*, const SelectorSet*>,
                      bool>
      is_movable_;
  absl::flat_hash_map<const Topology*, bool> is_of_one_machine_;
  absl::flat_hash_set<uint32_t> followed_;  // Selectors.
  // What was counted of the tasks that are to leave.
  absl::flat_hash_map<const Tally*, Tally> freed_;
  absl::flat_hash_map<MachineId, std::vector<size_t>> kept_away_;
};

}  // namespace sluice

#endif  // SLUICE_CORE_PACKING_PEERS_H_
