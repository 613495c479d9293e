// The daemon as a state machine: inputs go in one after the other, and what has
// to be done about them comes out.  It knows no thread, no transport and no
// store; core_loop.h gives it those.
//
//   { Step }* -> { NextWork -> (Step of its result) }* -> TakeReady
//
// Effects leave in TakeReady() alone, and in this order: what has changed is
// written, as one batch, and then the messages go.  What anyone has been told
// is durable.  Work may begin before that, since nobody hears of it.
//
// Schedule calls are served one after another.  The next one begins when the
// transport is done with the previous reply, since only then it is known which
// deltas arrived; those of a call that broke off are delivered by the next.
//
// Threads: none; confined to the core thread.
// Time: of its clock; what a batch changes has one time.

#ifndef SLUICE_CORE_CORE_H_
#define SLUICE_CORE_CORE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "clients/contract.h"
#include "clients/feeds.h"
#include "clients/messages.h"
#include "core/core_metrics.h"
#include "observe/metrics.h"
#include "round/plans/rebalance_plan.h"
#include "round/round_solver.h"
#include "round/scheduler.h"
#include "sluice/base/clock.h"
#include "state/changes.h"

namespace sluice {

class Core {
 public:
  // How often it must be asked for what is due even if nothing arrives.
  static constexpr int64_t kTickUs = 1'000'000;
  struct Options {
    Contract::Options contract = {};
    Feeds::Options feeds = {};
  };
  // All must outlive it.
  struct Parts {
    ClusterState& state;
    Scheduler& scheduler;
    const Clock& clock;
    Metrics& metrics;
  };
  // The plan is null where the end came before it could be made.
  using PlanReader =
      std::function<void(const ClusterState&, const RebalancePlan*)>;
  struct MadePlan {
    PlanReader reader;
    std::optional<RebalancePlan> plan;
  };

  // What comes in, beside the requests of the contract.
  struct Greeted {  // Check was called.
    ConnectionId connection;
  };
  struct Called {
    ScheduleCall* call;
  };
  struct ReplyEnded {
    bool is_delivered;
  };
  struct FeedSent {
    FeedSession* session;
    std::optional<FeedBatch> batch;  // Nothing: its call has begun.
  };
  struct FeedEnded {
    FeedSession* session;
  };
  struct PlanAsked {
    Preemption mode;
    PlanReader reader;
  };
  struct Resumed {};  // After a pause.
  struct ShutdownBegun {};
  using Input =
      std::variant<Contract::Request, Greeted, Called, ReplyEnded, FeedSent,
                   FeedEnded, PlanAsked, SolveResult, Resumed, ShutdownBegun>;

  // What is to be done, in this order.
  struct Ready {
    ChangeSet changes;            // To be written, if there are any.
    bool must_sync = false;       // Before anybody is acknowledged.
    Messages messages;            // To be sent.
    std::vector<MadePlan> plans;  // To be read.
  };

  Core(Parts parts, Options options);

  void Step(Input input);
  // Does what is due by time alone.  Then, once all inputs are taken: what the
  // round asks for, for Step() with its result, or with Resumed for a pause.
  // Begins the next round if one is due.
  // Nothing while an answer is awaited, or if no round is due.
  std::optional<RoundWork> NextWork();
  bool is_work_open() const { return is_work_open_; }
  Ready TakeReady();

  // No more input will come: answers everyone who still waits.
  void End();

  // Once a batch is done.
  void ShowGauges(size_t mailbox_depth) {
    counts_.RefreshGauges(mailbox_depth, clock_.MonotonicUs());
  }
  // When there is something to do even if nothing arrives.
  int64_t DueUs() const;

  const Scheduler& scheduler() const { return scheduler_; }
  const Feeds& feeds() const { return feeds_; }
  // The newest one that ended.
  const RoundStats& last_round() const { return last_round_; }
  int64_t round_start_us() const { return round_start_us_; }

 private:
  void Take(Contract::Request request);
  void Take(Greeted greeted) { contract_.Greet(greeted.connection); }
  void Take(Called called);
  void Take(ReplyEnded ended);
  void Take(FeedSent sent);
  void Take(FeedEnded ended);
  void Take(PlanAsked asked);
  void Take(SolveResult solved);
  void Take(Resumed resumed);
  void Take(ShutdownBegun begun);

  // Counts and logs the outcome of a solve; clears a flow that is invalid.
  void Inspect(const absl::Status& certificate, FlowSolution* flow);
  void MakePlans();
  // Does what is due by time alone.
  void Tend();
  // Begins a round if one is due.  Returns true if one runs.
  bool BeginRound();
  std::optional<RoundWork> NextStep();
  void EndRound();
  int64_t NowMs();
  // Between the two no command is let in.
  void NoteBusy();
  void NoteLetGo();

  ClusterState& state_;
  Scheduler& scheduler_;
  const Clock& clock_;
  Metrics& metrics_;
  CoreMetrics counts_;
  Contract contract_;
  Feeds feeds_;
  std::optional<int64_t> batch_ms_;  // The one reading of it in a batch.
  std::vector<PlanAsked> asked_plans_;
  std::vector<MadePlan> plans_;
  bool is_work_open_ = false;  // The round waits for an answer.
  bool must_sync_ = false;     // More than deliveries to write.
  bool is_shutting_down_ = false;
  RoundStats round_;  // Times of the running round.
  int64_t round_start_us_ = 0;
  std::optional<int64_t> busy_since_us_;
  RoundStats last_round_;
};

}  // namespace sluice

#endif  // SLUICE_CORE_CORE_H_
