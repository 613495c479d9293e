// Applies the events of feeds to the cluster (state/feed.h).
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

  // Call when the client has gone.
  void Close();
  // Call when clients of earlier terms can no longer act.
  void Settle();

 private:
  // Waiting tasks of the feed may be placed once everything is stated.
  void SetPhase(FeedPhase phase);
  void SetTerm(const FeedTerm& term, bool is_standby);
  // Lets a task run on that was told to stop: another daemon decides now.
  void Spare(Task* task);
  // Forgets tasks and budgets that this snapshot has not stated.
  void ForgetUnstated();
  bool IsStated(const Task& task) const {
    return task.client.announcement == feed_.snapshot;
  }
  Task* FindTask(const std::string& id);
  void Describe(Task* task, const TaskStated& event);
  // Adds a task with what never changes about it.
  Task* AddTask(const TaskStated& event);
  void NoteChange();  // For changes that count no version otherwise.

  const int64_t now_ms_;
  ClusterState& state_;
  Feed& feed_;
  TaskCommands tasks_;
  MachineCommands machines_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_FEED_EVENTS_H_
