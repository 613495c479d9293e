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

  // None.
  Aggregates() = default;
  // Of the usable machines that have the label, in the order of the first
  // machine of each.
  Aggregates(const ClusterState& state, std::string_view label);

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
  std::vector<Aggregate> all_;
  absl::flat_hash_map<MachineId, size_t> of_machine_;
};

}  // namespace sluice

#endif  // SLUICE_NETWORK_AGGREGATES_H_
