#include "clients/contract.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace sluice {
namespace {

// A client that begins anew may first stay silent for this many quiet periods.
// One that only might begin anew is awaited just as long.
constexpr int64_t kSilences = 5;
// Beginnings this close together count as one, made on two connections.
constexpr int64_t kSameBeginningUs = 250000;

// True if the uid now names a newer task that the client has not heard of.
bool IsContested(TaskUid uid, const ClusterState& state) {
  const Task* task = state.FindHolder(uid);
  return task != nullptr && !task->client.earlier_holders.empty() &&
         !task->client.IsMuted() &&
         (task->state == TaskState::kPending || state.IsUntold(task->id));
}

}  // namespace

Contract::Contract(ClusterState* state, Options options)
    : state_(*state),
      options_(options),
      replies_(state),
      held_acks_(state, &replies_, options.holds) {}

std::optional<Ack> Contract::Apply(Request& request, int64_t now_ms,
                                   int64_t now_us) {
  Command& command = request.command;
  if (auto* const remove = std::get_if<RemoveTask>(&command);
      remove != nullptr && options_.holds.reused_uid_hold_us > 0) {
    remove->keeps_uid = IsContested(remove->uid, state_);
  }
  const std::optional<HeldAcks::Hold> hold =
      held_acks_.HoldFor(command, now_us);
  newcomers_.NoteOther(request.connection);
  const std::optional<Ack> ack = Change(command, request.entered_us, now_ms);
  if (const auto* submit = std::get_if<SubmitTask>(&command)) {
    held_acks_.NoteSubmission(submit->uid, now_us);
  }
  AckMessage message{std::move(request.done), ack.value_or(Ack::kOk),
                     request.entered_us};
  if (hold.has_value()) {
    held_acks_.Add(*hold, std::move(message));
  } else {
    acks_.push_back(std::move(message));
  }
  return ack;
}

std::optional<Ack> Contract::Change(const Command& command, int64_t entered_us,
                                    int64_t now_ms) {
  const StateCounters before = state_.counters();
  const bool is_beginning = std::holds_alternative<BeginAnnouncement>(command);
  // What the client announced on another connection just before is of the same
  // life.
  if (is_beginning && before.former_stale_below.has_value() &&
      entered_us - began_us_ < kSameBeginningUs) {
    held_acks_.NoteCountingClient();
    return std::nullopt;
  }
  const Ack ack = state_.Apply(command, now_ms);
  NoteBeginning(before, is_beginning, entered_us);
  NoteMention(command, before.stale_below, entered_us);
  return ack;
}

void Contract::NoteBeginning(const StateCounters& before, bool is_beginning,
                             int64_t entered_us) {
  const StateCounters& now = state_.counters();
  if (now.is_announcement_expected) {
    if (!before.is_announcement_expected) expected_us_ = entered_us;
    return;
  }
  const bool has_opened =
      before.is_announcement_expected && before.stale_below != now.stale_below;
  if (is_beginning || has_opened) held_acks_.NoteCountingClient();
}

void Contract::NoteMention(const Command& command, uint32_t stale_below_before,
                           int64_t entered_us) {
  const bool is_machine = std::holds_alternative<AddMachine>(command);
  if (stale_below_before != state_.counters().stale_below) {
    has_mentioned_ = false;
    mentioned_us_ = entered_us;
    if (is_machine) began_us_ = entered_us;
    LOG(INFO) << "a client begins anew: what it does not mention again is "
                 "stale, and gets no decisions";
  }
  if (is_machine || std::holds_alternative<SubmitTask>(command)) {
    has_mentioned_ = true;
    mentioned_us_ = entered_us;
  }
}

