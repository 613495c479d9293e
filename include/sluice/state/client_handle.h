// How a task's client knows the task: by a uid of the scheduler's contract, or
// by an id in a feed.
//
// The scheduler itself knows a task by its id alone.  This part belongs to the
// code that talks with clients: state/task_commands.h for uids,
// state/feed_events.h for feeds, and clients/.  Rounds only ask whether the
// client is listening.
//
// Threads: values; the ones in the state are confined to the core thread.

#ifndef SLUICE_STATE_CLIENT_HANDLE_H_
#define SLUICE_STATE_CLIENT_HANDLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sluice/base/ids.h"

namespace sluice {

// What the uid by which a client submitted a task still names.
enum class UidStanding : uint8_t {
  kKnown = 0,  // The task.  Always so for a task of a feed.
  // Nothing that the client knows, or a task that it has yet to submit.
  // Nothing may be reported for this task, so it is not scheduled either.
  kMuted = 1,
  // Another task, which took the uid over.  Nothing may be reported for this
  // one.
  kDisplaced = 2,
};

struct ClientHandle {
  // The uid under which a client of the contract submitted the task, even if it
  // names another task by now.  The state chose it for a task that it made from
  // a template.  Meaningless for a task of a feed.
  TaskUid uid;
  UidStanding uid_standing = UidStanding::kKnown;
  // The client began anew and has not submitted the task again, or its feed is
  // not live: nothing is told of it.
  bool is_stale = false;
  // The feed has stated that the task is being stopped; not stored.
  bool is_ending = false;
  // The announcement that last mentioned the task, or its feed's snapshot.
  uint32_t announcement = 0;

  // The feed that stated the task, if any, and the task's id there.
  FeedId feed;
  std::string feed_task_id;
  // A hash of what the feed last stated, to see quickly that nothing has
  // changed; not stored: 0, which is none, after a restart.
  uint64_t feed_fingerprint = 0;

  // One for each submission.
  int32_t expected_removals = 1;
  // Clients reuse uids while their first holder still runs.  These are the
  // tasks that had the uid before and are not yet removed, oldest first.  Each
  // of them is displaced, and goes on as it is.  While there are any, no
  // completion or failure can be attributed, and a removal is assumed to be for
  // the oldest.
  std::vector<TaskId> earlier_holders;
  // If displaced: the task that has the uid, whose removals count for this one,
  // too; nullopt if nobody will mention this one again.
  std::optional<TaskId> successor;

  bool IsMuted() const { return uid_standing != UidStanding::kKnown; }
  bool IsDisplaced() const { return uid_standing == UidStanding::kDisplaced; }
  bool IsOfFeed() const { return feed != FeedId(); }
  // True if its uid names the task.
  bool HoldsUid() const { return !IsDisplaced() && !IsOfFeed(); }
  // True if the client would take news of the task.
  bool IsListening() const { return !IsMuted() && !is_stale; }
};

}  // namespace sluice

#endif  // SLUICE_STATE_CLIENT_HANDLE_H_
