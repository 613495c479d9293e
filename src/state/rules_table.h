// Keeps the placement rules of all tasks; equal rules are kept once.
//
// Rules that no task has any more are kept until Collect().  A round knows
// classes by their rules, and may outlive the tasks it was about.
//
// Threads: none of its own; confined to the core thread.

#ifndef SLUICE_STATE_RULES_TABLE_H_
#define SLUICE_STATE_RULES_TABLE_H_

#include <cstdint>
#include <map>
#include <vector>

#include "sluice/state/placement_rules.h"

namespace sluice {

class RulesTable {
 public:
  RulesTable() = default;
  RulesTable(const RulesTable&) = delete;
  RulesTable& operator=(const RulesTable&) = delete;

  // Returns the kept rules that equal `rules`, and counts one more reference
  // to them.  Rules that say nothing are NoRules().
  const PlacementRules* Acquire(const PlacementRules& rules);
  // Drops one reference.  REQUIRES: it was acquired and not released.
  void Release(const PlacementRules* rules);
  // Forgets what is not referenced and returns the ids, ascending.
  std::vector<uint32_t> Collect();

  // Those with this id or a higher one, by id.  New rules get the highest id.
  std::vector<const PlacementRules*> From(uint32_t id) const;

  size_t size() const { return references_.size(); }
  // True if any of them must hold as long as a task runs.
  bool AreAnyKept() const { return kept_count_ > 0; }

 private:
  std::map<PlacementRules, int64_t> references_;  // Keys never move.
  std::map<uint32_t, const PlacementRules*> by_id_;
  uint32_t next_id_ = 1;
  bool has_idle_ = false;
  int64_t kept_count_ = 0;  // Of those that must hold.
};

}  // namespace sluice

#endif  // SLUICE_STATE_RULES_TABLE_H_
