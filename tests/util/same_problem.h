// Says where two flow problems differ.

#ifndef SLUICE_TESTS_UTIL_SAME_PROBLEM_H_
#define SLUICE_TESTS_UTIL_SAME_PROBLEM_H_

#include <algorithm>

#include "absl/status/status.h"
#include "base/strings.h"
#include "sluice/flow/problem.h"

namespace sluice {

// Returns OK if the problems have the same nodes and arcs at the same indices,
// kFailedPrecondition otherwise.
inline absl::Status CheckSameProblem(const FlowProblem& a,
                                     const FlowProblem& b) {
  const auto differ = [](const auto&... what) {
    return absl::FailedPreconditionError(StrCat(what..., " differs"));
  };
  if (a.node_count() != b.node_count()) return differ("the node count");
  if (a.arc_count() != b.arc_count()) return differ("the arc count");
  for (NodeIndex node = 0; node < a.node_count(); ++node) {
    if (a.supply(node) != b.supply(node)) return differ("node ", node);
  }
  for (ArcIndex i = 0; i < a.arc_count(); ++i) {
    const FlowProblem::Arc& of_a = a.arc(i);
    const FlowProblem::Arc& of_b = b.arc(i);
    if (of_a.tail != of_b.tail || of_a.head != of_b.head ||
        of_a.lower != of_b.lower || of_a.is_removed() != of_b.is_removed() ||
        !std::ranges::equal(a.segments(i), b.segments(i)) ||
        a.gain(i) != b.gain(i) || a.is_all_or_none(i) != b.is_all_or_none(i)) {
      return differ("arc ", i);
    }
  }
  return absl::OkStatus();
}

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_SAME_PROBLEM_H_
