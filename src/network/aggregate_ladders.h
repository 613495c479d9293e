// What the tasks of a pass cost that go to each aggregate, one after the other,
// beside what their machines cost (network/aggregates.h).
//
// It rises in steps: with each of the first tasks, and then with as many as are
// a part of those before.  Steps are worked out as far as anybody asks, since
// of many aggregates each gets few of the tasks.
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
  // Each of the tasks weighs as much as `mean_request`.
  // REQUIRES: the first two outlive this.
  AggregateLadders(const Aggregates& aggregates, const PolicySet& policies,
                   const Resources& mean_request);

  // Where there is no aggregate (Aggregates::kNone) nothing is charged.
  CostSegment Step(size_t aggregate, size_t index) {
    if (aggregate == kNoAggregate) return kFree;
    const auto& steps = ladders_[aggregate].steps;
    if (index >= steps.size()) Extend(aggregate, index);
    return steps[index];
  }
  FlowCost First(size_t aggregate) { return Step(aggregate, 0).cost; }
  // What the next one costs after so many.
  FlowCost CostAfter(size_t aggregate, FlowUnits before);
  // The steps that cost no more than `most`, until `limit` units have one;
  // valid until more steps of the aggregate are asked for.
  std::span<const CostSegment> Steps(size_t aggregate, FlowCost most,
                                     FlowUnits limit);

 private:
  static constexpr CostSegment kFree = {std::numeric_limits<FlowUnits>::max(),
                                        0};

  // Works out the steps up to this one.
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
