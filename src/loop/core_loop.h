// The core thread: the one place where the cluster state changes.
//
// Commands, Schedule calls, readers and the solver's results come in through
// one mailbox.  The core thread takes a batch, applies its commands, advances
// the round, writes all that changed as one atomic write of the store, and
// only then lets the acknowledgments, the replies and the readers out: what
// anyone has been told is durable.  While the solver thread works on a
// pass the core thread goes on with batches.
//
// Schedule calls are served one after another.  The next one begins when the
// transport has finished with the reply before, so that it is known which
// deltas arrived; those of a call that broke off are delivered by the next.
// The acknowledgment of a removal waits until no unread reply can name what was
// removed, since the client may then forget the task or machine
// (docs/decisions/0022).  A write that the store refuses ends the process.
//
// Threads: any; only the owner calls Start() and Stop().  Callbacks run on the
// core thread and must not block.  Time: the wall clock, read once per batch.

#ifndef SLUICE_LOOP_CORE_LOOP_H_
#define SLUICE_LOOP_CORE_LOOP_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "base/limits.h"
#include "core/rebalance_plan.h"
#include "core/scheduler.h"
#include "loop/feed_session.h"
#include "loop/feeds.h"
#include "loop/held_acks.h"
#include "loop/loop_metrics.h"
#include "loop/mailbox.h"
#include "loop/schedule_call.h"
#include "loop/solver_thread.h"
#include "observe/metrics.h"
#include "persist/store.h"
#include "sluice/base/clock.h"
#include "sluice/solver/solver.h"
#include "state/command.h"

namespace sluice {

// What a reader sees.
struct CoreView {
  const Scheduler& scheduler;
  const RoundStats& last_round;  // The newest one that ended.
  const Feeds& feeds;
  int64_t now_ms;
};

class CoreLoop {
 public:
  struct Options {
    size_t mailbox_max = kMailboxMax;
    size_t reply_bytes_max = kReplyBytesMax;
    // Flow problems of at most this many arcs are solved on the core thread.
    int32_t inline_arcs_max = 0;
    // For acknowledgments and placements.  Deliveries are always buffered: if a
    // power failure loses one, a placement is repeated and nobody is harmed.
    Durability durability = Durability::kSynced;
    HeldAcks::Options holds = {.removal_hold_us = 500000,
                               .reused_uid_hold_us = 30000000};
    // After this much silence a client has announced everything.
    int64_t announcement_quiet_ms = 2000;
    int64_t forget_stale_after_ms = 0;  // 0: never.
    Feeds::Options feeds = {};
  };
  // All must outlive the loop.  `scheduler` and `solver` are the loop's alone
  // from Start() to Stop().
  struct Parts {
    Scheduler& scheduler;
    Store& store;
    Solver& solver;
    const Clock& clock;
    Metrics& metrics;
    // Called when nothing can be acknowledged.  By default the process ends.
    std::function<void(const absl::Status&)> on_store_failure = {};
  };
  enum class Admission {
    kAlways,  // A call of the contract must not fail for want of room.
    kIfRoom,  // Refused when the mailbox is full.
  };
  using Reader = std::function<void(const CoreView&)>;
  // The plan is null if the loop stops before it could make one.
  using PlanReader =
      std::function<void(const ClusterState&, const RebalancePlan*)>;
  CoreLoop(Parts parts, Options options);
  ~CoreLoop();

  CoreLoop(const CoreLoop&) = delete;
  CoreLoop& operator=(const CoreLoop&) = delete;

  void Start();

  // Instead of Start(), for a program with one thread.
  //
  // Handles what has arrived, without waiting.  Returns false at the end, and
  // once the store has failed.
  bool RunOnce();
  // Solves what a round waits for, if anything.
  bool SolveOnce() { return solver_thread_.SolveOnce(); }
  // When there is something to do even if nothing arrives.
  int64_t DueUs() const;

  // Applies `command` and calls `done` when the effect is durable.  Returns
  // false, and never calls `done`, if the mailbox is full (kIfRoom only) or
  // the loop has stopped.
  bool Submit(Command command, AckCallback done,
              Admission admission = Admission::kAlways);

  // Serves `call` with a round of its own.  Returns false if the loop has
  // stopped: `call` is not touched.
  bool Schedule(ScheduleCall* call);

  // Applies what the client of a feed sent (nullopt: its call has begun), and
  // tells `session` when that is durable, and later what is decided for it.
  // Returns false if the loop has stopped.
  bool TakeFromFeed(FeedSession* session, std::optional<FeedBatch> batch);
  // The session has ended and is to be released.  Returns as above.
  bool EndFeed(FeedSession* session);
  void WakeUp();  // A session is ready again.

