// What all stages of a round share.
//
// Groups of machines and eligibility are derived from the state; only this
// class refreshes them.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_ROUND_CONTEXT_ROUND_CONTEXT_H_
#define SLUICE_ROUND_CONTEXT_ROUND_CONTEXT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "constraints/constraint_set.h"
#include "cost/policy_set.h"
#include "cost/waiting_prices.h"
#include "network/aggregates.h"
#include "network/eligibility.h"
#include "network/fresh_eligibility.h"
#include "network/machine_grouping.h"
#include "network/machine_groups.h"
#include "round/context/minimum_askers.h"
#include "round/context/move_budget.h"
#include "round/context/network_log.h"
#include "round/context/packing_agenda.h"
#include "round/context/packing_plan.h"
#include "round/context/placements.h"
#include "round/context/rebalance_timer.h"
#include "round/context/round_stats.h"
#include "round/context/search_pace.h"
#include "round/context/transaction.h"
#include "round/context/work_budget.h"
#include "round/together/followers.h"
#include "round/together/gangs.h"
#include "state/cluster_state.h"

namespace sluice {

// The factor on the waiting cost of a task that was promised a place.
inline constexpr int64_t kPromised = 1000;

// A cost, and its proved lower bound.
struct Appraisal {
  PackingCost cost;
  std::optional<PackingCost> bound = {};
  uint64_t version = 0;  // Of the state it is about.
};

// Tasks of equal priority, which are decided on together.
struct Tier {
  uint32_t priority = 0;
  uint64_t delta_begin = 0;  // The first delta of the tier.

  // Calls visit(key, tasks) for each waiting class of the tier, until it
  // returns false.
  template <class Visit>
  void VisitWaiting(const ClusterState& state, Visit visit) const {
    const auto& pending = state.pending();
    for (auto it = pending.lower_bound(ClassKey{priority, {}});
         it != pending.end() && it->first.priority == priority; ++it) {
      if (!visit(it->first, it->second)) return;
    }
  }
};

// What a stage changed, as far as others have to know.
struct StageResult {
  // Placements were moved: something that waits may fit where a task was.
  bool has_moved = false;
  // Gangs were started that no packing has seen.
  bool has_new_gangs = false;
  // Whether all running and all waiting tasks were looked at together; nullopt:
  // no change.
  std::optional<bool> has_looked_at_all = {};
  // What was known of the cost holds no longer; `appraisal` replaces it.
  bool voids_appraisal = false;
  std::optional<Appraisal> appraisal = {};
  // A better plan, which the tiers are to carry out, and nominations to restore
  // after it if their room is still there.
  std::optional<PackingPlan> plan = {};
  std::vector<std::pair<TaskId, MachineId>> left_out = {};
  // Minimums that tasks of the tier waited for.
  MinimumAskers minimum_askers = {};
  // How many priorities the next attempt to place several together may span;
  // nullopt: as many as before.
  std::optional<size_t> together_max = {};
  // The tier with which the round goes on.
  std::optional<Tier> tier = {};
};

class RoundContext {
 public:
  // The inputs of a round.  All must outlive it.
  struct Subject {
    ClusterState& state;
    const PolicySet& policies;
    const ConstraintSet& constraints;
    Eligibility& eligibility;
    // Null: nothing moves.
    MoveBudget* move_budget = nullptr;
    RebalanceTimer* rebalance_timer = nullptr;
    // Null: everything counts as new.
    SearchPace* search_pace = nullptr;
    // Null: the context makes its own.
    MachineGrouping* grouping = nullptr;
    // Null: networks are not kept.
    NetworkLog* network_log = nullptr;
    // Victims of rounds that no client has been told of.  Null: each round
    // knows only its own.
    std::vector<TaskId>* untold_victims = nullptr;
  };
  // Tasks that are submitted from here on are left to the next round.
  RoundContext(const Subject& subject, const RoundOptions& limits,
               int64_t as_of_ms);

