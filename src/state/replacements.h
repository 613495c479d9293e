// Tasks of which only one runs: a task and the one that it replaces
// (PlacementRules::replaces), and the tasks of a job that offer a choice.
//
// Threads: none of its own; confined to the core thread.

#ifndef SLUICE_STATE_REPLACEMENTS_H_
#define SLUICE_STATE_REPLACEMENTS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "sluice/base/ids.h"
#include "sluice/state/task.h"

namespace sluice {

class ClusterState;

class Replacements {
 public:
  // `state` must outlive this.
  explicit Replacements(const ClusterState& state) : state_(state) {}

  // Notes the job and the rules of the task.
  void Note(const Task& task);
  void Erase(TaskId task);

  bool empty() const { return entries_.empty() && held_.empty(); }
  // All tasks that are concerned, or are still held.
  std::vector<TaskId> Concerned() const;
  // True if it replaces another, another replaces it, or it offers a choice.
  bool Concern(const Task& task) const {
    return entries_.contains(task.id) || NewcomersOf(task) != nullptr;
  }
  // The tasks that replace a uid, by that uid.  No task needs to have it.
  const absl::btree_map<TaskUid, absl::btree_set<TaskId>>& newcomers() const {
    return newcomers_;
  }
  // The task in whose favor this one must not run: FindNewcomer(), else
  // FindAlternative().  Null if there is none.
  const Task* FindInFavorOf(const Task& task) const;
  // A task that replaces it and runs or waits, preferably one that runs.  If
  // tasks replace each other in a circle, the newest runs; in a circle of more
  // than 100, none does.
  const Task* FindNewcomer(const Task& former) const;
  // Another task of its choice that has completed, or runs and is not replaced
  // by it.
  const Task* FindAlternative(const Task& task) const;
  // The running task whose place the task is to take; null if there is none.
  const Task* FindRunningFormer(const Task& newcomer) const;

  // A held task waits in no queue.
  void SetHeld(Task* task, bool is_held);
  const absl::btree_set<TaskId>& held() const { return held_; }

 private:
  using Choice = std::pair<JobId, std::string>;
  struct Entry {
    std::optional<TaskUid> former;
    std::vector<Choice> choices;
  };

  // The tasks that replace it; null if there are none.
  const absl::btree_set<TaskId>* NewcomersOf(const Task& former) const;
  // True if both are in one circle, and no task of it is newer than `former`.
  bool IsNewestOfCircle(const Task& former, const Task& newcomer) const;

  const ClusterState& state_;
  absl::btree_map<TaskId, Entry> entries_;
  absl::btree_map<TaskUid, absl::btree_set<TaskId>> newcomers_;
  absl::btree_map<Choice, absl::btree_set<TaskId>> choices_;
  absl::btree_set<TaskId> held_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_REPLACEMENTS_H_
