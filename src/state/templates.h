// Templates: tasks that are placed nowhere themselves, and of which the daemon
// makes one task for each machine (Kubernetes' DaemonSet, Fleet's Global).
//
// A task that is made has a uid of its own, at or above kMadeUidBegin, and is
// its client's from then on: it can be reported, removed and explained as any
// other.  It asks for what its template asks for, and for its machine.  While
// it is known, in whatever state, its machine gets no second one.
//
// Which machines get one is decided elsewhere (core/template_tasks.h).
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

// Clients deal uids from below, or at random: what is taken is passed over.
inline constexpr uint64_t kMadeUidBegin = uint64_t{1} << 62;

// What the state keeps; derived from Task::is_template, made_from and made_for.
class TemplateIndex {
 public:
  using TasksByMachine = absl::btree_map<MachineId, TaskId>;

  bool empty() const { return made_.empty(); }
  // What was made of each template, and of former ones.
  const std::map<TaskId, TasksByMachine>& made() const { return made_; }
  const TasksByMachine& MadeFrom(TaskId id) const;

  // After each description of a task.
  void Note(const Task& task);
  // REQUIRES: it has another id, or will have none.
  void Drop(const Task& task);

 private:
  std::map<TaskId, TasksByMachine> made_;  // None of them empty but for
  absl::btree_set<TaskId> templates_;      // these.
};

class Templates {
 public:
  Templates(int64_t now_ms, ClusterState* state)
      : now_ms_(now_ms), state_(*state) {}

  // One that waits for the machine.  REQUIRES: it has none from the template.
  const Task& Make(TaskId id, const Machine& machine);
  // Those made of it are as it is now: mentioned, described, told again.
  void Follow(const Task& made_from, bool tells_again);
  // One whose template or machine is gone ends: nobody is told of what ended
  // before it began.
  void End(TaskId id);

 private:
  const int64_t now_ms_;
  ClusterState& state_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_TEMPLATES_H_
