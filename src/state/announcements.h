// Announcements: a client that begins anew says once more what there is
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

  // The client speaks of it.  REQUIRES: the task is in no queue.
  void Mention(Task* task);
  void Mention(Machine* machine);

  // Says of each task and machine whether it is stale.
  void FindStale();

 private:
  // Whose removal was guessed and who was not submitted is gone indeed.
  void ForgetGuessed();

  const int64_t now_ms_;
  ClusterState& state_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_ANNOUNCEMENTS_H_
