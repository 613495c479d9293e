// Flow constructs: constraints between tasks, drawn into a flow problem.
//
// A construct is placed between *sources*, the nodes that units of tasks come
// from, and *targets*, nodes on the way to machines.  It constrains what passes
// through it: its sources must have no other way to machines, only one to wait.
//
// Inside, units are indistinguishable.  The cost of a task goes on its way in,
// the cost of a machine on the way out.  If the machines differ from task to
// task, use one target node for each task or class, as wide as its number of
// tasks; then arrivals there say whose units they are.
//
// The returned values name what was drawn: use them to read flows and to change
// arcs.  An arc may be given a convex cost instead of its flat one.
//
// Which solver: SolveAllOrNone() (solver/all_or_none.h) if an arc is all or
// none, else any. docs/flow-constructs.md says when to use which.
//
// Threads: free functions without state.
// Errors: none here.  ValidateProblem() rejects invalid bounds (at_least above
// at_most).
//
// Sources: the design document on affinity in Poseidon, section 3.2.3.2 and
// figures 7 to 11; I. Gog's PhD thesis (Cambridge, 2017), section 5.4.2.

#ifndef SLUICE_NETWORK_CONSTRUCTS_H_
#define SLUICE_NETWORK_CONSTRUCTS_H_

#include <span>
#include <vector>

#include "sluice/flow/problem.h"

namespace sluice {

struct FlowBounds {
  FlowUnits at_most = 0;
  FlowUnits at_least = 0;
};

// A node outside a construct, and the arc that joins it.
struct Port {
  NodeIndex node = 0;
  FlowUnits at_most = 1;
  FlowCost cost = 0;  // Per unit.
  FlowUnits at_least = 0;
};

// Here and below, `in` is by source and `out` by target.
struct Gate {
  NodeIndex gather = 0;
  NodeIndex place = 0;
  std::vector<ArcIndex> in;
  ArcIndex through = 0;  // From gather to place.
  std::vector<ArcIndex> out;
};

// "Xor": at most p tasks in all, and at most r_i to the i-th target.
//
//   source --.                                           .-- r_1 --> target
//   source --+--> gather --[at_least, at_most]--> place -+-- r_2 --> target
//   source --'                                           '-- r_3 --> target
//
// With p = 1 at most one of the sources gets through; with at_least = 1, too,
// exactly one.  With r = 1 no two share a target.
//
// "And" by lower bound (figure 9): with at_least = k at least k tasks are
// placed, at any cost; without room for them the whole problem is infeasible.
Gate AddGate(std::span<const Port> sources, FlowBounds through,
             std::span<const Port> targets, FlowProblem* problem);

// "And", all n tasks or none, by an arc that carries all or none, where n is
// what the sources' ports carry at most together.
//
//   sources --> gather --0 or n--> place -+--------------> targets
//                                         '-- n - k --> unscheduled
//
// At least k of them or none: add one more target, the unscheduled aggregator,
// for up to n - k units at their waiting cost.  Then all or none enter, and up
// to n - k of those that entered wait nevertheless.
//
// If waiting costs differ from task to task, each task has a target of its own:
// add its waiting cost on its way in, subtract it on its way out, and make the
// way to the aggregator free.
Gate AddGang(std::span<const Port> sources, std::span<const Port> targets,
             FlowProblem* problem);

// "And", all n tasks on one target, or none: arcs that carry all or none.  A
// target whose port takes fewer than n gets none.
//
//                                    .--0 or n--> target
//   sources --> gather --n--> place -+--0 or n--> target
Gate AddColocation(std::span<const Port> sources, std::span<const Port> targets,
                   FlowProblem* problem);

}  // namespace sluice

#endif  // SLUICE_NETWORK_CONSTRUCTS_H_
