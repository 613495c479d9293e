// Which owners machines avoid, and which tasks these owners have.
//
// A machine may avoid a thousand owners, and nearly every task has an owner of
// its own, so tasks are indexed by owner.
//
// Threads: none of its own; confined to the core thread.

#ifndef SLUICE_STATE_AVOIDED_OWNERS_H_
#define SLUICE_STATE_AVOIDED_OWNERS_H_

#include <cstdint>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "sluice/base/ids.h"
#include "sluice/state/placement_rules.h"
#include "sluice/state/task.h"

namespace sluice {

class AvoidedOwners {
 public:
  // True if any machine avoids the owner.  False for an empty owner.
  bool Contains(const Owner& owner) const {
    return !owner.empty() && machines_.contains(owner);
  }

  void SetOwner(Task* task, const Owner& owner);

  // A machine avoids `now` instead of `former`.  Returns the tasks of the
  // owners that were avoided by no machine before, or are by none now.
  std::vector<TaskId> Replace(const std::vector<Owner>& former,
                              const std::vector<Owner>& now);

  // The number of tasks that Replace() has returned since the start.
  int64_t returned_count() const { return returned_count_; }

 private:
  absl::btree_map<Owner, int64_t> machines_;               // How many avoid it.
  absl::btree_map<Owner, absl::btree_set<TaskId>> tasks_;  // Of each owner.
  int64_t returned_count_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_STATE_AVOIDED_OWNERS_H_
