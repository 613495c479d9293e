#include "loop/core_loop.h"

#include <glog/logging.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/status_macros.h"
#include "base/strings.h"
#include "persist/records.h"

namespace sluice {
namespace {

constexpr int64_t kTickUs = 1000000;  // The longest pause between batches.
// A round that has taken this long hands over small problems, too.
constexpr int64_t kInlineSolvesUs = 2000;
// How many times longer a client that begins anew may be silent at first.
constexpr int64_t kSilences = 5;
constexpr std::string_view kStops = "the daemon stops";
// Announcements that begin within this time are one, on two connections.
constexpr int64_t kSameBeginningUs = 250000;

double Seconds(int64_t us) { return static_cast<double>(us) / 1e6; }

void EndProcess(const absl::Status& status) {
  LOG(ERROR) << "cannot write to the store, so nothing can be acknowledged: "
             << status << "; exiting";
  google::FlushLogFiles(google::GLOG_INFO);
  // Other threads are still running, so no destructor may run.
  std::_Exit(EXIT_FAILURE);
}

}  // namespace

CoreLoop::CoreLoop(Parts parts, Options options)
    : scheduler_(parts.scheduler),
      store_(parts.store),
      clock_(parts.clock),
      metrics_(parts.metrics),
      on_store_failure_(parts.on_store_failure ? parts.on_store_failure
                                               : EndProcess),
      options_(options),
      counts_(parts.scheduler, parts.metrics),
      feeds_(parts.scheduler, parts.metrics, options.feeds),
      mailbox_(options.mailbox_max),
      solver_thread_(
          parts.solver, parts.clock,
          [this](SolveResult result) { mailbox_.Push(std::move(result)); }),
      held_acks_(parts.scheduler, options.holds) {}

CoreLoop::~CoreLoop() { Stop(); }

void CoreLoop::Start() {
  solver_thread_.Start();
  thread_ = std::thread([this] { Run(); });
}

bool CoreLoop::Submit(Command command, AckCallback done, Admission admission) {
  CommandItem item{std::move(command), std::move(done), clock_.MonotonicUs()};
  if (admission == Admission::kAlways) return mailbox_.Push(std::move(item));
  const bool is_taken = mailbox_.TryPush(std::move(item));
  if (!is_taken) metrics_.mailbox_refusals.Increment();
  return is_taken;
}

bool CoreLoop::Schedule(ScheduleCall* call) {
  return mailbox_.Push(ScheduleItem{call});
}

bool CoreLoop::TakeFromFeed(FeedSession* session,
                            std::optional<FeedBatch> batch) {
  return mailbox_.Push(FeedItem{session, std::move(batch)});
}

bool CoreLoop::EndFeed(FeedSession* session) {
  return mailbox_.Push(FeedEndItem{session});
}

void CoreLoop::WakeUp() { mailbox_.Push(WakeItem{}); }

bool CoreLoop::Read(Reader reader) {
  const bool is_taken = mailbox_.TryPush(std::move(reader));
  if (!is_taken) metrics_.mailbox_refusals.Increment();
  return is_taken;
}

bool CoreLoop::Plan(Preemption mode, PlanReader reader) {
  const bool is_taken = mailbox_.TryPush(PlanItem{mode, std::move(reader)});
  if (!is_taken) metrics_.mailbox_refusals.Increment();
  return is_taken;
}

void CoreLoop::BeginShutdown() {
  solver_thread_.Cancel();
  mailbox_.Push(ShutdownItem{});
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
  int64_t timeout_us = kTickUs;
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

int64_t CoreLoop::DueUs() const {
  int64_t due_us = std::min(clock_.MonotonicUs() + kTickUs, held_acks_.DueUs());
  due_us = std::min(due_us, feeds_.AckDueUs().value_or(due_us));
  if (!scheduler_.is_in_round() && !is_shutting_down_) {
    due_us = std::min(due_us, feeds_.RoundDueUs().value_or(due_us));
  }
  return due_us;
}

void CoreLoop::HandleBatch(std::vector<Item>* batch) {
  now_ms_ = clock_.NowMs();
  for (Item& item : *batch) {
    std::visit([this](auto& one) { Handle(std::move(one)); }, item);
  }
  held_acks_.ReleaseDue(clock_.MonotonicUs(), is_shutting_down_, &acks_);
  TendAnnouncements();
  MakePlans();
  StartRounds();
  if (is_stopping_ && !is_step_open_) {
    for (const auto& [mode, reader] : plans_) {
      reader(scheduler_.state(), nullptr);
    }
    plans_.clear();
    // No reply will be read any more.
    held_acks_.ReleaseAll(&acks_);
    mailbox_.Close();
  }
  if (const absl::Status status = WriteChanges(); !status.ok()) {
    has_store_failed_ = true;
    on_store_failure_(status);
    return;
  }
  SendReplies();
  const int64_t end_us = clock_.MonotonicUs();
  counts_.RefreshGauges(mailbox_.size(), end_us);
  feeds_.Tend(now_ms_, end_us);
}

// ---------------------------------------------------------------------------
// What comes in

void CoreLoop::Handle(CommandItem item) {
  const int64_t now_us = clock_.MonotonicUs();
  const std::optional<HeldAcks::Hold> hold =
      held_acks_.Judge(&item.command, now_us);
  if (std::holds_alternative<BeginAnnouncement>(item.command)) {
    held_acks_.NoteCountingClient();
    // The client began this announcement just before on another connection.
    if (scheduler_.state().counters().former_stale_below.has_value() &&
        item.entered_us - began_us_ < kSameBeginningUs) {
      acks_.push_back({std::move(item.done), Ack::kOk, item.entered_us});
      return;
    }
  }
  const bool mentions = std::holds_alternative<SubmitTask>(item.command) ||
                        std::holds_alternative<AddMachine>(item.command);
  const uint32_t announcement = scheduler_.state().counters().announcement;
  const Ack ack = scheduler_.Apply(item.command, now_ms_);
  if (announcement != scheduler_.state().counters().announcement) {
    has_mentioned_ = false;
    mentioned_us_ = item.entered_us;
    if (std::holds_alternative<AddMachine>(item.command)) {
      began_us_ = item.entered_us;
    }
    LOG(INFO) << "a client begins anew: what it does not mention again is "
                 "stale, and gets no decisions";
  }
  if (mentions) {
    has_mentioned_ = true;
    mentioned_us_ = item.entered_us;
  }
  if (const auto* submit = std::get_if<SubmitTask>(&item.command)) {
    held_acks_.NoteSubmission(submit->task, now_us);
  }
  if (!IsSample(item.command)) {
    must_sync_ = true;
    feeds_.NoteChange();
  }
  counts_.CountCommand(item.command, ack);
  PendingAck pending{std::move(item.done), ack, item.entered_us};
  if (hold.has_value()) {
    held_acks_.Add(*hold, std::move(pending));
  } else {
    acks_.push_back(std::move(pending));
  }
}

void CoreLoop::Handle(ScheduleItem item) {
  // A client that calls again has read its replies, unless it calls ahead.
  if (active_call_ == nullptr && waiting_calls_.empty() &&
      !scheduler_.is_reply_in_flight()) {
    held_acks_.NoteRepliesRead(clock_.MonotonicUs(), &acks_);
  }
  waiting_calls_.push_back(item.call);
}

void CoreLoop::TendAnnouncements() {
  const StateCounters& counters = scheduler_.state().counters();
  if (counters.former_stale_below.has_value()) {
    const int64_t now_us = clock_.MonotonicUs();
    const int64_t quiet_us = options_.announcement_quiet_ms * 1000;
    const int64_t silence_us = now_us - mentioned_us_;
    if (silence_us < (has_mentioned_ ? 1 : kSilences) * quiet_us) return;
    scheduler_.Apply(EndAnnouncement(), now_ms_);
    must_sync_ = true;
  }
  if (options_.forget_stale_after_ms == 0 ||
      counters.announcement == forgotten_ ||
      now_ms_ - counters.announcement_ms < options_.forget_stale_after_ms) {
    return;
  }
  forgotten_ = counters.announcement;
  scheduler_.Apply(ForgetStale(), now_ms_);
  must_sync_ = true;
}

void CoreLoop::Handle(Reader reader) { readers_.push_back(std::move(reader)); }

void CoreLoop::Handle(SolveResult solved) {
  is_step_open_ = false;
  const int64_t start_us = clock_.MonotonicUs();
  FinishSolve(std::move(solved));
  ContinueRound(start_us);
}

void CoreLoop::FinishSolve(SolveResult solved) {
  round_.solve_us += solved.solve_us;
  RoundAnswer& answer = solved.result.answer;
  if (auto* flow = std::get_if<FlowSolution>(&answer)) {
    metrics_.solve_seconds.Observe(Seconds(solved.solve_us));
    Inspect(solved.result.certificate, flow);
  } else {
    // A packing, or a bound on one.
    metrics_.packing_seconds.Observe(Seconds(solved.solve_us));
  }
  const int64_t start_us = clock_.MonotonicUs();
  scheduler_.FinishStep(answer);
  must_sync_ = true;
  const int64_t commit_us = clock_.MonotonicUs() - start_us;
  round_.commit_us += commit_us;
  metrics_.commit_seconds.Observe(Seconds(commit_us));
}

void CoreLoop::Inspect(const absl::Status& certificate, FlowSolution* flow) {
  if (flow->is_warm) metrics_.warm_solves.Increment();
  if (!certificate.ok()) {
    metrics_.certificate_failures.Increment();
    LOG(ERROR) << "round=" << scheduler_.round_stats().number
               << " abandoned: solution failed its certificate (solver bug): "
               << certificate;
    *flow = FlowSolution();
  } else if (flow->outcome != SolveOutcome::kOptimal &&
             // The round then asks for less (core/pass.h).
             flow->outcome != SolveOutcome::kInfeasible &&
             // Only a shutdown cancels a solve.  The loop may hear of it later.
             flow->outcome != SolveOutcome::kCancelled) {
    metrics_.solve_failures.Increment();
    LOG(ERROR) << "round=" << scheduler_.round_stats().number
               << " abandoned: solve outcome "
               << SolveOutcomeName(flow->outcome) << ": " << flow->error;
  }
}

void CoreLoop::Handle(ReplyDoneItem item) {
  scheduler_.EndReply(item.is_delivered);
  held_acks_.NoteReplyEnd(item.is_delivered, clock_.MonotonicUs());
  if (!item.is_delivered) metrics_.abandoned_schedules.Increment();
}

void CoreLoop::Handle(ResumeItem /*item*/) {
  is_step_open_ = false;
  const int64_t start_us = clock_.MonotonicUs();
  // A failed flow ends the round.
  scheduler_.FinishStep(is_shutting_down_ ? RoundAnswer(FlowSolution())
                                          : RoundAnswer(Pause()));
  ContinueRound(start_us);
}

void CoreLoop::Handle(FeedItem item) {
  if (is_shutting_down_) {
    item.session->End(absl::UnavailableError(std::string(kStops)));
    return;
  }
  const int64_t now_us = clock_.MonotonicUs();
  if (!item.batch.has_value()) {
    feeds_.Greet(item.session, now_us);
    return;
  }
  feeds_.Take(item.session, *item.batch, now_ms_, now_us);
  must_sync_ = true;
}

void CoreLoop::Handle(FeedEndItem item) {
  feeds_.Close(item.session, clock_.MonotonicUs());
  item.session->Release();
}

void CoreLoop::Handle(ShutdownItem /*item*/) {
  is_shutting_down_ = true;
  feeds_.EndAll(absl::UnavailableError(std::string(kStops)));
}

void CoreLoop::Handle(StopItem /*item*/) { is_stopping_ = true; }

// ---------------------------------------------------------------------------
// Rounds

void CoreLoop::Handle(PlanItem item) { plans_.push_back(std::move(item)); }

void CoreLoop::MakePlans() {
  if (scheduler_.is_in_round()) return;
  for (const auto& [mode, reader] : std::exchange(plans_, {})) {
    const RebalancePlan plan = scheduler_.Plan(mode, now_ms_);
    reader(scheduler_.state(), &plan);
  }
}

void CoreLoop::StartRounds() {
  while (!waiting_calls_.empty()) {
    ScheduleCall* const call = waiting_calls_.front();
    if (is_shutting_down_) {
      AnswerEmpty(call);
    } else if (scheduler_.is_in_round() || scheduler_.is_reply_in_flight()) {
      break;
    } else if (call->IsCancelled()) {
      metrics_.abandoned_schedules.Increment();
      AnswerEmpty(call);
    } else {
      active_call_ = call;
      StartRound();
    }
    waiting_calls_.pop_front();
  }
  if (scheduler_.is_in_round() || is_shutting_down_) return;
  const std::optional<int64_t> due_us = feeds_.RoundDueUs();
  if (due_us.has_value() && *due_us <= clock_.MonotonicUs()) StartRound();
}

void CoreLoop::StartRound() {
  round_ = RoundStats();
  round_start_us_ = clock_.MonotonicUs();
  feeds_.NoteRoundStart(round_start_us_);
  scheduler_.StartRound(now_ms_);
  must_sync_ |= scheduler_.round_stats().evicted > 0;
  round_.build_us = clock_.MonotonicUs() - round_start_us_;
  ContinueRound(round_start_us_);
}

void CoreLoop::ContinueRound(int64_t start_us) {
  std::optional<RoundWork> work = NextStep();
  while (work.has_value() && MaySolveInline(*work)) {
    metrics_.solves.Increment();
    FinishSolve(solver_thread_.SolveInline(*work));
    work = NextStep();
  }
  round_.longest_step_us =
      std::max(round_.longest_step_us, clock_.MonotonicUs() - start_us);
  if (!work.has_value()) {
    EndRound();
    return;
  }
  is_step_open_ = true;
  if (std::holds_alternative<Pause>(*work)) {
    // Queue up behind the commands that have arrived meanwhile.
    metrics_.round_pauses.Increment();
    mailbox_.Push(ResumeItem{});
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
         clock_.MonotonicUs() - round_start_us_ < kInlineSolvesUs;
}

std::optional<RoundWork> CoreLoop::NextStep() {
  const int64_t start_us = clock_.MonotonicUs();
  std::optional<RoundWork> work = scheduler_.NextStep();
  must_sync_ |= scheduler_.state().has_changes();
  const int64_t build_us = clock_.MonotonicUs() - start_us;
  round_.build_us += build_us;
  metrics_.build_seconds.Observe(Seconds(build_us));
  return work;
}

void CoreLoop::EndRound() {
  const int64_t now_us = clock_.MonotonicUs();
  last_round_ = scheduler_.round_stats();
  last_round_.build_us = round_.build_us;
  last_round_.solve_us = round_.solve_us;
  last_round_.commit_us = round_.commit_us;
  last_round_.longest_step_us = round_.longest_step_us;
  last_round_.total_us = now_us - round_start_us_;
  counts_.CountRound(last_round_, now_us);
  feeds_.NoteRoundEnd(now_us);
  ScheduleCall* const call = std::exchange(active_call_, nullptr);
  if (call == nullptr) return;  // The decisions go to the feeds.
  if (is_shutting_down_ || call->IsCancelled()) {
    // The deltas stay in the outbox, for the next call.
    if (!is_shutting_down_) metrics_.abandoned_schedules.Increment();
    AnswerEmpty(call);
    return;
  }
  ScheduleReply reply = scheduler_.TakeReply(options_.reply_bytes_max);
  counts_.CountReply(reply);
  replies_.push_back({call, std::move(reply), /*is_in_flight=*/true});
}

void CoreLoop::AnswerEmpty(ScheduleCall* call) {
  replies_.push_back({call, ScheduleReply(), /*is_in_flight=*/false});
}

// ---------------------------------------------------------------------------
// What goes out

absl::Status CoreLoop::WriteChanges() {
  if (!scheduler_.state().has_changes()) {
    must_sync_ = false;
    return store_.CheckHeld();
  }
  // Nothing is acknowledged before all changes are durable.
  const Durability durability = must_sync_ || !acks_.empty()
                                    ? options_.durability
                                    : Durability::kBuffered;
  must_sync_ = false;
  const int64_t start_us = clock_.MonotonicUs();
  const ChangeSet changes = scheduler_.mutable_state().TakeChanges();
  absl::Status status =
      store_.Write(EncodeChanges(scheduler_.state(), changes), durability);
  if (!status.ok()) {
    metrics_.store_write_failures.Increment();
    return status;
  }
  metrics_.store_writes.Increment();
  metrics_.store_write_seconds.Observe(
      Seconds(clock_.MonotonicUs() - start_us));
  return store_.CheckHeld();
}

void CoreLoop::SendReplies() {
  // Acknowledgments first: a client should know that a task was accepted
  // before it reads where it goes.
  const int64_t end_us = clock_.MonotonicUs();
  for (PendingAck& pending : acks_) {
    metrics_.event_seconds.Observe(Seconds(end_us - pending.entered_us));
    pending.done(pending.ack);
  }
  acks_.clear();
  for (PendingReply& pending : replies_) {
    if (!pending.is_in_flight) {
      pending.call->Answer(std::move(pending.reply), [](bool) {});
      continue;
    }
    pending.call->Answer(std::move(pending.reply), [this](bool is_delivered) {
      mailbox_.Push(ReplyDoneItem{is_delivered});
    });
  }
  replies_.clear();
  feeds_.Tell(end_us);
  const CoreView view{scheduler_, last_round_, feeds_, now_ms_};
  for (const Reader& reader : readers_) reader(view);
  readers_.clear();
}

}  // namespace sluice
