// Classes that wait for others that wait: where the others should go.
//
// A web server that must share its machine with its database, and may run on
// the public machines only, decides where the database goes, although the
// database could run anywhere.  Whoever is required so is a *leader*, and who
// requires it is its *follower*; a follower may have followers again.  As long
// as a follower has no room where its leaders run, no more leaders than it
// needs are placed in one pass, and they go
//   where the follower may run on the same machine: as one with it, so that no
//   machine takes more of them than it takes together with their followers;
//   where the follower must be in the same domain: to a domain with room for
//   it.
// Of several followers those count first that are dearer to leave waiting, and
// what can go nowhere does not count: no leader waits for want of room for its
// followers.
//
// Threads: none; confined to the core thread.  Determinism: classes by waiting
// cost, then by their keys; domains by index.

#ifndef SLUICE_CORE_FOLLOWERS_H_
#define SLUICE_CORE_FOLLOWERS_H_

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
  // Knows the classes that wait now.  What is passed must outlive this.
  // REQUIRES: the state's peers are in sync.
  Followers(const ClusterState& state, const ConstraintSet& constraints,
            uint64_t sequence_end, const WaitingPrices& prices);

  // Whether no class must be near others.
  bool empty() const { return of_selector_.empty(); }

  // Finds the followers, without room so far, of the classes of a pass.
  // Returns how they stand to the tasks that run, valid until the next call.
  std::vector<const ClassPeers*> Find(std::span<const BandClass> classes);
  // Has the leaders among the classes go where these followers have room.
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
    Cost cost = 0;        // Of leaving its most urgent waiting.
    std::unique_ptr<ClassPeers> peers;
    ClassPeers::Limits limits;
    std::vector<bool> kinds;  // Of machines, that its rules allow.
  };
  struct Follower {
    Waiting* waiting = nullptr;
    // In the leader's domain of each of these.
    std::vector<const Topology*> topologies;

    bool IsOnSameMachine() const;
    bool IsIn(const Machine& machine) const;
  };
  // A group of machines in a pass, or a part of one, and what is free there
  // when the followers of the leaders before have come.
  struct Space {
    size_t group = 0;
    Resources free;
    int64_t machines = 0;
  };
  // Where a leader can go, and what it takes along.
  struct Guidance {
    std::vector<size_t> groups;
    Resources request;
    int64_t leaders = 0;  // That the followers need.
  };
  struct Leader;
  class Pass;

  void AddFollowersOf(const ClassKey& leader,
                      const std::vector<const Topology*>& via, int depth,
                      std::vector<Follower>* found);
  // Null where it has room for all that wait, or nothing waits.
  Waiting* FindWaiting(const ClassKey& key);
  // For how many of `count` there is room where its leaders run.
  int64_t RoomNow(const ClassKey& key, const ClassPeers& peers,
                  int64_t count) const;

  const ClusterState& state_;
  const ConstraintSet& constraints_;
  const uint64_t sequence_end_;
  const WaitingPrices& prices_;
  // The classes that require tasks which a selector means.
  std::map<uint32_t, std::vector<ClassKey>> of_selector_;
  std::map<ClassKey, int> guided_count_;  // In how many passes.
  // Of the pass that was looked at last.
  std::map<ClassKey, std::unique_ptr<Waiting>> waiting_;
  std::vector<std::vector<Follower>> followers_;  // By class of the pass.
  std::vector<size_t> guided_;                    // Classes of it.
};

}  // namespace sluice

#endif  // SLUICE_CORE_FOLLOWERS_H_
