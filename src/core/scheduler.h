// The scheduling core: a pure state machine around the cluster state.
//
// Commands go in through Apply().  A round turns the cluster as it is into the
// cluster as it should be, step by step.  StartRound() begins.  NextStep() says
// what to solve; FinishStep() takes the answer and commits the placements that
// are still legal, until NextStep() has nothing.  Commands may be applied
// between NextStep() and FinishStep(): what they made illegal is refused at
// commit.  Deltas wait in the state's outbox until a reply takes them.
//
//   apply* -> StartRound -> { NextStep -> (apply*) -> FinishStep }* ->
//   TakeReply
//
// Threads: none of its own; confined to the core thread.
// Time: an argument.  Determinism: the same calls give the same deltas.

#ifndef SLUICE_CORE_SCHEDULER_H_
#define SLUICE_CORE_SCHEDULER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "core/cost_terms.h"
#include "core/eviction.h"
#include "core/move_budget.h"
#include "core/network_log.h"
#include "core/rebalance_timer.h"
#include "core/reservations.h"
#include "core/round_stats.h"
#include "core/round_work.h"
#include "core/search_pace.h"
#include "network/machine_grouping.h"
#include "sluice/flow/problem.h"
#include "state/cluster_state.h"

namespace sluice {

class ConstraintSet;
class Eligibility;
class PolicySet;
class Round;
struct DrainReport;
struct Explanation;
struct RebalancePlan;

// What a Schedule call answers.
struct ScheduleReply {
  struct Entry {
    uint64_t sequence = 0;  // Of the delta.
    TaskId task;
    DeltaType type = DeltaType::kPlace;
    MachineId machine;
    std::string resource_id;  // The uuid that the client knows.
    // For kPlace: the template that the task was made from, if any.
    std::optional<TaskId> made_from = {};
  };
  std::vector<Entry> deltas;
  // Every waiting task, including quarantined ones.  If they do not all fit,
  // the next reply continues after the last one named.
  std::vector<TaskId> unscheduled;
};

class Scheduler {
 public:
  Scheduler(const PolicySet& policies, const ConstraintSet& constraints,
            RoundOptions options);
  ~Scheduler();

  // For recovery before the first command, and for readers.
  ClusterState& mutable_state() { return state_; }
  const ClusterState& state() const { return state_; }

  Ack Apply(const Command& command, int64_t now_ms);

  // True if the command removes a task or machine named by the reply in flight,
  // or by one of the last two, which its client may not have read yet.  Its
  // acknowledgment must not overtake them: the client would meet something that
  // it has forgotten.  Ask before Apply().
  bool ConcernsUnreadReply(const Command& command) const;

  // True if the uid now names a newer task that the client has not heard of.
  // That may be so until the removal is acknowledged.
  bool IsContested(TaskId uid) const;
  // The jobs of which a client has yet to be told something.
  absl::flat_hash_set<JobId> FindUntoldJobs() const;

  // Evicts what must leave, if the options say so, and begins to place what
  // waits then.  REQUIRES: no round is running.
  void StartRound(int64_t now_ms);
  bool is_in_round() const { return round_ != nullptr; }
  // No delta from this one on is told yet: the running round may take
  // placements back, and deltas are told in order.
  uint64_t FirstOpenDelta() const;
  // What the round asks for next; nullopt ends the round.  REQUIRES: a round is
  // running and waits for no answer.
  std::optional<RoundWork> NextStep();
  // Continues with the answer.  A flow that is not optimal ends the round; the
  // next one tries what waits again.
  void FinishStep(const RoundAnswer& answer);
  // Of the running round, or of the last one.
  const RoundStats& round_stats() const { return round_stats_; }
  // The networks of the newest round that solved any.
  const NetworkLog& network_log() const { return network_log_; }
  const PreemptionOptions& preemption() const { return options_.preemption; }
  bool evicts_on_no_execute() const { return options_.evicts_on_no_execute; }
  // True if a round may have something to do even if nothing waits.
  bool moves_what_runs() const {
    return options_.preemption.mode == Preemption::kFull;
  }
  // What the rules of the pending classes allow; refresh it before asking.
  Eligibility& eligibility() { return *eligibility_; }
  const Eligibility& eligibility() const { return *eligibility_; }

  // Takes what a client is to be told, at most `bytes_max` on the wire.
  // REQUIRES: no reply is in flight.
  ScheduleReply TakeReply(size_t bytes_max);
  // The client has it, or its call ended before that.  REQUIRES: a reply is in
  // flight.
  void EndReply(bool is_delivered);
  bool is_reply_in_flight() const { return in_flight_.has_value(); }
  // The client has read all replies that have ended.
  // REQUIRES: none is in flight.
  void NoteRepliesRead();
  bool AreRepliesRead() const {
    return !is_reply_in_flight() && unread_.tasks.empty() &&
           unread_before_.tasks.empty();
  }

  // What a round in this mode would do to running tasks.  REQUIRES: no round is
  // running.
  RebalancePlan Plan(Preemption mode, int64_t now_ms);

  // What happens to the tasks on the machine if it drains.
  DrainReport ReportDrain(const Machine& machine) const;

  // Why the task waits, as of `now_ms`.
  Explanation Explain(const Task& task, int64_t now_ms) const;
  // As FindCostTerms() (core/cost_terms.h).
  std::vector<CostTerms> ExplainCosts(const Task& task) const;
  const PolicySet& policies() const { return policies_; }
  // As ReplacementText() (core/replacement_text.h).
  std::string ExplainReplacement(const Task& task) const;
  // As LeavingText() (core/preemption_text.h).
  std::string ExplainLeaving(const Task& task) const;

 private:
  const PolicySet& policies_;
  const ConstraintSet& constraints_;
  const RoundOptions options_;
  ClusterState state_;
  Eviction eviction_;
  Reservations reservations_;
  MoveBudget move_budget_;
  RebalanceTimer rebalance_timer_;
  SearchPace search_pace_;
  NetworkLog network_log_;
  std::vector<TaskId> untold_victims_;  // Of rounds.
  const std::unique_ptr<Eligibility> eligibility_;
  MachineGrouping grouping_;
  std::unique_ptr<Round> round_;  // Null if none is running.
  int64_t round_ms_ = 0;          // When it began.
  RoundStats round_stats_;
  std::optional<ScheduleReply> in_flight_;
  // All that a reply names.
  struct Names {
    absl::flat_hash_set<TaskId> tasks;
    absl::flat_hash_set<MachineId> machines;
  };
  Names unread_;             // Of the last reply.
  Names unread_before_;      // Of the one before it.
  TaskId last_unscheduled_;  // Where the next list of waiting tasks begins.
};

}  // namespace sluice

#endif  // SLUICE_CORE_SCHEDULER_H_
