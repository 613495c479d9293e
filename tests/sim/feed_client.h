// A client of a feed with a cluster of its own, which states all of it whenever
// it connects, and carries out what it is told or says that it could not.
//
// It finds wrong: what was durable and is not known after a crash, a task that
// is placed twice, and deltas out of order.
//
// Threads: one.

#ifndef SLUICE_TESTS_SIM_FEED_CLIENT_H_
#define SLUICE_TESTS_SIM_FEED_CLIENT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "sim/faults.h"
#include "sim/real_cluster.h"
#include "sim/sim_daemon.h"
#include "sim/timeline.h"
#include "sim/workload.h"

namespace sluice::sim {

class FeedClient {
 public:
  // All must outlive it.
  FeedClient(const Faults& faults, const Workload& workload, Timeline* timeline,
             Rng* rng, SimDaemon* daemon, RealCluster* cluster);
  ~FeedClient();

  void Act();
  void Break();
  // The daemon begins with nothing, whatever was durable.
  void NoteStoreLoss() { durable_ = 0; }
  // Nothing happens from now on but what must.
  void CalmDown();
  bool is_waiting_for_answers() const { return durable_ < sequence_; }
  // Whether what was told to leave runs on.
  bool HasLeaving() const;
  void CheckEnd(const std::vector<std::string>& machines);
  std::vector<std::string> MachineUuids() const;
  int64_t placement_count() const { return placement_count_; }
  int64_t stop_count() const { return stop_count_; }
  int64_t move_count() const { return move_count_; }

 private:
  class Session;
  struct Task {
    RealCluster::Task real = {};
    bool is_running = false;
    bool is_doomed = false;  // Its machine is gone.
    bool is_told_to_leave = false;
    uint64_t told_connection = 0;  // And how often then.
    int64_t told_count = 0;
    bool is_terminating = false;  // Its client says that it stops it.
    std::string machine = {};
    uint64_t stated = 0;  // The event that stated it last.
  };

  void AddMachine();
  void RemoveMachine();
  void LoseMachine(const std::string& uuid);
  void AddTask(const RealCluster::Task& task);
  void EndTask(std::string id);  // Not the one that it erases.
  // Its controller may submit another one.
  void Replace(const RealCluster::Task& former);

  // The daemon has died, but what it sent last may arrive.
  void NoteDeath();
  void Connect();
  void StateAll();
  void StateMachine(const std::string& uuid);
  void StateTask(const std::string& id);
  void Event(FeedEvent event);
  void Send();
  void ReadArriving();
  void Place(const std::string& id, const std::string& uuid);
  void CountToldToLeave(const std::string& id);
  void TellToLeave(const std::string& id);
  void LeaveAfter(const std::string& id, int64_t grace_us);
  void CheckRecovered(const ClusterState& state);
  int64_t Delay() { return rng_.Between(1, faults_.message_us); }

  const Faults faults_;
  const Workload workload_;
  Timeline& timeline_;
  Rng& rng_;
  SimDaemon& daemon_;
  RealCluster& cluster_;

  std::map<std::string, int64_t> machines_;  // Cpu.
  std::map<std::string, Task> tasks_;
  int next_machine_ = 0;
  int next_task_ = 1;
  // The connection: messages arrive in their order, at these times the last.
  std::vector<std::unique_ptr<Session>> sessions_;
  uint64_t connection_ = 1;
  bool is_connected_ = false;
  int64_t sent_us_ = 0;
  int64_t received_us_ = 0;
  std::optional<FeedNews> arriving_;  // One at a time.
  FeedBatch next_;
  int64_t snapshot_count_ = 0;
  uint64_t sequence_ = 0;
  uint64_t durable_ = 0;
  uint64_t seen_ = 0;  // The newest delta.
  bool is_calm_ = false;
  int64_t placement_count_ = 0;
  int64_t stop_count_ = 0;  // Of tasks that were told to leave.
  int64_t move_count_ = 0;
};

}  // namespace sluice::sim

#endif  // SLUICE_TESTS_SIM_FEED_CLIENT_H_
