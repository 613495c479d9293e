// The client of the Firmament contract: its commands, what it announces when it
// begins anew, and its Schedule calls.
//
// Its quirks are met here, and only here: it gives out uids by counting, and
// gives them out again; it forgets what it is acknowledged, and may read a
// reply that names it after that (docs/decisions/0022).
//
// Threads: none; confined to the core thread.
// Time: arguments; `now_us` of the monotonic clock, `now_ms` since the epoch.

#ifndef SLUICE_CLIENTS_CONTRACT_H_
#define SLUICE_CLIENTS_CONTRACT_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/limits.h"
#include "clients/held_acks.h"
#include "clients/messages.h"
#include "clients/newcomers.h"
#include "clients/replies.h"
#include "clients/schedule_call.h"
#include "state/changes.h"
#include "state/cluster_state.h"
#include "state/command.h"

namespace sluice {

class Contract {
 public:
  struct Options {
    size_t reply_bytes_max = kReplyBytesMax;
    HeldAcks::Options holds = {.removal_hold_us = 500000,
                               .reused_uid_hold_us = 30000000};
    // After so long without a word a client has announced all there is.
    int64_t announcement_quiet_ms = 2000;
    int64_t forget_stale_after_ms = 0;  // 0: never.
  };

  // `state` must outlive it.
  Contract(ClusterState* state, Options options);

  // A command, and whom to tell what became of it.
  struct Request {
    Command command;
    AckCallback done;
    int64_t entered_us = 0;
    ConnectionId connection = {};
  };
  // Applies the command and takes its callback, which is called once the
  // command may be acknowledged.  Returns nothing if the command is dropped,
  // since another one said the same just before.
  std::optional<Ack> Apply(Request& request, int64_t now_ms, int64_t now_us);

  // A client asked whether there is a scheduler.
  void Greet(ConnectionId connection) { newcomers_.NoteCheck(connection); }
  // `call` waits for a round of its own.  Returns true if its client may have
  // begun anew, and an announcement is expected from now on.
  bool Call(ScheduleCall* call, int64_t now_ms, int64_t now_us);
  // Takes the next call that a round is to begin for, if one may begin.  A
  // newcomer's call waits as long as its client may be beginning anew.  Answers
  // calls that need no round, and returns how many of their clients had gone.
  int64_t BeginCall(bool is_in_round);
  bool has_call() const { return active_call_ != nullptr; }
  // The round of the call has ended.  Returns the reply; null where the client
  // has gone, so that the deltas wait for the next call.
  // REQUIRES: has_call().
  const ScheduleReply* AnswerCall();
  void EndReply(bool is_delivered, int64_t now_us);

  // Releases acknowledgments that have waited long enough, ends what the client
  // announces, and forgets what it did not.  Returns true if an announcement
  // changed the state.
  bool Tend(int64_t now_ms, int64_t now_us);
  // When there is something to tend to; a time far away for nothing.
  int64_t DueUs() const;

  // From here on calls are answered with empty replies.
  void BeginShutdown() { is_shutting_down_ = true; }
  // Releases all acknowledgments that are held: no reply is read any more.
  void ReleaseAll() { held_acks_.ReleaseAll(&acks_); }

  // Moves everything to be sent into `messages`.
  void TakeMessages(Messages* messages);

 private:
  // Returns nothing if the command is dropped.
  std::optional<Ack> Change(const Command& command, int64_t entered_us,
                            int64_t now_ms);
  // A client that begins by calling Check assigns uids by counting.  One that
  // only might begin anew may do so or not.
  void NoteBeginning(const StateCounters& before, bool is_beginning,
                     int64_t entered_us);
  void NoteMention(const Command& command, uint32_t stale_below_before,
                   int64_t entered_us);
  struct WaitingCall {
    ScheduleCall* call;
    int64_t since_us;
    bool is_of_newcomer;
  };
  // True if it is to wait until it is clear whether its client begins anew.
  bool IsHeld(const WaitingCall& waiting) const;
  // When the client has announced everything, or the wait for it is over;
  // nullopt if nothing is announced or expected.
  std::optional<int64_t> AnnouncementEndUs() const;
  // How long a client that might begin anew is awaited.
  int64_t NewcomerWaitUs() const;
  bool TendAnnouncements(int64_t now_ms, int64_t now_us);
  void AnswerEmpty(ScheduleCall* call);

  ClusterState& state_;
  const Options options_;
  Replies replies_;
  HeldAcks held_acks_;
  Newcomers newcomers_;
  std::vector<AckMessage> acks_;
  std::vector<ReplyMessage> answers_;
  std::deque<WaitingCall> waiting_calls_;
  int64_t tended_us_ = 0;                // As of when calls are held.
  ScheduleCall* active_call_ = nullptr;  // Whose round is running.
  bool is_shutting_down_ = false;
  // True if anything was mentioned since the last announcement began; and when.
  bool has_mentioned_ = false;
  int64_t mentioned_us_ = 0;
  int64_t began_us_ = 0;     // When a machine's mention last began one.
  int64_t expected_us_ = 0;  // When one began that is only expected.
  uint32_t forgotten_ = 0;   // The announcement that was tended to its end.
};

}  // namespace sluice

#endif  // SLUICE_CLIENTS_CONTRACT_H_
