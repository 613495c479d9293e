// What must be true of a cluster after a sequence of commands, rounds and
// replies, kept in plain maps and by no code of the scheduler.
//
// The model is told every command and predicts its acknowledgment.  It is
// shown the deltas that the scheduler decided on and the replies it gave, and
// says what is wrong with them.  Where to place a task is the scheduler's
// choice; whether it could be placed there is checked here.
//
// Threads: none; confined to the test.

#ifndef SLUICE_TESTS_PROPERTY_CLUSTER_MODEL_H_
#define SLUICE_TESTS_PROPERTY_CLUSTER_MODEL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "clients/replies.h"
#include "property/random_rules.h"
#include "round/scheduler.h"
#include "state/command.h"

namespace sluice {

class ClusterModel {
 public:
  using Amounts = std::map<std::string, int64_t>;

  // What the scheduler should answer.
  Ack Apply(const Command& command);

  // Call after each command and each step of a round.  Deltas that are new are
  // decisions; those that are gone were withdrawn, which only a round may do.
  void ObserveOutbox(const ClusterState& state, bool is_in_round);
  // A complete round in which no command was applied has ended.
  void ObserveEndOfRound();
  // A reply that was limited in bytes may leave the later deltas and some of
  // the waiting out.
  void ObserveReply(const ScheduleReply& reply, bool is_limited);
  void ObserveEndOfReply(bool is_delivered);
  // Compares all that the state says with what it should say.
  void ObserveState(const ClusterState& state);

  // What was wrong, in the order in which it was seen.
  const std::vector<std::string>& errors() const { return errors_; }
  int64_t decisions() const { return decisions_; }
  int64_t withdrawals() const { return withdrawals_; }

 private:
  enum class Phase { kWaiting, kPlaced, kEnded, kTombstone };
  // A delta of the outbox.
  struct Report {
    bool is_in_flight = false;
    bool is_repeat = false;
  };
  struct Task {
    Phase phase = Phase::kWaiting;
    std::string name;
    Amounts request;
    PlacementRules rules;
    uint32_t priority = 0;
    bool is_sound = true;
    int removals = 0;
    bool is_muted = false;
    std::string machine;
    bool is_told = false;                // A client may know of the placement.
    std::map<uint64_t, Report> reports;  // By the delta's sequence.
    bool is_owed_report = false;         // The outbox must show one now.
    // Whom the uid meant before, and who is not yet removed; the oldest first.
    std::vector<Task> earlier;
  };
  struct Machine {
    bool is_present = true;
    bool is_sound = true;
    Amounts allocatable;
    DescribedMachine description;
    std::set<std::string> resource_ids;
  };

  Ack ApplyOne(const SubmitTask& command);
  Ack ApplyOne(const UpdateTask& command);
  Ack ApplyOne(const CompleteTask& command) { return End(command.uid); }
  Ack ApplyOne(const FailTask& command) { return End(command.uid); }
  Ack ApplyOne(const RemoveTask& command);
  Ack ApplyOne(const AddMachine& command);
  Ack ApplyOne(const UpdateMachine& command);
  Ack ApplyOne(const RemoveMachine& command);
  Ack ApplyOne(const AddForeignPod& command);
  Ack ApplyOne(const RemoveForeignPod& command);
  Ack ApplyOne(const ReportTaskUsage& command);
  Ack ApplyOne(const ReportMachineUsage& command);
  // Of the daemon's own; never drawn.
  static Ack ApplyOne(const MuteTask&) { return Ack::kOk; }
  static Ack ApplyOne(const BeginAnnouncement&) { return Ack::kOk; }
  static Ack ApplyOne(const EndAnnouncement&) { return Ack::kOk; }
  static Ack ApplyOne(const ForgetStale&) { return Ack::kOk; }
  static Ack ApplyOne(const SetDraining&) { return Ack::kOk; }

  Task* Live(TaskUid id);
  // The task of a pod's name that waits or runs, taken out of where it is.
  std::optional<Task> TakeOut(const std::string& name, TaskUid except);
  void ForEach(const std::function<void(const Task&)>& visit) const;
  Ack End(TaskUid id);
  void Unplace(Task* task);
  static void Describe(Task* task, const TaskSpec& spec);
  static void Describe(Machine* machine, const MachineSpec& spec);
  bool IsUsable(const std::string& uuid) const;
  // Whether the task may run there beside what already does.
  bool Fits(const Task& task, const std::string& uuid) const;
  Amounts LoadOf(const std::string& uuid) const;
  std::vector<HostPort> HostPortsOn(const std::string& uuid) const;
  void FindWithdrawals(const ClusterState& state, bool is_in_round);
  void Decide(TaskUid uid, const Delta& delta, const std::string& uuid);
  void Fail(TaskUid id, const std::string& what);

  std::map<TaskUid, Task> tasks_;
  std::vector<Task> unclaimed_;  // Of which nobody will speak any more.
  std::map<std::string, Machine> machines_;
  std::map<std::string, std::pair<std::string, Amounts>> foreign_pods_;
  uint64_t sequence_end_ = 0;  // Of all deltas ever seen.
  std::vector<uint64_t> in_flight_;
  std::vector<std::string> errors_;
  int64_t decisions_ = 0;
  int64_t withdrawals_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_PROPERTY_CLUSTER_MODEL_H_
