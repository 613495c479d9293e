#include "core/core.h"

#include <glog/logging.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

constexpr std::string_view kStops = "the daemon stops";

}  // namespace

Core::Core(Parts parts, Options options)
    : state_(parts.state),
      scheduler_(parts.scheduler),
      clock_(parts.clock),
      metrics_(parts.metrics),
      counts_(parts.scheduler, parts.metrics),
      contract_(&parts.state, options.contract),
      feeds_(&parts.state, parts.scheduler, parts.metrics, options.feeds) {}

// ---------------------------------------------------------------------------
// What comes in

void Core::Step(Input input) {
  std::visit([this](auto& one) { Take(std::move(one)); }, input);
}

void Core::Take(Contract::Request request) {
  const std::optional<Ack> ack =
      contract_.Apply(request, NowMs(), clock_.MonotonicUs());
  if (!ack.has_value()) return;
  counts_.CountCommand(request.command, *ack);
  if (IsSample(request.command)) return;
  must_sync_ = true;
  feeds_.NoteChange();
}

void Core::Take(Called called) {
  if (!contract_.Call(called.call, NowMs(), clock_.MonotonicUs())) return;
  counts_.CountCommand(BeginAnnouncement{.is_certain = false}, Ack::kOk);
  must_sync_ = true;
  feeds_.NoteChange();
}

void Core::Take(ReplyEnded ended) {
  contract_.EndReply(ended.is_delivered, clock_.MonotonicUs());
  if (!ended.is_delivered) metrics_.abandoned_schedules.Increment();
}

void Core::Take(FeedSent sent) {
  const int64_t now_us = clock_.MonotonicUs();
  if (is_shutting_down_) {
    feeds_.Refuse(sent.session, absl::UnavailableError(std::string(kStops)));
  } else if (!sent.batch.has_value()) {
    feeds_.Greet(sent.session, now_us);
  } else {
    feeds_.Take(sent.session, *sent.batch, NowMs(), now_us);
    must_sync_ = true;
  }
}

void Core::Take(FeedEnded ended) {
  feeds_.Release(ended.session, clock_.MonotonicUs());
}

void Core::Take(PlanAsked asked) { asked_plans_.push_back(std::move(asked)); }

void Core::Take(SolveResult solved) {
  NoteBusy();
  is_work_open_ = false;
  round_.solve_us += solved.solve_us;
  RoundAnswer& answer = solved.result.answer;
  if (auto* flow = std::get_if<FlowSolution>(&answer)) {
    metrics_.solve_seconds.Observe(Seconds(solved.solve_us));
    Inspect(solved.result.certificate, flow);
  } else {
    // A packing, or a bound of it.
    metrics_.packing_seconds.Observe(Seconds(solved.solve_us));
  }
  const int64_t start_us = clock_.MonotonicUs();
  scheduler_.FinishStep(answer);
  must_sync_ = true;
  const int64_t commit_us = clock_.MonotonicUs() - start_us;
  round_.commit_us += commit_us;
  metrics_.commit_seconds.Observe(Seconds(commit_us));
}

void Core::Inspect(const absl::Status& certificate, FlowSolution* flow) {
  if (flow->is_warm) metrics_.warm_solves.Increment();
  if (!certificate.ok()) {
    metrics_.certificate_failures.Increment();
    LOG(ERROR) << "round=" << scheduler_.round_stats().number
               << " abandoned: solution failed its certificate (solver bug): "
               << certificate;
    *flow = FlowSolution();
  } else if (flow->outcome != SolveOutcome::kOptimal &&
             // The round then asks for less (round/passes/pass.h).
             flow->outcome != SolveOutcome::kInfeasible &&
             // Nothing but a shutdown cancels a solve, and word of it may come
             // later.
             flow->outcome != SolveOutcome::kCancelled) {
    metrics_.solve_failures.Increment();
    LOG(ERROR) << "round=" << scheduler_.round_stats().number
               << " abandoned: solve outcome "
               << SolveOutcomeName(flow->outcome) << ": " << flow->error;
  }
}

void Core::Take(Resumed /*resumed*/) {
  NoteBusy();
  is_work_open_ = false;
  // A flow that failed ends the round.
  scheduler_.FinishStep(is_shutting_down_ ? RoundAnswer(FlowSolution())
                                          : RoundAnswer(Pause()));
}

void Core::Take(ShutdownBegun /*begun*/) {
  is_shutting_down_ = true;
  contract_.BeginShutdown();
  feeds_.EndAll(absl::UnavailableError(std::string(kStops)));
}

// ---------------------------------------------------------------------------
// Rounds

