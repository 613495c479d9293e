// The families of flow problems that the solvers are measured on: scheduling
// networks and random graphs, each given by a size and a seed, and the changes
// that one scheduling round makes to them.
//
// Threads: free functions without state.

#ifndef SLUICE_TESTS_BENCHMARK_FAMILIES_H_
#define SLUICE_TESTS_BENCHMARK_FAMILIES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/rng.h"
#include "sluice/flow/problem.h"

namespace sluice {

struct FamilySize {
  const char* name;
  int machines;
  int tasks;
};
inline constexpr FamilySize kSmallSize = {"small", 300, 3000};
inline constexpr FamilySize kFullSize = {"full", 10000, 100000};

// How the class arcs that grow dearer with each unit are drawn.
enum class LadderForm {
  kConvex,    // One convex arc a ladder.
  kUnitArcs,  // Parallel arcs, one a segment: what a DIMACS file can say.
};

// A scheduling network and what its nodes and arcs stand for.  Random graphs
// have no jobs.
struct FamilyNetwork {
  struct Job {
    NodeIndex task_class = 0;
    NodeIndex unscheduled = 0;
    FlowCost waiting_cost = 0;
    int task_count = 0;
    ArcIndex from_class = 0;  // To `unscheduled`, where tasks are no nodes.
    ArcIndex to_sink = 0;     // From `unscheduled`.
  };
  struct Task {
    int job = 0;
    NodeIndex node = 0;  // Where tasks are nodes.
    std::vector<ArcIndex> arcs;
  };
  struct ClassLadder {
    ArcIndex first = 0;  // In LadderForm::kUnitArcs the others follow.
    std::vector<CostSegment> segments;
  };

  FlowProblem problem;
  LadderForm form = LadderForm::kConvex;
  std::vector<NodeIndex> machines;
  NodeIndex sink = 0;
  bool has_task_nodes = false;
  int preference_count = 0;  // Arcs from a task straight to machines.
  std::vector<Job> jobs;
  std::vector<Task> tasks;
  std::vector<ClassLadder> ladders;
};

struct Family {
  const char* name;
  FamilyNetwork (*make)(const FamilySize& size, LadderForm form);
};

// All of them; the letters are those of docs/quality.md.
std::span<const Family> Families();

// What changes from one round to the next: each `tasks_per`-th task is
// replaced by one of a random job, and each `ladders_per`-th class ladder's
// costs move by up to a tenth.  At least one of each.
// REQUIRES: the network has jobs.
void ChangeFamilyNetwork(int tasks_per, int ladders_per, Rng* rng,
                         FamilyNetwork* network);

}  // namespace sluice

#endif  // SLUICE_TESTS_BENCHMARK_FAMILIES_H_
