// A round: passes that place what waits, until nothing more can be placed.
//
// By priority, the most urgent tier first, a round
//   admits  the work that the free capacity should go to, at the least waiting
//           cost left over (core/admission.h);
//   packs   what was admitted, in bands of similar size, the largest first;
//           a band is one pass, one flow problem (network/band_network.h), and
//           repeats until it places nothing;
//   fills   what capacity is left with what was not admitted, until no waiting
//           task fits anywhere;
//   settles classes that would rather have gone where there is room by now.
//
// Threads: none of its own; confined to the core thread.

#ifndef SLUICE_CORE_ROUND_H_
#define SLUICE_CORE_ROUND_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "constraints/constraint_set.h"
#include "core/exchange.h"
#include "cost/policy_set.h"
#include "network/band_network.h"
#include "network/eligibility.h"
#include "network/machine_groups.h"
#include "sluice/flow/problem.h"
#include "state/cluster_state.h"

namespace sluice {

struct RoundOptions {
  // Work a round may do, in arcs drawn over all its passes; what then still
  // waits is the next round's.  0: no bound.
  int64_t arcs_max = 0;
  // Whether NoExecute taints evict what runs (core/eviction.h).
  bool evicts_on_no_execute = false;
};

// What a round did.  Times are the loop's to fill in: the core has no clock.
struct RoundStats {
  uint64_t number = 0;
  int32_t passes = 0;
  int64_t evicted = 0;  // Tasks told to leave before the first pass.
  int64_t placed = 0;
  int64_t refused = 0;    // Placements that a change meanwhile made illegal.
  int64_t withdrawn = 0;  // Placements given up for better ones.
  int64_t arcs = 0;       // Over all passes.
  int64_t pending = 0;    // Schedulable tasks left waiting.
  bool is_cut_short = false;  // By the work budget or a failed solve.
  int64_t build_us = 0;
  int64_t solve_us = 0;
  int64_t commit_us = 0;
  int64_t total_us = 0;
};

class Round {
 public:
  // Serves what waits in `state` now, as of `now_ms`; what is submitted later
  // is the next round's.  All must outlive the round.
  Round(ClusterState* state, const PolicySet& policies,
        const ConstraintSet& constraints, Eligibility* eligibility,
        const RoundOptions& options, int64_t now_ms);

  // See Scheduler.  Both count what they do in `stats`.  A problem without
  // nodes is a pause: the core has more to do by itself, and lets commands in
  // before it goes on.
  std::optional<FlowProblem> NextPass(RoundStats* stats);
  void FinishPass(const FlowSolution& solution, RoundStats* stats);

 private:
  enum class Stage { kAdmit, kFill, kExchange, kRefill, kSettle };
  struct Member {
    ClassKey key;
    int64_t count = 0;  // Tasks that may still be placed.
    int64_t size = 0;   // Dominant share of the cluster, in kSizeUnits.
  };
  using Band = std::vector<Member>;

  // Cuts the tasks of the current tier into bands_, largest first.  Returns
  // false where none of them fits anywhere.
  bool PlanStage();
  bool IsSpent(const RoundStats& stats) const {
    return options_.arcs_max > 0 && stats.arcs >= options_.arcs_max;
  }
  // Goes on to the next stage or tier.  Returns false after the last.
  bool Advance(RoundStats* stats);
  void StartSettling();
  // Takes back placements of the next class that can do better, for a band of
  // its own.  Returns false where there is none.
  bool PlanSettling(RoundStats* stats);
  // What the class is charged where it likes best among the machines that have
  // room for it.
  std::optional<Cost> LeastPreference(const ClassKey& key);
  // Returns whether the exchange is done.
  bool StepExchange(RoundStats* stats);
  // Whether any task of the current tier waits.
  bool IsTierWaiting() const;
  bool EnterTierBelow(std::optional<uint32_t> priority);
  std::vector<Member> FittingClasses(Resources* free);
  // The machines as they are now.
  const std::vector<MachineGroup>& Groups();
  void AdmitMembers(std::vector<Member>* members, const Resources& free) const;
  std::vector<BandClass> CollectTasks(const Band& band) const;

  ClusterState* state_;
  const PolicySet& policies_;
  const ConstraintSet& constraints_;
  Eligibility* eligibility_;
  const RoundOptions options_;
  const int64_t now_ms_;
  const uint64_t sequence_end_;  // Tasks from here on came after the start.

  std::optional<uint32_t> priority_;  // Of the current tier.
  Stage stage_ = Stage::kAdmit;
  int64_t placed_in_stage_ = 0;
  std::vector<TaskId> placed_in_tier_;
  // Classes with tasks of this tier that are where they would rather not be.
  std::deque<std::pair<ClassKey, std::vector<TaskId>>> unsettled_;
  std::deque<Band> bands_;
  std::vector<MachineGroup> groups_;
  std::optional<uint64_t>
      groups_version_;                // Of the state, when they were made.
  std::optional<BandNetwork> pass_;   // The open one, if it has a network.
  std::optional<Exchange> exchange_;  // While it runs.
};

}  // namespace sluice

#endif  // SLUICE_CORE_ROUND_H_
