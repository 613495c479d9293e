#include "state/avoided_owners.h"

#include <iterator>

namespace sluice {

void AvoidedOwners::SetOwner(Task* task, const Owner& owner) {
  if (task->owner == owner) return;
  if (const auto it = tasks_.find(task->owner); it != tasks_.end()) {
    it->second.erase(task->id);
    if (it->second.empty()) tasks_.erase(it);
  }
  if (!owner.empty()) tasks_[owner].insert(task->id);
  task->owner = owner;
}

std::vector<TaskId> AvoidedOwners::Replace(const std::vector<Owner>& former,
                                           const std::vector<Owner>& now) {
  std::vector<TaskId> tasks;
  const auto add_tasks_of = [&](const Owner& owner) {
    const auto it = tasks_.find(owner);
    if (it == tasks_.end()) return;
    tasks.insert(tasks.end(), it->second.begin(), it->second.end());
  };
  // The new ones first, so that owners that stay are not looked at.
  for (const Owner& owner : now) {
    if (machines_[owner]++ == 0) add_tasks_of(owner);
  }
  for (const Owner& owner : former) {
    const auto it = machines_.find(owner);
    if (--it->second > 0) continue;
    machines_.erase(it);
    add_tasks_of(owner);
  }
  returned_count_ += std::ssize(tasks);
  return tasks;
}

}  // namespace sluice
