// What the client of the contract is told: one reply at a time, and what it may
// not have read yet.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_CLIENTS_REPLIES_H_
#define SLUICE_CLIENTS_REPLIES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "clients/deliveries.h"
#include "sluice/base/ids.h"
#include "state/cluster_state.h"
#include "state/command.h"
#include "state/delta.h"

namespace sluice {

// What a Schedule call answers.
struct ScheduleReply {
  struct Entry {
    uint64_t sequence = 0;  // Of the delta.
    TaskUid uid;
    DeltaType type = DeltaType::kPlace;
    MachineId machine;
    std::string resource_id;  // The uuid that the client knows.
    // Of kPlace: the template that the task was made from, if it was.
    std::optional<TaskUid> made_from = {};
  };
  std::vector<Entry> deltas;
  // Every waiting task, quarantined ones included.  Where they do not all fit,
  // the next reply continues after the last one named.
  std::vector<TaskUid> unscheduled;
};

class Replies {
 public:
  // `state` must outlive it.
  explicit Replies(ClusterState* state) : state_(*state), deliveries_(state) {}

  // Takes what the client is to be told, at most `bytes_max` on the wire.
  // REQUIRES: no reply is in flight.
  ScheduleReply Take(size_t bytes_max);
  // The client has it, or its call ended before it could.
  // REQUIRES: a reply is in flight.
  void End(bool is_delivered);
  bool is_in_flight() const { return is_in_flight_; }

  // The client has read all replies that have ended.
  // REQUIRES: none is in flight.
  void NoteRead();
  bool AreRead() const {
    return !is_in_flight() && unread_.tasks.empty() &&
           unread_before_.tasks.empty();
  }

  // True if the command removes a task or machine that is named by the reply in
  // flight, or by one of the last two, which its client may not have read yet.
  // The acknowledgment must not overtake them: the client would meet something
  // that it has forgotten.  Ask before the command is applied.
  bool ConcernsUnread(const Command& command) const;
  // The jobs of which the client is yet to be told something.
  absl::flat_hash_set<JobId> FindUntoldJobs() const;

 private:
  // All that a reply names.
  struct Names {
    absl::flat_hash_set<TaskUid> tasks;
    absl::flat_hash_set<MachineId> machines;
  };
  // Adds at most `room`.
  void AddUnscheduled(size_t room, ScheduleReply* reply);

  ClusterState& state_;
  Deliveries deliveries_;  // Of the reply in flight.
  bool is_in_flight_ = false;
  Names unread_;             // Of the last reply, and
  Names unread_before_;      // of the one before it.
  TaskId last_unscheduled_;  // Where the next list of the waiting begins.
};

}  // namespace sluice

#endif  // SLUICE_CLIENTS_REPLIES_H_
