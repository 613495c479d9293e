// A round: passes that place what waits, until nothing more can be placed.
//
// By priority, the most urgent tier first, a round
//   heals   gangs that run with fewer tasks than they need;
//   starts  gangs, the oldest first, where they are worth what they displace:
//           in one problem with all else, all or none (network/constructs.h);
//   admits  the work that the free capacity should go to, at the least waiting
//           cost left over (core/admission.h);
//   packs   what was admitted, in bands of similar size, the largest first;
//           a band is one pass, one flow problem (network/band_network.h), and
//           repeats until it places nothing;
//   fills   what capacity is left with what was not admitted, until no waiting
//           task fits anywhere;
//   tries   the gangs that still wait with what is left, task by task, or in
//           the place of what is cheaper to leave waiting
//           (core/gang_exchange.h);
//   moves   tasks near which others must run that have no room there
//           (core/leader_moves.h);
//   searches small tiers, all of which it decides at once (core/tier_search.h);
//   settles classes that would rather have gone where there is room by now.
//
// Tasks that depend on tasks are placed whole classes at a time, too: where
// nobody is yet whom a class must be near, one of it goes first, and the others
// follow in the next pass; whom others must be near goes where these have room
// (core/followers.h).  Classes of one pass may get into each other's way;
// then the later ones are refused at commit, and have their chance in the next.
// As long as tasks are placed that others may wait for, the tiers are gone
// through again.
//
// Threads: none of its own; confined to the core thread.

