// Gangs: jobs that run at least a minimum of tasks together, or none.
//
// Until it starts, a gang is *closed*: its tasks are not placed one by one.
// After that it is like any job, with one exception: if some, but fewer than
// the minimum, run, the gang is *healed* before others are started.  A
// completed task has done its part: it counts towards the minimum for good.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_ROUND_TOGETHER_GANGS_H_
#define SLUICE_ROUND_TOGETHER_GANGS_H_

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "network/fresh_eligibility.h"
#include "packing/packing_problem.h"
#include "state/cluster_state.h"

namespace sluice {

class Gangs {
 public:
  // Tasks count if they came before `sequence_end`.  What is passed must
  // outlive this.
  Gangs(ClusterState* state, FreshEligibility* eligibility,
        uint64_t sequence_end, int64_t now_ms);

  // True if the class is of a closed gang, or of one to be healed.
  bool IsClosed(const ClassKey& key) const;
  bool IsHealing(const ClassKey& key) const;
  // True if no client knows of any of its tasks: it may still be started, or
  // not.
  bool MayBeUndone(const ClassKey& key) const;
  // How many tasks must run together for a class of a gang, not counting those
  // that completed.  If it has several classes that may run on different
  // machines, the highest number counts.
  int64_t MinimumFor(const ClassKey& key) const {
    return MinimumOf(JobOf(key), *key.rules);
  }

  // A closed gang with enough tasks.
  struct Waiting {
    JobId job;
    int64_t minimum = 0;
    int64_t submitted_ms = 0;  // Of its oldest task.
    std::vector<ClassKey> classes;
  };
  // The gangs whose most urgent tasks have this priority, oldest first.
  std::vector<Waiting> FindWaiting(uint32_t priority) const;

  // True if its minimum runs.
  bool IsWhole(const Waiting& gang) const;

  // Withdraws what was placed of gangs that did not become whole, as long as no
  // client knows of it: a round may have ended between two placements.
  void WithdrawHalves();

 private:
  const Job& JobOf(const ClassKey& key) const;
  int64_t MinimumOf(const Job& job, const PlacementRules& rules) const;
  int64_t CountMachines(const PlacementRules& rules) const;

  ClusterState* state_;
  FreshEligibility* eligibility_;
  uint64_t sequence_end_;
  // Gangs that have waited so long that they no longer count as gangs.
  std::set<JobId> timed_out_;
};

// The gangs with a minimum here, in terms of a packing of the classes.
std::vector<PackingGang> PackingGangsOf(
    std::span<const ClassKey> classes,
    const std::map<JobId, int64_t>& minimums);

}  // namespace sluice

#endif  // SLUICE_ROUND_TOGETHER_GANGS_H_
