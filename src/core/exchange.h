// Exchange: the last improvement of a round that could not place everything.
//
// Packing goes by size, the largest first, so what it cannot fit in the end is
// small, and small tasks are the ones that most can be placed of.  An exchange
// takes back one or two placements of this round on a machine, which no client
// knows of yet, where the room that they leave holds waiting tasks that are
// together dearer to leave waiting.  Each exchange lowers the waiting cost, so
// that they come to an end.  Tasks that depend on others are left alone.
//
// Threads: none; confined to the core thread.  Determinism: machines in id
// order, classes by density, ties by class key.

#ifndef SLUICE_CORE_EXCHANGE_H_
#define SLUICE_CORE_EXCHANGE_H_

#include <cstdint>
#include <map>
#include <vector>

#include "base/int128.h"
#include "constraints/constraint_set.h"
#include "network/eligibility.h"
#include "sluice/cost/cost_model.h"
#include "state/cluster_state.h"

namespace sluice {

struct ExchangeOutcome {
  int64_t placed = 0;
  int64_t withdrawn = 0;
  int64_t looks = 0;  // Work: waiting classes looked at.
};

class Exchange {
 public:
  // Exchanges tasks of one priority.  `placed` are the tasks of this round, in
  // any state by now; waiting tasks count if they came before `sequence_end`.
  // `state`, `constraints` and `eligibility` must outlive the exchange.
  Exchange(ClusterState* state, const ConstraintSet& constraints,
           Eligibility* eligibility, uint32_t priority,
           const std::vector<TaskId>& placed, uint64_t sequence_end,
           int64_t now_ms);

  // Goes on for about `looks_max` looks and returns whether all is done.
  // Between two steps commands may be applied to the state.
  bool Step(int64_t looks_max);

  const ExchangeOutcome& outcome() const { return outcome_; }

 private:
  // The waiting tasks of one class, oldest first, and what they use as a part
  // of the machines' capacity.
  struct WaitingClass {
    ClassKey key;
    std::vector<const Task*> tasks;
    size_t next = 0;  // The first that still waits.
    Int128 size = 0;
    std::vector<bool> allowed;  // By kind of machines.
  };
  using PlacedTasks = std::map<MachineId, std::vector<TaskId>>;

  // Refreshes classes_, smallest first.
  void LookUpWaiting();
  // Tries to gain by taking back one placement of `placed` on `machine`, or
  // two.  Returns whether it did.
  bool ExchangeOn(const Machine& machine, std::vector<TaskId>* placed);
  bool TryVictims(const Machine& machine,
                  const std::vector<const Task*>& victims,
                  std::vector<TaskId>* placed);
  // Waiting tasks for `free`, the smallest first; adds their value to `gain`.
  std::vector<const Task*> Fill(KindId kind, Resources free, Cost* gain);
  // Skips what has been placed.
  void Advance();
  // What it costs to leave the task waiting.
  Cost Value(const Task& task) const;

  ClusterState* state_;
  const ConstraintSet& constraints_;
  Eligibility* eligibility_;
  const uint32_t priority_;
  const uint64_t sequence_end_;
  const int64_t now_ms_;
  Resources capacity_;  // Of the machines in placed_.
  PlacedTasks placed_;
  PlacedTasks::iterator next_;  // Of this sweep.
  int sweeps_ = 0;
  bool has_gained_ = false;  // In this sweep.
  std::vector<WaitingClass> classes_;
  ExchangeOutcome outcome_;
};

}  // namespace sluice

#endif  // SLUICE_CORE_EXCHANGE_H_
