// Integral packings out of the patterns of a relaxation.
//
// Threads: none.  Determinism: the same calls give the same packings.

#ifndef SLUICE_PACKING_PATTERN_SEARCH_H_
#define SLUICE_PACKING_PATTERN_SEARCH_H_

#include <cstdint>
#include <limits>
#include <span>

#include "packing/packing_draft.h"
#include "packing/packing_problem.h"
#include "packing/pattern_relaxation.h"

namespace sluice {

// A dive: of each pattern as many machines are decided on as the relaxation has
// whole ones, and one more from a part of `round_up_from` on.  The rest is
// relaxed again, until nothing is left.  `held`: as in PatternRelaxation;
// `first`: the relaxation of what the draft has left, where that is known.
PackingDraft Dive(PackingDraft draft, std::span<const int64_t> held,
                  double round_up_from, PatternRelaxation* relaxation,
                  const PatternRelaxation::Relaxed* first = nullptr);

struct MendOptions {
  PackingCost bound = {};  // Where it ends.
  int attempts_max = 0;    // In a row that gain nothing.
  // Of the relaxation, with what it has done already.
  int64_t work_max = std::numeric_limits<int64_t>::max();
  // Fills machines one after the other, at the prices by size, or where
  // something runs by level: far cheaper than a dive where classes are many,
  // but blind to what would come out of it.
  bool in_turn = false;
  uint64_t seed = 1;
};

// Takes a few machines at a time out of the packing and decides on them anew,
// together with all that waits (large neighborhood search; Shaw: Using
// constraint programming and local search methods to solve vehicle routing
// problems, 1998).  The cost never rises.
void Mend(const PackingProblem& problem, const MendOptions& options,
          PatternRelaxation* relaxation, PackingDraft* draft);

}  // namespace sluice

#endif  // SLUICE_PACKING_PATTERN_SEARCH_H_
