// What moves gain in preferences between tasks, one move after the other.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_ROUND_SEARCH_WISH_GAINS_H_
#define SLUICE_ROUND_SEARCH_WISH_GAINS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "constraints/constraint_set.h"
#include "cost/policy_set.h"
#include "state/cluster_state.h"

namespace sluice {

class WishGains {
 public:
  // All must outlive this, and the state must not change meanwhile.  REQUIRES:
  // its peers are in sync.
  WishGains(const ClusterState& state, const ConstraintSet& constraints,
            const PolicySet& policies)
      : state_(state), constraints_(constraints), policies_(policies) {}

  // In cost points: how much less the running task pays on the other machine,
  // once the moves asked about before are made.  Gains and losses of other
  // tasks do not count.  REQUIRES: it requires nothing of other tasks.
  int64_t Move(const Task& task, MachineId to);

 private:
  // A task of the class has left a machine for another one, or for none yet.
  struct Step {
    const ClassKey* key;
    MachineId from;
    std::optional<MachineId> to;
  };

  // What the steps change in the term's domain of the machine; each counts as
  // count(key).
  int64_t ChangeIn(const CountedTerm& term, MachineId machine,
                   std::span<const Step> steps, auto count) const;
  // What preferred terms are worth to a task of the class there, its own and
  // those of others.
  int64_t WorthOn(MachineId machine, const ClassKey& key,
                  std::span<const Step> steps) const;

  const ClusterState& state_;
  const ConstraintSet& constraints_;
  const PolicySet& policies_;
  std::vector<Step> steps_;  // Moves so far of tasks that others may select.
};

}  // namespace sluice

#endif  // SLUICE_ROUND_SEARCH_WISH_GAINS_H_
