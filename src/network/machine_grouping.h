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
  const std::vector<MachineGroup>& groups() const { return wholes_.groups(); }
  // The same, cut where their machines are not of one aggregate.
  const std::vector<MachineGroup>& parts() const {
    return aggregates_.empty() ? groups() : parts_.groups();
  }
  // None where no machine has the label.
  const Aggregates& aggregates() const { return aggregates_; }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};

  // A machine as it was when it was looked at last.
  struct Seen {
    const Machine* machine = nullptr;
    uint64_t revision = 0;
    KindId kind = kNoKind;
    bool is_stale = false;
  };

  // The usable machines by how they look.  All indices are places in `seen`, of
  // which the machines change in a rebuild only.
  class Partition {
   public:
    const std::vector<MachineGroup>& groups() const { return groups_; }

    void Rebuild(std::span<const Seen> seen);
    // As the parts of wholes that aggregates tell apart.
    void RebuildAsParts(std::span<const Seen> seen,
                        const Aggregates& aggregates, const Partition& wholes);
    // Those at these indices, which ascend, have changed.  `aggregates`: null
    // if these are no parts.
    void Update(std::span<const Seen> seen, const Aggregates* aggregates,
                std::span<const uint32_t> changed);
    // Says of which of those groups each of these is a part.
    void NoteWholes(const Partition& wholes);

   private:
    struct Place {
      uint32_t group = kNone;
      uint64_t hash = 0;  // Where it leads its group.
    };
    // What is passed on within a call.
    struct View {
      std::span<const Seen> seen;
      const Aggregates* aggregates;
    };

    void Clear(size_t size);
    static MachineLook LookOf(const View& view, uint32_t index);
    // Each leaves the group that it is in, if it is in one, walking over each
    // group once.
    void LeaveAll(const View& view, std::span<const uint32_t> indices);
    // These leave this group.
    void Leave(const View& view, uint32_t group,
               std::span<const uint32_t> indices);
    // Each usable one enters the group of those that look as it does.
    void EnterAll(const View& view, std::span<const uint32_t> indices);
    // That group.  If there is none, one without machines, in the place of
    // `former` if nobody is left there.
    uint32_t FindGroup(const View& view, uint32_t index, uint32_t former);
    // Drops the empty ones, and orders the others by their first machines.
    void PutInOrder();

    std::vector<Place> places_;
    std::vector<MachineGroup> groups_;
    std::vector<uint32_t> leaders_;  // By group, one of its machines.
    // By what was looked at, the leaders.
    absl::flat_hash_map<uint64_t, absl::InlinedVector<uint32_t, 1>> by_hash_;
  };

  void Rebuild(const ClusterState& state, const Eligibility& eligibility);
  void RebuildParts(const ClusterState& state);
  void Update(const ClusterState& state, const Eligibility& eligibility,
              std::span<const uint32_t> changed);

  std::string label_;
  std::vector<Seen> seen_;  // Ascending ids.
  Partition wholes_;
  Partition parts_;  // Where there are aggregates.
  Aggregates aggregates_;
};

}  // namespace sluice

#endif  // SLUICE_NETWORK_MACHINE_GROUPING_H_
