// Whose tasks machines would rather not have, and which tasks these are.
//
// A machine may avoid a thousand owners, and nearly every task has an owner of
// its own: tasks are found by their owner.
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
  // Whether any machine avoids the owner, if it is one.
  bool Contains(const Owner& owner) const {
    return !owner.empty() && machines_.contains(owner);
  }

  void SetOwner(Task* task, const Owner& owner);

  // A machine avoids `now` instead of `former`.  Returns the tasks of owners
  // that machines have begun, or ceased, to avoid.
  std::vector<TaskId> Replace(const std::vector<Owner>& former,
                              const std::vector<Owner>& now);

  // Tasks that Replace() returned, since the start.
  int64_t returned_count() const { return returned_count_; }

 private:
  absl::btree_map<Owner, int64_t> machines_;               // How many avoid it.
  absl::btree_map<Owner, absl::btree_set<TaskId>> tasks_;  // Of each owner.
  int64_t returned_count_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_STATE_AVOIDED_OWNERS_H_
