// Who would have to be stopped, anywhere, before a task may come in: the last
// resort where a packing finds nobody.
//
// A packing decides on all that waits together, and for that some rules are
// taken for stricter than they are.  Here one task is looked at alone, and the
// rules as they are.  For each machine all are imagined away that may be
// stopped and concern it: those on the machine, and those elsewhere that keep
// it out by anti-affinity, its own or theirs, or that its spread counts.
// Then they are put back, the most urgent and dearest first, as long as the
// task is let in: whoever cannot be put back is a victim.  Those who keep it
// out whatever else leaves are never put back; of the others the cheapest are
// searched for, up to a bound, with the first choice as described.
//
// A task that has to be near others stays with one of these, or is the first of
// them once all of them have been stopped, wherever they are.
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_CORE_DISPLACEMENT_H_
#define SLUICE_CORE_DISPLACEMENT_H_

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
#include "core/stoppable_tasks.h"
#include "network/eligibility.h"
#include "sluice/base/ids.h"
#include "sluice/state/resources.h"
#include "sluice/state/task.h"
#include "state/cluster_state.h"

namespace sluice {

struct Displacement {
  MachineId machine;
  std::vector<const Task*> victims = {};  // Those told already excluded.
  StopPrice price = {};
};

// For tasks of one class, as things will be once all have left that were told
// to.
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
                     int64_t* looks_left);

  // The cheapest on a machine that `is_wanted`, as far as the looks go.  Begins
  // elsewhere for another `first`, so that each machine has its turn.
  std::optional<Displacement> FindCheapest(
      absl::FunctionRef<bool(MachineId)> is_wanted, size_t first);

  // From now on as if a task of the class were there, ...
  void NoteComing(const ClassKey& key, MachineId machine);
  // ... and this one were not, which may leave no more.
  void NoteStopped(const Task& task);

 private:
  class OnMachine;
  using Tasks = std::vector<const Task*>;
  using Domain = std::pair<const CountedTerm*, DomainIndex>;
  // Those in a domain who keep the class out of it by a term.
  struct Apart {
    Tasks may_leave = {};
    int64_t leaving = 0;  // These, and those that were told to.
    int64_t coming = 0;   // By NoteComing().
  };

  void FindAffinity();
  void LookAt(const Task& task);
  // Whether it may be the first of those that it must be near, once these are
  // gone.
  bool IsFirstWithout(std::span<const Task* const> gone) const;
  bool MeetsAffinity(MachineId machine,
                     std::span<const Task* const> gone) const;
  // Whether its rules, and those of others, let it in there.  REQUIRES: nobody
  // stays who is apart from it.
  bool IsLetIn(const Machine& machine, std::span<const Task* const> gone) const;
  // Those that have to leave before a task of the class comes to the machine;
  // nothing if one of them stays.
  std::optional<Tasks> FindForced(const Machine& machine);
  // Each of them once, with the gangs that do not go on without them.
  Tasks WithGangsOnce(Tasks tasks) const;
  bool IsCheaper(const Tasks& forced,
                 const std::optional<Displacement>& best) const;
  bool AddApart(const Machine& machine, Tasks* forced) const;
  bool AddPortUsers(const Machine& machine, Tasks* forced);
  // Those elsewhere that a spread counts in the machine's domain, the dearest
  // first.
  const Tasks& CountedIn(size_t spread, MachineId machine);
  // How many of those have to leave beside these.
  int64_t NeededBeside(const TopologySpread& spread, const Machine& machine,
                       std::span<const Task* const> gone) const;
  // Those that may stay or leave.
  Tasks FindOptional(const Machine& machine, const Tasks& forced);
  Resources RoomOn(const Machine& machine) const;
  void SortDearestFirst(const Resources& whole, Tasks* tasks) const;
  void Try(const Machine& machine, std::optional<Displacement>* best);
  // The same with these gone in any case.
  void Choose(const Machine& machine, Tasks forced,
              std::optional<Displacement>* best);

  const ClusterState& state_;
  const ConstraintSet& constraints_;
  Eligibility& eligibility_;
  StoppableTasks& stoppable_;
  const ClassKey key_;
  int64_t& looks_left_;
  const PeerTerms& terms_;
  std::vector<const CountedTerm*> about_;  // Terms that mean the class.
  // Whom it avoids, and who avoids it.
  absl::flat_hash_map<Domain, Apart> avoided_;
  absl::flat_hash_map<Domain, Apart> avoiding_;
  // Whom it has to be near: how many stay, by term, and those that may leave.
  std::vector<Tally> company_;
  Tasks companions_;
  bool may_be_first_ = false;            // Once all of these are gone.
  std::vector<TopologySpread> spreads_;  // The required ones.
  std::map<std::pair<size_t, DomainIndex>, Tasks> counted_;
  // What was noted, by machine.
  absl::flat_hash_map<MachineId, Resources> more_room_;
  absl::flat_hash_map<MachineId, std::vector<HostPort>> ports_taken_;
};

}  // namespace sluice

#endif  // SLUICE_CORE_DISPLACEMENT_H_
