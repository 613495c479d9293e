// The cluster as it is: tasks, jobs, machines, placements, foreign pods, and
// the deltas that no client has been given yet.  Apply() is the only way in for
// events; Place() and the outbox are the scheduler's.  The state knows no cost,
// network, wire format or clock: time is an argument.
//
// Threads: none of its own; confined to the core thread.
// Determinism: the same commands give the same state; iteration is in id order.

#ifndef SLUICE_STATE_CLUSTER_STATE_H_
#define SLUICE_STATE_CLUSTER_STATE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "base/id_map.h"
#include "sluice/base/ids.h"
#include "sluice/state/job.h"
#include "sluice/state/machine.h"
#include "sluice/state/resources.h"
#include "sluice/state/task.h"
#include "state/adoptions.h"
#include "state/avoided_owners.h"
#include "state/changes.h"
#include "state/class_histories.h"
#include "state/class_names.h"
#include "state/command.h"
#include "state/delta.h"
#include "state/feed.h"
#include "state/interner.h"
#include "state/measured_use.h"
#include "state/nominations.h"
#include "state/outbox.h"
#include "state/peer_table.h"
#include "state/replacements.h"
#include "state/requeues.h"
#include "state/resource_names.h"
#include "state/rules_table.h"
#include "state/task_uids.h"
#include "state/templates.h"

