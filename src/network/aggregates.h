// Machines that a policy charges together (CostModel::AggregateLabel): those
// with one value of a label, such as a rack; and what they offer and use
// together.
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
    Resources used;      // By requests, or by measured use.
    Resources capacity;  // What its machines offer.
  };
  // The machines that an aggregate and a group have in common.
  struct Part {
    uint32_t first;  // The place of its first machine.
    uint32_t machines;
  };
  using Parts = std::vector<Part>;  // Of one aggregate, by `first`.

  Aggregates() = default;
  // Covers the usable machines that have the label.  They must outlive this.
  Aggregates(const ClusterState& state, std::string_view label);

  // Updates the given machines, which have changed; each is given by its place,
  // the number of machines with a lower id.  Returns false if the rest cannot
  // be computed from the sums, or if nothing is left of an aggregate: then
  // start anew.  With `keep_labels`, labels are assumed unchanged and are not
  // read, since they are in memory that nothing else of a round touches.
  // REQUIRES: the machines are the same as before.
  [[nodiscard]] bool Update(std::span<const uint32_t> places,
                            bool keep_labels = false);

  bool empty() const { return all_.empty(); }
  size_t size() const { return all_.size(); }
  const Aggregate& operator[](size_t index) const { return all_[index]; }
  // kNone if the machine lacks the label.
  size_t Of(MachineId machine) const;
  // The places of the machines of an aggregate or, with kNone, of those in
  // none; ascending.
  std::span<const uint32_t> PlacesOf(size_t aggregate) const {
    return aggregate == kNone ? of_none_ : members_[aggregate];
  }
  const Machine* MachineAt(size_t place) const { return machines_[place]; }
  MachineId IdAt(size_t place) const { return ids_[place]; }
  // The group of each machine, by place; kNoGroup if it is in none.  Empty if
  // there are no aggregates.
  std::vector<uint32_t> GroupsByPlace(
      std::span<const MachineGroup> groups) const;
  // The parts of each aggregate; those of no aggregate come last.
  std::vector<Parts> PartsBy(std::span<const uint32_t> group_at) const;
  // Updates the parts that Update() may have changed.  REQUIRES: machines that
  // it was not given are together in their groups as before.
  void UpdateParts(std::span<const uint32_t> group_at,
                   std::vector<Parts>* parts);

 private:
  // `end_of` has 0 for each group, before and after.
  void FindParts(size_t aggregate, std::span<const uint32_t> group_at,
                 std::vector<uint32_t>* end_of, Parts* parts) const;
  // kNone if there is no such machine.
  size_t PlaceOf(MachineId machine) const;
  std::vector<uint32_t>& MembersOf(size_t aggregate) {
    return aggregate == kNone ? of_none_ : members_[aggregate];
  }
  // kNone if it lacks the label.  `likely`: a guess; kNone if there is none.
  size_t FindAggregate(const Machine& machine, size_t likely);
  // Returns false if the rest cannot be computed from the sum.
  bool Move(size_t place, size_t aggregate);
  void NoteChange(size_t index) { has_changed_[index + 1] = true; }

  std::string label_;
  std::vector<Aggregate> all_;
  std::vector<std::vector<uint32_t>> members_;  // By place.
  std::vector<uint32_t> of_none_;
  absl::flat_hash_map<std::string, size_t> by_value_;
  std::vector<std::string> values_;  // By aggregate.
  // By machine, ascending.
  std::vector<MachineId> ids_;
  std::vector<const Machine*> machines_;
  std::vector<size_t> of_machine_;
  std::vector<Aggregate> shares_;  // What each machine adds.
  // Changed since parts were last computed: none, and each aggregate.
  std::vector<bool> has_changed_ = {false};
  std::vector<uint32_t> end_of_;  // FindParts().
};

}  // namespace sluice

#endif  // SLUICE_NETWORK_AGGREGATES_H_
