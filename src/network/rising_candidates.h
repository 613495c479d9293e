// The parts of groups of machines that units of each class may need, if the
// cost of a group also rises with its aggregate (network/aggregates.h): a few
// hundred of thousands.
//
// All machines of a group are equal, so only the aggregate makes its parts
// differ in cost.  Parts are counted first, and become groups of their own only
// if they are needed.
//
// Threads: values.

#ifndef SLUICE_NETWORK_RISING_CANDIDATES_H_
#define SLUICE_NETWORK_RISING_CANDIDATES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "network/aggregate_ladders.h"
#include "network/aggregates.h"
#include "network/candidates.h"
#include "network/machine_groups.h"
#include "sluice/flow/problem.h"

namespace sluice {

class RisingCandidates {
 public:
  static constexpr FlowCost kNoBound = std::numeric_limits<FlowCost>::max();

  // The groups, and how aggregates split them.
  struct Cut {
    const Aggregates& aggregates;
    std::span<const MachineGroup> groups;
    std::span<const uint32_t> group_at;  // Aggregates::GroupsByPlace().
    // Aggregates::PartsBy(); empty: not computed yet.
    std::span<const Aggregates::Parts> parts = {};
  };
  // All of this must outlive it.
  RisingCandidates(const Cut& cut, const PolicySet& policies,
                   const Resources& mean_request, FlowUnits task_count);

  AggregateLadders& ladders() { return ladders_; }

  // What the next outlet may use.
  struct Offers {
    // All groups, by the cost of their first units without aggregates.
    std::vector<Candidate> groups;
    // If false, all may be needed: further units of a class may cost more on a
    // machine, regardless of its load.
    bool is_bound = true;
    // Its units go to one node per group, and from there to any part.
    bool is_by_group = false;
  };
  void Add(Offers offers);

  // Machines of one group and one aggregate.
  struct DrawnPart {
    size_t whole;  // The group.
    size_t aggregate;
    const Machine* representative;        // The first.
    std::span<const MachineId> machines;  // In Choice; ascending.
  };
  // What some optimal flow needs at most.
  struct Choice {
    std::vector<DrawnPart> parts;  // By their first machines.
    std::vector<MachineId> machines;
    // By outlet: parts with their total costs or, if units go by group, groups
    // as they were offered.
    std::vector<std::vector<Candidate>> candidates;
  };
  Choice Choose();

  // The costs of the units that the aggregate may get in that flow, up to
  // `limit`; the last step may be for more.
  std::span<const CostSegment> StepsOf(size_t aggregate, FlowUnits limit) {
    return ladders_.Steps(aggregate, DearestOf(aggregate), limit);
  }
  // How many units these are, once it was chosen.
  FlowUnits UnitsOf(size_t aggregate, FlowUnits limit) const {
    return aggregate == Aggregates::kNone ? limit
                                          : std::min(limit, units_[aggregate]);
  }

 private:
  static constexpr FlowCost kClosed = std::numeric_limits<FlowCost>::min();

  void AddSlices(std::span<const Aggregates::Parts> parts);

  struct Part {
    uint32_t group;
    uint32_t first;  // The place of its first machine.
    FlowUnits machines;
  };
  // The parts of one aggregate, or of none.
  struct Slice {
    size_t aggregate;
    FlowCost first_cost;  // Of its first unit.
    size_t begin;
    size_t end;
  };
  struct Outlet {
    Offers offers;
    FlowCost bound;  // No unit of an optimal flow costs more.
  };
  // Groups from the cheapest to the most expensive.  Classes that differ in
  // size alone have nearly the same ranking.
  using Ranking = std::vector<size_t>;
  struct Front;

  // For outlets with a machine for each task.
  FlowCost BoundFor(std::span<const Candidate> offers);
  // By the machines of the sample, if all of them are open.
  std::optional<FlowCost> BoundBySample(
      std::span<const Candidate> offers) const;
  // Fills the machines whose next unit costs least, and keeps them as the
  // sample.
  FlowCost TakeSample(std::span<const Candidate> offers);
  // Call it when the cheapest part of the slice is used up.
  void TakeNextPart(const Slice& slice, Front* front) const;
  // Drops parts that no outlet can use.
  void DropDistantParts();
  // The number of groups that still have parts.
  size_t GroupCount() const;
  Ranking RankingOf(const Outlet& outlet) const;
  // Adds the cheapest parts within reach that have machines for `units`, and
  // the cost of their aggregates; the cheapest of all comes first.
  void AddCheapest(const Slice& slice, FlowUnits units,
                   std::span<const FlowCost> reach,
                   std::vector<Candidate>* kept) const;
  // Finds what outlets with the same ranking of groups may use.
  void Trim(std::span<const size_t> outlets, Choice* choice);
  // All parts of the groups.
  std::vector<Candidate> All(const Outlet& outlet);
  // The maximum that the aggregate may cost a unit.
  FlowCost DearestOf(size_t aggregate);
  // Draws the part and its aggregate.
  void Draw(const Part& part, size_t aggregate, Choice* choice) const;

  const Aggregates& aggregates_;
  const std::span<const MachineGroup> groups_;
  const std::span<const uint32_t> group_at_;
  const FlowUnits count_;
  AggregateLadders ladders_;
  std::vector<Slice> slices_;
  std::vector<Part> parts_;  // By slice.
  // By group: the cost of the first unit of the cheapest aggregate there.
  std::vector<FlowCost> least_;
  std::vector<Outlet> outlets_;
  // By aggregate: by how much a unit may cost more than the first one there.
  std::vector<FlowCost> slack_;
  std::vector<FlowUnits> units_;  // By aggregate, at most.
  // By group, of the current outlet; kNoBound if it may not go there.
  std::vector<FlowCost> cost_on_;
  std::vector<bool> is_needed_;  // By part.
  // By group: its parts and the cost of their aggregates, computed on demand.
  std::vector<std::vector<Candidate>> parts_of_;

  // The sample has as many machines as there are tasks.  By group: the maximum
  // aggregate cost of its last unit there.
  std::vector<FlowCost> sampled_;
  size_t sampled_count_ = 0;      // Groups.
  FlowCost width_of_sample_ = 0;  // From the cheapest unit to the dearest.
};

}  // namespace sluice

#endif  // SLUICE_NETWORK_RISING_CANDIDATES_H_
