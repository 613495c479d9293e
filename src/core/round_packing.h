// What waits, and what a round has placed so far, as a packing problem: all of
// it is decided on at once, whatever its sizes and priorities.
//
// Tasks with terms that a packing does not heed (core/packing_peers.h), or that
// such terms are about, stay where they are, and so does whatever a client has
// been told of.  A packing that may stop what runs takes some of the former
// back (core/right_of_way.h).  Gangs that nobody has been told of are started,
// or not, as a whole.  Others that have started stay whole: nothing is worth
// leaving a task of theirs waiting.
//
// Threads: values and free functions; confined to the core thread.

#ifndef SLUICE_CORE_ROUND_PACKING_H_
#define SLUICE_CORE_ROUND_PACKING_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/btree_map.h"
#include "core/known_plan.h"
#include "core/packing_part.h"
#include "core/packing_plan.h"
#include "core/participants.h"
#include "core/round_context.h"
#include "core/running_tasks.h"
#include "packing/packing_problem.h"
#include "sluice/state/task.h"

namespace sluice {

struct RoundPacking {
  PackingProblem problem;
  std::vector<ClassKey> classes;                 // Of what is to be placed.
  std::vector<std::vector<MachineId>> machines;  // Of each of its groups.
  // What runs and may be stopped, and which of its classes those of the problem
  // are that follow the classes above.
  RunningTasks running;
  std::vector<size_t> running_classes;
  // The class of which a task takes part alone, if any, and whether some have
  // their turns.
  std::optional<ClassKey> lone;
  std::optional<uint32_t> turn_priority;  // Of it, or of a gang in its turn.
  bool has_turns = false;
  // Whether some of it may move instead.
  bool may_move = false;
  // Whether it is about a part of the machines, and stops nothing.
  bool is_part = false;
  // What it does not place anew, but may take back for what is more urgent,
  // with what it costs that it waits.
  absl::btree_map<TaskId, Cost> untold;
  // What the problem is to place anew, and what is placed below its levels.
  std::vector<TaskId> placed;
  bool has_placed_below = false;
  // The priorities that it decides on: the round's, or its own where it may
  // stop what runs.
  std::optional<PackingLevels> levels;
  // What all of it costs as it is, and what it does at least by what each class
  // likes best.
  PackingCost now;
  PackingCost least;
  LevelCosts misfits;  // The waiting cost of what fits nowhere, in both.
  // Whether there are tasks that the problem leaves out.
  bool leaves_out = false;
  // Then there is no problem, and `least` may be far too little.
  bool is_too_large = false;

  // What is stopped loses its work: then a better packing is worth a search.
  bool MayStop() const {
    return std::ranges::any_of(running.classes(),
                               &RunningTasks::Class::may_be_stopped);
  }

  // Calls visit(machine, pattern) for each machine, group by group: those come
  // first of which the solution says what they hold.
  template <class Visit>
  void VisitMachines(std::span<const Pattern> solution, Visit visit) const {
    std::vector<size_t> taken(machines.size(), 0);
    const auto next = [&](size_t group, const Pattern& pattern) {
      visit(machines[group][taken[group]++], pattern);
    };
    for (const Pattern& pattern : solution) {
      for (int64_t i = 0; i < pattern.machines; ++i) {
        next(pattern.group, pattern);
      }
    }
    for (size_t g = 0; g < taken.size(); ++g) {
      const Pattern nothing{g, 1, {}};
      while (taken[g] < machines[g].size()) next(g, nothing);
    }
  }
};

// What waits of all priorities, and what the round has placed.  The first call
// of a round that has anything to decide makes its levels: priorities above the
// first of which a task waits are one, since nothing is to be decided between
// them, and of those that follow so many have a level of their own.  For a
// bound all that is below is one more.  With what runs, each level comes after
// what is stopped of it, and none of this is told: these levels are the
// packing's alone.  Where there are too many machines, tasks move by parts.
RoundPacking DescribeRound(PackingScope scope, RoundContext* context,
                           const KnownPlan& known = {},
                           const PackingPart* part = nullptr);

}  // namespace sluice

#endif  // SLUICE_CORE_ROUND_PACKING_H_
