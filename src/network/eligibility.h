// Which machines the rules of a class let it use, and what it prefers of them:
// once for each kind of machines, kept from round to round.
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

// What was asked and answered since the start.
struct EligibilityCounters {
  int64_t hits = 0;           // Verdicts that were known.
  int64_t evaluations = 0;    // Constraints asked.
  int64_t invalidations = 0;  // Machines seen anew, each in one aspect.
};

class Eligibility {
 public:
  // Both must outlive this.
  Eligibility(const ConstraintSet& constraints, const PolicySet& policies)
      : constraints_(constraints),
        policies_(policies),
        verdicts_(constraints),
        speeds_(policies) {}

  // Forgets the rules that no task has any more, and starts anew where most of
  // what is known is about what is gone.  Until the next call, preferences are
  // by how fast kinds of work are known to run now.
  void StartRound(ClusterState* state);
  // Until the next round tasks with data go only where that costs little more
  // than at best, by how long those with the same rules have waited
  // (CostModel::DetourMax()).  Call after StartRound().
  void HoldBack(ClusterState* state, int64_t now_ms);
  // Sees what has changed of `state`: its machines, and the rules of its tasks.
  // Call before asking.  Nothing else changes the kind of a machine.
  void Refresh(ClusterState* state);

  KindId KindOf(const Machine& machine) const {
    return kinds_.KindOf(machine.id);
  }
  KindId kind_count() const { return kinds_.size(); }

  struct Kind {
    KindId id = kNoKind;
    Cost preference = 0;  // What the policies charge there, whatever the load.
  };
  // The kinds of machines that rules allow, ascending.  Valid until the next
  // Refresh() or StartRound().  REQUIRES: Refresh() saw the rules.
  std::span<const Kind> KindsFor(const PlacementRules& rules);
  // Whether the machine is usable and of one of these kinds.
  bool Allows(const PlacementRules& rules, const Machine& machine);
  // By kind, whether it is one of these: for who asks about many machines.
  std::vector<bool> MaskFor(const PlacementRules& rules);

  // What policies charge there, whatever the load, if the rules allow it.
  Cost PreferenceCost(const PlacementRules& rules,
                      const Machine& machine) const {
    return policies_.PreferenceCost(rules, machine) +
           speeds_.Of(rules, machine);
  }

  EligibilityCounters counters() const;
  // Rises when Refresh() sees that labels of a machine may have changed.
  uint64_t relabelings() const { return relabelings_; }

 private:
  // What is known of rules about the kinds below `asked`.
  struct Answers {
    KindId asked = 0;
    std::vector<Kind> kinds;
  };

  // Tasks with data that wait.
  struct Held {
    Cost detour_max = 0;
    KindId asked = 0;  // As in Answers, and those of them that are near enough.
    std::vector<Kind> kinds;
  };
  // Charges anew what rules of these kinds of work, ascending, were charged.
  void PriceAnew(std::span<const WorkKindId> work_kinds,
                 const ClusterState& state);
  std::span<const Kind> NearKinds(const Answers& answers, Held* held) const;

  // The kinds that the rules may allow, ascending, where they name values of
  // labels or names; otherwise nothing.  So a cluster may have ten thousand
  // tasks, each for one machine, without all being asked about all.
  std::optional<std::vector<KindId>> KindsNamed(
      const PlacementRules& rules) const;
  // The kinds that meet one of the requirements, all of which must hold;
  // nothing where none of them names values.
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
  EligibilityCounters former_;    // Before all was begun anew.
  uint32_t rules_seen_ = 0;       // All with a lower id.
  uint64_t relabelings_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_NETWORK_ELIGIBILITY_H_
