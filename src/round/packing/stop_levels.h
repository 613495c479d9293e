// The levels of a packing that may stop running tasks.  Each level of what is
// to be placed comes after the stops of its priorities.  Tasks that must not be
// stopped at all come before all levels, and so do those that no budget allows.
// If budgets may be exceeded, the latter come after the most urgent level to be
// placed.
//
// Threads: values.

#ifndef SLUICE_ROUND_PACKING_STOP_LEVELS_H_
#define SLUICE_ROUND_PACKING_STOP_LEVELS_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>

#include "round/context/packing_plan.h"

namespace sluice {

class StopLevels {
 public:
  explicit StopLevels(bool breaks_budgets) : breaks_budgets_(breaks_budgets) {}

  // Running tasks of this priority may be stopped.
  void Add(uint32_t priority, const PackingLevels& levels) {
    levels_.insert(LevelIn(levels, priority));
  }
  // Some of them are protected by a budget.
  void Forbid() { is_any_forbidden_ = true; }
  // Some of them may move, but nothing is more urgent.
  void Fix() { is_any_fixed_ = true; }

  size_t OfFixed() const { return 0; }
  size_t OfForbidden() const {
    return breaks_budgets_ ? Shifted(0) + 1 : OfFixed();
  }
  // The level of stops.  REQUIRES: the priority was added.
  size_t OfStopped(uint32_t priority, const PackingLevels& levels) const {
    const size_t level = LevelIn(levels, priority);
    return Shifted(level) - 1;
  }
  // The level of what is to be placed on `level`.
  size_t Shifted(size_t level) const {
    const auto before =
        std::distance(levels_.begin(), levels_.upper_bound(level));
    const bool is_after_fixed =
        is_any_fixed_ || (is_any_forbidden_ && !breaks_budgets_);
    const bool is_after_forbidden =
        is_any_forbidden_ && breaks_budgets_ && level > 0;
    return level + static_cast<size_t>(before) + (is_after_fixed ? 1 : 0) +
           (is_after_forbidden ? 1 : 0);
  }

 private:
  static size_t LevelIn(const PackingLevels& levels, uint32_t priority) {
    return levels.LevelOf(priority).value_or(levels.lowest.size());
  }

  const bool breaks_budgets_;
  std::set<size_t> levels_;
  bool is_any_forbidden_ = false;
  bool is_any_fixed_ = false;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_PACKING_STOP_LEVELS_H_
