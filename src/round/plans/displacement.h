// Which tasks, on any machine, must be stopped before a waiting task can be
// placed: the last resort if a packing finds no victims.
//
// A packing decides on all waiting tasks together, and takes some rules for
// stricter than they are.  Here one task is looked at alone, with the exact
// rules.  For each machine, all stoppable tasks that concern it are removed in
// thought: those on the machine, and those elsewhere that keep the task out by
// anti-affinity, its own or theirs, or that its spread counts.  Then they are
// put back, the most urgent and dearest first, as long as the task is still let
// in.  A task that cannot be put back is a victim.  Tasks that keep it out in
// any case are never put back.  Of the others the cheapest set is searched for,
// up to a bound; the greedy choice above is the first candidate.
//
// A task with required affinity stays with one of the tasks it must be near.
// Or it becomes the first of its kind, once all of those have been stopped,
// wherever they are.
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_ROUND_PLANS_DISPLACEMENT_H_
#define SLUICE_ROUND_PLANS_DISPLACEMENT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "constraints/constraint_set.h"
#include "constraints/topology_spread.h"
#include "network/eligibility.h"
#include "round/context/work_budget.h"
#include "round/packing/stoppable_tasks.h"
#include "sluice/base/ids.h"
#include "sluice/state/resources.h"
#include "sluice/state/task.h"
#include "state/cluster_state.h"

namespace sluice {

struct Displacement {
  MachineId machine;
  std::vector<const Task*> victims = {};  // Without those already told.
  StopPrice price = {};
};

// For tasks of one class, as things will be once all tasks that were told to
// leave have left.
class DisplacementSearch {
 public:
  // What is passed must outlive this.
  struct Subject {
    const ClusterState& state;
    const ConstraintSet& constraints;
    Eligibility& eligibility;
    StoppableTasks& stoppable;
  };
  // REQUIRES: the state's peers are in sync, and the eligibility is fresh.
  DisplacementSearch(const Subject& subject, const ClassKey& key,
                     Allowance* work);

  // The cheapest displacement on a machine that `is_wanted`, as far as the
  // work goes.  A different `first` starts at another machine, so that each
  // gets its turn.
  std::optional<Displacement> FindCheapest(
      absl::FunctionRef<bool(MachineId)> is_wanted, size_t first);

  // From now on the search assumes that a task of the class is there.
  void NoteComing(const ClassKey& key, MachineId machine);
  // From now on the search assumes that this task is gone; it cannot be a
  // victim again.
  void NoteStopped(const Task& task);

 private:
  class OnMachine;
  using Tasks = std::vector<const Task*>;
  using Domain = std::pair<const CountedTerm*, DomainIndex>;
  // The tasks in a domain that keep the class out of it by a term.
  struct Apart {
    Tasks may_leave = {};
    int64_t leaving = 0;  // These, and those already told to leave.
    int64_t coming = 0;   // Noted by NoteComing().
  };

  void FindAffinity();
  void LookAt(const Task& task);
  // True if the task may be the first of those that it must be near, once these
  // are gone.
  bool IsFirstWithout(std::span<const Task* const> gone) const;
  bool MeetsAffinity(MachineId machine,
                     std::span<const Task* const> gone) const;
  // True if its own rules and those of others let it in there.  REQUIRES: no
  // task that must be apart from it stays.
  bool IsLetIn(const Machine& machine, std::span<const Task* const> gone) const;
  // The tasks that must leave before a task of the class comes to the machine;
  // nullopt if one of them cannot leave.
  std::optional<Tasks> FindForced(const Machine& machine);
  // Each task once, together with the gangs that cannot go on without them.
  Tasks WithGangsOnce(Tasks tasks) const;
  bool IsCheaper(const Tasks& forced,
                 const std::optional<Displacement>& best) const;
  bool AddApart(const Machine& machine, Tasks* forced) const;
  bool AddPortUsers(const Machine& machine, Tasks* forced);
  // The tasks elsewhere that a spread counts in the machine's domain, the
  // dearest first.
  const Tasks& CountedIn(size_t spread, MachineId machine);
  // How many of those must leave in addition to these.
  int64_t NeededBeside(const TopologySpread& spread, const Machine& machine,
                       std::span<const Task* const> gone) const;
  // The tasks that may stay or leave.
  Tasks FindOptional(const Machine& machine, const Tasks& forced);
  Resources RoomOn(const Machine& machine) const;
  void SortDearestFirst(const Resources& whole, Tasks* tasks) const;
  void Try(const Machine& machine, std::optional<Displacement>* best);
  // The same, with these gone in any case.
  void Choose(const Machine& machine, Tasks forced,
              std::optional<Displacement>* best);

  const ClusterState& state_;
  const ConstraintSet& constraints_;
  Eligibility& eligibility_;
  StoppableTasks& stoppable_;
  const ClassKey key_;
  Allowance& work_;
  const PeerTerms& terms_;
  std::vector<const CountedTerm*> about_;  // Terms that select the class.
  // The tasks it avoids, and the tasks that avoid it.
  absl::flat_hash_map<Domain, Apart> avoided_;
  absl::flat_hash_map<Domain, Apart> avoiding_;
  // The tasks it must be near: how many stay, by term, and those that may
  // leave.
  std::vector<Tally> company_;
  Tasks companions_;
  bool may_be_first_ = false;            // Once all companions are gone.
  std::vector<TopologySpread> spreads_;  // The required ones.
  std::map<std::pair<size_t, DomainIndex>, Tasks> counted_;
  // What was noted, by machine.
  absl::flat_hash_map<MachineId, Resources> more_room_;
  absl::flat_hash_map<MachineId, std::vector<HostPort>> ports_taken_;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_PLANS_DISPLACEMENT_H_
