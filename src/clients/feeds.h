// The feeds: who is connected, what was told to whom, and when a round is due
// that no Schedule call asks for.
//
// A feed has one connection at a time.  A newer one wins, since a client that
// begins anew may come before its former connection is known to be dead.  What
// a connection was told but had not confirmed when it ended is told again to
// the next one, once that has stated everything.
//
// If clients elect a leader, the one that leads wins, not the last to connect:
// a former leader that was frozen does not know of the election yet.  The
// others may stand by, each with a daemon of its own.  For such a feed no round
// is due, nothing is decided, and nothing is told.
//
// Threads: none; confined to the core thread.
// Time: arguments, of the monotonic clock.

#ifndef SLUICE_CLIENTS_FEEDS_H_
#define SLUICE_CLIENTS_FEEDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "clients/deliveries.h"
#include "clients/feed_session.h"
#include "clients/messages.h"
#include "observe/metrics.h"
#include "observe/rate_limited_log.h"
#include "round/scheduler.h"

namespace sluice {

// The status of a feed, for people.
struct FeedStatus {
  enum class State {
    kSnapshot,  // Connected; is stating what exists.
    kSettling,  // Connected; former clients may still act, so nothing is
                // placed.
    kStandby,   // Connected; another client leads, so nothing is placed here.
    kLive,
    kLost,  // Not connected.
    kAway,  // Not connected for longer than the grace.
  };
  std::string name;
  State state = State::kSnapshot;
  int64_t since_us = 0;
  int64_t tasks = 0;
  int64_t untold_deltas = 0;       // Not told, or to be told again.
  int64_t unconfirmed_deltas = 0;  // Told.
  FeedTerm term;
};

class Feeds {
 public:
  struct Options {
    // The pause between two rounds is the longer of this and four times the
    // last round, where the latter is capped at 10 ms.  So an idle cluster is
    // served at once, and a busy one in batches.
    int64_t round_interval_us = 0;
    // How long a client may be gone, or stall in its snapshot.
    int64_t grace_us = 30000000;
  };

  // All must outlive it.
  Feeds(ClusterState* state, const Scheduler& scheduler, Metrics& metrics,
        Options options);

  // A call has begun.  Its first batch will name the feed.
  void Greet(FeedSession* session, int64_t now_us);
  // Applies what a client sent.  The first batch opens its feed.
  void Take(FeedSession* session, const FeedBatch& batch, int64_t now_ms,
            int64_t now_us);
  // The session is over, no matter who ended it, and must be released.
  void Release(FeedSession* session, int64_t now_us);
  void EndAll(const absl::Status& status);
  // Ends a session instead of opening it.
  void Refuse(FeedSession* session, const absl::Status& status) {
    End(session, status);
  }
  // Once a second at most: ends stalled sessions, lets feeds settle, and counts
  // feeds.
  void Tend(int64_t now_ms, int64_t now_us);
  // Moves what is new for any client into `messages`.  What a round decided
  // goes once the round has ended, since it may change until then.  An
  // acknowledgment waits a little for a decision that is about to be made,
  // since one message costs less than two.
  void TakeMessages(int64_t now_us, Messages* messages);
  // When a waiting acknowledgment must go; nullopt if none waits.
  std::optional<int64_t> AckDueUs() const;

  // When a round is due; nullopt if none is.
  std::optional<int64_t> RoundDueUs() const;
  // Something other than a round has changed the state.
  void NoteChange() { has_changed_ = true; }
  void NoteRoundStart(int64_t now_us);
  void NoteRoundEnd(int64_t now_us);

  std::vector<FeedStatus> List() const;

 private:
  struct Connection {
    Deliveries deliveries;
    FeedSession* session = nullptr;
    FeedNews news = {};
    // The newest delta told since the snapshot began, and the newest ever told.
    uint64_t told = 0;
    uint64_t told_max = 0;
    int64_t heard_us = 0;
    bool has_waiting_ack = false;
    // The machines where it was told that room is kept, by the feed's task ids,
    // and the Nominations::changes() at that time.
    absl::btree_map<std::string, std::string> nominated = {};
    uint64_t nominations_told = 0;
    int64_t since_us = 0;  // Since when it has been in its state.
  };

  bool MayAckWait(FeedId feed, const Connection& connection) const;
  // True if a round may tell tasks of draining machines to move.
  bool MayDrain() const;
  // When a round may find tasks to move even if nothing waits.
  std::optional<int64_t> MovesDueUs() const;
  // Adds deltas that were not told yet to the news, as far as there is room.
  void AddDeltas(FeedId feed, Connection* connection);
  // Adds what changed of them since the last time.
  void AddNominations(FeedId feed, Connection* connection);
  // True if rounds serve any client, that is, one that does not stand by.
  bool AreAnyServed() const;
  // Ends the session if the feed has had a client of a newer term.
  bool IsOfOlderTerm(FeedSession* session, const std::string& name,
                     const FeedBatch& batch);
  // Null if the session is ended instead.
  Connection* Open(FeedSession* session, const FeedBatch& batch, int64_t now_us,
                   FeedId* feed);
  Connection* Find(const FeedSession& session, FeedId* feed);
  // Forgets the session.
  void Close(FeedSession* session, int64_t now_us);
  void Apply(const FeedBatch& batch, FeedId feed, int64_t now_ms,
             Connection* connection);
  void NoteTerm(int64_t settle_ms, FeedId feed);
  void ApplyUsage(const FeedBatch& batch, FeedId feed, int64_t now_ms);
  void NoteFailedBind(const BindFailed& event);
  // What was told and not confirmed is to be told again.
  static void TakeBackDeltas(Connection* connection);

  void End(FeedSession* session, const absl::Status& status) {
    ends_.push_back({session, status});
  }

  ClusterState& state_;
  const Scheduler& scheduler_;
  Metrics& metrics_;
  const Options options_;
  absl::btree_map<FeedId, Connection> connections_;
  // Sessions that have not named their feed, and since when.
  absl::btree_map<FeedSession*, int64_t> nameless_;
  // Feeds without a connection, and since when.
  absl::btree_map<FeedId, int64_t> lost_us_;
  // When clients of earlier terms of a feed can no longer act.
  absl::btree_map<FeedId, int64_t> settled_us_;
  int64_t now_us_ = 0;
  int64_t tended_us_ = 0;
  int64_t round_start_us_ = 0;
  int64_t round_end_us_ = 0;
  int64_t rest_us_ = 0;      // From the end of the last round to the next.
  bool has_changed_ = true;  // Since the last round began.
  RateLimiter bind_log_{1};
  std::vector<FeedEndMessage> ends_;
  std::vector<FeedSession*> released_;
};

}  // namespace sluice

#endif  // SLUICE_CLIENTS_FEEDS_H_
