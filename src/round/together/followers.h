// Classes that wait for other waiting classes, and where the others should go.
//
// Suppose a web server must share its machine with its database and may run
// only on the public machines.  It decides where the database goes, although
// the database could run anywhere.  The required class is a *leader*; the class
// that requires it is its *follower*.  A follower may have followers of its
// own.  As long as a follower has no room where its leaders run, a pass places
// no more leaders than it needs, and they go
//   where the follower may run on the same machine: as one unit with it, so
//   that no machine takes more of them than it takes with their followers;
//   where the follower must be in the same domain: to a domain with room for
//   it.
// Of several followers, those with the higher waiting cost count first.  A
// follower that fits nowhere does not count: no leader waits because its
// followers have no room.
//
// Threads: none; confined to the core thread.  Determinism: classes by waiting
// cost, then by their keys; domains by index.

#ifndef SLUICE_ROUND_TOGETHER_FOLLOWERS_H_
#define SLUICE_ROUND_TOGETHER_FOLLOWERS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "constraints/class_peers.h"
#include "constraints/constraint_set.h"
#include "cost/waiting_prices.h"
#include "network/band_network.h"
#include "network/eligibility.h"
#include "network/machine_groups.h"
#include "state/cluster_state.h"

namespace sluice {

class Followers {
 public:
  // Takes the classes that wait now.  What is passed must outlive this.
  // REQUIRES: the state's peers are in sync.
  Followers(const ClusterState& state, const ConstraintSet& constraints,
            uint64_t sequence_end, const WaitingPrices& prices);

  // True if no class must be near others.
  bool empty() const { return of_selector_.empty(); }

  // Finds the followers of the classes of a pass that have no room so far.
  // Returns how they stand to the running tasks, valid until the next call.
  std::vector<const ClassPeers*> Find(std::span<const BandClass> classes);
  // Directs the leaders among the classes to where these followers have room.
  // `groups` tell the followers' machines apart.  REQUIRES: the eligibility is
  // refreshed, and Find() was called for the same classes.
  void Guide(std::span<const MachineGroup> groups, Eligibility* eligibility,
             std::vector<BandClass>* classes);
  // The followers of the leaders that were guided last, without duplicates.
  std::vector<ClassKey> OfGuided() const;

 private:
  // A class that has no room where its leaders run.
  struct Waiting {
    ClassKey key;
    int64_t missing = 0;  // Of its tasks.
    Cost cost = 0;        // Of leaving its most urgent task waiting.
    std::unique_ptr<ClassPeers> peers;
    ClassPeers::Limits limits;
    std::vector<bool> kinds;  // Kinds of machines that its rules allow.
  };
  struct Follower {
    Waiting* waiting = nullptr;
    // In the leader's domain of each of these.
    std::vector<const Topology*> topologies;

    bool IsOnSameMachine() const;
    bool IsIn(const Machine& machine) const;
  };
  // A group of machines in a pass, or a part of one, and what is free there
  // after the followers of earlier leaders have come.
  struct Space {
    size_t group = 0;
    Resources free;
    int64_t machines = 0;
  };
  // Where a leader can go, and what it takes with it.
  struct Guidance {
    std::vector<size_t> groups;
    Resources request;
    int64_t leaders = 0;  // How many the followers need.
  };
  struct Leader;
  class Pass;

  void AddFollowersOf(const ClassKey& leader,
                      const std::vector<const Topology*>& via, int depth,
                      std::vector<Follower>* found);
  // Null if it has room for all that wait, or nothing waits.
  Waiting* FindWaiting(const ClassKey& key);
  // How many of `count` fit where its leaders run.
  int64_t RoomNow(const ClassKey& key, const ClassPeers& peers,
                  int64_t count) const;

  const ClusterState& state_;
  const ConstraintSet& constraints_;
  const uint64_t sequence_end_;
  const WaitingPrices& prices_;
  // The classes that require tasks that a selector selects.
  std::map<uint32_t, std::vector<ClassKey>> of_selector_;
  std::map<ClassKey, int> guided_count_;  // The number of passes.
  // Of the latest pass.
  std::map<ClassKey, std::unique_ptr<Waiting>> waiting_;
  std::vector<std::vector<Follower>> followers_;  // By class of the pass.
  std::vector<size_t> guided_;                    // Classes of that pass.
};

}  // namespace sluice

#endif  // SLUICE_ROUND_TOGETHER_FOLLOWERS_H_
