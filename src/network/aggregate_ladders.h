// The cost of the tasks of a pass that go to each aggregate, one after the
// other, on top of what their machines cost (network/aggregates.h).
//
// The cost rises in steps: with each of the first tasks, and later with groups
// of tasks that are a fixed part of those before.  Steps are computed on
// demand, since most of many aggregates get few of the tasks.
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_NETWORK_AGGREGATE_LADDERS_H_
#define SLUICE_NETWORK_AGGREGATE_LADDERS_H_

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "cost/policy_set.h"
#include "network/aggregates.h"
#include "sluice/flow/problem.h"
#include "sluice/state/resources.h"

namespace sluice {

class AggregateLadders {
 public:
  // Each task weighs as much as `mean_request`.  REQUIRES: the first two
  // outlive this.
  AggregateLadders(const Aggregates& aggregates, const PolicySet& policies,
                   const Resources& mean_request);

  // Charges nothing if there is no aggregate (Aggregates::kNone).
  CostSegment Step(size_t aggregate, size_t index) {
    if (aggregate == kNoAggregate) return kFree;
    const auto& steps = ladders_[aggregate].steps;
    if (index >= steps.size()) Extend(aggregate, index);
    return steps[index];
  }
  FlowCost First(size_t aggregate) { return Step(aggregate, 0).cost; }
  // The cost of the next unit after `before`.
  FlowCost CostAfter(size_t aggregate, FlowUnits before);
  // The steps that cost at most `most`, until they cover `limit` units; valid
  // until more steps of the aggregate are asked for.
  std::span<const CostSegment> Steps(size_t aggregate, FlowCost most,
                                     FlowUnits limit);

 private:
  static constexpr CostSegment kFree = {std::numeric_limits<FlowUnits>::max(),
                                        0};

  // Computes the steps up to this one.
  void Extend(size_t aggregate, size_t index);

  struct Ladder {
    absl::InlinedVector<CostSegment, 4> steps;
    FlowUnits width = 0;  // Of all of these.
  };

  const Aggregates& aggregates_;
  const PolicySet& policies_;
  const Resources mean_request_;
  std::vector<Ladder> ladders_;  // By aggregate.
};

}  // namespace sluice

#endif  // SLUICE_NETWORK_AGGREGATE_LADDERS_H_