namespace sluice {

class ClusterState {
 public:
  using TaskMap = IdMap<TaskId, Task>;
  using JobMap = IdMap<JobId, Job>;
  using MachineMap = IdMap<MachineId, Machine>;
  // The schedulable tasks of a class, oldest first.
  using PendingTasks = absl::btree_map<uint64_t, const Task*>;
  using ClassMap = absl::btree_map<ClassKey, PendingTasks>;
  using FeedMap = absl::btree_map<FeedId, Feed>;
  ClusterState();
  ~ClusterState();
  Ack Apply(const Command& command, int64_t now_ms);
  // REQUIRES: the feed was opened.
  FeedOutcome Apply(FeedId feed, const FeedEvent& event, int64_t now_ms);
  FeedId OpenFeed(const std::string& name);
  void CloseFeed(FeedId feed);                   // Its client is gone.
  void SettleFeed(FeedId feed, int64_t now_ms);  // As FeedEvents::Settle().
  // Emits PLACE.  REQUIRES: schedulable; the machine usable, with room.
  void Place(TaskId task, MachineId machine, int64_t now_ms);
  // The same, but it need not fit until a task that is to leave has left.
  void PlaceInstead(TaskId task, MachineId machine, int64_t now_ms);
  bool IsUntold(TaskId task) const;  // True if its placement can be undone.
  void Withdraw(TaskId task);  // Undoes it.  REQUIRES: it runs, IsUntold().
  // True if its client can be told, once, to end this one task (0011).
  bool CanPreempt(const Task& task) const;
  // Tells a task to leave; it holds its place until it is gone.  Returns true
  // if Spare() can undo this.  REQUIRES: CanPreempt(), not IsUntold().
  bool Preempt(TaskId task);
  bool Spare(TaskId task);  // False if its client may know of it by now.
  // The same by MIGRATE (state/successions.h), to another usable machine.
  void Migrate(TaskId task, MachineId target);
  // Ends those that are over, and those whose room no longer fits.
  void EndSuccessions(int64_t now_ms);
  // See state/nominations.h.  REQUIRES: a schedulable task, a usable machine.
  void Nominate(TaskId task, MachineId machine, bool is_final = false);
  void Reserve(TaskId task, MachineId machine);  // As IsReservation() there.
  void EndNomination(TaskId task);
  void SetHeld(TaskId task, bool is_held);  // REQUIRES: it waits.
  const Nominations& nominations() const { return nominations_; }
  const Outbox::Deltas& outbox() const { return outbox_.deltas(); }
  const Outbox::Sequences& SequencesOf(FeedId feed) const;
  void BeginDelivery(uint64_t sequence);  // REQUIRES: it is in the outbox.
  // Undelivered: told again, or undone if its machine left.  No-op if revoked.
  void EndDelivery(uint64_t sequence, bool is_delivered);
  const TaskMap& tasks() const { return tasks_; }
  const JobMap& jobs() const { return jobs_; }
  const MachineMap& machines() const { return machines_; }
  const absl::btree_set<MachineId>& draining() const { return draining_; }
  const FeedMap& feeds() const { return feeds_; }
  // Classes with tasks that may be placed, the most urgent first.
  const ClassMap& pending() const { return pending_; }
  int64_t pending_count() const { return pending_count_; }
  int64_t feed_pending_count() const { return feed_pending_count_; }
  // Tasks that wait, schedulable or quarantined, ascending.
  const absl::btree_set<TaskId>& unscheduled() const { return unscheduled_; }
  const Task* FindTask(TaskId id) const;
  const Task* FindHolder(TaskUid uid) const;  // The task it names, or null.
  const TaskUids& uids() const { return uids_; }
  const Job* FindJob(JobId id) const;
  const Machine* FindMachine(MachineId id) const;
  const Machine* FindMachine(std::string_view uuid) const;     // Not a part's.
  const std::string& ResourceName(ResourceIndex index) const;  // "" if free.
  size_t resource_count() const { return resources_.size(); }
  int64_t departed_count() const;
  NamedAmounts ToNamed(const Resources& resources) const;
  LabelPairs ToPairs(const std::vector<Label>& labels) const;
  const StateCounters& counters() const { return counters_; }
  uint64_t version() const { return counters_.version; }
  int64_t reused_uid_count() const { return reused_uid_count_; }
  const RequeueRecord& requeues() const { return requeues_; }
  const AdoptionIndex& adoptions() const { return adoptions_; }
  const TemplateIndex& templates() const { return templates_; }
  const Replacements& replacements() const { return replacements_; }
  const AvoidedOwners& avoided_owners() const { return avoided_owners_; }
  const ClassHistories& histories() const { return histories_; }
  MeasuredUse& measured_use() { return measured_use_; }  // For its options.
  void SetNeeds(const PolicyNeeds& needs);  // Before any task is known.
  void DropStaleSamples(int64_t now_ms);    // Requests count again there.
  bool has_changes() const { return !changes_.empty(); }
  ChangeSet TakeChanges();
  // Machines added, redescribed or forgotten since the last call, and how.
  absl::btree_map<MachineId, MachineFields> TakeDescribedMachines();
  // Those with a NoExecute taint whose taints or tasks may have changed since.
  absl::btree_set<MachineId> TakeNoExecuteMachines();
  // Forgets rules that no task has; returns their ids.  Their keys dangle then.
  std::vector<uint32_t> CollectRules();
  const RulesTable& rules() const { return rules_; }
  const PeerTable& peers() const { return peers_; }
  // Classifies tasks by the terms added since the last call.
  void SyncPeers() { Reclassify(peers_.Sync()); }
  // Recovery: a record comes after those it names.  Unusable after an error.
  absl::Status RestoreResourceName(const std::string& name);
  absl::Status RestoreFeed(const Feed& feed);
  absl::Status RestoreJob(const Job& job);
  absl::Status RestoreMachine(const Machine& stored, const MachineSpec& spec,
                              const std::vector<AddForeignPod>& foreign_pods,
                              const std::vector<int64_t>& taints_since_ms);
  absl::Status RestoreTask(const Task& task, const TaskSpec& spec);
  absl::Status RestoreDelta(const Delta& delta);
  absl::Status RestoreHolders();  // Of shared uids; after all tasks.
  // After the counters, as a change: a holder with nothing but its load stored.
  absl::Status RestoreLoadOfHolder(TaskId id, std::optional<MachineId> machine,
                                   const TaskSpec& load);
  // Also ends all deliveries as failed; what that undoes counts as a change.
  void RestoreCounters(const StateCounters& counters);
  // New names are freed after the next command unless it uses them.
  absl::StatusOr<Resources> FromNamed(const NamedAmounts& amounts);

