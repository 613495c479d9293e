// The levels of a packing that may stop what runs: before each level of what is
// to be placed comes what is stopped of these priorities.  What no budget
// allows comes before all of them; or, where budgets may be exceeded, after the
// most urgent level that is to be placed.
//
// Threads: values.

#ifndef SLUICE_CORE_STOP_LEVELS_H_
#define SLUICE_CORE_STOP_LEVELS_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>

#include "core/packing_plan.h"

namespace sluice {

class StopLevels {
 public:
  explicit StopLevels(bool breaks_budgets) : breaks_budgets_(breaks_budgets) {}

  // What runs of this priority may be stopped.
  void Add(uint32_t priority, const PackingLevels& levels) {
    levels_.insert(LevelIn(levels, priority));
  }
  // Some of it is protected by a budget.
  void Forbid() { is_any_forbidden_ = true; }

  size_t OfForbidden() const { return breaks_budgets_ ? Shifted(0) + 1 : 0; }
  // Of what is stopped.  REQUIRES: the priority was added.
  size_t OfStopped(uint32_t priority, const PackingLevels& levels) const {
    const size_t level = LevelIn(levels, priority);
    return Shifted(level) - 1;
  }
  // Of what is to be placed on that level.
  size_t Shifted(size_t level) const {
    const auto before =
        std::distance(levels_.begin(), levels_.upper_bound(level));
    const bool is_after = is_any_forbidden_ && (!breaks_budgets_ || level > 0);
    return level + static_cast<size_t>(before) + (is_after ? 1 : 0);
  }

 private:
  static size_t LevelIn(const PackingLevels& levels, uint32_t priority) {
    return levels.LevelOf(priority).value_or(levels.lowest.size());
  }

  const bool breaks_budgets_;
  std::set<size_t> levels_;
  bool is_any_forbidden_ = false;
};

}  // namespace sluice

#endif  // SLUICE_CORE_STOP_LEVELS_H_
