// The groups of a cluster that changes little from one call to the next, and
// what policies charge together.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_NETWORK_MACHINE_GROUPING_H_
#define SLUICE_NETWORK_MACHINE_GROUPING_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "network/aggregates.h"
#include "network/eligibility.h"
#include "network/machine_groups.h"
#include "network/machine_look.h"
#include "state/cluster_state.h"

namespace sluice {

class MachineGrouping {
 public:
  // `label`: CostModel::AggregateLabel; empty if no policy has one.
  explicit MachineGrouping(std::string_view label = {}) : label_(label) {}

  // Takes in the machines as they are now.  It takes a glance at each, and some
  // work for those that changed.  The other methods' results are valid until
  // the state changes, or the next call.  REQUIRES: `eligibility` has seen all
  // changes of the state, which is the same each time.
  void Refresh(const ClusterState& state, const Eligibility& eligibility);

  // As GroupMachines() of all machines.
  const std::vector<MachineGroup>& groups() const { return groups_; }
  // The group of each machine, by its rank among the ids of all machines;
  // kNoGroup if it is in none.
  std::span<const uint32_t> group_at() const { return group_at_; }
  // The same for aggregates, which not every caller needs.  REQUIRES: the state
  // has not changed since Refresh().
  void RefreshAggregates(const ClusterState& state);
  // As of that call.  None if no machine has the label.
  const Aggregates& aggregates() const { return aggregates_; }
  // The common parts of aggregates and groups (Aggregates::PartsBy()).
  std::span<const Aggregates::Parts> parts() const { return parts_; }

 private:
  // A machine as last seen.
  struct Seen {
    const Machine* machine = nullptr;
    uint64_t revision = 0;
    KindId kind = kNoKind;
    bool is_stale = false;
  };

  // All indices are places in `seen_`, whose machines change only in a rebuild.
  void Rebuild(const ClusterState& state, const Eligibility& eligibility);
  // The machines at these ascending indices have changed.
  void Update(const Eligibility& eligibility,
              std::span<const uint32_t> changed);
  MachineLook LookOf(uint32_t index) const;
  // Removes each from its group, if it is in one, with one walk over each
  // group.
  void LeaveAll(std::span<const uint32_t> indices);
  // Removes these from this group.
  void Leave(uint32_t group, std::span<const uint32_t> indices);
  // Adds each usable one to the group of those that look like it.
  void EnterAll(std::span<const uint32_t> indices);
  // The group for the machine.  If there is none, an empty one, in the place of
  // `former` if that is empty.
  uint32_t FindGroup(uint32_t index, uint32_t former);
  // Drops empty groups, and sorts the others by their first machines.
  void PutInOrder();

  std::string label_;
  std::vector<Seen> seen_;  // Ascending ids.
  std::vector<uint32_t> group_at_;
  std::vector<uint64_t> hashes_;  // Of the machines that lead a group.
  std::vector<MachineGroup> groups_;
  std::vector<uint32_t> leaders_;  // One machine per group.
  // Leaders by the hash of their look.
  absl::flat_hash_map<uint64_t, absl::InlinedVector<uint32_t, 1>> by_hash_;
  Aggregates aggregates_;
  std::vector<Aggregates::Parts> parts_;
  // Machines that changed since the aggregates were refreshed, ascending;
  // unless all did.
  std::vector<uint32_t> changed_;
  // Eligibility::relabelings() as of Refresh(), and as of RefreshAggregates().
  uint64_t relabelings_ = 0;
  uint64_t relabelings_in_aggregates_ = 0;
  bool have_all_changed_ = false;
};

}  // namespace sluice

#endif  // SLUICE_NETWORK_MACHINE_GROUPING_H_
