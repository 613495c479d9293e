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
#include <span>
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
  static constexpr size_t kNone = kNoAggregate;

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
  size_t Of(MachineId machine) const;

  // The groups, cut where their machines are not of one aggregate, and told
  // which one they are of.
  std::vector<MachineGroup> Cut(std::span<const MachineGroup> groups) const;

 private:
  // A machine as it was when it was looked at last.
  struct Seen {
    const Machine* machine = nullptr;
    uint64_t revision = 0;
    bool is_stale = false;
  };

  void Rebuild(const ClusterState& state, std::string_view label);
  // Whether these are still the machines that were seen last.
  bool HasSeen(const ClusterState& state) const;
  void Enter(size_t place, std::string_view label);
  // False where what is left cannot be told from the sum.
  bool Leave(size_t place);

  std::vector<Aggregate> all_;
  std::vector<size_t> sizes_;  // In machines.
  absl::flat_hash_map<std::string, size_t> by_value_;
  std::string last_value_;  // Looked up last, and what was found.
  size_t last_index_ = 0;
  // By machine, ascending.  What each adds to its aggregate is apart from what
  // is looked at each time.
  std::vector<MachineId> ids_;
  std::vector<size_t> of_machine_;
  std::vector<Seen> seen_;
  std::vector<Aggregate> shares_;
};

}  // namespace sluice

#endif  // SLUICE_NETWORK_AGGREGATES_H_
