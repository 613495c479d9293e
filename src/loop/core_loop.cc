#include "loop/core_loop.h"

#include <glog/logging.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "persist/records.h"

namespace sluice {
namespace {

constexpr int64_t kTickUs = 1000000;  // Of what goes on without commands.
// How many times as long a client that begins anew may be silent at first.
constexpr int64_t kSilences = 5;
constexpr std::string_view kStops = "the daemon stops";
// Two beginnings are one that a client makes on two connections.
constexpr int64_t kSameBeginningUs = 250000;
// A reply is in flight.
constexpr int64_t kNoEnd = std::numeric_limits<int64_t>::max();

double Seconds(int64_t us) { return static_cast<double>(us) / 1e6; }

[[noreturn]] void EndProcess(const absl::Status& status) {
  LOG(ERROR) << "the store cannot be written, so nothing can be acknowledged "
                "any more: "
             << status << "; ending";
  google::FlushLogFiles(google::GLOG_INFO);
  // Other threads are at work: no destructor may run beside them.
  std::_Exit(EXIT_FAILURE);
}

}  // namespace

CoreLoop::CoreLoop(Parts parts, Options options)
    : scheduler_(parts.scheduler),
      store_(parts.store),
      clock_(parts.clock),
      metrics_(parts.metrics),
      options_(options),
      counts_(parts.scheduler, parts.metrics),
      feeds_(parts.scheduler, parts.metrics, options.feeds),
      mailbox_(options.mailbox_max),
      solver_thread_(parts.solver, parts.clock, [this](SolveResult result) {
        mailbox_.Push(std::move(result));
      }) {}

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
    int64_t due_us = clock_.MonotonicUs() + kTickUs;
    for (const HeldAck& held : held_acks_) {
      due_us = std::min(due_us, held.until_us);
    }
    if (!scheduler_.is_in_round() && !is_shutting_down_) {
      due_us = std::min(due_us, feeds_.RoundDueUs().value_or(due_us));
    }
    timeout_us = std::max<int64_t>(due_us - clock_.MonotonicUs(), 0);
  }
}

void CoreLoop::HandleBatch(std::vector<Item>* batch) {
  now_ms_ = clock_.NowMs();
  for (Item& item : *batch) {
    std::visit([this](auto& one) { Handle(std::move(one)); }, item);
  }
  const int64_t now_us = clock_.MonotonicUs();
  // A client that goes on calling Schedule says itself what it has read.
  if (!scheduler_.is_reply_in_flight() && now_us >= replies_read_us_ &&
      !has_counting_client_ && !scheduler_.AreRepliesRead()) {
    NoteRepliesRead();
  }
  ReleaseAcks([this, now_us](const HeldAck& held) {
    // Who holds back removals until something is placed waits for nothing then.
    return held.until_us <= now_us ||
           (is_shutting_down_ && held.job.has_value());
  });
  TendAnnouncements();
  StartRounds();
  if (is_stopping_ && !is_step_open_) {
    // Whoever still waits for a reply to be read waits for nothing.
    ReleaseAcks([](const HeldAck&) { return true; });
    mailbox_.Close();
  }
  WriteChanges();
  SendReplies();
  const int64_t end_us = clock_.MonotonicUs();
  counts_.RefreshGauges(mailbox_.size(), end_us);
  feeds_.Tend(end_us);
}

// ---------------------------------------------------------------------------
// What comes in

void CoreLoop::Handle(CommandItem item) {
  // Asked before the command makes the state forget what it concerns.
  const bool is_held = scheduler_.ConcernsUnreadReply(item.command);
  auto* const remove = std::get_if<RemoveTask>(&item.command);
  std::optional<HeldAck> held;
  if (remove != nullptr && options_.reused_uid_hold_ms > 0) {
    remove->keeps_uid = scheduler_.IsContested(remove->task);
    held = HoldForJob(*remove, is_held);
  }
  if (std::holds_alternative<BeginAnnouncement>(item.command)) {
    has_counting_client_ = true;
    // What the client announced on another connection just before is of the
    // same life.
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
                 "stale, and nothing is told of it";
  }
  if (mentions) {
    has_mentioned_ = true;
    mentioned_us_ = item.entered_us;
  }
  if (const auto* submit = std::get_if<SubmitTask>(&item.command)) {
    NoteSubmission(submit->task);
  }
  must_sync_ = true;
  feeds_.NoteChange();
  counts_.CountCommand(item.command);
  PendingAck pending{std::move(item.done), ack, item.entered_us};
  if (held.has_value()) {
    held->ack = std::move(pending);
    held_acks_.push_back(*std::move(held));
  } else if (is_held) {
    const bool is_in_flight = scheduler_.is_reply_in_flight();
    held_acks_.push_back(
        {std::move(pending), is_in_flight ? kNoEnd : replies_read_us_});
  } else {
    acks_.push_back(std::move(pending));
  }
}

