// Acknowledgments that are held until no reply that a client has yet to read
// names what they concern (docs/decisions/0022).
//
// A client forgets a task or machine when its removal is acknowledged, but may
// read a reply that names it after that.  A client that assigns uids by
// counting may also have given the uid to a newer task, and then forgets that
// one.
//
// Threads: none of its own; confined to the core thread.

#ifndef SLUICE_CLIENTS_HELD_ACKS_H_
#define SLUICE_CLIENTS_HELD_ACKS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "clients/messages.h"
#include "clients/replies.h"
#include "state/cluster_state.h"
#include "state/command.h"

namespace sluice {

class HeldAcks {
 public:
  struct Options {
    // How long a client may take to read a reply that has ended.
    int64_t removal_hold_us = 0;
    // How long it may take to read where a newer task of a removed uid goes.
    int64_t reused_uid_hold_us = 0;
  };
  // How long an acknowledgment is held, and for what.
  struct Hold {
    int64_t until_us = 0;
    int64_t from_us = 0;            // When NoteRepliesRead() may end it first.
    std::optional<JobId> job = {};  // Held until all of it is told.
    TaskUid uid = {};               // The removed one; only with a job.
    uint32_t stale_below = 0;       // Of the state at the removal; likewise.
    // The uid names a newer task; releasing the acknowledgment mutes it.
    bool is_contested = false;
  };

  // Both must outlive it.
  HeldAcks(ClusterState* state, Replies* replies, Options options)
      : state_(*state), replies_(*replies), options_(options) {}

  // Some client assigns uids by counting.  It keeps calling Schedule, which
  // shows what it has read.
  void NoteCountingClient() { has_counting_client_ = true; }

  // How to hold the acknowledgment of `command`; nullopt if it is not held.
  // Call before the command is applied: afterwards the state has forgotten what
  // it concerns.
  std::optional<Hold> HoldFor(const Command& command, int64_t now_us) const;
  void Add(const Hold& hold, AckMessage ack);

  // A task was submitted under a uid for which an acknowledgment may be held.
  void NoteSubmission(TaskUid uid, int64_t now_us);
  // A reply has ended.  Call after Replies::End().
  void NoteReplyEnd(bool is_delivered, int64_t now_us);
  // The client has read all replies: releases what waited for that.
  void NoteRepliesRead(int64_t now_us, std::vector<AckMessage>* released);
  // Releases what has waited long enough.  During a shutdown, also releases
  // what waits for placements, since nothing is placed any more.
  void ReleaseDue(int64_t now_us, bool is_shutting_down,
                  std::vector<AckMessage>* released);
  void ReleaseAll(std::vector<AckMessage>* released);

  // When the first one has waited long enough; far in the future if there is
  // none.
  int64_t DueUs() const;

 private:
  struct HeldAck {
    Hold hold;
    AckMessage ack;
  };

  std::optional<Hold> HoldForRemoval(const RemoveTask& command, bool is_unread,
                                     int64_t now_us) const;
  void Release(const std::function<bool(const Hold&)>& is_due,
               std::vector<AckMessage>* released);
  // True if the client that removed the uid began anew and assigned it again.
  bool IsOfFormerLife(const Hold& hold) const;

  ClusterState& state_;
  Replies& replies_;
  const Options options_;
  std::vector<HeldAck> held_;
  int64_t replies_read_us_ = 0;  // When ended replies count as read.
  bool has_counting_client_ = false;
};

}  // namespace sluice

#endif  // SLUICE_CLIENTS_HELD_ACKS_H_
