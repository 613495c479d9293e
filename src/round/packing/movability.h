// Which running tasks may be moved to another machine, and which of them suit
// the same machines equally.
//
// A move stops a task, and its successor is placed elsewhere.  So only tasks
// with an owner are moved: nobody would make a successor of the others.  These
// are left alone: tasks of gangs, tasks that listen on host ports, tasks that
// have not run long enough, tasks with required terms about other tasks or
// selected by such terms, tasks on machines that no longer allow them, and
// tasks that cannot be stopped (ClusterState::CanPreempt) or that no client
// knows of yet.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_ROUND_PACKING_MOVABILITY_H_
#define SLUICE_ROUND_PACKING_MOVABILITY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "constraints/constraint_set.h"
#include "network/eligibility.h"
#include "round/context/round_stats.h"
#include "state/cluster_state.h"

namespace sluice {

class Movability {
 public:
  // Looks at tasks until it has seen one for each set of rules about others.
  // What is passed must outlive this.  REQUIRES: the state's peers are in sync.
  Movability(const ClusterState& state, const ConstraintSet& constraints,
             const MoveOptions& options, int64_t now_ms,
             Eligibility* eligibility);

  bool MayMove(const Task& task);
  // Equal for rules that allow the same kinds of machines with the same
  // preferences.
  size_t ShapeOf(const PlacementRules& rules);

 private:
  // True if no task must be near or far from others because of it.
  bool IsOnItsOwn(const ClassKey& key) const;
  // Adds what these rules require of other tasks.
  void AddRequired(const PlacementRules& rules);

  const ClusterState& state_;
  const ConstraintSet& constraints_;
  const MoveOptions& options_;
  const int64_t now_ms_;
  Eligibility& eligibility_;
  // Selectors of required terms.
  absl::flat_hash_set<uint32_t> required_;
  std::map<std::vector<std::pair<KindId, Cost>>, size_t> shapes_;
  absl::flat_hash_map<uint32_t, size_t> shape_of_;  // By the id of the rules.
};

}  // namespace sluice

#endif  // SLUICE_ROUND_PACKING_MOVABILITY_H_
