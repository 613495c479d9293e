#include "state/replacements.h"

#include <optional>

#include "state/cluster_state.h"

namespace sluice {
namespace {

constexpr int kCircleMax = 100;

bool IsToReplace(const Task& newcomer, const Task& former) {
  return former.client.HoldsUid() &&
         newcomer.class_key.rules->replaces == former.client.uid;
}

}  // namespace

void Replacements::Note(const Task& task) {
  Erase(task.id);
  const PlacementRules& rules = *task.class_key.rules;
  if (!rules.replaces.has_value() && rules.alternatives.empty()) return;
  Entry& entry = entries_[task.id];
  entry.former = rules.replaces;
  if (entry.former.has_value()) newcomers_[*entry.former].insert(task.id);
  for (const Alternative& one : rules.alternatives) {
    entry.choices.emplace_back(task.job, one.name);
    choices_[entry.choices.back()].insert(task.id);
  }
}

void Replacements::Erase(TaskId task) {
  const auto it = entries_.find(task);
  if (it == entries_.end()) return;
  const auto leave = [task](const auto& key, auto* index) {
    const auto tasks = index->find(key);
    tasks->second.erase(task);
    if (tasks->second.empty()) index->erase(tasks);
  };
  if (it->second.former.has_value()) leave(*it->second.former, &newcomers_);
  for (const Choice& one : it->second.choices) {
    leave(one, &choices_);
  }
  entries_.erase(it);
}

std::vector<TaskId> Replacements::Concerned() const {
  absl::btree_set<TaskId> concerned = held_;
  for (const auto& [task, entry] : entries_) {
    concerned.insert(task);
    if (!entry.former.has_value()) continue;
    const Task* former = state_.FindHolder(*entry.former);
    if (former != nullptr) concerned.insert(former->id);
  }
  return {concerned.begin(), concerned.end()};
}

void Replacements::SetHeld(Task* task, bool is_held) {
  task->is_held = is_held;
  if (is_held) {
    held_.insert(task->id);
  } else {
    held_.erase(task->id);
  }
}

const Task* Replacements::FindInFavorOf(const Task& task) const {
  const Task* newcomer = FindNewcomer(task);
  return newcomer != nullptr ? newcomer : FindAlternative(task);
}

const absl::btree_set<TaskId>* Replacements::NewcomersOf(
    const Task& former) const {
  if (!former.client.HoldsUid()) return nullptr;
  const auto it = newcomers_.find(former.client.uid);
  return it == newcomers_.end() ? nullptr : &it->second;
}

const Task* Replacements::FindNewcomer(const Task& former) const {
  const absl::btree_set<TaskId>* newcomers = NewcomersOf(former);
  if (newcomers == nullptr) return nullptr;
  const Task* waiting = nullptr;
  for (const TaskId id : *newcomers) {
    const Task* newcomer = state_.FindTask(id);
    if (newcomer == nullptr || newcomer == &former || !newcomer->IsLive() ||
        IsNewestOfCircle(former, *newcomer)) {
      continue;
    }
    if (newcomer->state == TaskState::kRunning) return newcomer;
    if (waiting == nullptr) waiting = newcomer;
  }
  return waiting;
}

const Task* Replacements::FindAlternative(const Task& task) const {
  const auto it = entries_.find(task.id);
  if (it == entries_.end()) return nullptr;
  for (const Choice& one : it->second.choices) {
    for (const TaskId id : choices_.at(one)) {
      const Task* other = state_.FindTask(id);
      if (other == nullptr || other == &task) continue;
      if (other->state == TaskState::kCompleted) return other;
      // A new version of a running task takes its place.
      if (other->state == TaskState::kRunning && !IsToReplace(task, *other)) {
        return other;
      }
    }
  }
  return nullptr;
}

const Task* Replacements::FindRunningFormer(const Task& newcomer) const {
  const std::optional<TaskUid>& uid = newcomer.class_key.rules->replaces;
  if (!uid.has_value()) return nullptr;
  const Task* former = state_.FindHolder(*uid);
  return former != nullptr && former != &newcomer &&
                 former->state == TaskState::kRunning
             ? former
             : nullptr;
}

bool Replacements::IsNewestOfCircle(const Task& former,
                                    const Task& newcomer) const {
  const Task* task = &former;
  for (int i = 0; i < kCircleMax && task != nullptr && task->IsLive(); ++i) {
    if (task->sequence > former.sequence) return false;
    if (task == &newcomer) return true;
    const std::optional<TaskUid>& next = task->class_key.rules->replaces;
    task = next.has_value() ? state_.FindHolder(*next) : nullptr;
  }
  return false;
}

}  // namespace sluice
