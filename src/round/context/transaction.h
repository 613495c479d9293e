// Placements that are made and taken back together, or not at all.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_ROUND_CONTEXT_TRANSACTION_H_
#define SLUICE_ROUND_CONTEXT_TRANSACTION_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "round/context/placements.h"
#include "state/cluster_state.h"

namespace sluice {

class Transaction {
 public:
  // Undoes everything that is not kept when it ends.  `state` must outlive it,
  // and nothing else may place its tasks meanwhile.
  Transaction(int64_t now_ms, ClusterState* state)
      : now_ms_(now_ms), state_(*state) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() { RollBackTo(0); }

  void Place(const Task& task, MachineId machine);
  // Takes back placements that no client knows of, given in the order in which
  // they were made; the last one goes first.  No remaining placement may depend
  // on them.
  void Withdraw(std::span<const Placement> placements);

  // How many steps there were so far.
  size_t size() const { return steps_.size(); }
  // Undoes all steps but the first `size`, the last one first.  So a placement
  // that is made again is legal where it was.
  void RollBackTo(size_t size);

  struct Outcome {
    std::vector<TaskId> placed;  // That waited before.
    int64_t given_up = 0;        // Of those that were placed before.
  };
  // Ends it; any further steps belong to a new one.
  Outcome Keep();

 private:
  struct Step {
    const Task* task = nullptr;
    MachineId machine;
    bool is_placement = false;
  };

  const int64_t now_ms_;
  ClusterState& state_;
  std::vector<Step> steps_;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_CONTEXT_TRANSACTION_H_
