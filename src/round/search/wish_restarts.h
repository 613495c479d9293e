// The search that removes a round's placements with preferences between tasks,
// and places them again.
//
// A search step by step ends where no single step is an improvement.  So all
// tasks with preferences, or all that may move, are placed once more, one by
// one, each in its best place given the others, and the search goes on from
// there.  In a cluster that is too full for that, only tasks on a few machines
// are.  The result is kept if the preferences of all cost less then; otherwise
// all go back.
//
// Threads: none; confined to the core thread.  Determinism: the budget counts
// work, not time, and random numbers follow from the number of the attempt.

#ifndef SLUICE_ROUND_SEARCH_WISH_RESTARTS_H_
#define SLUICE_ROUND_SEARCH_WISH_RESTARTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "round/search/movable_placements.h"
#include "round/search/suitability.h"
#include "round/search/wish_search.h"

namespace sluice {

class WishRestarts {
 public:
  // All must outlive this.
  WishRestarts(MovablePlacements* placements, Suitability* suitability,
               WishSearch* search)
      : placements_(*placements),
        suitability_(*suitability),
        search_(*search) {}

  // Runs on the tasks with these indices, which the search has been through.
  // Returns how many moved.  Call it once.
  int64_t Run(std::span<const size_t> wishing);

 private:
  bool TryAnew(std::span<const size_t> some);
  bool PlaceAgain(std::span<const size_t> some);
  // Half the attempts take all movable tasks, since those without preferences
  // may be in the way of others.
  std::span<const size_t> Candidates(uint64_t attempt) const {
    return attempt % 2 == 0 ? wishing_ : movable_;
  }
  std::vector<size_t> InOrder(uint64_t attempt);
  std::vector<size_t> OnFewMachines(uint64_t attempt);
  // Twice the cost of all preferences.
  Cost CostOfAll();

  MovablePlacements& placements_;
  Suitability& suitability_;
  WishSearch& search_;
  std::vector<size_t> wishing_;   // Those that are movable.
  std::vector<size_t> movable_;   // With or without preferences.
  std::vector<MachineId> homes_;  // The best places so far, of all.
  Cost best_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_SEARCH_WISH_RESTARTS_H_
