// What feeds state, and how it changes the cluster (state/feed.h).
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_STATE_FEED_EVENTS_H_
#define SLUICE_STATE_FEED_EVENTS_H_

#include <cstdint>
#include <string>

#include "sluice/state/machine.h"
#include "sluice/state/task.h"
#include "state/cluster_state.h"
#include "state/feed.h"
#include "state/machine_commands.h"
#include "state/task_commands.h"

namespace sluice {

class FeedEvents {
 public:
  // REQUIRES: the feed was opened.
  FeedEvents(FeedId feed, int64_t now_ms, ClusterState* state);

  FeedOutcome Apply(const SnapshotBegan& event);
  FeedOutcome Apply(const SnapshotEnded& event);
  FeedOutcome Apply(const FeedLed& event);
  FeedOutcome Apply(const MachineStated& event);
  FeedOutcome Apply(const MachineGone& event);
  FeedOutcome Apply(const TaskStated& event);
  FeedOutcome Apply(const TaskEnded& event);
  FeedOutcome Apply(const TaskGone& event);
  FeedOutcome Apply(const BindFailed& event);
  FeedOutcome Apply(const BudgetStated& event);
  FeedOutcome Apply(const BudgetKept& event);
  FeedOutcome Apply(const BudgetGone& event);
  FeedOutcome Apply(const TaskMeasured& event);

  // Its client has gone.
  void Close();
  // Clients of earlier terms can no longer act.
  void Settle();

 private:
  // What waits of the feed may be placed once all is stated.
  void SetPhase(FeedPhase phase);
  void SetTerm(const FeedTerm& term, bool is_standby);
  // The task runs on, though it was to stop: that is another's decision now.
  void Spare(Task* task);
  // Forgets what this snapshot has not stated.
  void ForgetUnstated();
  bool IsStated(const Task& task) const {
    return task.announcement == feed_.snapshot;
  }
  Task* FindTask(const std::string& id);
  void Describe(Task* task, const TaskStated& event);
  // Says of a new task what it is for good.
  Task* AddTask(const TaskStated& event);
  void NoteChange();  // Of what no other change of the state counts.

  const int64_t now_ms_;
  ClusterState& state_;
  Feed& feed_;
  TaskCommands tasks_;
  MachineCommands machines_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_FEED_EVENTS_H_
