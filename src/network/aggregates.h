// Machines that a policy charges together (CostModel::AggregateLabel): those
// with one value of a label, such as a rack, and what all of them offer and
// have in use.
//
//   group g --load, slots--> aggregate a --what a costs, by its use--> sink
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_NETWORK_AGGREGATES_H_
#define SLUICE_NETWORK_AGGREGATES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "network/machine_groups.h"
#include "sluice/base/ids.h"
#include "sluice/state/resources.h"
#include "state/cluster_state.h"

namespace sluice {

class Aggregates {
 public:
  static constexpr size_t kNone = ~size_t{0};

  struct Aggregate {
    Resources used;      // By requests or, where use was measured, by that.
    Resources capacity;  // What its machines offer.
  };

  // None until a call of Refresh().
  Aggregates() = default;
  Aggregates(const ClusterState& state, std::string_view label) {
    Refresh(state, label);
  }

  // Takes the usable machines that have the label as they are now.  Looks only
  // at those that have changed since the last call, if these are few.  The
  // label is the same each time; `state` too.
  void Refresh(const ClusterState& state, std::string_view label);

  bool empty() const { return all_.empty(); }
  size_t size() const { return all_.size(); }
  const Aggregate& operator[](size_t index) const { return all_[index]; }
  // kNone where the machine lacks the label.
  size_t Of(MachineId machine) const {
    const auto it = of_machine_.find(machine);
    return it == of_machine_.end() ? kNone : it->second;
  }

  // The groups, cut where their machines are not of one aggregate.
  std::vector<MachineGroup> Cut(std::vector<MachineGroup> groups) const;

 private:
  struct Seen {
    const Machine* machine = nullptr;
    uint64_t revision = 0;
    bool is_stale = false;
    size_t aggregate = kNone;
    Aggregate share = {};  // What it adds to its aggregate.
  };
  void Enter(std::string_view label, Seen* seen);

  std::vector<Seen> seen_;  // By machine, ascending.
  std::vector<Aggregate> all_;
  absl::flat_hash_map<std::string, size_t> by_value_;
  absl::flat_hash_map<MachineId, size_t> of_machine_;
};

}  // namespace sluice

#endif  // SLUICE_NETWORK_AGGREGATES_H_
