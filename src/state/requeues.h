// Tasks that run again: their machine failed, they were told to leave and did,
// or they failed and their job asks for another try.
//
// Nothing of it happens by itself: the options of the state ask for it, or the
// job does.  A job that does not want it wins over the options.  Tasks of feeds
// are left alone, since a feed says itself what is to run.
//
// Such a task waits as it did before: it keeps its age and what it asks for.
// One that failed waits for its time first, in no queue.
//
// Threads: none; confined to the core thread.  Time: an argument.

#ifndef SLUICE_STATE_REQUEUES_H_
#define SLUICE_STATE_REQUEUES_H_

#include <cstdint>
#include <utility>

#include "absl/container/btree_set.h"
#include "sluice/base/ids.h"
#include "sluice/state/machine.h"
#include "sluice/state/task.h"

namespace sluice {

class ClusterState;

// The longest that a task waits after a failure.
inline constexpr int64_t kBackoffMaxMs = 300000;

struct RequeueOptions {
  bool from_failed_machines = false;
  bool evicted = false;
};

// What the state keeps.
struct RequeueRecord {
  RequeueOptions options;
  // How many were to run again since the start, by the reason.
  int64_t lost_count = 0;
  int64_t evicted_count = 0;
  int64_t failed_count = 0;
  // Those that wait for their time, by that; derived.
  absl::btree_set<std::pair<int64_t, TaskId>> backoffs;

  // `retry_ms` 0: it waits for none.
  void SetRetry(Task* task, int64_t retry_ms);
};

class Requeues {
 public:
  Requeues(int64_t now_ms, ClusterState* state)
      : now_ms_(now_ms), state_(*state) {}

  void SetOptions(const RequeueOptions& options);

  // What is to run again of what runs on the machine waits.
  // REQUIRES: it is not present.
  void LoseTasksOf(const Machine& machine);
  // Whether a task of a client of the contract that is reported as failed has
  // not ended for good; then it waits.
  bool TryAgain(Task* task);
  // Those whose time has come wait for a machine.
  void EndBackoffs();

 private:
  // Whether a reply tells its client of its first place, and has not ended.
  bool IsPlaceUnderWay(TaskId id) const;
  bool WantsEvicted(const Task& task) const;
  void Requeue(Task* task, RunsAgain reason);

  const int64_t now_ms_;
  ClusterState& state_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_REQUEUES_H_