void CoreLoop::NoteSubmission(TaskId uid) {
  const Task* task = scheduler_.state().FindTask(uid);
  for (HeldAck& held : held_acks_) {
    if (!held.job.has_value() || held.uid != uid || task == nullptr) continue;
    held.job = task->job;
    held.is_contested = true;
    held.until_us = clock_.MonotonicUs() + options_.reused_uid_hold_ms * 1000;
  }
}

void CoreLoop::Handle(ScheduleItem item) {
  // Whoever calls again has read what it got, unless it calls ahead.
  if (active_call_ == nullptr && waiting_calls_.empty() &&
      !scheduler_.is_reply_in_flight()) {
    NoteRepliesRead();
  }
  waiting_calls_.push_back(item.call);
}

void CoreLoop::NoteRepliesRead() {
  scheduler_.NoteRepliesRead();
  if (held_acks_.empty()) return;
  const absl::flat_hash_set<JobId> untold = scheduler_.FindUntoldJobs();
  const int64_t now_us = clock_.MonotonicUs();
  ReleaseAcks([&untold, now_us](const HeldAck& held) {
    return held.from_us <= now_us &&
           (!held.job.has_value() || !untold.contains(*held.job));
  });
}

void CoreLoop::ReleaseAcks(const std::function<bool(const HeldAck&)>& is_due) {
  const auto released =
      std::ranges::stable_partition(held_acks_, std::not_fn(is_due));
  for (HeldAck& held : released) {
    if (held.is_contested) {
      scheduler_.Apply(MuteTask{held.uid}, now_ms_);
      must_sync_ = true;
    }
    acks_.push_back(std::move(held.ack));
  }
  held_acks_.erase(released.begin(), released.end());
}

std::optional<CoreLoop::HeldAck> CoreLoop::HoldForJob(const RemoveTask& command,
                                                      bool is_unread) const {
  const ClusterState& state = scheduler_.state();
  const Task* task = state.FindTask(command.task);
  if (task == nullptr || task->is_displaced) return std::nullopt;
  const Job* job = state.FindJob(task->job);
  if (job == nullptr) return std::nullopt;
  const int64_t now_us = clock_.MonotonicUs();
  HeldAck held{.ack = {},
               .until_us = now_us + options_.reused_uid_hold_ms * 1000,
               .job = job->id,
               .uid = command.task,
               .is_contested = command.keeps_uid};
  if (command.keeps_uid) return held;
  if (!has_counting_client_ || (job->task_count == 1 && !is_unread)) {
    return std::nullopt;
  }
  // Who replaces what is removed does so at once: the newcomer may be under
  // way, with a uid that the acknowledgment takes from it.
  held.from_us = now_us + options_.removal_hold_ms * 1000;
  const bool waits_for_deltas =
      is_unread || job->pending_count > 0 || !state.outbox().empty();
  if (!waits_for_deltas) held.until_us = held.from_us;
  return held;
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
  round_.solve_us += solved.solve_us;
  RoundAnswer& answer = solved.result.answer;
  if (auto* flow = std::get_if<FlowSolution>(&answer)) {
    metrics_.solve_seconds.Observe(Seconds(solved.solve_us));
    Inspect(solved.result.certificate, flow);
  } else {
    metrics_.packing_seconds.Observe(Seconds(solved.solve_us));
  }
  const int64_t start_us = clock_.MonotonicUs();
  scheduler_.FinishStep(answer);
  must_sync_ = true;
  const int64_t commit_us = clock_.MonotonicUs() - start_us;
  round_.commit_us += commit_us;
  step_us_ = commit_us;
  metrics_.commit_seconds.Observe(Seconds(commit_us));
  ContinueRound();
}

