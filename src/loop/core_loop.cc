#include "loop/core_loop.h"

#include <glog/logging.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/status_macros.h"
#include "base/strings.h"
#include "core/core_metrics.h"
#include "persist/records.h"

namespace sluice {
namespace {

// A round that has taken so long hands over small problems, too.
constexpr int64_t kInlineSolvesUs = 2000;

void EndProcess(const absl::Status& status) {
  LOG(ERROR) << "cannot write to the store, so nothing can be acknowledged: "
             << status << "; exiting";
  google::FlushLogFiles(google::GLOG_INFO);
  // Other threads are still running, so no destructor may run.
  std::_Exit(EXIT_FAILURE);
}

}  // namespace

CoreLoop::CoreLoop(Parts parts, Options options)
    : state_(parts.state),
      store_(parts.store),
      clock_(parts.clock),
      metrics_(parts.metrics),
      on_store_failure_(parts.on_store_failure ? parts.on_store_failure
                                               : EndProcess),
      options_(options),
      mailbox_(options.mailbox_max),
      solver_thread_(parts.solver, parts.clock,
                     [this](SolveResult result) { Push(std::move(result)); }),
      core_({parts.state, parts.scheduler, parts.clock, parts.metrics},
            options.core) {}

CoreLoop::~CoreLoop() { Stop(); }

void CoreLoop::Start() {
  solver_thread_.Start();
  thread_ = std::thread([this] { Run(); });
}

bool CoreLoop::Submit(Command command, AckCallback done, Admission admission,
                      ConnectionId connection) {
  Core::Input input = Contract::Request{std::move(command), std::move(done),
                                        clock_.MonotonicUs(), connection};
  if (admission == Admission::kAlways) return Push(std::move(input));
  const bool is_taken = mailbox_.TryPush(Item(std::move(input)));
  if (!is_taken) metrics_.mailbox_refusals.Increment();
  return is_taken;
}

void CoreLoop::Greet(ConnectionId connection) {
  Push(Core::Greeted{connection});
}

bool CoreLoop::Schedule(ScheduleCall* call) { return Push(Core::Called{call}); }

bool CoreLoop::TakeFromFeed(FeedSession* session,
                            std::optional<FeedBatch> batch) {
  return Push(Core::FeedSent{session, std::move(batch)});
}

bool CoreLoop::EndFeed(FeedSession* session) {
  return Push(Core::FeedEnded{session});
}

void CoreLoop::WakeUp() { mailbox_.Push(WakeItem{}); }

bool CoreLoop::Read(Reader reader) {
  const bool is_taken = mailbox_.TryPush(std::move(reader));
  if (!is_taken) metrics_.mailbox_refusals.Increment();
  return is_taken;
}

bool CoreLoop::Plan(Preemption mode, PlanReader reader) {
  const bool is_taken = mailbox_.TryPush(
      Item(Core::Input(Core::PlanAsked{mode, std::move(reader)})));
  if (!is_taken) metrics_.mailbox_refusals.Increment();
  return is_taken;
}

void CoreLoop::BeginShutdown() {
  solver_thread_.Cancel();
  Push(Core::ShutdownBegun{});
}

void CoreLoop::Stop() {
  if (!thread_.joinable()) return;
  BeginShutdown();
  mailbox_.Push(StopItem{});
  thread_.join();
  solver_thread_.Stop();
}

void CoreLoop::Run() {
  std::vector<Item> batch;
  int64_t timeout_us = Core::kTickUs;
  while (mailbox_.TakeBatch(kBatchMax, timeout_us, &batch)) {
    HandleBatch(&batch);
    timeout_us = std::max<int64_t>(DueUs() - clock_.MonotonicUs(), 0);
  }
}

bool CoreLoop::RunOnce() {
  std::vector<Item> batch;
  if (has_store_failed_ ||
      !mailbox_.TakeBatch(kBatchMax, /*timeout_us=*/0, &batch)) {
    return false;
  }
  HandleBatch(&batch);
  return !has_store_failed_;
}

void CoreLoop::HandleBatch(std::vector<Item>* batch) {
  for (Item& item : *batch) {
    std::visit([this](auto& one) { Handle(std::move(one)); }, item);
  }
  DoWork();
  if (is_stopping_ && !core_.is_work_open()) {
    core_.End();
    mailbox_.Close();
  }
  Core::Ready ready = core_.TakeReady();
  if (const absl::Status status = Write(ready); !status.ok()) {
    has_store_failed_ = true;
    on_store_failure_(status);
    return;
  }
  Send(std::move(ready));
  core_.ShowGauges(mailbox_.size());
}

void CoreLoop::DoWork() {
  std::optional<RoundWork> work = core_.NextWork();
  while (work.has_value() && MaySolveInline(*work)) {
    metrics_.solves.Increment();
    core_.Step(solver_thread_.SolveInline(*work));
    work = core_.NextWork();
  }
  if (!work.has_value()) return;
  if (std::holds_alternative<Pause>(*work)) {
    // Queue up behind the commands that have arrived meanwhile.
    metrics_.round_pauses.Increment();
    Push(Core::Resumed{});
    return;
  }
  const bool is_flow = std::holds_alternative<FlowProblem>(*work);
  (is_flow ? metrics_.solves : metrics_.packings).Increment();
  solver_thread_.Solve(*std::move(work));
}

bool CoreLoop::MaySolveInline(const RoundWork& work) const {
  const auto* problem = std::get_if<FlowProblem>(&work);
  // A round with many such problems lets commands in between them.
  return problem != nullptr &&
         problem->arc_count() <= options_.inline_arcs_max &&
         problem->segment_count() <= options_.inline_arcs_max &&
         problem->all_or_none().empty() && problem->gains().empty() &&
         clock_.MonotonicUs() - core_.round_start_us() < kInlineSolvesUs;
}

absl::Status CoreLoop::Write(const Core::Ready& ready) {
  if (ready.changes.empty()) return store_.CheckHeld();
  const int64_t start_us = clock_.MonotonicUs();
  absl::Status status = store_.Write(
      EncodeChanges(state_, ready.changes),
      ready.must_sync ? options_.durability : Durability::kBuffered);
  if (!status.ok()) {
    metrics_.store_write_failures.Increment();
    return status;
  }
  metrics_.store_writes.Increment();
  metrics_.store_write_seconds.Observe(
      Seconds(clock_.MonotonicUs() - start_us));
  return store_.CheckHeld();
}

void CoreLoop::Send(Core::Ready ready) {
  const int64_t end_us = clock_.MonotonicUs();
  Messages& messages = ready.messages;
  for (AckMessage& message : messages.acks) {
    metrics_.event_seconds.Observe(Seconds(end_us - message.entered_us));
    message.done(message.ack);
  }
  for (ReplyMessage& message : messages.replies) {
    message.call->Answer(
        std::move(message.reply),
        [this, is_in_flight = message.is_in_flight](bool is_delivered) {
          if (is_in_flight) Push(Core::ReplyEnded{is_delivered});
        });
  }
  if (SendToFeeds(&messages)) WakeUp();
  for (const auto& [reader, plan] : ready.plans) {
    reader(state_, plan.has_value() ? &*plan : nullptr);
  }
  const CoreView view{core_.scheduler(), core_.last_round(), core_.feeds(),
                      clock_.NowMs()};
  for (const Reader& reader : std::exchange(readers_, {})) reader(view);
}

}  // namespace sluice