bool Contract::Call(ScheduleCall* call, int64_t now_ms, int64_t now_us) {
  // Whoever calls again has read what it got, unless it calls ahead.
  const auto is_held = [this](const WaitingCall& one) { return IsHeld(one); };
  if (active_call_ == nullptr && !replies_.is_in_flight() &&
      std::ranges::all_of(waiting_calls_, is_held)) {
    held_acks_.NoteRepliesRead(now_us, &acks_);
  }
  // A client that schedules before it has announced anything may have just
  // begun, and know nothing that a reply would name.
  const Newcomers::Standing standing =
      newcomers_.NoteSchedule(call->connection());
  waiting_calls_.push_back(
      {call, now_us, standing != Newcomers::Standing::kOther});
  return standing == Newcomers::Standing::kFirst &&
         Change(BeginAnnouncement{.is_certain = false}, now_us, now_ms)
             .has_value();
}

int64_t Contract::BeginCall(bool is_in_round) {
  int64_t gone = 0;
  for (auto it = waiting_calls_.begin(); it != waiting_calls_.end();) {
    ScheduleCall* const call = it->call;
    if (is_shutting_down_) {
      AnswerEmpty(call);
    } else if (is_in_round || has_call() || replies_.is_in_flight()) {
      break;
    } else if (call->IsCancelled()) {
      ++gone;
      AnswerEmpty(call);
    } else if (IsHeld(*it)) {
      ++it;
      continue;
    } else {
      active_call_ = call;
    }
    it = waiting_calls_.erase(it);
  }
  return gone;
}

bool Contract::IsHeld(const WaitingCall& waiting) const {
  return state_.counters().is_announcement_expected && waiting.is_of_newcomer &&
         tended_us_ - waiting.since_us < NewcomerWaitUs();
}

int64_t Contract::NewcomerWaitUs() const {
  return kSilences * options_.announcement_quiet_ms * 1000;
}

const ScheduleReply* Contract::AnswerCall() {
  ScheduleCall* const call = std::exchange(active_call_, nullptr);
  if (is_shutting_down_ || call->IsCancelled()) {
    AnswerEmpty(call);
    return nullptr;
  }
  answers_.push_back({call, replies_.Take(options_.reply_bytes_max),
                      /*is_in_flight=*/true});
  return &answers_.back().reply;
}

void Contract::EndReply(bool is_delivered, int64_t now_us) {
  replies_.End(is_delivered);
  held_acks_.NoteReplyEnd(is_delivered, now_us);
}

bool Contract::Tend(int64_t now_ms, int64_t now_us) {
  tended_us_ = now_us;
  held_acks_.ReleaseDue(now_us, is_shutting_down_, &acks_);
  return TendAnnouncements(now_ms, now_us);
}

std::optional<int64_t> Contract::AnnouncementEndUs() const {
  const StateCounters& counters = state_.counters();
  if (counters.is_announcement_expected) return expected_us_ + NewcomerWaitUs();
  if (!counters.former_stale_below.has_value()) return std::nullopt;
  const int64_t quiet_us = options_.announcement_quiet_ms * 1000;
  return mentioned_us_ + (has_mentioned_ ? quiet_us : kSilences * quiet_us);
}

int64_t Contract::DueUs() const {
  const int64_t acks_us = held_acks_.DueUs();
  return std::min(acks_us, AnnouncementEndUs().value_or(acks_us));
}

bool Contract::TendAnnouncements(int64_t now_ms, int64_t now_us) {
  const StateCounters& counters = state_.counters();
  bool has_changed = false;
  if (const std::optional<int64_t> end_us = AnnouncementEndUs()) {
    if (now_us < *end_us) return false;
    state_.Apply(EndAnnouncement(), now_ms);
    has_changed = true;
  }
  if (options_.forget_stale_after_ms == 0 ||
      counters.announcement == forgotten_ ||
      now_ms - counters.announcement_ms < options_.forget_stale_after_ms) {
    return has_changed;
  }
  forgotten_ = counters.announcement;
  state_.Apply(ForgetStale(), now_ms);
  return true;
}

void Contract::AnswerEmpty(ScheduleCall* call) {
  answers_.push_back({call, ScheduleReply(), /*is_in_flight=*/false});
}

void Contract::TakeMessages(Messages* messages) {
  messages->acks = std::exchange(acks_, {});
  messages->replies = std::exchange(answers_, {});
}

}  // namespace sluice
