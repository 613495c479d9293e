// What terms about other tasks mean, written down a second time: plain, slow,
// from Kubernetes' documented rules and from no code of the scheduler.
//
// Threads: none; confined to the test.

#ifndef SLUICE_TESTS_PROPERTY_PEER_ORACLE_H_
#define SLUICE_TESTS_PROPERTY_PEER_ORACLE_H_

#include <cstdint>
#include <map>
#include <string>

#include "property/random_rules.h"
#include "sluice/state/placement_rules.h"

namespace sluice {

// A task by what terms look at.
struct PeerTask {
  std::string job = {};
  std::string task_namespace = {};
  LabelPairs labels = {};
  // But for the one that is implied, its name.
  LabelPairs namespace_labels = {};
  PlacementRules rules = {};
  std::string machine = {};     // The uuid of where it runs; "" where it waits.
  bool is_terminating = false;  // Told to leave; it runs until it is gone.
};

struct PeerMachine {
  DescribedMachine description;
  // Departed machines are not; what runs there is still a peer.
  bool is_usable = true;
};

struct PeerCluster {
  std::map<std::string, PeerMachine> machines;  // By uuid.
  std::map<uint64_t, PeerTask> tasks;           // By uid.
};

bool Means(const TaskSelector& selector, const PeerTask& task);

// What WhyPeersForbid() says where nobody is there whom it must be near.
inline constexpr char kNoSuchPeer[] = "affinity: no such peer";

// Why `newcomer`, which does not run, may not run on the machine beside what
// runs in the cluster; "" where its peers allow it.  Looks at terms about tasks
// only, and not at whether the machine is usable.
// REQUIRES: the cluster has the machine, and those on which tasks run.
std::string WhyPeersForbid(const PeerCluster& cluster, const PeerTask& newcomer,
                           const std::string& machine);

}  // namespace sluice

#endif  // SLUICE_TESTS_PROPERTY_PEER_ORACLE_H_