#ifndef SLUICE_CORE_ROUND_H_
#define SLUICE_CORE_ROUND_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "constraints/class_peers.h"
#include "constraints/constraint_set.h"
#include "core/followers.h"
#include "core/gangs.h"
#include "core/round_work.h"
#include "core/tier_packing.h"
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
  int64_t evicted = 0;   // Tasks told to leave before the first pass.
  int64_t replaced = 0;  // Tasks told to leave for those that take their place.
  int64_t placed = 0;
  int64_t refused = 0;    // Placements that a change meanwhile made illegal.
  int64_t searches = 0;   // Gangs that no pass could make whole.
  int64_t conflicts = 0;  // Placements that another of the pass made illegal.
  int64_t withdrawn = 0;  // Placements given up for better ones.
  int64_t packings = 0;   // Packing problems solved.
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

  // See Scheduler.  Both count what they do in `stats`.
  std::optional<RoundWork> NextStep(RoundStats* stats);
  void FinishStep(const RoundAnswer& answer, RoundStats* stats);
  // Ends the round where it is: no gang is left half placed.
  void End(RoundStats* stats);

 private:
  enum class Stage {
    kHeal,
    kGangs,
    kAdmit,
    kFill,
    kPack,
    kRefill,
    kTrials,
    kSettle
  };
  struct Member {
    ClassKey key;
    int64_t count = 0;  // Tasks that may still be placed.
    int64_t size = 0;   // Dominant share of the cluster, in kSizeUnits.
  };
  struct Band {
    std::vector<Member> members;
    // Gangs that its pass is to start; what else is in it is there for them to
    // be weighed against.
    std::vector<Gangs::Waiting> gangs;
  };
  // A gang that is placed task by task, to be taken back if it is not whole.
  struct Trial {
    Gangs::Waiting gang;
    std::vector<TaskId> placed;
    size_t placed_before = 0;  // When it was planned last.
    bool is_planned = false;
  };

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
  // Asks for a packing of the tier, unless it is as good as can be.  Returns
  // whether it does.
  bool StartPacking(RoundStats* stats);
  void FinishPacking(const PackingSolution& solution, RoundStats* stats);
  void FinishPass(const FlowSolution& solution, RoundStats* stats);
  // The machines that have a pattern, by pattern.
  std::vector<MachineGroup> GroupsByPattern();
  // Begins with what the stage has left to do about gangs.  Returns false where
  // there is nothing.
  bool PlanGangs(RoundStats* stats);
  void FindWaitingGangs();
  int64_t CountWaiting(const ClassKey& key) const;
  // For how many of `count` tasks there is room by what the class says of
  // itself, at most.
  int64_t RoomBesideItself(const ClassKey& key, int64_t count) const;
  bool HasRoomBesideItself(const Gangs::Waiting& gang) const;
  // Whether each task has room, be it not all of them at once.
  bool MayFit(const Gangs::Waiting& gang);
  // Whether its tasks go one after the other.
  bool NeedsLeader(const Gangs::Waiting& gang) const;
  void StartTrial(Gangs::Waiting gang);
  // Once more as long as it places something: a task may have waited for it.
  bool PlanTrial();
  // Keeps what it placed if the gang is whole.
  void EndTrial(RoundStats* stats);
  // See core/gang_exchange.h.  Returns whether it searched.
  bool ExchangeFor(const Gangs::Waiting& gang, RoundStats* stats);
  void Withdraw(const std::vector<TaskId>& tasks, RoundStats* stats);
  // See core/leader_moves.h.  Once for each tier; returns whether it placed
  // anything.
  bool MoveLeadersOfTier(RoundStats* stats);
  // See core/tier_search.h.
  void SearchThisTier(RoundStats* stats);
  // Whether a task waits that may be placed one by one.
  bool IsTierWaiting() const;
  // Whether one of a gang waits that runs with too few.
  bool IsTierHealing() const;
  // Whether tasks may have been waiting for those that were placed since the
  // first tier was entered.
  bool MustStartOver(const RoundStats& stats) const;
  // Puts tasks in the place of those that they replace.
  void Replace(RoundStats* stats);
  bool EnterTierBelow(std::optional<uint32_t> priority);
  std::vector<Member> FittingClasses(Resources* free);
  // The machines as they are now.
  const std::vector<MachineGroup>& Groups();
  void AdmitMembers(std::vector<Member>* members, const Resources& free) const;
  // `members` in bands, largest first.
  void CutBands(std::vector<Member> members);
  std::vector<BandClass> CollectTasks(const Band& band);
  // How the classes stand to the tasks that run now.
  void LookUpPeers(std::vector<BandClass>* classes);
  // Has the classes of a pass go where those have room that must be near them.
  // Returns how these stand to the tasks that run.
  std::vector<const ClassPeers*> FindFollowers();
  // Places those next.
  void PlanFollowers();
  // Whether the proposal is legal as things are.
  bool IsLegal(const Proposal& proposal, RoundStats* stats) const;

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
  uint64_t delta_begin_ = 0;  // Of this tier.
  std::vector<TaskId> placed_in_tier_;
  // Classes with tasks of this tier that are where they would rather not be.
  std::deque<std::pair<ClassKey, std::vector<TaskId>>> unsettled_;
  std::deque<Band> bands_;
  Gangs gangs_;
  std::deque<Gangs::Waiting> waiting_gangs_;  // To be looked at in this stage.
  std::optional<Trial> trial_;                // While it runs.
  int64_t search_budget_;
  bool must_refill_ = false;   // Exchanges left tasks waiting.
  int64_t placed_before_ = 0;  // When the first tier was entered.
  bool has_started_over_ = false;
  bool has_replaced_ = false;
  std::vector<MachineGroup> groups_;
  std::optional<uint64_t>
      groups_version_;               // Of the state, when they were made.
  std::optional<BandNetwork> pass_;  // The open one, if it has a network.
  std::vector<BandClass> pass_classes_;
  std::vector<std::unique_ptr<ClassPeers>> pass_peers_;
  std::optional<Followers> followers_;
  uint64_t pass_version_ = 0;  // Of the state, when these were looked up.
  bool has_changed_ = false;   // Between two passes of this round.
  std::optional<TierPacking> packing_;  // While it is solved.
  bool must_ask_ = false;               // It has not been handed out.
  bool has_packed_ = false;             // This tier.
  bool has_moved_leaders_ = false;      // Of this tier.
  // What each machine is to hold by the packing, for the pass that follows.
  absl::flat_hash_map<MachineId, uint32_t> pattern_of_;
  std::vector<std::map<ClassKey, int64_t>> patterns_;
};

}  // namespace sluice

#endif  // SLUICE_CORE_ROUND_H_
