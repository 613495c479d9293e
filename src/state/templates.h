// Templates: tasks that are not placed themselves.  The daemon makes one task
// from each for each machine (Kubernetes' DaemonSet, Fleet's Global).
//
// A made task has a uid of its own, at or above kMadeUidBegin, and belongs to
// its client from then on: it can be reported, removed and explained like any
// other.  It asks for what its template asks for, and for its machine.  While
// it is known, in any state, its machine gets no second one.
//
// Which machines get one is decided elsewhere (round/leaving/template_tasks.h).
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_STATE_TEMPLATES_H_
#define SLUICE_STATE_TEMPLATES_H_

#include <cstdint>
#include <map>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "sluice/base/ids.h"
#include "sluice/state/machine.h"
#include "sluice/state/task.h"

namespace sluice {

class ClusterState;

// Clients assign uids from below, or at random.  Taken uids are skipped.
inline constexpr uint64_t kMadeUidBegin = uint64_t{1} << 62;

// The state's index, derived from Task::is_template, made_from and made_for.
class TemplateIndex {
 public:
  using TasksByMachine = absl::btree_map<MachineId, TaskId>;

  bool empty() const { return made_.empty(); }
  // What was made from each template, former ones included.
  const std::map<TaskId, TasksByMachine>& made() const { return made_; }
  const TasksByMachine& MadeFrom(TaskId id) const;

  // Call after each description of a task.
  void Note(const Task& task);
  // Call before the task is of another template, or is erased.
  void Drop(const Task& task);

 private:
  std::map<TaskId, TasksByMachine> made_;  // Empty maps for templates_ only.
  absl::btree_set<TaskId> templates_;
};

class Templates {
 public:
  Templates(int64_t now_ms, ClusterState* state)
      : now_ms_(now_ms), state_(*state) {}

  // Makes one that waits for the machine.  REQUIRES: the machine has none from
  // the template.
  const Task& Make(TaskId id, const Machine& machine);
  // Mentions and describes the tasks made from it like itself, and repeats what
  // was told about them if `tells_again`.
  void Follow(const Task& made_from, bool tells_again);
  // Ends a task whose template or machine is gone.  Nobody is told about one
  // that ends before it began.
  void End(TaskId id);

 private:
  const int64_t now_ms_;
  ClusterState& state_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_TEMPLATES_H_
