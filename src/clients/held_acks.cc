#include "clients/held_acks.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "absl/container/flat_hash_set.h"

namespace sluice {
namespace {

// The end of what waits for a reply in flight.
constexpr int64_t kNoEnd = std::numeric_limits<int64_t>::max();

}  // namespace

std::optional<HeldAcks::Hold> HeldAcks::HoldFor(const Command& command,
                                                int64_t now_us) const {
  const bool is_unread = replies_.ConcernsUnread(command);
  const auto* const remove = std::get_if<RemoveTask>(&command);
  if (remove != nullptr && options_.reused_uid_hold_us > 0) {
    const std::optional<Hold> hold = HoldForRemoval(*remove, is_unread, now_us);
    if (hold.has_value()) return hold;
  }
  if (!is_unread) return std::nullopt;
  const bool is_in_flight = replies_.is_in_flight();
  return Hold{.until_us = is_in_flight ? kNoEnd : replies_read_us_};
}

std::optional<HeldAcks::Hold> HeldAcks::HoldForRemoval(
    const RemoveTask& command, bool is_unread, int64_t now_us) const {
  const Task* task = state_.FindHolder(command.uid);
  if (task == nullptr) return std::nullopt;
  const Job* job = state_.FindJob(task->job);
  if (job == nullptr) return std::nullopt;
  Hold hold{.until_us = now_us + options_.reused_uid_hold_us,
            .job = job->id,
            .uid = command.uid,
            .stale_below = state_.counters().stale_below,
            .is_contested = command.keeps_uid};
  if (command.keeps_uid) return hold;
  if (!has_counting_client_ || (job->task_count == 1 && !is_unread)) {
    return std::nullopt;
  }
  // A client replaces a removed task at once.  The new task may be on its way
  // with a uid that the acknowledgment would take from it.
  hold.from_us = now_us + options_.removal_hold_us;
  // Waiting tasks of the job are placed and told first.  Otherwise the client
  // would assign one of their uids again.
  const bool is_untold =
      is_unread || job->pending_count > 0 || !state_.outbox().empty();
  if (!is_untold) hold.until_us = hold.from_us;
  return hold;
}

void HeldAcks::Add(const Hold& hold, AckMessage ack) {
  held_.push_back({hold, std::move(ack)});
}

void HeldAcks::NoteSubmission(TaskUid uid, int64_t now_us) {
  const Task* task = state_.FindHolder(uid);
  for (auto& [hold, ack] : held_) {
    if (!hold.job.has_value() || hold.uid != uid || task == nullptr) continue;
    hold.job = task->job;
    hold.is_contested = true;
    hold.until_us = now_us + options_.reused_uid_hold_us;
  }
}

void HeldAcks::NoteReplyEnd(bool is_delivered, int64_t now_us) {
  if (is_delivered) replies_read_us_ = now_us + options_.removal_hold_us;
  for (auto& [hold, ack] : held_) {
    if (hold.until_us != kNoEnd || hold.job.has_value()) continue;
    hold.until_us = is_delivered ? replies_read_us_ : now_us;
  }
}

void HeldAcks::NoteRepliesRead(int64_t now_us,
                               std::vector<AckMessage>* released) {
  replies_.NoteRead();
  if (held_.empty()) return;
  const absl::flat_hash_set<JobId> untold = replies_.FindUntoldJobs();
  Release(
      [&untold, now_us](const Hold& hold) {
        return hold.from_us <= now_us &&
               (!hold.job.has_value() || !untold.contains(*hold.job));
      },
      released);
}

void HeldAcks::ReleaseDue(int64_t now_us, bool is_shutting_down,
                          std::vector<AckMessage>* released) {
  if (!replies_.is_in_flight() && now_us >= replies_read_us_ &&
      !has_counting_client_ && !replies_.AreRead()) {
    NoteRepliesRead(now_us, released);
  }
  Release(
      [now_us, is_shutting_down](const Hold& hold) {
        return hold.until_us <= now_us ||
               (is_shutting_down && hold.job.has_value());
      },
      released);
}

void HeldAcks::ReleaseAll(std::vector<AckMessage>* released) {
  Release([](const Hold&) { return true; }, released);
}

void HeldAcks::Release(const std::function<bool(const Hold&)>& is_due,
                       std::vector<AckMessage>* released) {
  const auto due = std::ranges::stable_partition(
      held_, [&](const HeldAck& held) { return !is_due(held.hold); });
  for (HeldAck& held : due) {
    // From now on the client no longer knows the uid.
    if (held.hold.is_contested && !IsOfFormerLife(held.hold)) {
      state_.Apply(MuteTask{held.hold.uid}, 0);
    }
    released->push_back(std::move(held.ack));
  }
  held_.erase(due.begin(), due.end());
}

bool HeldAcks::IsOfFormerLife(const Hold& hold) const {
  const Task* task = state_.FindHolder(hold.uid);
  const uint32_t latest = state_.counters().stale_below;
  return task != nullptr && latest > hold.stale_below &&
         task->client.announcement >= latest;
}

int64_t HeldAcks::DueUs() const {
  int64_t due_us = kNoEnd;
  for (const auto& [hold, ack] : held_) {
    due_us = std::min(due_us, hold.until_us);
  }
  return due_us;
}

}  // namespace sluice
