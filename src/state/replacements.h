// Tasks of which one runs in the place of others: those that replace others
// (PlacementRules::replaces), and those of a job that offer a choice.
//
// Of a task and the one in whose place it is to run, one alone runs, and of a
// choice one alone.
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

  // The task has this job, and these rules.
  void Note(const Task& task);
  void Erase(TaskId task);
  // Of a task that is noted; it is `id` from now on.
  void Rename(TaskId former, const Task& task);

  bool empty() const { return entries_.empty() && held_.empty(); }
  // All that are concerned, or were.
  std::vector<TaskId> Concerned() const;
  // Whether it takes another's place or another its, or there is a choice.
  bool Concern(const Task& task) const {
    return entries_.contains(task.id) || newcomers_.contains(task.id);
  }
  // By the uid that they name, which nobody needs to have, those that are to
  // run in its place.
  const absl::btree_map<TaskId, absl::btree_set<TaskId>>& newcomers() const {
    return newcomers_;
  }
  // The task in whose favor this one must not run: FindNewcomer(), or else
  // FindAlternative().  Null if there is none.
  const Task* FindInFavorOf(const Task& task) const;
  // One that is to run in its place, and runs or waits; of several one that
  // runs.  Of tasks that replace each other in a circle the newest runs; where
  // there are more than 100 of them, none does.
  const Task* FindNewcomer(const Task& former) const;
  // One of its choices that runs or has completed.
  const Task* FindAlternative(const Task& task) const;
  // The running task whose place the task is to take; null if there is none.
  const Task* FindRunningFormer(const Task& newcomer) const;

  // The task waits in no queue, or does again.
  void SetHeld(Task* task, bool is_held);
  const absl::btree_set<TaskId>& held() const { return held_; }

 private:
  using Choice = std::pair<JobId, std::string>;
  struct Entry {
    std::optional<TaskId> former;
    std::vector<Choice> choices;
  };

  // Whether both are of one circle, and no task of it is newer than the former
  // one.
  bool IsNewestOfCircle(const Task& former, const Task& newcomer) const;

  const ClusterState& state_;
  absl::btree_map<TaskId, Entry> entries_;
  absl::btree_map<TaskId, absl::btree_set<TaskId>> newcomers_;
  absl::btree_map<Choice, absl::btree_set<TaskId>> choices_;
  absl::btree_set<TaskId> held_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_REPLACEMENTS_H_
