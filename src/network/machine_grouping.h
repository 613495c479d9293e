// The groups of a cluster of which little changes from one call to the next,
// and what policies charge together.
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
  // `label`: CostModel::AggregateLabel, empty where no policy has one.
  explicit MachineGrouping(std::string_view label = {}) : label_(label) {}

  // Takes the machines as they are now, at the price of a glance at each and
  // some work for those that changed.  What the others return is valid until
  // the state changes, or the next call.  REQUIRES: `eligibility` has seen all
  // changes of the state, which is the same each time.
  void Refresh(const ClusterState& state, const Eligibility& eligibility);

  // What GroupMachines() says of all machines.
  const std::vector<MachineGroup>& groups() const { return groups_; }
  // The group of each machine, by its rank among the ids of all machines;
  // kNoGroup if it is in none.
  std::span<const uint32_t> group_at() const { return group_at_; }
  // The same for aggregates, which not everybody asks for who asks for groups.
  // REQUIRES: the state has not changed since Refresh().
  void RefreshAggregates(const ClusterState& state);
  // As of then.  None where no machine has the label.
  const Aggregates& aggregates() const { return aggregates_; }
  // What these and the groups have in common (Aggregates::PartsBy()).
  std::span<const Aggregates::Parts> parts() const { return parts_; }

 private:
  // A machine as it was when it was looked at last.
  struct Seen {
    const Machine* machine = nullptr;
    uint64_t revision = 0;
    KindId kind = kNoKind;
    bool is_stale = false;
  };

  // All indices are places in `seen_`, of which the machines change in a
  // rebuild only.
  void Rebuild(const ClusterState& state, const Eligibility& eligibility);
  // Those at these indices, which ascend, have changed.
  void Update(const Eligibility& eligibility,
              std::span<const uint32_t> changed);
  MachineLook LookOf(uint32_t index) const;
  // Each leaves the group that it is in, if it is in one, walking over each
  // group once.
  void LeaveAll(std::span<const uint32_t> indices);
  // These leave this group.
  void Leave(uint32_t group, std::span<const uint32_t> indices);
  // Each usable one enters the group of those that look as it does.
  void EnterAll(std::span<const uint32_t> indices);
  // That group.  If there is none, one without machines, in the place of
  // `former` if nobody is left there.
  uint32_t FindGroup(uint32_t index, uint32_t former);
  // Drops the empty ones, and orders the others by their first machines.
  void PutInOrder();

  std::string label_;
  std::vector<Seen> seen_;  // Ascending ids.
  std::vector<uint32_t> group_at_;
  std::vector<uint64_t> hashes_;  // Of machines that lead their group.
  std::vector<MachineGroup> groups_;
  std::vector<uint32_t> leaders_;  // By group, one of its machines.
  // By what was looked at, the leaders.
  absl::flat_hash_map<uint64_t, absl::InlinedVector<uint32_t, 1>> by_hash_;
  Aggregates aggregates_;
  std::vector<Aggregates::Parts> parts_;
  // Of machines that changed since these were refreshed, ascending; or all did.
  std::vector<uint32_t> changed_;
  // Eligibility::relabelings() as of Refresh(), and as of RefreshAggregates().
  uint64_t relabelings_ = 0;
  uint64_t relabelings_in_aggregates_ = 0;
  bool have_all_changed_ = false;
};

}  // namespace sluice

#endif  // SLUICE_NETWORK_MACHINE_GROUPING_H_
