// Flow constructs: constraints between tasks, drawn into a flow problem.
//
// A construct stands between *sources*, nodes that tasks' units come from, and
// *targets*, nodes on the way to machines.  It binds what goes through it: let
// its sources have no other way to machines, but one to wait.
//
// Inside units are alike.  What a task costs goes onto the way in, what a
// machine costs onto the way out.  Where the machines differ from task to task,
// let the targets be one node for each task or class, as wide as it has tasks;
// then what arrives there says whose units they are.
//
// The values returned name what was drawn: flows are read, and arcs changed, by
// these.  An arc may be given a convex cost in place of its flat one.
//
// Which solver: where an arc is all or none SolveAllOrNone()
// (solver/all_or_none.h), else any.  docs/flow-network.md says when to use
// which.
//
// Threads: free functions without state.
// Errors: none here.  Bounds that make no sense (at_least above at_most) are
// for ValidateProblem() to refuse.
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

// A node outside of a construct, and the arc that joins it.
struct Port {
  NodeIndex node = 0;
  FlowUnits at_most = 1;
  FlowCost cost = 0;  // Of a unit.
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
// With p = 1 at most one of the sources has its way, with p = 1 and at least 1
// exactly one; with r = 1 no two meet on a target.
//
// "And" by lower bound (figure 9): with at_least = k no fewer than k tasks are
// placed, whatever it costs; without room for them the whole problem is
// infeasible.
Gate AddGate(std::span<const Port> sources, FlowBounds through,
             std::span<const Port> targets, FlowProblem* problem);

// "And", all n tasks or none, by an arc that carries all or none, where n is
// what the sources' ports carry at most together.
//
//   sources --> gather --0 or n--> place -+--------------> targets
//                                         '-- n - k --> unscheduled
//
// At least k of them or none: give it one target more, the unscheduled
// aggregator, for up to n - k units at their waiting cost.  Then all or none
// enter, and up to n - k of those that entered wait nevertheless.
//
// Where waiting costs differ from task to task, each has a target of its own:
// put its waiting cost onto its way in, take it off there on its way out, and
// let the way to the aggregator be free.
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
