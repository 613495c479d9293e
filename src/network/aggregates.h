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
  // The machines that an aggregate and a group have in common.
  struct Part {
    uint32_t first;  // The place of the first.
    uint32_t machines;
  };
  using Parts = std::vector<Part>;  // Of one aggregate, by their first ones.

  Aggregates() = default;
  // Of the usable machines that have the label.  The machines must outlive
  // this.
  Aggregates(const ClusterState& state, std::string_view label);

  // Takes those of the machines as they are now that have changed: each is
  // given by how many have a lower id.  False where what is left cannot be told
  // from the sums, or of an aggregate nothing is left: then all are to be made
  // anew.  With `keep_labels` their labels are as before, and are not looked
  // at: memory that nothing else of a round touches.
  // REQUIRES: the machines are the same as before.
  [[nodiscard]] bool Update(std::span<const uint32_t> places,
                            bool keep_labels = false);

  bool empty() const { return all_.empty(); }
  size_t size() const { return all_.size(); }
  const Aggregate& operator[](size_t index) const { return all_[index]; }
  // kNone where the machine lacks the label.
  size_t Of(MachineId machine) const;
  // The machines of an aggregate or, with kNone, of none, each by how many have
  // a lower id; ascending.
  std::span<const uint32_t> PlacesOf(size_t aggregate) const {
    return aggregate == kNone ? of_none_ : members_[aggregate];
  }
  const Machine* MachineAt(size_t place) const { return machines_[place]; }
  MachineId IdAt(size_t place) const { return ids_[place]; }
  // By place the group that the machine is in; kNoGroup where it is in none.
  // Empty where there are no aggregates.
  std::vector<uint32_t> GroupsByPlace(
      std::span<const MachineGroup> groups) const;
  // By aggregate, its parts; those of no aggregate come last.
  std::vector<Parts> PartsBy(std::span<const uint32_t> group_at) const;
  // Takes anew what Update() may have changed of that.  REQUIRES: machines that
  // it was not given are together in their groups as they were before.
  void UpdateParts(std::span<const uint32_t> group_at,
                   std::vector<Parts>* parts);

 private:
  // Of each group `end_of` has 0, before and after.
  void FindParts(size_t aggregate, std::span<const uint32_t> group_at,
                 std::vector<uint32_t>* end_of, Parts* parts) const;
  // kNone where there is no such machine.
  size_t PlaceOf(MachineId machine) const;
  std::vector<uint32_t>& MembersOf(size_t aggregate) {
    return aggregate == kNone ? of_none_ : members_[aggregate];
  }
  // kNone where it lacks the label.  It is likely that one's; kNone: nobody
  // knows.
  size_t FindAggregate(const Machine& machine, size_t likely);
  // False where what is left cannot be told from the sum.
  bool Move(size_t place, size_t aggregate);
  void NoteChange(size_t index) { has_changed_[index + 1] = true; }

  std::string label_;
  std::vector<Aggregate> all_;
  std::vector<std::vector<uint32_t>> members_;  // Their places.
  std::vector<uint32_t> of_none_;
  absl::flat_hash_map<std::string, size_t> by_value_;
  std::vector<std::string> values_;  // By aggregate.
  // By machine, ascending.
  std::vector<MachineId> ids_;
  std::vector<const Machine*> machines_;
  std::vector<size_t> of_machine_;
  std::vector<Aggregate> shares_;  // What each adds.
  // By updates, since parts were taken anew: none, and each aggregate.
  std::vector<bool> has_changed_ = {false};
  std::vector<uint32_t> end_of_;  // FindParts().
};

}  // namespace sluice

#endif  // SLUICE_NETWORK_AGGREGATES_H_
