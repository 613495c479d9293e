// Which machines the rules of a class allow, and which of these it prefers:
// computed once for each kind of machines, and cached across rounds.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_NETWORK_ELIGIBILITY_H_
#define SLUICE_NETWORK_ELIGIBILITY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "constraints/machine_kinds.h"
#include "constraints/verdict_cache.h"
#include "cost/policy_set.h"
#include "cost/speed_prices.h"
#include "state/cluster_state.h"

namespace sluice {

// Counts of queries and answers since the start.
struct EligibilityCounters {
  int64_t hits = 0;           // Verdicts found in the cache.
  int64_t evaluations = 0;    // Constraints asked.
  int64_t invalidations = 0;  // Machines, once per changed aspect.
};

class Eligibility {
 public:
  // Both must outlive this.
  Eligibility(const ConstraintSet& constraints, const PolicySet& policies)
      : constraints_(constraints),
        policies_(policies),
        verdicts_(constraints),
        speeds_(policies) {}

  // Forgets rules that no task has any more, and starts anew if most of the
  // cache is about what is gone.  Until the next call, preferences use the
  // speeds of kinds of work known now.
  void StartRound(ClusterState* state);
  // Until the next round, tasks with data go only to places that cost little
  // more than their best one, depending on how long tasks with the same rules
  // have waited (CostModel::DetourMax()).  Call it after StartRound().
  void HoldBack(ClusterState* state, int64_t now_ms);
  // Takes in the changes of `state`: its machines, and the rules of its tasks.
  // Call it before asking.  Nothing else changes the kind of a machine.
  void Refresh(ClusterState* state);

  KindId KindOf(const Machine& machine) const {
    return kinds_.KindOf(machine.id);
  }
  KindId kind_count() const { return kinds_.size(); }

  struct Kind {
    KindId id = kNoKind;
    Cost preference = 0;  // What the policies charge there, regardless of load.
  };
  // The kinds of machines that rules allow, ascending.  Valid until the next
  // Refresh() or StartRound().  REQUIRES: Refresh() saw the rules.
  std::span<const Kind> KindsFor(const PlacementRules& rules);
  // True if the machine is usable and of one of these kinds.
  bool Allows(const PlacementRules& rules, const Machine& machine);
  // By kind: true if it is one of these.  For callers that ask about many
  // machines.
  std::vector<bool> MaskFor(const PlacementRules& rules);

  // What policies charge there, regardless of load, if the rules allow it.
  Cost PreferenceCost(const PlacementRules& rules,
                      const Machine& machine) const {
    return policies_.PreferenceCost(rules, machine) +
           speeds_.Of(rules, machine);
  }

  EligibilityCounters counters() const;
  // Rises when Refresh() sees that labels of a machine may have changed.
  uint64_t relabelings() const { return relabelings_; }

 private:
  // What is known about rules for the kinds below `asked`.
  struct Answers {
    KindId asked = 0;
    std::vector<Kind> kinds;
  };

  // Waiting tasks with data.
  struct Held {
    Cost detour_max = 0;
    KindId asked = 0;  // As in Answers; `kinds` are those that are near enough.
    std::vector<Kind> kinds;
  };
  // Recomputes the charges for rules of these kinds of work, ascending.
  void PriceAnew(std::span<const WorkKindId> work_kinds,
                 const ClusterState& state);
  std::span<const Kind> NearKinds(const PlacementRules& rules,
                                  const Answers& answers, Held* held) const;

  // The kinds that the rules may allow, ascending, if the rules name label
  // values or machine names; otherwise nullopt.  So a cluster may have ten
  // thousand tasks for one machine each, without checking every task against
  // every kind.
  std::optional<std::vector<KindId>> KindsNamed(
      const PlacementRules& rules) const;
  // The kinds that meet one of the requirements, all of which must hold;
  // nullopt if none of them names values.
  std::optional<std::vector<KindId>> KindsNamed(
      const std::vector<LabelRequirement>& labels,
      const std::vector<LabelRequirement>& fields) const;

  const ConstraintSet& constraints_;
  const PolicySet& policies_;
  MachineKinds kinds_;
  VerdictCache verdicts_;
  SpeedPrices speeds_;
  absl::flat_hash_map<uint32_t, Answers> answers_;  // By the id of the rules.
  absl::flat_hash_map<uint32_t, Held> held_;        // The same.
  std::vector<bool> has_usable_;  // By kind, as of HoldBack().
  EligibilityCounters former_;    // Before the restart.
  uint32_t rules_seen_ = 0;       // All with a lower id.
  uint64_t relabelings_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_NETWORK_ELIGIBILITY_H_
