// The API server of a Kubernetes without kubelets, as far as a bridge sees it:
// nodes, and pods of ReplicaSets, which stay Pending even when they are bound.
//
// A pod that is told to go ends later, and its ReplicaSet replaces it at once.
//
// Threads: none; confined to the test.

#ifndef SLUICE_TESTS_INTEGRATION_FAKE_API_SERVER_H_
#define SLUICE_TESTS_INTEGRATION_FAKE_API_SERVER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/rng.h"

namespace sluice {

class FakeApiServer {
 public:
  struct Pod {
    std::string replica_set;
    int64_t cpu = 0;
    uint64_t sequence = 0;  // Grows with each pod that is created.
    std::string node = {};  // Empty until it is bound.
    bool is_ending = false;
  };
  enum class EventKind { kNodeAdded, kPodAdded, kPodDeleted };
  struct Event {
    EventKind kind;
    std::string name;
    std::string replica_set = {};
  };

  explicit FakeApiServer(uint64_t seed) : rng_(seed) {}

  void AddNode(const std::string& name, int64_t cpu);
  // Creates its pods, too.  Their names are drawn, so that a list of pods is
  // in no order of age.
  void AddReplicaSet(const std::string& name, int count, int64_t cpu);

  // Tells a pod to end, which makes room only when it has ended, and creates
  // the pod that replaces it.
  void BeginDelete(const std::string& pod);
  // Those that were told to end are gone.
  void EndPods();
  // Both in one.
  void Delete(const std::string& pod);
  // Deletes a pod that is replaced by none.
  void ScaleDownBy(const std::string& pod) { Erase(pod); }

  // Returns false if there is no such pod, or it is bound already.
  bool Bind(const std::string& pod, const std::string& node);

  // By name: the order of a list.  Nodes with their cpu.
  const std::map<std::string, Pod>& pods() const { return pods_; }
  const std::map<std::string, int64_t>& nodes() const { return nodes_; }
  // All there were; who watches remembers how many it has seen.
  const std::vector<Event>& events() const { return events_; }

  int64_t unbound_count() const;
  // Those nodes whose pods want more than there is, in words; empty if none.
  std::string Overcommitted() const;

 private:
  void CreatePod(const std::string& replica_set, int64_t cpu);
  void Erase(std::string pod);

  Rng rng_;
  uint64_t next_sequence_ = 0;
  std::map<std::string, Pod> pods_;
  std::map<std::string, int64_t> nodes_;
  std::vector<Event> events_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_INTEGRATION_FAKE_API_SERVER_H_
