// Waiting tasks and a round's placements so far as a packing problem: all of it
// is decided on at once, whatever its sizes and priorities.
//
// Tasks with terms that a packing does not heed
// (round/packing/packing_peers.h), or that such terms select, stay where they
// are, and so does whatever a client has been told of.  A preempting packing
// takes some of the former back (round/packing/right_of_way.h).  Gangs that no
// client has been told of are started whole, or not at all.  Gangs that have
// started stay whole: nothing is worth leaving one of their tasks waiting.
//
// Threads: values and free functions; confined to the core thread.

#ifndef SLUICE_ROUND_PACKING_ROUND_PACKING_H_
#define SLUICE_ROUND_PACKING_ROUND_PACKING_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/btree_map.h"
#include "packing/packing_problem.h"
#include "round/context/known_plan.h"
#include "round/context/packing_plan.h"
#include "round/context/round_context.h"
#include "round/packing/packing_part.h"
#include "round/packing/participants.h"
#include "round/packing/running_tasks.h"
#include "sluice/state/task.h"

namespace sluice {

struct RoundPacking {
  PackingProblem problem;
  std::vector<ClassKey> classes;                 // Of what is to be placed.
  std::vector<std::vector<MachineId>> machines;  // Of each of its groups.
  // Running tasks that may be stopped.  `running_classes` are their classes
  // that follow the classes above in the problem.
  RunningTasks running;
  std::vector<size_t> running_classes;
  // The class that takes part with a single task, if any; and whether classes
  // or gangs take turns.
  std::optional<ClassKey> lone;
  std::optional<uint32_t> turn_priority;  // Of it, or of a gang.
  bool has_turns = false;
  // True if some of the running tasks may move instead.
  bool may_move = false;
  // True if it covers a part of the machines, and stops nothing.
  bool is_part = false;
  // Placements it keeps, but may take back for more urgent tasks, with the cost
  // of leaving them waiting.
  absl::btree_map<TaskId, Cost> untold;
  // What the problem places anew, and whether something is placed below its
  // levels.
  std::vector<TaskId> placed;
  bool has_placed_below = false;
  // The priorities that it decides on: the round's, or its own if it may stop
  // running tasks.
  std::optional<PackingLevels> levels;
  // The current cost, and a lower bound: each class on its favorite machines.
  PackingCost now;
  PackingCost least;
  LevelCosts misfits;  // Waiting cost of what fits nowhere, in both.
  // True if the problem leaves out some tasks.
  bool leaves_out = false;
  // If true, there is no problem, and `least` may be far too low.
  bool is_too_large = false;

  // Stopped tasks lose their work, so a better packing is worth a search.
  bool MayStop() const {
    return std::ranges::any_of(running.classes(),
                               &RunningTasks::Class::may_be_stopped);
  }

  // Calls visit(machine, pattern) for each machine, group by group.  Machines
  // with a pattern in the solution come first.
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
// first one with a waiting task form one level, since there is nothing to
// decide between them.  Of those that follow, a limited number have a level of
// their own.  For a bound, all priorities below form one more.  With running
// tasks, each level comes after its stops, and no client knows of these: such
// levels belong to the packing alone.  If there are too many machines, tasks
// move by parts.
RoundPacking DescribeRound(PackingScope scope, RoundContext* context,
                           const KnownPlan& known = {},
                           const PackingPart* part = nullptr);

}  // namespace sluice

#endif  // SLUICE_ROUND_PACKING_ROUND_PACKING_H_
