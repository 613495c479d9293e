#include "clients/replies.h"

#include <glog/logging.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "state/destination.h"

namespace sluice {
namespace {

// Bytes on the wire: a delta has two tags and lengths, a task uid of at most
// ten bytes, a type and the text of the resource id.
constexpr size_t kDeltaBytes = 20;
constexpr size_t kUnscheduledBytes = 10;

// Whether a client that began anew knows what a delta is about.
bool IsKnown(const Task& task, const Machine& machine) {
  return !task.client.is_stale && !machine.is_stale;
}

// The template that the task was made from, if it was.
std::optional<TaskUid> TemplateOf(const Task& task, const ClusterState& state) {
  if (!task.made_from.has_value()) return std::nullopt;
  const Task* made_from = state.FindTask(*task.made_from);
  // If it is gone, its id stands in for its uid.
  return made_from == nullptr ? TaskUid{task.made_from->value}
                              : made_from->client.uid;
}

}  // namespace

ScheduleReply Replies::Take(size_t bytes_max) {
  CHECK(!is_in_flight_);
  ScheduleReply reply;
  size_t bytes = 0;
  for (const uint64_t sequence : state_.SequencesOf(FeedId())) {
    const Delta& delta = state_.outbox().at(sequence);
    const Task* task = state_.FindTask(delta.task);
    CHECK(task != nullptr);
    const auto [machine, resource_id] = DestinationOf(delta, state_);
    if (!IsKnown(*task, *machine)) continue;
    bytes += kDeltaBytes + resource_id->size();
    if (bytes > bytes_max) break;
    reply.deltas.push_back({sequence, task->client.uid, delta.type, machine->id,
                            *resource_id, TemplateOf(*task, state_)});
  }
  unread_before_ = std::exchange(unread_, {});
  for (const ScheduleReply::Entry& entry : reply.deltas) {
    deliveries_.Begin(entry.sequence);
    unread_.tasks.insert(entry.uid);
    unread_.machines.insert(entry.machine);
  }
  AddUnscheduled((bytes_max - std::min(bytes, bytes_max)) / kUnscheduledBytes,
                 &reply);
  unread_.tasks.insert(reply.unscheduled.begin(), reply.unscheduled.end());
  is_in_flight_ = true;
  return reply;
}

void Replies::AddUnscheduled(size_t room, ScheduleReply* reply) {
  const auto& waiting = state_.unscheduled();
  if (waiting.size() <= room && state_.feeds().empty() &&
      state_.templates().empty() && state_.uids().AreIds()) {
    for (const TaskId id : waiting) reply->unscheduled.push_back({id.value});
    return;
  }
  auto it = waiting.upper_bound(last_unscheduled_);
  for (size_t i = 0; i < waiting.size() && reply->unscheduled.size() < room;
       ++i, ++it) {
    if (it == waiting.end()) it = waiting.begin();
    // Those of feeds are told to their feeds.  No client knows of a task that
    // was made here before it is placed.
    const Task& task = *state_.FindTask(*it);
    if (task.client.HoldsUid() && !task.made_from.has_value()) {
      reply->unscheduled.push_back(task.client.uid);
      last_unscheduled_ = *it;
    }
  }
  if (waiting.size() <= room) std::ranges::sort(reply->unscheduled);
}

void Replies::End(bool is_delivered) {
  CHECK(std::exchange(is_in_flight_, false));
  if (is_delivered) {
    deliveries_.Confirm(std::numeric_limits<uint64_t>::max());
  } else {
    deliveries_.TakeBack();
    unread_ = {};
  }
}

void Replies::NoteRead() {
  CHECK(!is_in_flight_);
  unread_ = {};
  unread_before_ = {};
}

bool Replies::ConcernsUnread(const Command& command) const {
  if (const auto* remove = std::get_if<RemoveTask>(&command)) {
    return unread_.tasks.contains(remove->uid) ||
           unread_before_.tasks.contains(remove->uid);
  }
  if (const auto* remove = std::get_if<RemoveMachine>(&command)) {
    const Machine* machine = state_.FindMachine(remove->uuid);
    return machine != nullptr &&
           (unread_.machines.contains(machine->id) ||
            unread_before_.machines.contains(machine->id));
  }
  return false;
}

absl::flat_hash_set<JobId> Replies::FindUntoldJobs() const {
  absl::flat_hash_set<JobId> jobs;
  for (const auto& [id, job] : state_.jobs()) {
    if (job->pending_count > 0 && !job->is_group) jobs.insert(id);
  }
  for (const uint64_t sequence : state_.SequencesOf(FeedId())) {
    const Delta& delta = state_.outbox().at(sequence);
    const Task& task = *state_.FindTask(delta.task);
    if (IsKnown(task, *DestinationOf(delta, state_).machine))
      jobs.insert(task.job);
  }
  return jobs;
}

}  // namespace sluice
