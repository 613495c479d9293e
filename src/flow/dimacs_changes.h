// Changes to a problem read from a DIMACS file (flow/dimacs.h), in groups:
// after each the problem is to be solved again.
//
//   c any text                             a comment
//   x [arc] TAIL HEAD LOW CAP COST         sets the arc from TAIL to HEAD
//   s NODE NUMBER                          changes the supply of NODE
//   r                                      ends a group: solve again here
//
// The last group needs no 'r'.
//
//   * An arc that is new is added.  Where several run from TAIL to HEAD, the
//     k-th 'x' line of a group for that pair sets the k-th of them, beginning
//     again after the last: of a single arc the last line holds.  A convex arc
//     becomes a plain one; a gain, or being all or none, stays.  CAP 0 closes
//     an arc.
//   * NODE is given NUMBER more supply.  But where a group's numbers, so taken,
//     leave the supplies out of balance, and taken as the new supplies (of a
//     node named twice, the last) they balance, they are taken as these: there
//     are files of both kinds.  Of a problem with gains, whose supplies need
//     not balance, they are always what is added.
//   * A node beyond the last is added, with those between.  At most as many are
//     added as the text has lines.
//
// Threads: none; confined to their owner.

#ifndef SLUICE_FLOW_DIMACS_CHANGES_H_
#define SLUICE_FLOW_DIMACS_CHANGES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/int128.h"
#include "sluice/flow/problem.h"

namespace sluice {

// What stands between one 'r' line and the next.
struct DimacsChanges {
  struct Arc {
    NodeIndex tail = 0;
    NodeIndex head = 0;
    FlowUnits lower = 0;
    FlowUnits capacity = 0;
    FlowCost cost = 0;
  };
  struct Supply {
    NodeIndex node = 0;
    FlowUnits number = 0;
    int64_t line = 0;
  };
  std::vector<Arc> arcs;
  std::vector<Supply> supplies;
};

// Returns the groups of `text`, for a problem of `node_count` nodes.
//
// Errors: kInvalidArgument for what is not in the format above, a node beyond
// those that may be added, a negative bound or a lower bound above the
// capacity; kOutOfRange for a number beyond 64 bits, and a text or a number of
// nodes beyond the limits of flow/dimacs.h.  Messages name the line.
absl::StatusOr<std::vector<DimacsChanges>> ReadDimacsChanges(
    std::string_view text, NodeIndex node_count);

// Makes the changes to one problem.
class DimacsChanger {
 public:
  // REQUIRES: nothing was ever removed from `problem`, which outlives this and
  // is changed by nobody else meanwhile.
  explicit DimacsChanger(FlowProblem* problem);

  // Makes the changes of one group.
  // Errors: kOutOfRange, naming the line, where a supply leaves 64 bits;
  // nothing was changed then.
  absl::Status Apply(const DimacsChanges& changes);

 private:
  // The arcs from one node to another.
  struct Parallel {
    ArcIndex first = kNone;
    ArcIndex next = kNone;  // Which the next line of `group` sets.
    int64_t group = 0;
  };
  struct NewSupply {
    NodeIndex node = 0;
    FlowUnits supply = 0;
  };
  static constexpr ArcIndex kNone = -1;

  // By node.
  absl::StatusOr<std::vector<NewSupply>> Supplies(
      const DimacsChanges& changes) const;
  void SetArc(const DimacsChanges::Arc& arc);

  FlowProblem& problem_;
  int64_t group_ = 0;   // How many were applied.
  Int128 balance_ = 0;  // The sum of the supplies.
  // By tail and head.  For looking up only: its order is that of its hashes.
  absl::flat_hash_map<uint64_t, Parallel> parallels_;
  // By arc, the next one of the same tail and head.
  std::vector<ArcIndex> next_parallel_;
};

}  // namespace sluice

#endif  // SLUICE_FLOW_DIMACS_CHANGES_H_
