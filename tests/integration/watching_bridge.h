// One life of the bridge: it asks whether the daemon serves, and from then on
// calls Schedule again and again, while it lists what the API server has,
// announces that, and then what changes.  At its end its calls are broken off
// and all that it knew is forgotten.
//
// It numbers the pods of a ReplicaSet as the bridge of the field does: a uid
// comes from how many of them it has submitted and not removed yet, so uids
// depend on the order of the list, and come again while their former pods
// live.  Every pod that is listed is submitted, the bound ones, too.
//
// Threads: none; confined to the test, which has to call Step().
// Time: the system's.

#ifndef SLUICE_TESTS_INTEGRATION_WATCHING_BRIDGE_H_
#define SLUICE_TESTS_INTEGRATION_WATCHING_BRIDGE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>

#include "integration/fake_api_server.h"
#include "integration/fake_bridge.h"
#include "sluice/base/clock.h"

namespace sluice {

class WatchingBridge {
 public:
  // `seed` says how fast it lists.  `api` must outlive it.
  WatchingBridge(int port, uint64_t seed, FakeApiServer* api);
  ~WatchingBridge() { bridge_.Abandon(); }

  // Goes on for some milliseconds.
  void Step();

  // The daemon has answered to all that there is to announce.
  bool HasAnnounced() const;
  // Besides, it was told a place of each pod, and no removal is under way.
  bool IsSettled() const;
  // Replies of Schedule so far.
  int64_t reply_count() const { return reply_count_; }
  // Empty as long as it lives.
  const std::string& cause_of_death() const { return bridge_.cause_of_death(); }
  // An older pod has its uid, too: a removal of the uid cannot tell which of
  // them has gone.
  bool SharesUidWithOlder(const std::string& pod) const;
  // Where announcement and placement stand.
  std::string Describe() const;

 private:
  enum class Stage { kSubmitting, kSubmitted, kRemoving };
  struct Pod {
    uint64_t uid = 0;
    std::string replica_set;
    uint64_t sequence = 0;
    Stage stage = Stage::kSubmitting;
    bool has_gone = false;  // To be removed once it is submitted.
    bool is_placed = false;
  };

  void List();
  void TakeEvents();
  void Announce();
  void AnnounceNode(const std::string& name);
  void SubmitPod(const std::string& name);
  void RemovePod(const std::string& name);
  void Bind(const std::string& pod, const std::string& resource);

  FakeApiServer& api_;
  const SystemClock clock_;
  FakeBridge bridge_;
  bool is_serving_ = false;
  // Of the list, with what it takes to get it.
  int64_t nodes_listed_us_ = 0;
  int64_t pods_listed_us_ = 0;
  uint64_t pods_per_step_;
  int64_t next_schedule_us_ = 0;
  int64_t reply_count_ = 0;
  bool are_nodes_listed_ = false;
  bool are_pods_listed_ = false;
  // How many events are in the lists or were taken.
  size_t node_events_ = 0;
  size_t pod_events_ = 0;
  std::deque<std::string> new_nodes_;
  int nodes_in_flight_ = 0;
  std::deque<FakeApiServer::Event> pod_changes_;
  std::map<std::string, Pod> pods_;
  std::map<std::string, uint64_t> counts_;    // Of pods, by ReplicaSet.
  std::map<std::string, std::string> nodes_;  // By processing unit.
};

}  // namespace sluice

#endif  // SLUICE_TESTS_INTEGRATION_WATCHING_BRIDGE_H_
