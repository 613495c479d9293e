// Which task each uid of the contract's clients names.
//
// Nearly always it is the task whose id has the same number, so only the others
// are listed.  There are some after a client reused a uid whose task still
// runs, or resubmitted a task under another uid.
//
// Threads: none of its own; confined to the core thread.

#ifndef SLUICE_STATE_TASK_UIDS_H_
#define SLUICE_STATE_TASK_UIDS_H_

#include "absl/container/flat_hash_map.h"
#include "sluice/base/ids.h"
#include "sluice/state/task.h"

namespace sluice {

class TaskUids {
 public:
  // The id of the only task that may hold the uid.
  TaskId Find(TaskUid uid) const {
    const auto it = others_.find(uid);
    return it == others_.end() ? TaskId{uid.value} : it->second;
  }
  // True if each task that holds a uid has the id of the same number.
  bool AreIds() const { return others_.empty(); }

  // From now on the task holds its uid.  REQUIRES: no other task holds it.
  void Add(const Task& task) {
    if (task.id.value != task.client.uid.value) {
      others_[task.client.uid] = task.id;
    }
  }
  // Call before the task loses its uid.  No-op if it holds none.
  void Erase(const Task& task) {
    const auto it = others_.find(task.client.uid);
    if (it != others_.end() && it->second == task.id) others_.erase(it);
  }

 private:
  absl::flat_hash_map<TaskUid, TaskId> others_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_TASK_UIDS_H_
