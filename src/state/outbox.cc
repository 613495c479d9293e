#include "state/outbox.h"

#include <algorithm>

namespace sluice {

const Outbox::Sequences& Outbox::SequencesOf(FeedId feed) const {
  static const Sequences none;
  const auto it = of_feed_.find(feed);
  return it == of_feed_.end() ? none : it->second;
}

const Outbox::TaskSequences& Outbox::SequencesOf(TaskId task) const {
  static const TaskSequences none;
  const auto it = of_task_.find(task);
  return it == of_task_.end() ? none : it->second;
}

const Delta* Outbox::Waiting(TaskId task) const {
  const TaskSequences& sequences = SequencesOf(task);
  if (sequences.empty()) return nullptr;
  const Delta& last = deltas_.at(sequences.back());
  return last.is_in_flight ? nullptr : &last;
}

Delta* Outbox::Find(uint64_t sequence) {
  const auto it = deltas_.find(sequence);
  return it == deltas_.end() ? nullptr : &it->second;
}

bool Outbox::Add(const Delta& delta) {
  // It is nearly always the newest of all.
  const size_t before = deltas_.size();
  deltas_.emplace_hint(deltas_.end(), delta.sequence, delta);
  if (deltas_.size() == before) return false;
  of_task_[delta.task].push_back(delta.sequence);
  Sequences& of_feed = of_feed_[delta.feed];
  of_feed.insert(of_feed.end(), delta.sequence);
  return true;
}

void Outbox::Erase(uint64_t sequence) {
  const auto it = deltas_.find(sequence);
  const Delta& delta = it->second;
  const auto of_task = of_task_.find(delta.task);
  TaskSequences& sequences = of_task->second;
  sequences.erase(std::ranges::find(sequences, sequence));
  if (sequences.empty()) of_task_.erase(of_task);
  const auto of_feed = of_feed_.find(delta.feed);
  of_feed->second.erase(sequence);
  if (of_feed->second.empty()) of_feed_.erase(of_feed);
  deltas_.erase(it);
}

}  // namespace sluice
