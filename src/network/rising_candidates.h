// The parts of groups of machines that units of each class may need where what
// a group costs rises with its aggregate, too (network/aggregates.h): of
// thousands a few hundred.
//
// All machines of a group are alike, so that a class pays the same in each part
// of it but for the aggregate.  Parts are counted first, and are made as groups
// of their own only where they are needed.
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

  // The groups, and how aggregates cut them.
  struct Cut {
    const Aggregates& aggregates;
    std::span<const MachineGroup> groups;
    std::span<const uint32_t> group_at;  // Aggregates::GroupsByPlace().
    // Aggregates::PartsBy(); empty: it is yet to be found.
    std::span<const Aggregates::Parts> parts = {};
  };
  // All of this must outlive it.
  RisingCandidates(const Cut& cut, const PolicySet& policies,
                   const Resources& mean_request, FlowUnits task_count);

  AggregateLadders& ladders() { return ladders_; }

  // What the next outlet may use.
  struct Offers {
    // All groups, by what their first units cost but for aggregates.
    std::vector<Candidate> groups;
    // Without it all of them may be needed: more units of a class may cost more
    // each on a machine, whatever its load.
    bool is_bound = true;
    // Its units go to one node for a group, and from there to any part.
    bool is_by_group = false;
  };
  void Add(Offers offers);

  // Machines of one group and one aggregate.
  struct DrawnPart {
    size_t whole;  // The group.
    size_t aggregate;
    const Machine* representative;        // The first.
    std::span<const MachineId> machines;  // Of the choice; ascending.
  };
  // What some optimal flow needs at most.
  struct Choice {
    std::vector<DrawnPart> parts;  // By their first machines.
    std::vector<MachineId> machines;
    // By outlet, of parts, and what they cost all the way or, where units go by
    // group, of groups as they were offered.
    std::vector<std::vector<Candidate>> candidates;
  };
  Choice Choose();

  // What the units cost that the aggregate may get in that flow, of so many;
  // the last step may be for more.
  std::span<const CostSegment> StepsOf(size_t aggregate, FlowUnits limit) {
    return ladders_.Steps(aggregate, DearestOf(aggregate), limit);
  }
  // How many these are, once it was chosen.
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
    FlowCost bound;  // What no unit of an optimal flow costs more than.
  };
  // Groups from the cheapest to the dearest.  Classes that only their sizes
  // tell apart rank those near enough alike.
  using Ranking = std::vector<size_t>;
  struct Front;

  // For who has a machine for each task.
  FlowCost BoundFor(std::span<const Candidate> offers);
  // By the machines of the sample, if they are all open.
  std::optional<FlowCost> BoundBySample(
      std::span<const Candidate> offers) const;
  // Fills machines where the next one costs the least, and keeps them as the
  // sample.
  FlowCost TakeSample(std::span<const Candidate> offers);
  // The cheapest one of the slice is used up.
  void TakeNextPart(const Slice& slice, Front* front) const;
  // Forgets the parts that no outlet can use.
  void DropDistantParts();
  // Groups that still have parts.
  size_t GroupCount() const;
  Ranking RankingOf(const Outlet& outlet) const;
  // Adds, of the parts within reach, the cheapest that have machines for so
  // many units, and what their aggregates cost; the cheapest of all comes
  // first.
  void AddCheapest(const Slice& slice, FlowUnits units,
                   std::span<const FlowCost> reach,
                   std::vector<Candidate>* kept) const;
  // Finds what some outlets may use that rank groups alike.
  void Trim(std::span<const size_t> outlets, Choice* choice);
  // All parts of the groups.
  std::vector<Candidate> All(const Outlet& outlet);
  // What the aggregate may cost a unit at most.
  FlowCost DearestOf(size_t aggregate);
  // Of the part and the aggregate that it is of.
  void Draw(const Part& part, size_t aggregate, Choice* choice) const;

  const Aggregates& aggregates_;
  const std::span<const MachineGroup> groups_;
  const std::span<const uint32_t> group_at_;
  const FlowUnits count_;
  AggregateLadders ladders_;
  std::vector<Slice> slices_;
  std::vector<Part> parts_;  // By slice.
  // By group, what the first unit of the cheapest aggregate costs there.
  std::vector<FlowCost> least_;
  std::vector<Outlet> outlets_;
  // By aggregate, how much dearer than the first one there a unit may be.
  std::vector<FlowCost> slack_;
  std::vector<FlowUnits> units_;  // By aggregate, that it may get.
  // By group, of the outlet at hand; kNoBound where it may not be.
  std::vector<FlowCost> cost_on_;
  std::vector<bool> is_needed_;  // By part.
  // By group its parts and what their aggregates cost, once anybody asks.
  std::vector<std::vector<Candidate>> parts_of_;

  // The sample has as many machines as there are tasks.  By group, what the
  // last unit there costs for its aggregate at most.
  std::vector<FlowCost> sampled_;
  size_t sampled_count_ = 0;      // Groups.
  FlowCost width_of_sample_ = 0;  // From the cheapest unit to the dearest.
};

}  // namespace sluice

#endif  // SLUICE_NETWORK_RISING_CANDIDATES_H_
