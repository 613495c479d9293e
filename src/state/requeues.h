// Tasks that run again: their machine failed, they were told to leave and did,
// or they failed and their job asks for another try.
//
// This happens only if the options of the state, or the job, ask for it.  A job
// that does not want it overrides the options.  Tasks of feeds are left alone:
// a feed itself says what is to run.
//
// Such a task keeps its age and its request.  One that failed waits for its
// backoff first, in no queue.
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
  // Tasks requeued since the start, by reason.
  int64_t lost_count = 0;
  int64_t evicted_count = 0;
  int64_t failed_count = 0;
  // Tasks in backoff, by the end of it; derived.
  absl::btree_set<std::pair<int64_t, TaskId>> backoffs;

  // `retry_ms` 0 ends the backoff.
  void SetRetry(Task* task, int64_t retry_ms);
};

class Requeues {
 public:
  Requeues(int64_t now_ms, ClusterState* state)
      : now_ms_(now_ms), state_(*state) {}

  void SetOptions(const RequeueOptions& options);

  // The machine failed.  Its tasks wait again, or end as failed, if the options
  // or their jobs say so.  REQUIRES: it is not present.
  void LoseTasksOf(const Machine& machine);
  // A client of the contract reported the task as failed.  Returns true if the
  // task is to run again, and false if it has ended for good.
  bool TryAgain(Task* task);
  // Tasks whose backoff is over wait for a machine.
  void EndBackoffs();

 private:
  // True if a reply that has not ended tells the client its first place.
  bool IsPlaceUnderWay(TaskId id) const;
  bool WantsEvicted(const Task& task) const;
  void Requeue(Task* task, RunsAgain reason);

  const int64_t now_ms_;
  ClusterState& state_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_REQUEUES_H_
