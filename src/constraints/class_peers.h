// Where a class may go beside the tasks that run, and how that suits it: pod
// affinity and anti-affinity, its own and that of others, and topology spread.
//
// Verdicts are as of the moment: they follow the placements that are made
// meanwhile, if those are noted.  So what a pass proposes can be checked one by
// one.  What a pass may propose together is bounded for each machine and
// domain: tasks of one class do not get into each other's way there.
//
// Semantics: Kubernetes' InterPodAffinity and PodTopologySpread.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_CONSTRAINTS_CLASS_PEERS_H_
#define SLUICE_CONSTRAINTS_CLASS_PEERS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "constraints/constraint_set.h"
#include "constraints/topology_spread.h"
#include "sluice/constraints/constraint.h"
#include "sluice/constraints/peer_standing.h"
#include "state/cluster_state.h"

namespace sluice {

class ClassPeers {
 public:
  // As if `leaver`, which runs, were gone, or if it is nominated, had no room
  // kept.  What is passed must outlive this;
  // the state's machines must not change meanwhile.  REQUIRES: the state's
  // peers are in sync.
  ClassPeers(const ClusterState& state, const ConstraintSet& constraints,
             const ClassKey& key, const Task* leaver = nullptr);

  bool Allows(const Machine& machine) const;
  // Whether all that it must be near is in the machine's domains, or it may be
  // the first of these.
  bool MeetsAffinity(MachineId machine) const;
  // As Allows(), if that were so.
  bool AllowsBesideAffinity(const Machine& machine) const;
  // The same if its domains had risen far enough for its spread.
  bool AllowsBesideSpread(const Machine& machine) const;
  // As Allows(), if these tasks, which run there or elsewhere, were gone.
  // Whoever was told to leave is no company then, nor counted by a spread.
  bool AllowsWithout(const Machine& machine,
                     std::span<const Task* const> leavers) const;
  // The same, whatever its spreads say.
  bool AllowsBesideSpreadWithout(const Machine& machine,
                                 std::span<const Task* const> leavers) const;
  // The same of anti-affinity alone, its own and that of others; it may require
  // affinity, too.
  bool AreApartWithout(const Machine& machine,
                       std::span<const Task* const> leavers) const;
  // Whether the class cannot go anywhere before others have been placed.
  bool MustWait() const { return !is_affinity_met_ && !is_first_of_affinity_; }
  // Whether it may be the first of those whom it must be near, itself included.
  bool IsFirstOfAffinity() const { return is_first_of_affinity_; }
  // Whether it is not yet, and will be once those have left that were told to.
  bool IsFirstOnceAllLeave() const;
  // Whether that is what it waits for, to come to the machine.
  bool WaitsToBeFirstOn(MachineId machine) const {
    return IsFirstOnceAllLeave() && !MeetsAffinity(machine);
  }
  // Whether one task must go first, and the others where that one went.
  bool NeedsLeader() const { return leader_topology_ != nullptr; }
  // In a domain of this.
  const Topology* LeaderTopology() const { return leader_topology_; }
  // The required constraints by which its own tasks are spread, those over the
  // most domains first.
  std::vector<const TopologySpread*> OwnSpreads() const;
  // Whether a required spread constraint means tasks of this class.
  bool IsSpreadOver(const ClassKey& other) const;
  // As Constraint::Explain(), naming a task for each reason that is one, if so
  // wanted: that may take a look at all tasks of a domain.
  void Explain(const Machine& machine, bool names_tasks,
               std::vector<Reason>* reasons) const;
  PeerStanding StandingOn(const Machine& machine) const;
  // What the preferred terms are worth there, its own and those of others, ...
  int64_t WorthOn(MachineId machine) const;
  // ... and its bounds as things are.
  int64_t worth_min() const { return worth_min_; }
  int64_t worth_max() const { return worth_max_; }
  // As PeerStanding::crowding.
  int64_t CrowdingOn(MachineId machine) const;
  // The same above none, and not above the emptiest domain.
  int64_t CrowdOn(MachineId machine) const;
  // What one task of a class that runs `there` adds to either `here`.
  struct Share {
    int64_t worth = 0;
    int64_t crowding = 0;
  };
  Share ShareOf(const ClassKey& other, MachineId there, MachineId here) const;

  // A task of this class or another was placed, or with -1 taken away, the
  // latter only where this class requires no affinity.
  void Note(const ClassKey& placed, MachineId machine, int64_t count = 1);
  // Whether Note() changes anything for it.
  bool HeedsPlacements() const {
    return !spreads_.empty() || is_first_of_affinity_;
  }

