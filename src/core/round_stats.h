// What a round may do, and what it did.
//
// Threads: values.

#ifndef SLUICE_CORE_ROUND_STATS_H_
#define SLUICE_CORE_ROUND_STATS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "packing/packing_problem.h"
#include "sluice/base/ids.h"
#include "state/requeues.h"

namespace sluice {

// What may be done to tasks that run.
enum class Preemption {
  kOff,       // Nothing.
  kPriority,  // What is less urgent than a task that waits may be stopped.
  kFull,      // The same, and anything may be moved.
};

// Of tasks that are moved to other machines, with Preemption::kFull.
struct MoveOptions {
  // What each move must gain, in cost points, unless it makes room for a task
  // that waits: ten points of the weight of a preferred affinity term.
  int64_t cost = 30000;
  int64_t percent_per_round = 1;  // Of the tasks that run.
  int64_t percent_per_hour = 10;
  int64_t min_run_ms = 300000;  // How long a task is left where it was placed.
  // With more machines tasks move by parts of the cluster, one a round.
  int64_t whole_machines_max = 400;
};

struct PreemptionOptions {
  Preemption mode = Preemption::kOff;
  // What each stop costs, beside what the task itself says; more than 0.
  int64_t cost = 100;
  // Whether disruption budgets may be exceeded where nothing else helps.
  bool breaks_budgets = false;
  MoveOptions moves = {};
};

// For tasks that wait too long (core/reservations.h).
struct ReservationOptions {
  int64_t after_ms = 0;  // 0: machines are never reserved.
  // Of all machines, those that may be reserved at a time; one always may.
  int64_t machines_percent = 1;
};

struct RoundOptions {
  // Work a round may do, in arcs drawn over all its passes; what then still
  // waits is the next round's.  0: no bound.
  int64_t arcs_max = 0;
  // Work that a round may spend on doing better than its passes did, in looks
  // of some ten nanoseconds.  0: none.
  int64_t improve_budget = 30000000;
  // The networks of the newest round are kept for people to read, as far as
  // they have no more arcs and cost segments than this.
  int64_t network_arcs_max = 0;
  // Whether NoExecute taints evict what runs (core/eviction.h).
  bool evicts_on_no_execute = false;
  RequeueOptions requeues = {};  // Of the state.
  PreemptionOptions preemption = {};
  ReservationOptions reservations = {};
};

// The priorities that a level of a round stands for.
struct RoundLevel {
  std::optional<uint32_t> lowest = {};   // Nothing: however low.
  std::optional<uint32_t> highest = {};  // Nothing: however high.
};

// The part of a cost that is not proved to be needed, between 0 and 1.
double PartNotNeeded(int64_t cost, int64_t bound);

// Times are the loop's to fill in: the core has no clock.
struct RoundStats {
  uint64_t number = 0;
  int32_t passes = 0;
  int64_t evicted = 0;   // Tasks told to leave before the first pass.
  int64_t replaced = 0;  // Tasks told to leave for those that take their place.
  int64_t preempted = 0;  // Tasks told to leave for more urgent ones.
  int64_t moved = 0;      // Tasks told to leave for another machine.
  // Of draining machines, tasks that a later round may tell to move.
  int64_t undrained = 0;
  int64_t nominated = 0;  // Tasks that wait for others to leave, at the end.
  // When it last looked for what may be stopped or moved: tasks that disruption
  // budgets keep out of that, and budgets that do.
  int64_t left_alone = 0;
  int64_t exhausted_budgets = 0;
  // Stops and moves that were planned, but that budgets do not allow together.
  int64_t given_up = 0;
  // Of which budgets let no more be stopped than they did, while something more
  // urgent waited.
  int64_t held_back = 0;
  // Gangs that could start if more tasks moved than the hour has left, and how
  // many would have to.
  std::map<JobId, int64_t> too_many_moves;
  // Tasks that domains lack, of minimums of which a task waited.
  int64_t unmet_minimums = 0;
  int64_t placed = 0;
  int64_t refused = 0;    // Placements that a change meanwhile made illegal.
  int64_t conflicts = 0;  // Placements that another of the pass made illegal.
  int64_t withdrawn = 0;  // Placements given up for better ones.
  int64_t packings = 0;   // Packing problems asked for.
  int64_t arcs = 0;       // Over all passes.
  int64_t pending = 0;    // Schedulable tasks left waiting.
  bool is_cut_short = false;  // By the work budget or a failed solve.
  // Of the tasks that the round could place: what those cost that wait and the
  // preferences of those that it placed, and the least that both can, as far as
  // that is proved.
  PackingCost cost;
  PackingCost bound;
  bool is_bound_known = true;  // Of every level.
  // Then it is not known: of a large cluster a round in several looks for it.
  bool skips_proof = false;
  // Of the price of who is stopped, the part that is not proved to be needed;
  // nothing where nobody could be.  Of the newest packing that was to say so.
  std::optional<double> stop_gap;
  // Of both, the most urgent first.  Where nothing was to be decided each
  // priority that waits is one, as far as there are not too many.
  std::vector<RoundLevel> levels;
  int64_t build_us = 0;
  int64_t solve_us = 0;
  int64_t commit_us = 0;
  int64_t total_us = 0;
  int64_t longest_step_us = 0;  // Of the core thread, without a pause.

  // How much of what it costs is not proved to be needed, between 0 (as good as
  // can be) and 1; nothing where no bound is known.  Of what waits on the
  // levels from `begin` up to `end`:
  std::optional<double> WaitingGap(size_t begin, size_t end) const;
  // Of what is placed.  Nothing, too, where more waits than is proved to: the
  // bound is of other placements then.
  std::optional<double> PlacementGap() const;
  // The larger of those that are known, all levels taken together.
  std::optional<double> Gap() const;

  // Nothing where the priority is below all levels.
  std::optional<size_t> LevelOf(uint32_t priority) const;
};

}  // namespace sluice

#endif  // SLUICE_CORE_ROUND_STATS_H_
