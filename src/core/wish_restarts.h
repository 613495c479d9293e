// The search that takes away what a round has placed where its tasks wish
// something of each other, and places it again.
//
// From where a search step by step has ended no single step may lead on.  So
// all that wish something, or all that may move, are placed once more, one by
// one, each where it is liked best as the others stand, and from there the
// search goes on.  In a cluster that is too full for that only those on a few
// machines are.  Where the wishes of all cost less then, that is kept, else all
// go back.
//
// Threads: none; confined to the core thread.  Determinism: looks are counted,
// not time, and random numbers follow from the number of the attempt.

#ifndef SLUICE_CORE_WISH_RESTARTS_H_
#define SLUICE_CORE_WISH_RESTARTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/movable_placements.h"
#include "core/suitability.h"
#include "core/wish_search.h"

namespace sluice {

class WishRestarts {
 public:
  // All must outlive this.
  WishRestarts(MovablePlacements* placements, Suitability* suitability,
               WishSearch* search)
      : placements_(*placements),
        suitability_(*suitability),
        search_(*search) {}

  // Of these, by index, which the search has been through.  Returns how many
  // moved.  Called once.
  int64_t Run(std::span<const size_t> wishing);

 private:
  bool TryAnew(std::span<const size_t> some);
  bool PlaceAgain(std::span<const size_t> some);
  // Half the attempts take all that is movable, since those without a wish may
  // be in the way of others.
  std::span<const size_t> Candidates(uint64_t attempt) const {
    return attempt % 2 == 0 ? wishing_ : movable_;
  }
  std::vector<size_t> InOrder(uint64_t attempt);
  std::vector<size_t> OnFewMachines(uint64_t attempt);
  // What wishes cost in all, twice.
  Cost CostOfAll();

  MovablePlacements& placements_;
  Suitability& suitability_;
  WishSearch& search_;
  std::vector<size_t> wishing_;   // Those that are movable.
  std::vector<size_t> movable_;   // Whether they wish anything or not.
  std::vector<MachineId> homes_;  // Of all, where they were at the best.
  Cost best_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_CORE_WISH_RESTARTS_H_
