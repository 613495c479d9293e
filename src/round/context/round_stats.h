// What a round may do, and what it did.
//
// Threads: values.

#ifndef SLUICE_ROUND_CONTEXT_ROUND_STATS_H_
#define SLUICE_ROUND_CONTEXT_ROUND_STATS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "packing/packing_problem.h"
#include "sluice/base/ids.h"
#include "state/requeues.h"

namespace sluice {

// What may be done to running tasks.
enum class Preemption {
  kOff,       // Nothing.
  kPriority,  // Less urgent tasks may be stopped for waiting ones.
  kFull,      // The same, and all may be moved.
};

// For tasks that are moved to other machines, with Preemption::kFull.
struct MoveOptions {
  // What each move must gain, in cost points, unless it makes room for a
  // waiting task: ten points of the weight of a preferred affinity term.
  int64_t cost = 30000;
  int64_t percent_per_round = 1;  // Of the running tasks.
  int64_t percent_per_hour = 10;
  int64_t min_run_ms = 300000;  // How long a task is left in its place.
  // Beyond this many machines, tasks move by parts of the cluster, one per
  // round.
  int64_t whole_machines_max = 400;
};

struct PreemptionOptions {
  Preemption mode = Preemption::kOff;
  // The cost of each stop, in addition to the task's own; more than 0.
  int64_t cost = 100;
  // Whether disruption budgets may be exceeded as a last resort.
  bool breaks_budgets = false;
  MoveOptions moves = {};
};

// For tasks that wait too long (round/reservations.h).
struct ReservationOptions {
  int64_t after_ms = 0;  // 0: machines are never reserved.
  // The share of all machines that may be reserved at a time; one always may.
  int64_t machines_percent = 1;
};

struct RoundOptions {
  // The work of a round, in arcs drawn over all its passes; what still waits
  // then is left to the next round. 0: no bound.
  int64_t arcs_max = 0;
  // The work that a round may spend on improving on its passes, in units
  // of some ten nanoseconds (round/context/work_budget.h). 0: none.
  int64_t improve_budget = 30000000;
  // The networks of the newest round are kept for people to read, up to this
  // many arcs and cost segments.
  int64_t network_arcs_max = 0;
  // Whether NoExecute taints evict what runs (round/leaving/eviction.h).
  bool evicts_on_no_execute = false;
  RequeueOptions requeues = {};  // Of the state.
  PreemptionOptions preemption = {};
  ReservationOptions reservations = {};
};

// The priorities that a level of a round stands for.
struct RoundLevel {
  std::optional<uint32_t> lowest = {};   // Nullopt: however low.
  std::optional<uint32_t> highest = {};  // Nullopt: however high.
};

// The part of a cost that is not proved to be necessary, between 0 and 1.
double PartNotNeeded(int64_t cost, int64_t bound);

// The loop fills in the times: the core has no clock.
struct RoundStats {
  uint64_t number = 0;
  int32_t passes = 0;
  int64_t evicted = 0;    // Tasks told to leave before the first pass.
  int64_t replaced = 0;   // Told to leave for their replacements.
  int64_t preempted = 0;  // Tasks told to leave for more urgent ones.
  int64_t moved = 0;      // Tasks told to leave for another machine.
  // Tasks on draining machines that a later round may tell to move.
  int64_t undrained = 0;
  int64_t nominated = 0;  // Waiting for others to leave, at the end.
  // As of the last search for tasks to stop or move: tasks that disruption
  // budgets exclude, and budgets that do so.
  int64_t left_alone = 0;
  int64_t exhausted_budgets = 0;
  // Stops and moves that were planned, but that budgets do not allow together.
  int64_t given_up = 0;
  // Tasks that might have been stopped for something more urgent, had their
  // budgets allowed more.
  int64_t held_back = 0;
  // Gangs that could start if more tasks moved than the hour has left, and how
  // many would have to.
  std::map<JobId, int64_t> too_many_moves;
  // Tasks that domains lack for minimums that a task waited for.
  int64_t unmet_minimums = 0;
  int64_t placed = 0;
  int64_t refused = 0;        // Made illegal by a change meanwhile.
  int64_t conflicts = 0;      // Made illegal by another of the pass.
  int64_t withdrawn = 0;      // Placements given up for better ones.
  int64_t packings = 0;       // Packing problems asked for.
  int64_t arcs = 0;           // Over all passes.
  int64_t pending = 0;        // Schedulable tasks left waiting.
  bool is_cut_short = false;  // By the work budget or a failed solve.
  // Over the tasks that the round could place: the cost of those that wait plus
  // the preferences of those placed, and the proved lower bound of both.
  PackingCost cost;
  PackingCost bound;
  bool is_bound_known = true;  // Of every level.
  // If true, the bound is unknown: in a large cluster only one round in several
  // looks for it.
  bool skips_proof = false;
  // The part of the price of stopped tasks that is not proved to be necessary,
  // from the newest packing that was to say so.  Nullopt if none could be
  // stopped.
  std::optional<double> stop_gap;
  // The levels of both, the most urgent first.  If nothing was to be decided,
  // each waiting priority is one, as far as there are not too many.
  std::vector<RoundLevel> levels;
  int64_t build_us = 0;
  int64_t solve_us = 0;
  int64_t commit_us = 0;
  int64_t total_us = 0;
  int64_t longest_step_us = 0;  // Of the core thread, without a pause.

  // The share of the cost that is not proved to be necessary, between 0
  // (optimal) and 1; nullopt if no bound is known.  For what waits on the
  // levels from `begin` up to `end`:
  std::optional<double> WaitingGap(size_t begin, size_t end) const;
  // For what is placed.  Also nullopt if more waits than is proved necessary:
  // then the bound is about other placements.
  std::optional<double> PlacementGap() const;
  // The larger of the known ones, all levels taken together.
  std::optional<double> Gap() const;

  // Nullopt if the priority is below all levels.
  std::optional<size_t> LevelOf(uint32_t priority) const;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_CONTEXT_ROUND_STATS_H_
