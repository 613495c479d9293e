// The core thread: the one place where the cluster state changes.
//
// Inputs come through one mailbox.  The core thread takes a batch, steps the
// core (core/core.h) through it, writes all that changed as one atomic write of
// the store, and only then sends the messages and calls the readers.  While the
// solver thread works on a pass the core thread goes on with batches.  A write
// that the store refuses ends the process.
//
// Threads: any; only the owner calls Start() and Stop().  Callbacks run on the
// core thread and must not block.  Time: the wall clock, read once per batch.

#ifndef SLUICE_LOOP_CORE_LOOP_H_
#define SLUICE_LOOP_CORE_LOOP_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "base/limits.h"
#include "clients/feed_session.h"
#include "clients/feeds.h"
#include "clients/messages.h"
#include "clients/schedule_call.h"
#include "core/core.h"
#include "loop/mailbox.h"
#include "loop/solver_thread.h"
#include "observe/metrics.h"
#include "persist/store.h"
#include "round/scheduler.h"
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
    // Flow problems of at most this many arcs are solved on the core thread.
    int32_t inline_arcs_max = 0;
    // For acknowledgments and placements.  Deliveries are always buffered: if a
    // power failure loses one, a placement is repeated and nobody is harmed.
    Durability durability = Durability::kSynced;
    Core::Options core = {};
  };
  // All must outlive the loop.  `state`, `scheduler` and `solver` are the
  // loop's alone from Start() to Stop().
  struct Parts {
    ClusterState& state;
    Scheduler& scheduler;
    Store& store;
    Solver& solver;
    const Clock& clock;
    Metrics& metrics;
    // Called when nothing can be acknowledged.  By default the process ends.
    std::function<void(const absl::Status&)> on_store_failure = {};
  };
  enum class Admission {
    kAlways,  // A call of the contract must not fail because it is full.
    kIfRoom,  // Refused when the mailbox is full.
  };
  using Reader = std::function<void(const CoreView&)>;
  using PlanReader = Core::PlanReader;
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
  int64_t DueUs() const { return core_.DueUs(); }

  // Applies `command` and calls `done` when the effect is durable.  Returns
  // false, and never calls `done`, if the mailbox is full (kIfRoom only) or
  // the loop has stopped.
  bool Submit(Command command, AckCallback done,
              Admission admission = Admission::kAlways,
              ConnectionId connection = {});

  // A client has called Check.
  void Greet(ConnectionId connection);
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
  struct WakeItem {};
  struct StopItem {};
  using Item = std::variant<Core::Input, Reader, WakeItem, StopItem>;

  void Run();
  void HandleBatch(std::vector<Item>* batch);
  void Handle(Core::Input input) { core_.Step(std::move(input)); }
  void Handle(Reader reader) { readers_.push_back(std::move(reader)); }
  void Handle(WakeItem /*item*/) {}
  void Handle(StopItem /*item*/) { is_stopping_ = true; }

  // Adds what the loop itself has to say.
  bool Push(Core::Input input) { return mailbox_.Push(Item(std::move(input))); }
  // Solves what rounds ask for, or hands it over.
  void DoWork();
  bool MaySolveInline(const RoundWork& work) const;
  absl::Status Write(const Core::Ready& ready);
  void Send(Core::Ready ready);

  const ClusterState& state_;
  Store& store_;
  const Clock& clock_;
  Metrics& metrics_;
  const std::function<void(const absl::Status&)> on_store_failure_;
  const Options options_;
  Mailbox<Item> mailbox_;
  SolverThread solver_thread_;
  std::thread thread_;

  // All below is confined to the core thread.
  Core core_;
  std::vector<Reader> readers_;
  bool has_store_failed_ = false;
  bool is_stopping_ = false;
};

}  // namespace sluice

#endif  // SLUICE_LOOP_CORE_LOOP_H_
