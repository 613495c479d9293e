// Acknowledgments that wait until their clients cannot meet what they concern
// any more (docs/decisions/0022).
//
// A client forgets a task or machine when its removal is acknowledged, and may
// read a reply that names it after that.  One that makes uids by counting may
// moreover have given the uid to another task meanwhile, and forgets that one.
//
// Threads: none of its own; confined to the core thread.

#ifndef SLUICE_LOOP_HELD_ACKS_H_
#define SLUICE_LOOP_HELD_ACKS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/scheduler.h"
#include "state/command.h"

namespace sluice {

using AckCallback = std::function<void(Ack)>;

// An acknowledgment on its way out.
struct PendingAck {
  AckCallback done;
  Ack ack;
  int64_t entered_us;
};

class HeldAcks {
 public:
  struct Options {
    // How long a client may take to read a reply that has ended,
    int64_t removal_hold_us = 0;
    // and to read where another task of a removed uid goes.
    int64_t reused_uid_hold_us = 0;
  };
  // For how long, and for whom.
  struct Hold {
    int64_t until_us = 0;
    int64_t from_us = 0;            // Not before.
    std::optional<JobId> job = {};  // Until all of it is told.
    TaskId uid = {};                // That was removed; with a job only.
    uint32_t announcement = 0;      // In which it was; likewise.
    // Another task's by now, which is muted with the acknowledgment.
    bool is_contested = false;
  };

  // `scheduler` must outlive it.
  HeldAcks(Scheduler& scheduler, Options options)
      : scheduler_(scheduler), options_(options) {}

  // Some client makes uids by counting, and says itself what it has read, since
  // it goes on calling Schedule.
  void NoteCountingClient() { has_counting_client_ = true; }

  // How the acknowledgment of `command` is to be held, if it is.  Ask before
  // the command is applied, which makes the state forget what it concerns.
  // Also says to a removal whether its uid is another's by now.
  std::optional<Hold> Judge(Command* command, int64_t now_us) const;
  void Add(const Hold& hold, PendingAck ack);

  // A task was submitted under a uid that may be held for.
  void NoteSubmission(TaskId uid, int64_t now_us);
  // A reply has ended.  REQUIRES: the scheduler knows.
  void NoteReplyEnd(bool is_delivered, int64_t now_us);
  // The client has read all replies: what waited for that goes out.
  void NoteRepliesRead(int64_t now_us, std::vector<PendingAck>* released);
  // So does what has waited long enough, and at the end of the daemon what
  // waits until something is placed, which nothing is any more.
  void ReleaseDue(int64_t now_us, bool is_shutting_down,
                  std::vector<PendingAck>* released);
  void ReleaseAll(std::vector<PendingAck>* released);

  // When the first one has waited long enough; a time far away for none.
  int64_t DueUs() const;

 private:
  struct HeldAck {
    Hold hold;
    PendingAck ack;
  };

  std::optional<Hold> JudgeRemoval(const RemoveTask& command, bool is_unread,
                                   int64_t now_us) const;
  void Release(const std::function<bool(const Hold&)>& is_due,
               std::vector<PendingAck>* released);
  // The client that has removed the uid began anew, and gave it out again.
  bool IsOfFormerLife(const Hold& hold) const;

  Scheduler& scheduler_;
  const Options options_;
  std::vector<HeldAck> held_;
  int64_t replies_read_us_ = 0;  // When those that have ended count as read.
  bool has_counting_client_ = false;
};

}  // namespace sluice

#endif  // SLUICE_LOOP_HELD_ACKS_H_
