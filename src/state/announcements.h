// Announcements: a client that begins anew states again everything that exists
// (docs/decisions/0022).
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_STATE_ANNOUNCEMENTS_H_
#define SLUICE_STATE_ANNOUNCEMENTS_H_

#include <cstdint>

#include "sluice/state/machine.h"
#include "sluice/state/task.h"
#include "state/cluster_state.h"
#include "state/command.h"

namespace sluice {

class Announcements {
 public:
  Announcements(int64_t now_ms, ClusterState* state)
      : now_ms_(now_ms), state_(*state) {}

  Ack Apply(const BeginAnnouncement& command);
  Ack Apply(const EndAnnouncement& command);
  Ack Apply(const ForgetStale& command);

  // Something that was mentioned in that announcement is submitted or added
  // again.  Call before anything else is done about it.
  void NoteAgain(uint32_t mentioned_in);
  // Notes that the client mentioned it.  REQUIRES: the task is in no queue.
  void Mention(Task* task);
  void Mention(Machine* machine);

  // Updates is_stale of every task and machine.
  void FindStale();

 private:
  // From now on, what was not mentioned since the last announcement began is
  // stale.
  void Open();
  // True if there is anything that a client would have to announce again.
  bool IsAnythingKnown() const;
  // Erases the tasks that were removed by guess and not submitted again.
  void ForgetGuessed();

  const int64_t now_ms_;
  ClusterState& state_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_ANNOUNCEMENTS_H_
