// Where a class may go beside the running tasks, and how well places suit it:
// pod affinity and anti-affinity, its own and that of others, and topology
// spread.
//
// Verdicts are up to date: they follow later placements if these are noted.  So
// the proposals of a pass can be checked one by one.  What a pass may propose
// together is bounded for each machine and domain: tasks of one class do not
// conflict there.
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
  // As if `leaver` were gone if it runs, or had no reserved room if it is
  // nominated.  What is passed must outlive this; the state's machines must not
  // change meanwhile.  REQUIRES: the state's peers are in sync.
  ClassPeers(const ClusterState& state, const ConstraintSet& constraints,
             const ClassKey& key, const Task* leaver = nullptr);

  bool Allows(const Machine& machine) const;
  // True if everything that it must be near is in the machine's domains, or it
  // may be the first of these.
  bool MeetsAffinity(MachineId machine) const;
  // As Allows(), assuming that its affinity is met.
  bool AllowsBesideAffinity(const Machine& machine) const;
  // The same, assuming that its domains had risen far enough for its spread.
  bool AllowsBesideSpread(const Machine& machine) const;
  // As Allows(), if these tasks, which run there or elsewhere, were gone.  Then
  // tasks told to leave are no company, and no spread counts them.
  bool AllowsWithout(const Machine& machine,
                     std::span<const Task* const> leavers) const;
  // The same regardless of its spreads.
  bool AllowsBesideSpreadWithout(const Machine& machine,
                                 std::span<const Task* const> leavers) const;
  // The same for anti-affinity alone, its own and that of others; the class may
  // also require affinity.
  bool AreApartWithout(const Machine& machine,
                       std::span<const Task* const> leavers) const;
  // True if the class cannot go anywhere before others have been placed.
  bool MustWait() const { return !is_affinity_met_ && !is_first_of_affinity_; }
  // True if it may be the first of those that it must be near, including
  // itself.
  bool IsFirstOfAffinity() const { return is_first_of_affinity_; }
  // True if it is not the first yet, but will be once those told to leave have
  // left.
  bool IsFirstOnceAllLeave() const;
  // True if that is what it waits for before it comes to the machine.
  bool WaitsToBeFirstOn(MachineId machine) const {
    return IsFirstOnceAllLeave() && !MeetsAffinity(machine);
  }
  // True if one task must go first, and the others follow it.
  bool NeedsLeader() const { return leader_topology_ != nullptr; }
  // They follow into its domain of this topology.
  const Topology* LeaderTopology() const { return leader_topology_; }
  // The required constraints that spread its own tasks, those over the most
  // domains first.
  std::vector<const TopologySpread*> OwnSpreads() const;
  // True if a required spread constraint selects tasks of this class.
  bool IsSpreadOver(const ClassKey& other) const;
  // As Constraint::Explain().  Optionally names a task for each reason that is
  // one; that may look at all tasks of a domain.
  void Explain(const Machine& machine, bool names_tasks,
               std::vector<Reason>* reasons) const;
  PeerStanding StandingOn(const Machine& machine) const;
  // The worth of the preferred terms there, its own and those of others.
  int64_t WorthOn(MachineId machine) const;
  // Bounds of WorthOn() as things are.
  int64_t worth_min() const { return worth_min_; }
  int64_t worth_max() const { return worth_max_; }
  // As PeerStanding::crowding.
  int64_t CrowdingOn(MachineId machine) const;
  // The same, counted from 0 instead of from the emptiest domain.
  int64_t CrowdOn(MachineId machine) const;
  // What one task of a class that runs `there` adds to either `here`.
  struct Share {
    int64_t worth = 0;
    int64_t crowding = 0;
  };
  Share ShareOf(const ClassKey& other, MachineId there, MachineId here) const;

  // A task of this class or another was placed or, with -1, removed; the latter
  // only if this class requires no affinity.
  void Note(const ClassKey& placed, MachineId machine, int64_t count = 1);
  // True if Note() may change anything for it.
  bool HeedsPlacements() const {
    return !spreads_.empty() || is_first_of_affinity_;
  }

  // Limits on tasks of the class that are placed together, at most `count` of
  // them.
  struct Limits {
    struct OfTopology {
      const Topology* topology = nullptr;
      // By domain; nullopt: no bound.
      std::optional<std::vector<int64_t>> room;
      // The minimum that must go there if that is possible at all.  By domain;
      // empty: none.
      std::vector<int64_t> at_least;
      // How many may go there whatever happens elsewhere; more may only once
      // all domains have theirs.  By domain; empty: all of them.
      std::vector<int64_t> first;
      PeerStanding step;  // What each task there costs the next.
    };
    std::vector<OfTopology> topologies;
  };
  Limits LimitsFor(int64_t count) const;
  // The same with the minimum of each domain, by the class's own minimums.
  Limits LimitsWithMinimumsFor(int64_t count) const;
  // How many of `count` tasks its minimums ask for.
  int64_t CountLacking(int64_t count) const;

  // The topologies that tell machines apart.
  std::vector<const Topology*> Topologies() const;
  // For topologies whose domains are single machines: calls visit(machine,
  // index of the tally, number) for each domain with anything in it, in the
  // same order for all.  The numbers differ if it makes a difference.
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
  // The input of verdicts and standings.
  struct Tallied {
    const Topology* topology;
    const Tally* tally;
    bool is_counted;  // Else only whether any exists matters.
  };
  struct Worth {
    const CountedTerm* term;
    int64_t weight;  // Per selected task; 0: what the term's tasks give.
  };

  // Of the tasks that the term selects: those that run in the domain or
  // anywhere, and those with reserved room.
  int64_t MeantIn(const CountedTerm& term, DomainIndex domain) const;
  int64_t MeantAnywhere(const CountedTerm& term) const;
  int64_t ExpectedIn(const CountedTerm& term, DomainIndex domain) const;
  bool MeansLeaver(const CountedTerm& term) const;
  bool MeetsAffinityWithout(MachineId machine,
                            std::span<const Task* const> leavers) const;
  static bool AllowsWithout(const TopologySpread& spread, MachineId machine,
                            std::span<const Task* const> leavers);
  // The first of the terms that keep the class away from the machine, if any.
  const CountedTerm* OwnAntiAffinity(MachineId machine) const;
  const CountedTerm* AntiAffinityOfOthers(MachineId machine) const;
  void ExplainAffinity(const Machine& machine,
                       std::vector<Reason>* reasons) const;
  void ExplainSpread(const TopologySpread& spread, const Machine& machine,
                     std::vector<Reason>* reasons) const;
  std::string TextOf(const CountedTerm& term) const;
  // ": 17 web-3": a selected task that runs in the machine's domain.
  template <class IsMeant>
  std::string TaskText(const Topology& topology, MachineId machine,
                       IsMeant is_meant) const;
  void FindWorths();
  // For the minimum at `index`; empty unless it selects the class itself.
  std::vector<int64_t> SharesOf(size_t index, int64_t count) const;

  const ClusterState& state_;
  const ConstraintSet& constraints_;
  const ClassKey key_;
  const PeerTerms& terms_;
  const Task* leaver_;
  MachineId leaver_machine_;        // Where it runs, or has reserved room.
  bool is_leaver_running_ = false;  // Else it is expected.
  const PeerTerms* terms_of_leaver_ = nullptr;  // Null if there is none.
  std::vector<const CountedTerm*> about_;       // Terms that select the class.
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
