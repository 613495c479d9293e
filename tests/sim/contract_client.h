// A client of the Firmament contract with a cluster of its own: machines come
// and go, tasks are submitted, run where it is told, and are removed.
//
// It repeats calls whose connection broke until they are answered, and speaks
// of one thing at a time.  It knows what it was answered, and finds wrong:
// what was acknowledged and is not known after a crash, a task that is placed
// though its removal was acknowledged, on a machine that is gone, or twice.
//
// Some of its machines fail, and some of its tasks.  Of those it knows which
// run again, and waits for where.  It makes no Schedule call while a report of
// a failure is unanswered, since that would be taken for one of the next run.
//
// Threads: one.

#ifndef SLUICE_TESTS_SIM_CONTRACT_CLIENT_H_
#define SLUICE_TESTS_SIM_CONTRACT_CLIENT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "sim/faults.h"
#include "sim/real_cluster.h"
#include "sim/sim_daemon.h"
#include "sim/timeline.h"
#include "sim/workload.h"

namespace sluice::sim {

class ContractClient {
 public:
  // All must outlive it.
  ContractClient(const Faults& faults, const Workload& workload,
                 Timeline* timeline, Rng* rng, SimDaemon* daemon,
                 RealCluster* cluster, bool uses_uuids_again);
  ~ContractClient();

  // Changes something.
  void Act();
  // Its connection breaks, and what is under way does not arrive.
  void Break();

  // Nothing happens from now on but what must.
  void CalmDown();

  bool is_waiting_for_answers() const { return !calls_.empty(); }
  // Whether what was told to leave runs on.
  bool HasLeaving() const;
  // Whether the daemon knows what it has, and what waits fits on none of
  // `machines`.  REQUIRES: nothing is under way.
  void CheckEnd(const std::vector<std::string>& machines);
  std::vector<std::string> MachineUuids() const;
  int64_t placement_count() const { return placement_count_; }
  int64_t stop_count() const { return stop_count_; }
  int64_t move_count() const { return move_count_; }

 private:
  class SimCall;
  enum class Phase { kAnnounced, kThere, kLeaving };
  // No Schedule call is known to have begun after something yet.
  static constexpr size_t kNoCall = ~size_t{0};
  struct Machine {
    Phase phase = Phase::kAnnounced;
    bool has_failed = false;
  };
  struct Task {
    Phase phase = Phase::kAnnounced;
    RealCluster::Task real = {};
    bool is_running = false;
    bool is_doomed = false;  // Its machine is going.
    // Its run has ended, with its machine or by itself, and it waits for the
    // next.  What calls before `knowing_call` tell may be of the former.
    bool is_lost = false;
    size_t knowing_call = 0;
    // The daemon may know that it failed and does not run again.
    bool may_have_ended = false;
    bool is_submitted_again = false;
    bool may_not_run_again = false;
    uint64_t report = 0;          // The call that reports its failure; 0: none.
    bool is_report_late = false;  // It was to run again before.
    // How often it was said that it failed, and after how many times it still
    // runs again.
    int64_t report_count = 0;
    int64_t reports_max = 0;
    // It was told to, and its client comes to stopping it.
    bool is_told_to_leave = false;
    bool has_to_end = false;
    uint64_t told_connection = 0;
    // The daemon cannot know that it was told.
    bool is_from_broken_call = false;
    std::string machine = {};  // Where it runs.
  };
  struct Call {
    Command command;
    std::function<void()> end;
  };

  bool RunsWhatABrokenCallTold(const std::string& uuid) const;
  void AddMachine();
  void RemoveMachine();
  bool HasFailed(const std::string& uuid) const;
  void LoseMachine(const std::string& uuid);
  // Its removal is acknowledged.
  void ForgetMachine(const std::string& uuid);
  void Submit(const RealCluster::Task& task);
  void EndTask(uint64_t uid);
  void StopTask(Task* task);
  // Its run has ended, and it is to run again.
  void AwaitNextRun(Task* task);
  bool MayReport(const Task& task) const;
  // One that runs does so no more.
  void FailTask();
  void ReportFailure(uint64_t uid);
  // The call is on its way to the daemon.
  void NoteReport(uint64_t id);
  bool HasOpenReport() const;
  // Its controller may submit another one.
  void Replace(const RealCluster::Task& former);

  // The daemon has died, but some of what it sent before arrives.
  void NoteDeath();
  // A message is on its way here.  Returns its number; 0: nobody waits for it.
  uint64_t NoteSent(uint64_t connection, std::function<void()> take);
  // Takes it if it is still on its way.
  bool Arrive(uint64_t message);

  // Calls until it is answered.
  void Ask(Command command, std::function<void()> end);
  void Transmit(uint64_t id);
  void Schedule();
  void ScheduleLater();
  void Read(const ScheduleReply& reply, const std::vector<std::string>& uuids,
            const SimCall& call);
  void Place(uint64_t uid, const std::string& uuid);
  void BeginNextRun(Task* task);
  void PlaceOnAbsent(uint64_t uid);
  void GiveUp(uint64_t uid);
  void TellToLeave(uint64_t uid, const SimCall& call);
  void HeedLate(uint64_t uid);
  void LeaveAfter(uint64_t uid, int64_t grace_us);
  void CheckRecovered(const ClusterState& state);
  int64_t Delay() { return rng_.Between(1, faults_.message_us); }

  const Faults faults_;
  const Workload workload_;
  const bool uses_uuids_again_;
  Timeline& timeline_;
  Rng& rng_;
  SimDaemon& daemon_;
  RealCluster& cluster_;

  std::map<std::string, Machine> machines_;
  std::map<uint64_t, Task> tasks_;
  uint64_t next_machine_ = 0;
  uint64_t next_uid_ = 1;
  std::map<uint64_t, Call> calls_;
  uint64_t next_call_ = 1;
  uint64_t connection_ = 1;
  bool is_breaking_off_ = false;  // It reads what arrived all the same.
  std::map<uint64_t, std::function<void()>> arriving_;  // How each is taken.
  uint64_t next_message_ = 1;
  std::vector<std::unique_ptr<SimCall>> schedule_calls_;
  bool is_scheduling_ = false;    // A call is under way.
  std::function<void()> unread_;  // Reads the reply that it has not come to.
  bool is_calm_ = false;
  int64_t placement_count_ = 0;
  int64_t stop_count_ = 0;  // Of tasks that were told to leave.
  int64_t move_count_ = 0;
};

}  // namespace sluice::sim

#endif  // SLUICE_TESTS_SIM_CONTRACT_CLIENT_H_
