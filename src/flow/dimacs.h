// Flow problems as text: the DIMACS format for min-cost flow, with arcs beyond
// it in comments.
//
//   c any text                     a comment
//   p min NODES ARCS               once, before what follows
//   n NODE SUPPLY                  at most once a node; 0 where there is none
//   a TAIL HEAD LOW CAP COST       as often as 'p' says
//
// Nodes are counted from 1; the k-th 'a' line is arc k - 1.  Fields are
// separated by blanks or tabs, and empty lines are skipped.  (The format is
// that of the First DIMACS Implementation Challenge, 1991.)
//
// What the format lacks follows its 'a' line in comments, so that any program
// can read the file and sees its plain part:
//
//   c sluice convex WIDTH COST WIDTH COST ...
//       The segments of the arc, in order.  The 'a' line has the sum of the
//       widths as CAP and the first segment's cost as COST: elsewhere the
//       optimum is at most what it is here.
//   c sluice gain NUMERATOR DENOMINATOR
//       Of each DENOMINATOR units that enter the arc NUMERATOR arrive.
//   c sluice all-or-none
//       The arc carries nothing or its capacity.
//
// Threads: pure functions.

#ifndef SLUICE_FLOW_DIMACS_H_
#define SLUICE_FLOW_DIMACS_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "sluice/flow/problem.h"

namespace sluice {

// Longer texts are refused: it bounds how many arcs (12 bytes each at least)
// and segments (4 bytes) there can be.  130 million arcs of a usual length.
inline constexpr size_t kDimacsBytesMax = size_t{4} << 30;

// 'p' may declare this many nodes, and no more than this many beyond one for
// each byte of the text: so memory is bounded by what there is to read.
inline constexpr NodeIndex kDimacsNodeCountMax = 50'000'000;
inline constexpr NodeIndex kDimacsFreeNodes = 100'000;

// Returns the problem that `text` describes.  Its ranges and its balance are
// for ValidateProblem() (flow/validate.h) to judge.
//
// Errors: kInvalidArgument for what is not in the format above, a node that is
// not there, a negative bound, a lower bound above the capacity, segments that
// do not fit their 'a' line or whose costs fall, a gain that is not positive,
// counts that differ from those of 'p'; kOutOfRange for what is beyond 64 bits
// or the limits above.  Messages name the line:
// "line 17: node 12 is beyond the 10 that 'p' declares".
absl::StatusOr<FlowProblem> ReadDimacs(std::string_view text);

// Returns a text that ReadDimacs() turns into the same problem, but for the
// indices of arcs where some were removed: these are left out.
// REQUIRES: ValidateProblem() accepts the problem.
std::string WriteDimacs(const FlowProblem& problem);

// The same without comments, for other programs: each segment is an arc of its
// own.  Costs rise along an arc, so the optimum is the same.
// REQUIRES: as above.
// Errors: kFailedPrecondition where a gain or an all-or-none arc cannot be
// expressed; it names the arc by its line among those of WriteDimacs().
absl::StatusOr<std::string> WritePlainDimacs(const FlowProblem& problem);

}  // namespace sluice

#endif  // SLUICE_FLOW_DIMACS_H_