  // What keeps tasks of the class apart that are placed together, `count` of
  // them at most.
  struct Limits {
    struct OfTopology {
      const Topology* topology = nullptr;
      std::optional<std::vector<int64_t>> room;  // By domain; absent: no bound.
      // So many must go there, if that is possible at all.  By domain; empty:
      // none.
      std::vector<int64_t> at_least;
      // Of these so many may go there whatever happens elsewhere; the others
      // only once all domains have theirs.  By domain; empty: all of them.
      std::vector<int64_t> first;
      PeerStanding step;  // What each task makes worse there for the next.
    };
    std::vector<OfTopology> topologies;
  };
  Limits LimitsFor(int64_t count) const;
  // The same with what each domain should have at least, of its own minimums.
  Limits LimitsWithMinimumsFor(int64_t count) const;
  // Of `count` tasks so many that some minimum of theirs asks for.
  int64_t CountLacking(int64_t count) const;

  // The topologies by which machines are told apart, ...
  std::vector<const Topology*> Topologies() const;
  // ... and a number for each domain where anything is to be seen, of those
  // whose domains are single machines: different where it makes a difference.
  // Calls visit(machine, what is seen, number), in the same order for all.
  template <class Visit>
  void VisitMachines(Visit visit) const {
    for (size_t i = 0; i < tallied_.size(); ++i) {
      const Tallied& one = tallied_[i];
      if (!one.topology->is_by_machine()) continue;
      for (const auto& [domain, count] : one.tally->counts()) {
        const auto& machines = one.topology->MachinesOf(domain);
        if (!machines.empty()) {
          visit(*machines.begin(), i, one.is_counted ? count : 1);
        }
      }
    }
  }

 private:
  // What verdicts and standings are read from.
  struct Tallied {
    const Topology* topology;
    const Tally* tally;
    bool is_counted;  // Else all that matters is whether there is anything.
  };
  struct Worth {
    const CountedTerm* term;
    int64_t weight;  // Of each task meant; 0: what the term's tasks give.
  };

  // Of the tasks that the term means, those that run in the domain or anywhere,
  // and those that room is kept for.
  int64_t MeantIn(const CountedTerm& term, DomainIndex domain) const;
  int64_t MeantAnywhere(const CountedTerm& term) const;
  int64_t ExpectedIn(const CountedTerm& term, DomainIndex domain) const;
  bool MeansLeaver(const CountedTerm& term) const;
  bool MeetsAffinityWithout(MachineId machine,
                            std::span<const Task* const> leavers) const;
  static bool AllowsWithout(const TopologySpread& spread, MachineId machine,
                            std::span<const Task* const> leavers);
  // The first of the terms that keep the class from the machine, if any.
  const CountedTerm* OwnAntiAffinity(MachineId machine) const;
  const CountedTerm* AntiAffinityOfOthers(MachineId machine) const;
  void ExplainAffinity(const Machine& machine,
                       std::vector<Reason>* reasons) const;
  void ExplainSpread(const TopologySpread& spread, const Machine& machine,
                     std::vector<Reason>* reasons) const;
  std::string TextOf(const CountedTerm& term) const;
  // ": 17 web-3", a task that runs in the machine's domain and is meant.
  template <class IsMeant>
  std::string TaskText(const Topology& topology, MachineId machine,
                       IsMeant is_meant) const;
  void FindWorths();
  // Of the minimum at `index`; empty unless it means the class itself.
  std::vector<int64_t> SharesOf(size_t index, int64_t count) const;

  const ClusterState& state_;
  const ConstraintSet& constraints_;
  const ClassKey key_;
  const PeerTerms& terms_;
  const Task* leaver_;
  MachineId leaver_machine_;        // Where it runs, or has room kept.
  bool is_leaver_running_ = false;  // Else it is expected.
  const PeerTerms* terms_of_leaver_ = nullptr;  // Null where there is none.
  std::vector<const CountedTerm*> about_;       // Terms that mean the class.
  std::vector<Worth> worths_;
  int64_t worth_max_ = 0;  // Bounds of WorthOn().
  int64_t worth_min_ = 0;
  std::vector<TopologySpread> spreads_;
  std::vector<Tallied> tallied_;
  bool is_affinity_met_ = true;  // Somewhere, or there is none.
  bool is_first_of_affinity_ = false;
  const Topology* leader_topology_ = nullptr;
};

}  // namespace sluice

#endif  // SLUICE_CONSTRAINTS_CLASS_PEERS_H_