void CoreLoop::Inspect(const absl::Status& certificate, FlowSolution* flow) {
  if (flow->is_warm) metrics_.warm_solves.Increment();
  if (!certificate.ok()) {
    metrics_.certificate_failures.Increment();
    LOG(ERROR) << "round=" << scheduler_.round_stats().number
               << " abandoned: the solver's optimum is none, which is a fault "
                  "of the solver: "
               << certificate;
    *flow = FlowSolution();
  } else if (flow->outcome != SolveOutcome::kOptimal && !is_shutting_down_) {
    metrics_.solve_failures.Increment();
    LOG(ERROR) << "round=" << scheduler_.round_stats().number
               << " abandoned: the solve is " << SolveOutcomeName(flow->outcome)
               << ": " << flow->error;
  }
}

void CoreLoop::Handle(ReplyDoneItem item) {
  scheduler_.EndReply(item.is_delivered);
  const int64_t now_us = clock_.MonotonicUs();
  if (item.is_delivered) {
    replies_read_us_ = now_us + options_.removal_hold_ms * 1000;
  } else {
    metrics_.abandoned_schedules.Increment();
  }
  for (HeldAck& held : held_acks_) {
    if (held.until_us != kNoEnd || held.job.has_value()) continue;
    held.until_us = item.is_delivered ? replies_read_us_ : now_us;
  }
}

void CoreLoop::Handle(ResumeItem /*item*/) {
  is_step_open_ = false;
  // A flow that failed ends the round.
  scheduler_.FinishStep(is_shutting_down_ ? RoundAnswer(FlowSolution())
                                          : RoundAnswer(Pause()));
  ContinueRound();
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
  feeds_.Take(item.session, *std::move(item.batch), now_ms_, now_us);
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
  feeds_.NoteRoundStart();
  scheduler_.StartRound(now_ms_);
  must_sync_ |= scheduler_.round_stats().evicted > 0;
  round_.build_us = clock_.MonotonicUs() - round_start_us_;
  ContinueRound();
}

void CoreLoop::ContinueRound() {
  const int64_t start_us = clock_.MonotonicUs();
  std::optional<RoundWork> work = scheduler_.NextStep();
  must_sync_ |= scheduler_.state().has_changes();
  const int64_t build_us = clock_.MonotonicUs() - start_us;
  round_.build_us += build_us;
  metrics_.build_seconds.Observe(Seconds(build_us));
  // What was committed just before is part of the same step.
  round_.longest_step_us =
      std::max(round_.longest_step_us, std::exchange(step_us_, 0) + build_us);
  if (!work.has_value()) {
    EndRound();
    return;
  }
  is_step_open_ = true;
  if (std::holds_alternative<Pause>(*work)) {
    // Behind the commands that have come meanwhile.
    metrics_.round_pauses.Increment();
    mailbox_.Push(ResumeItem{});
    return;
  }
  const bool is_flow = std::holds_alternative<FlowProblem>(*work);
  (is_flow ? metrics_.solves : metrics_.packings).Increment();
  solver_thread_.Solve(*std::move(work));
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
  if (call == nullptr) return;  // What was decided goes to the feeds.
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

void CoreLoop::WriteChanges() {
  if (!scheduler_.state().has_changes()) {
    must_sync_ = false;
    return;
  }
  const Durability durability =
      must_sync_ ? options_.durability : Durability::kBuffered;
  must_sync_ = false;
  const int64_t start_us = clock_.MonotonicUs();
  const ChangeSet changes = scheduler_.mutable_state().TakeChanges();
  const absl::Status status =
      store_.Write(EncodeChanges(scheduler_.state(), changes), durability);
  if (!status.ok()) {
    metrics_.store_write_failures.Increment();
    EndProcess(status);
  }
  metrics_.store_writes.Increment();
  metrics_.store_write_seconds.Observe(
      Seconds(clock_.MonotonicUs() - start_us));
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
  feeds_.Tell();
  const CoreView view{scheduler_, last_round_, feeds_, now_ms_};
  for (const Reader& reader : readers_) reader(view);
  readers_.clear();
}

}  // namespace sluice
