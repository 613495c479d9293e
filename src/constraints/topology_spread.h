// The state of one topology spread constraint of a class: how many of the tasks
// it selects run in each domain, or have reserved room there (Kubernetes:
// PodTopologySpread).
//
// A machine counts, with the tasks on it, if it is usable, has the topology
// keys of all the class's required constraints, and its labels and taints allow
// the class if the constraint honors these.  The domains are those of the
// machines that count.  For a maximum, each machine in a domain of it counts.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_CONSTRAINTS_TOPOLOGY_SPREAD_H_
#define SLUICE_CONSTRAINTS_TOPOLOGY_SPREAD_H_

#include <cstdint>
#include <span>
#include <vector>

#include "constraints/constraint_set.h"
#include "state/cluster_state.h"

namespace sluice {

class TopologySpread {
 public:
  // The constraint at `index` of the rules.  What is passed must outlive this;
  // the state's machines must not change meanwhile.
  TopologySpread(const ClusterState& state, const ConstraintSet& constraints,
                 const ClassKey& key, size_t index);

  const SpreadConstraint& constraint() const { return *constraint_; }
  const Topology& topology() const { return *topology_; }
  // True if the class is itself among the tasks it selects.
  bool is_self() const { return is_self_; }

  // Selected tasks in the domain of the machine, including those with reserved
  // room.
  int64_t CountAt(MachineId machine) const;
  // The same, above the emptiest domain; one more than in the fullest if the
  // machine is in none.
  int64_t ExcessAt(MachineId machine) const;
  int64_t domain_count() const { return domain_count_; }
  // By domain, as CountAt(); -1 if no machine counts.
  const std::vector<int64_t>& counts() const { return counts_; }

  // True if the machine, with what runs there, counts.
  bool Counts(MachineId machine) const;
  // True if it selects tasks of the class.
  bool Means(const ClassKey& key) const;
  // True if no domain exceeds its limit now.
  bool Holds() const;
  // True if one more task may go there.
  bool Allows(MachineId machine) const;
  // The same if these tasks, which run on the machine, were gone.
  bool AllowsWithout(MachineId machine,
                     std::span<const Task* const> leavers) const;
  // How many of those that it counts in the machine's domain must leave, at
  // least, before one more task of the class may go there.
  int64_t LeaversNeeded(MachineId machine) const;
  // The level to which `count` tasks together can fill all domains: none need
  // stay below it, and none may exceed it by more than the skew.
  int64_t LevelFor(int64_t count) const;
  // How many more may go to each domain, by domain, if the emptiest one is
  // filled to `level`.
  std::vector<int64_t> RoomUpTo(int64_t level) const;
  // The count of the emptiest domain.  Nominated tasks may not come, so no
  // domain rises by them.
  int64_t minimum() const;
  // The same once all tasks with reserved room have come.
  int64_t MinimumAsAllCome() const;

  // How many of those counted in the domain run.
  int64_t RunningIn(size_t domain) const;

  // A task of a class was placed or, with -1, removed.
  void Note(const ClassKey& placed, MachineId machine, int64_t count = 1);
  // Room is no longer reserved for `count` tasks.  REQUIRES: it was.
  void ForgetExpected(const ClassKey& expected, MachineId machine,
                      int64_t count);

 private:
  void FindMinimum() const;
  int64_t Minimum() const { return too_few_domains_ ? 0 : minimum_; }

  const ClusterState* state_;
  const ConstraintSet* constraints_;
  ClassKey key_;
  const SpreadConstraint* constraint_;
  const Topology* topology_;
  uint32_t selector_;
  bool is_self_;
  std::vector<int64_t> counts_;    // -1 if there is none.
  std::vector<int64_t> expected_;  // Of these; empty: none.
  int64_t domain_count_ = 0;
  bool too_few_domains_ = false;
  // Of the counts; may be too low while they rise.
  mutable int64_t minimum_ = 0;
  mutable bool is_minimum_exact_ = false;
};

}  // namespace sluice

#endif  // SLUICE_CONSTRAINTS_TOPOLOGY_SPREAD_H_