  // Calls `reader` between two batches.  Returns false, and never calls it, if
  // the mailbox is full or the loop has stopped.
  bool Read(Reader reader);
  // The same, with a plan.  Nothing else is served while it is made.
  bool Plan(Preemption mode, PlanReader reader);

  // Aborts the running solve, ends the feeds, and answers waiting and future
  // Schedule calls with empty replies.  Everything else goes on.
  void BeginShutdown();

  // Finishes what is in the mailbox, then ends both threads.
  void Stop();

 private:
  struct CommandItem {
    Command command;
    AckCallback done;
    int64_t entered_us;
  };
  struct ScheduleItem {
    ScheduleCall* call;
  };
  struct ReplyDoneItem {
    bool is_delivered;
  };
  struct FeedItem {
    FeedSession* session;
    std::optional<FeedBatch> batch;
  };
  struct FeedEndItem {
    FeedSession* session;
  };
  using PlanItem = std::pair<Preemption, PlanReader>;
  struct WakeItem {};
  struct ResumeItem {};  // The round goes on after a pause.
  struct ShutdownItem {};
  struct StopItem {};
  using Item = std::variant<CommandItem, ScheduleItem, Reader, SolveResult,
                            ReplyDoneItem, FeedItem, FeedEndItem, PlanItem,
                            WakeItem, ResumeItem, ShutdownItem, StopItem>;

  // A Schedule reply on its way out.
  struct PendingReply {
    ScheduleCall* call;
    ScheduleReply reply;
    bool is_in_flight;  // Its end matters: it may hold deltas.
  };

  void Run();
  void HandleBatch(std::vector<Item>* batch);
  void Handle(CommandItem item);
  void Handle(ScheduleItem item);
  void Handle(Reader reader);
  void Handle(SolveResult solved);
  void Handle(ReplyDoneItem item);
  void Handle(FeedItem item);
  void Handle(FeedEndItem item);
  void Handle(PlanItem item);
  void Handle(WakeItem /*item*/) {}
  void Handle(ResumeItem item);
  void Handle(ShutdownItem item);
  void Handle(StopItem item);

  // Counts and logs the outcome of a solve; clears a flow that is invalid.
  void Inspect(const absl::Status& certificate, FlowSolution* flow);
  // Ends announcements that are complete, and forgets what they left stale.
  void TendAnnouncements();
  void MakePlans();
  void StartRounds();
  void StartRound();
  // Goes on to the next step for another thread, or to the end of the round.
  // `start_us`: since when no commands have been handled.
  void ContinueRound(int64_t start_us);
  bool MaySolveInline(const RoundWork& work) const;
  std::optional<RoundWork> NextStep();
  void FinishSolve(SolveResult solved);
  void EndRound();
  void AnswerEmpty(ScheduleCall* call);
  absl::Status WriteChanges();
  void SendReplies();

  Scheduler& scheduler_;
  Store& store_;
  const Clock& clock_;
  Metrics& metrics_;
  const std::function<void(const absl::Status&)> on_store_failure_;
  const Options options_;
  LoopMetrics counts_;
  Feeds feeds_;
  Mailbox<Item> mailbox_;
  SolverThread solver_thread_;
  std::thread thread_;

  // All below is confined to the core thread.
  int64_t now_ms_ = 0;  // Of the batch.
  std::vector<PendingAck> acks_;
  HeldAcks held_acks_;
  // Since the last announcement began: was anything mentioned, and when.
  bool has_mentioned_ = false;
  int64_t mentioned_us_ = 0;
  int64_t began_us_ = 0;    // When one last began with a machine.
  uint32_t forgotten_ = 0;  // The last one after which stale ones were dropped.
  std::vector<Reader> readers_;
  std::vector<PlanItem> plans_;
  std::vector<PendingReply> replies_;
  std::deque<ScheduleCall*> waiting_calls_;
  ScheduleCall* active_call_ = nullptr;  // Whose round is running.
  bool is_step_open_ = false;            // The round waits for an answer.
  bool must_sync_ = false;               // Not only deliveries to write.
  bool has_store_failed_ = false;
  bool is_shutting_down_ = false;
  bool is_stopping_ = false;
  RoundStats round_;  // Times of the running round.
  int64_t round_start_us_ = 0;
  RoundStats last_round_;
};

}  // namespace sluice

#endif  // SLUICE_LOOP_CORE_LOOP_H_
