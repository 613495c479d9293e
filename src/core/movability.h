// Which running tasks may be moved to another machine, and which of them the
// same machines suit alike.
//
// A move stops a task, and its successor is placed elsewhere.  So only tasks
// are moved that say who owns them: nobody would make a successor of the
// others. Left alone are tasks of gangs, those that listen on ports of their
// hosts, those that have not run long enough, those with required terms about
// other tasks or whom such terms of others mean, what stands where it may not
// any more, and what cannot be stopped (ClusterState::CanPreempt) or no client
// knows of yet.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_CORE_MOVABILITY_H_
#define SLUICE_CORE_MOVABILITY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "constraints/constraint_set.h"
#include "core/round_stats.h"
#include "network/eligibility.h"
#include "state/cluster_state.h"

namespace sluice {

class Movability {
 public:
  // A look at tasks until one was seen of all rules about others.  What is
  // passed must outlive this.
  // REQUIRES: the state's peers are in sync.
  Movability(const ClusterState& state, const ConstraintSet& constraints,
             const MoveOptions& options, int64_t now_ms,
             Eligibility* eligibility);

  bool MayMove(const Task& task);
  // The same for rules that allow the same kinds of machines, and like them
  // equally.
  size_t ShapeOf(const PlacementRules& rules);

 private:
  // Whether no task must be near or far from others because of it.
  bool IsOnItsOwn(const ClassKey& key) const;
  // What these require of other tasks.
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

#endif  // SLUICE_CORE_MOVABILITY_H_
