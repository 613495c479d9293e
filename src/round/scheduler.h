// Rounds, one after the other, each of which turns the cluster as it is into
// the cluster as it should be.
//
// A round goes step by step: StartRound(), then NextStep() says what to solve
// and FinishStep() takes the answer and commits the placements that are still
// legal, until NextStep() has nothing.  Between NextStep() and FinishStep()
// commands may be applied to the state: what they made illegal is refused at
// commit.  Deltas wait in the state's outbox until a client is told of them.
//
//   StartRound -> { NextStep -> (commands) -> FinishStep }*
//
// Threads: none of its own; confined to the core thread.
// Time: an argument.  Determinism: the same calls give the same deltas.

#ifndef SLUICE_ROUND_SCHEDULER_H_
#define SLUICE_ROUND_SCHEDULER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "network/machine_grouping.h"
#include "round/context/move_budget.h"
#include "round/context/network_log.h"
#include "round/context/rebalance_timer.h"
#include "round/context/round_stats.h"
#include "round/context/round_work.h"
#include "round/context/search_pace.h"
#include "round/leaving/eviction.h"
#include "round/reservations.h"
#include "sluice/flow/problem.h"
#include "state/cluster_state.h"

namespace sluice {

class ConstraintSet;
class Eligibility;
class PolicySet;
class Round;
struct RebalancePlan;

class Scheduler {
 public:
  // All must outlive it.
  Scheduler(ClusterState* state, const PolicySet& policies,
            const ConstraintSet& constraints, RoundOptions options);
  ~Scheduler();

  const ClusterState& state() const { return state_; }
  const PolicySet& policies() const { return policies_; }
  const ConstraintSet& constraints() const { return constraints_; }

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

  // What a round in this mode would do to running tasks.  REQUIRES: no round is
  // running.
  RebalancePlan Plan(Preemption mode, int64_t now_ms);

 private:
  ClusterState& state_;
  const PolicySet& policies_;
  const ConstraintSet& constraints_;
  const RoundOptions options_;
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
};

}  // namespace sluice

#endif  // SLUICE_ROUND_SCHEDULER_H_
