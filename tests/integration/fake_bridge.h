// A bridge as the contract knows it: it keeps a map of the pods and one of the
// nodes that it has told the daemon of, drops an entry as soon as its removal
// is acknowledged, and dies of a placement that names what is in neither.  A
// uid that it gives to a second pod means that one from then on, and the first
// removal of either forgets it.
//
// Its calls, thousands at once, are taken in the order in which their ends
// arrive, on one thread, so what it sees is what the daemon sent and not how
// its own threads ran.
//
// Threads: none; confined to the test.

#ifndef SLUICE_TESTS_INTEGRATION_FAKE_BRIDGE_H_
#define SLUICE_TESTS_INTEGRATION_FAKE_BRIDGE_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "firmament/firmament_scheduler.grpc.pb.h"
#include "integration/messages.h"

namespace sluice {

class FakeBridge {
 public:
  using Done = std::function<void()>;
  // Is given a pod's name and the resource on which it is placed.
  using Binder = std::function<void(const std::string&, const std::string&)>;

  explicit FakeBridge(const std::shared_ptr<grpc::Channel>& channel)
      : FakeBridge(channel, channel) {}
  // Check and Schedule have a connection of their own.
  FakeBridge(const std::shared_ptr<grpc::Channel>& schedule_channel,
             const std::shared_ptr<grpc::Channel>& watch_channel);
  // Waits for the calls under way.
  ~FakeBridge();

  // Gives placements to `bind` instead of keeping them.  A placement that
  // comes twice is then no cause of death: who binds may refuse the second.
  void BindWith(Binder bind) { bind_ = std::move(bind); }

  // These begin a call; its effect on the bridge's maps comes when it ends
  // well, and `done` is run after that.
  void Check(Done done);
  void Submit(uint64_t uid, const TaskFields& fields = {}, Done done = {});
  void Update(uint64_t uid, const TaskFields& fields);
  void Remove(uint64_t uid, Done done = {});
  // That the node is known already is no cause of death.
  void AddNode(const std::string& uuid, const NodeFields& fields = {},
               Done done = {});
  // Of the processing unit it repeats the labels and taints that it had first.
  // REQUIRES: AddNode() was called.
  void UpdateNode(const std::string& uuid, const NodeFields& fields);
  void RemoveNode(const std::string& uuid);
  void Schedule(Done done = {});

  // Waits for the end of any one call.  REQUIRES: a call is under way.
  void AwaitOne();
  // Returns false if no call ended in this time.
  bool AwaitOneFor(int64_t timeout_us);
  void AwaitAll() {
    while (in_flight() > 0) AwaitOne();
  }
  // Breaks off all calls under way, as the end of a process does: their ends
  // are no longer of any effect.
  void Abandon();
  int in_flight() const { return static_cast<int>(calls_.size()); }
  bool is_scheduling() const { return is_scheduling_; }

  // Empty as long as the bridge lives.
  const std::string& cause_of_death() const { return cause_of_death_; }

  // Pods and nodes that it was told are known, and whose removal it has not
  // asked for yet: it has one call at a time for each.
  const std::set<uint64_t>& pods() const { return live_pods_; }
  const std::set<std::string>& nodes() const { return live_nodes_; }
  // Of the pods that are not removed yet.
  const std::map<uint64_t, std::string>& placements() const {
    return placements_;
  }
  int64_t placement_count() const { return placement_count_; }
  // Those that the latest reply of Schedule said are unscheduled.
  const std::set<uint64_t>& waiting() const { return waiting_; }

 private:
  // A call under way; `end` is run with its status when it is over.
  struct PendingCall {
    virtual ~PendingCall() = default;
    grpc::ClientContext context;
    grpc::Status status;
    std::function<void()> end;
  };

  // `prepare` is the stub's PrepareAsync method; `end` is given the response.
  template <class Request, class Response, class Prepare>
  void Start(Prepare prepare, const Request& request,
             std::function<void(const Response&)> end);
  void End(void* tag);
  void Die(std::string cause);
  void TakeReply(const firmament::SchedulingDeltas& reply);

  const std::unique_ptr<firmament::FirmamentScheduler::Stub> schedule_stub_;
  const std::unique_ptr<firmament::FirmamentScheduler::Stub> watch_stub_;
  grpc::CompletionQueue queue_;
  Binder bind_;
  std::set<PendingCall*> calls_;  // Owned; End() frees them.
  bool is_abandoned_ = false;
  bool is_scheduling_ = false;
  std::string cause_of_death_;
  // Names by uid, until the first removal of the uid is acknowledged.
  std::map<uint64_t, std::string> known_pods_;
  std::set<uint64_t> live_pods_;
  std::set<std::string> known_nodes_;  // Likewise, by processing unit.
  std::set<std::string> live_nodes_;
  // The processing units as they were when their nodes were added.
  std::map<std::string, firmament::ResourceDescriptor> first_pus_;
  std::map<uint64_t, std::string> placements_;
  std::set<uint64_t> waiting_;
  int64_t placement_count_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_INTEGRATION_FAKE_BRIDGE_H_