  ClusterState& state;
  const PolicySet& policies;
  const ConstraintSet& constraints;
  const RoundOptions options;
  const int64_t now_ms;
  const WaitingPrices prices;
  const uint64_t sequence_end;  // Of the tasks before the start.
  uint64_t delta_begin;         // The first delta of the round.
  Gangs gangs;
  // The tasks with reserved room when the round began.
  const absl::flat_hash_set<TaskId> nominated_before;
  // Those of them that keep it (Nominations::IsFinal()).
  const absl::flat_hash_set<TaskId> final_before;
  MoveBudget* const move_budget;
  RebalanceTimer* const rebalance_timer;
  SearchPace* const search_pace;
  NetworkLog* const network_log;
  std::vector<TaskId>* const untold_victims;
  // True if tasks are to be moved to cheaper places.
  const bool must_rebalance;
  // True if a task may now leave for a waiting one that could not in the round
  // before.
  const bool has_news;
  RoundStats* stats = nullptr;  // Never null while a stage runs.
  WorkBudget budget;
  // True if a command changed the state since the round began.
  bool has_changed = false;
  // True if a packing covered all running and all waiting tasks.
  bool has_looked_at_all = false;
  // How many priorities the next attempt to place several together may span.
  size_t together_max = std::numeric_limits<size_t>::max();

  // Affinity leaders of pending classes, as of the first pass.
  Followers& followers();

  // What is to be packed next.
  PackingAgenda agenda;
  // The levels of the round, once priorities were decided on together.
  std::optional<PackingLevels> levels;
  // What the tiers are to carry out if a packing found something better.
  std::optional<PackingPlan> plan;
  // Nominations to restore at the end if their room is still there.
  std::vector<std::pair<TaskId, MachineId>> left_out;
  // The minimums that a task waited for.
  MinimumAskers minimum_askers;
  // The change counts of the state and its nominations, and the number of
  // victims, when SpareNeedless() last looked at everything it may do.
  std::optional<std::array<uint64_t, 3>> needed_as_of;
  // The cost of all that could be placed, and its lower bound.
  std::optional<Appraisal> appraisal;

  // The machines as they are now.
  const std::vector<MachineGroup>& FreshGroups();
  // The shared charges of policies; none if there are none.  And the groups by
  // place there.
  const Aggregates& FreshAggregates();
  std::span<const uint32_t> FreshGroupsByPlace();
  // What groups and aggregates have in common, as far as that is known.
  std::span<const Aggregates::Parts> FreshParts();
  // For callers without need of groups, which take a look at every machine.
  Eligibility& eligibility() { return eligibility_.Now(); }
  // What the round has placed and may still take back.  The reference is valid
  // until the state changes.
  const std::vector<Placement>& FreshPlacements();
  // Commands may have come: some placements may have been told since.
  void ForgetPlacements() { placements_version_.reset(); }

  // The waiting tasks of the class that were submitted in time, the most urgent
  // first.
  int64_t CountWaiting(const ClassKey& key) const;
  std::vector<const Task*> WaitingTasks(
      const ClassKey& key,
      size_t count_max = std::numeric_limits<size_t>::max()) const;
  Cost WaitingCostOf(const Task& task) const { return prices.Of(task); }
  // The waiting cost relative to others of its priority.  However many they
  // are, these never take the place of a task for which others were told to
  // leave, or that must stay.
  Cost UrgencyOf(const Task& task, bool must_stay = false) const {
    const bool is_promised = must_stay || nominated_before.contains(task.id);
    return WaitingCostOf(task) * (is_promised ? kPromised : 1);
  }
  // How many running tasks may be moved.
  MoveBudget::Left MovesLeft() const;
  // Counts moves; a negative number takes moves back.
  void NoteMoved(int64_t moves);
  // Makes what a stage changed known to the next one.
  void TakeOver(StageResult result);
  // Takes back those of the placements that can be.
  void Withdraw(std::span<const TaskId> tasks);
  // Keeps what the transaction did, and counts it.
  Transaction::Outcome Keep(Transaction* transaction);

 private:
  void RefreshGroups();

  FreshEligibility eligibility_;
  std::optional<Followers> followers_;
  MachineGrouping own_grouping_;
  MachineGrouping& grouping_;
  // Groups of single machines.
  std::vector<MachineGroup> lone_groups_;
  std::vector<uint32_t> lone_group_at_;
  // Versions of the state when these were made.
  std::optional<uint64_t> groups_version_;
  std::vector<Placement> placements_;
  std::optional<uint64_t> placements_version_;
};

// True if a task of the tier waits that may be placed one by one.
bool IsAnyWaiting(const RoundContext& context, const Tier& tier);
// True if a task waits whose gang runs with too few.
bool IsAnyHealing(const RoundContext& context, const Tier& tier);

}  // namespace sluice

#endif  // SLUICE_ROUND_CONTEXT_ROUND_CONTEXT_H_
