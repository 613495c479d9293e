// The groups of machines that units of each class may need where what a group
// costs rises with its aggregate, too (network/aggregates.h): of thousands a
// few hundred.
//
// Threads: values.

#ifndef SLUICE_NETWORK_RISING_CANDIDATES_H_
#define SLUICE_NETWORK_RISING_CANDIDATES_H_

#include <cstddef>
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

  // What is passed must outlive this.
  RisingCandidates(const Aggregates& aggregates, const PolicySet& policies,
                   const Resources& mean_request,
                   std::span<const MachineGroup> groups, FlowUnits task_count)
      : groups_(groups),
        count_(task_count),
        ladders_(aggregates, policies, mean_request),
        slack_(aggregates.size(), 0),
        rise_(groups.size(), kNotTaken) {}

  AggregateLadders& ladders() { return ladders_; }

  // All groups that the next outlet may use, by what their first units cost.
  // Without `is_bound` all of them may be needed: more units of a class may
  // cost more each on a machine, whatever its load.
  void Add(std::vector<Candidate> candidates, bool is_bound);
  // By outlet, those that some optimal flow needs at most.
  std::vector<std::vector<Candidate>> TakeCandidates();

  // What the units cost that the aggregate may get in that flow, of so many.
  std::vector<CostSegment> StepsOf(size_t aggregate, FlowUnits limit);
  FlowUnits UnitsOf(size_t aggregate, FlowUnits limit);

 private:
  static constexpr FlowCost kNotTaken = -1;

  // What no unit of an optimal flow costs more than, if so many machines are
  // among these.
  FlowCost BoundOf(std::vector<Candidate>* candidates);
  // By the machines of the sample, if the candidates have them all.
  std::optional<FlowCost> BoundBySample(
      std::span<const Candidate> candidates) const;
  // Fills machines where the next one costs the least, and keeps them as the
  // sample.
  FlowCost TakeSample(std::span<const Candidate> candidates);
  // Of each aggregate those with as many machines as it may get units.
  void Trim(std::span<const FlowUnits> units,
            std::vector<Candidate>* candidates);

  const std::span<const MachineGroup> groups_;
  const FlowUnits count_;
  AggregateLadders ladders_;
  // By aggregate, how much dearer than the first one there a unit may be.
  std::vector<FlowCost> slack_;
  std::vector<std::vector<Candidate>> candidates_;  // By outlet.
  std::vector<bool> is_bound_;                      // The same.

  // The sample: so many machines of these groups as there are tasks.
  size_t sampled_ = 0;
  size_t left_by_sample_ = 0;  // Of those that it was taken of.
  // By group, how much dearer its aggregate is for the last unit there than for
  // the first.
  std::vector<FlowCost> rise_;
};

}  // namespace sluice

#endif  // SLUICE_NETWORK_RISING_CANDIDATES_H_