std::optional<RoundWork> Core::NextWork() {
  Tend();
  MakePlans();
  while (BeginRound() && !is_work_open_) {
    if (std::optional<RoundWork> work = NextStep()) {
      is_work_open_ = true;
      return work;
    }
    EndRound();
  }
  return std::nullopt;
}

void Core::Tend() {
  const int64_t now_us = clock_.MonotonicUs();
  if (contract_.Tend(NowMs(), now_us)) must_sync_ = true;
  feeds_.Tend(NowMs(), now_us);
}

void Core::MakePlans() {
  if (scheduler_.is_in_round()) return;
  for (PlanAsked& asked : std::exchange(asked_plans_, {})) {
    plans_.push_back(
        {std::move(asked.reader), scheduler_.Plan(asked.mode, NowMs())});
  }
}

bool Core::BeginRound() {
  const bool is_in_round = scheduler_.is_in_round();
  metrics_.abandoned_schedules.Increment(
      static_cast<double>(contract_.BeginCall(is_in_round)));
  if (is_in_round) return true;
  if (!contract_.has_call()) {
    const std::optional<int64_t> due_us = feeds_.RoundDueUs();
    if (is_shutting_down_ || !due_us.has_value() ||
        *due_us > clock_.MonotonicUs()) {
      return false;
    }
  }
  NoteBusy();
  round_ = RoundStats();
  round_start_us_ = clock_.MonotonicUs();
  feeds_.NoteRoundStart(round_start_us_);
  scheduler_.StartRound(NowMs());
  must_sync_ |= scheduler_.round_stats().evicted > 0;
  round_.build_us = clock_.MonotonicUs() - round_start_us_;
  return true;
}

std::optional<RoundWork> Core::NextStep() {
  const int64_t start_us = clock_.MonotonicUs();
  std::optional<RoundWork> work = scheduler_.NextStep();
  must_sync_ |= state_.has_changes();
  const int64_t build_us = clock_.MonotonicUs() - start_us;
  round_.build_us += build_us;
  metrics_.build_seconds.Observe(Seconds(build_us));
  return work;
}

void Core::EndRound() {
  NoteLetGo();
  const int64_t now_us = clock_.MonotonicUs();
  last_round_ = scheduler_.round_stats();
  last_round_.build_us = round_.build_us;
  last_round_.solve_us = round_.solve_us;
  last_round_.commit_us = round_.commit_us;
  last_round_.longest_step_us = round_.longest_step_us;
  last_round_.total_us = now_us - round_start_us_;
  counts_.CountRound(last_round_, now_us);
  feeds_.NoteRoundEnd(now_us);
  if (!contract_.has_call()) return;  // What was decided goes to the feeds.
  if (const ScheduleReply* reply = contract_.AnswerCall()) {
    counts_.CountReply(*reply, now_us);
  } else if (!is_shutting_down_) {
    metrics_.abandoned_schedules.Increment();
  }
}

int64_t Core::NowMs() {
  if (!batch_ms_.has_value()) batch_ms_ = clock_.NowMs();
  return *batch_ms_;
}

void Core::NoteBusy() {
  if (!busy_since_us_.has_value()) busy_since_us_ = clock_.MonotonicUs();
}

void Core::NoteLetGo() {
  if (!busy_since_us_.has_value()) return;
  round_.longest_step_us =
      std::max(round_.longest_step_us, clock_.MonotonicUs() - *busy_since_us_);
  busy_since_us_.reset();
}

// ---------------------------------------------------------------------------
// What goes out

Core::Ready Core::TakeReady() {
  NoteLetGo();
  Ready ready;
  contract_.TakeMessages(&ready.messages);
  feeds_.TakeMessages(clock_.MonotonicUs(), &ready.messages);
  ready.plans = std::exchange(plans_, {});
  // Nobody is acknowledged before all that was changed is durable.
  ready.must_sync =
      std::exchange(must_sync_, false) || !ready.messages.acks.empty();
  ready.changes = state_.TakeChanges();
  batch_ms_.reset();
  return ready;
}

void Core::End() {
  for (PlanAsked& asked : std::exchange(asked_plans_, {})) {
    plans_.push_back({std::move(asked.reader), std::nullopt});
  }
  contract_.ReleaseAll();
}

int64_t Core::DueUs() const {
  int64_t due_us = std::min(clock_.MonotonicUs() + kTickUs, contract_.DueUs());
  due_us = std::min(due_us, feeds_.AckDueUs().value_or(due_us));
  if (!scheduler_.is_in_round() && !is_shutting_down_) {
    due_us = std::min(due_us, feeds_.RoundDueUs().value_or(due_us));
  }
  return due_us;
}

}  // namespace sluice
