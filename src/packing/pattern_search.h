// Builds integral packings from the patterns of a relaxation.
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

// A dive: fixes each pattern on as many machines as the relaxation has whole
// ones of it, and on one more if the fraction is at least `round_up_from`.
// Then the rest is relaxed again, until nothing is left.  `held`: as in
// PatternRelaxation; `first`: the relaxation of the draft's rest, if known.
PackingDraft Dive(PackingDraft draft, std::span<const int64_t> held,
                  double round_up_from, PatternRelaxation* relaxation,
                  const PatternRelaxation::Relaxed* first = nullptr);

struct MendOptions {
  PackingCost bound = {};  // Stops there.
  int attempts_max = 0;    // In a row, without gain.
  // Of the relaxation, including earlier work.
  int64_t work_max = std::numeric_limits<int64_t>::max();
  // Fills machines one after the other, at the prices by size, or by level if
  // something runs.  With many classes that is far cheaper than a dive, but
  // less accurate.
  bool in_turn = false;
  uint64_t seed = 1;
};

// Repeatedly takes a few machines out of the packing and decides on them anew,
// together with all that waits (large neighborhood search; Shaw: Using
// constraint programming and local search methods to solve vehicle routing
// problems, 1998).  The cost never rises.
void Mend(const PackingProblem& problem, const MendOptions& options,
          PatternRelaxation* relaxation, PackingDraft* draft);

}  // namespace sluice

#endif  // SLUICE_PACKING_PATTERN_SEARCH_H_
