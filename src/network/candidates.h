// The cheapest groups of machines that units of a class may go to.
//
// Threads: values.

#ifndef SLUICE_NETWORK_CANDIDATES_H_
#define SLUICE_NETWORK_CANDIDATES_H_

#include <compare>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "network/machine_groups.h"
#include "sluice/flow/problem.h"

namespace sluice {

// A group that a class may use.
struct Candidate {
  FlowCost cost = 0;  // Of its first unit, all the way to the sink.
  size_t group = 0;

  // Among equal costs the first group wins.
  friend auto operator<=>(const Candidate&, const Candidate&) = default;
};

// Moves the cheapest candidates that together have `machines` machines to the
// front, if there are enough, and returns how many these are.
size_t PutCheapestFirst(std::span<const MachineGroup> groups,
                        FlowUnits machines, std::span<Candidate> candidates);

class Candidates {
 public:
  // With `keeps_all` nothing is dropped before it is taken.
  Candidates(FlowUnits task_count, bool keeps_all)
      : count_max_(task_count), keeps_all_(keeps_all) {}

  // REQUIRES: groups come in order, so that the earlier one of equal ones is
  // kept.
  void Offer(const Candidate& candidate) {
    if (candidate.cost >= cost_end_) return;
    candidates_.push_back(candidate);
    if (!keeps_all_ && std::ssize(candidates_) >= 2 * count_max_) Forget();
  }

  // The cheapest that together have a machine for each task, in no order.
  // Whatever the flow, one of these machines stays empty, and no other takes a
  // task at a lower cost.
  std::vector<Candidate> Take(std::span<const MachineGroup> groups) &&;

  // All that were offered.
  std::vector<Candidate> TakeAll() && { return std::move(candidates_); }

 private:
  // Drops all but as many as are needed.
  void Forget();

  FlowUnits count_max_;  // No more groups than tasks are ever needed.
  bool keeps_all_;
  FlowCost cost_end_ = std::numeric_limits<FlowCost>::max();
  std::vector<Candidate> candidates_;
};

}  // namespace sluice

#endif  // SLUICE_NETWORK_CANDIDATES_H_