 private:
  friend class Adoptions;
  friend class Announcements;
  friend class FeedEvents;
  friend class MachineCommands;
  friend class Requeues;
  friend class TaskCommands;
  friend class Templates;
  // For a change: both count a new version.  Touch() marks what to store.
  Task* MutableTask(TaskId id);
  Task* MutableHolder(TaskUid uid);
  Machine* MutableMachine(MachineId id);
  JobId JobFor(const std::string& uuid, const std::string& name,
               const Gang& gang);
  void NoteStarted(JobId id);
  void NoteEnded(JobId id);
  void LeaveJob(JobId id);
  TaskId NewTaskId(std::optional<TaskUid> uid = {});  // Its number, if free.
  void SetName(Task* task, const std::string& name);  // And at state changes.
  void Describe(Task* task, const TaskSpec& spec);
  // An update keeps the tree, and the amounts if it states none.
  void Describe(Machine* machine, const MachineSpec& spec, bool keep_tree,
                int64_t now_ms);
  void SetRules(Task* task, const PlacementRules& rules);
  void SetAvoids(Machine* machine, std::vector<Owner> avoids);
  void Reclassify(const std::vector<TaskId>& tasks);  // Selectors changed.
  void DescribeTree(Machine* machine, const MachineSpec& spec);
  void BecomeRunning(Task* task, Machine* machine, int64_t now_ms);
  void BecomePending(Task* task);                 // Only these and recovery
  void BecomeEnded(Task* task, TaskState state);  // change a task's state.
  void LeaveQueue(const Task& task);  // Call before its waiting may change,
  void EnterQueue(Task* task);        // and after.
  void AddPending(Task* task);        // REQUIRES: not nominated.
  void RemovePending(const Task& task);
  void Occupy(Task* task, Machine* machine, int32_t pu);
  void Vacate(Task* task);
  void CountRunning(const Task& task, int32_t sign);  // For peers and job.
  void SetEvicted(Task* task, bool is_evicted);
  bool Evict(TaskId id, DeltaType type, Machine* target);
  void Release(const Resources& load, Machine* machine);  // It is free now.
  void AppendDelta(const Task& task, bool is_repeat);     // PLACE or PREEMPT.
  void AppendDelta(const Task& task, DeltaType type, bool is_repeat);
  void DeleteDelta(uint64_t sequence);
  void DeleteDeltas(TaskId task);
  void Revoke(const Delta& delta);  // Undoes the decision.
  void EndSuccession(uint64_t sequence);
  void EndSuccessionsOn(const Machine& machine);
  void NoteIfNoExecute(const Machine& machine);
  void Erase(Task* task);
  void Touch(const Task& task) { changes_.tasks.insert(task.id); }
  void Touch(const Machine& machine) { changes_.machines.insert(machine.id); }

  TaskMap tasks_;
  JobMap jobs_;
  MachineMap machines_;
  ClassMap pending_;
  Nominations nominations_{*this, &peers_};
  int64_t pending_count_ = 0;  // Nominated ones included.
  int64_t feed_pending_count_ = 0;
  absl::btree_set<TaskId> unscheduled_;
  TaskUids uids_;
  Outbox outbox_;
  FeedMap feeds_;
  absl::btree_set<TaskId> removed_;  // Tasks in state kRemoved.
  absl::btree_set<MachineId> departed_;
  absl::btree_set<MachineId> draining_;
  absl::flat_hash_map<std::pair<bool, std::string>, JobId> job_ids_;
  absl::flat_hash_map<std::string, TaskId> named_tasks_;  // As SetName() says.
  absl::flat_hash_map<std::string, MachineId> machine_ids_;  // Parts included.
  absl::flat_hash_map<std::string, MachineId> foreign_pod_machines_;
  Interner strings_;
  RulesTable rules_;
  PeerTable peers_{*this};
  AvoidedOwners avoided_owners_;
  absl::btree_map<MachineId, MachineFields> described_machines_;
  absl::btree_set<MachineId> no_execute_machines_;
  ResourceNames resources_;
  ClassNames class_names_;
  StateCounters counters_;
  int64_t reused_uid_count_ = 0;  // By submissions, since the start.
  RequeueRecord requeues_;
  AdoptionIndex adoptions_;
  TemplateIndex templates_;
  Replacements replacements_{*this};
  MeasuredUse measured_use_{*this};
  ClassHistories histories_;
  ChangeSet changes_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_CLUSTER_STATE_H_
