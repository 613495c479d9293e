#include "round/together/gang_victims.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace sluice {

GangVictims FindGangVictims(const ClusterState& state, const Gangs& gangs,
                            absl::FunctionRef<bool(const Task&)> may_leave) {
  struct Found {
    std::vector<const Task*> tasks;  // Those that may leave.
    uint32_t priority = 0;
    int64_t minimum = 0;
    const PlacementRules* rules = nullptr;  // Of the last one.
  };
  std::map<JobId, Found> found;
  for (const auto& [id, job] : state.jobs()) {
    if (job->gang.minimum > 0 && job->running_count > 0) found[id];
  }
  if (found.empty()) return {};
  for (const auto& [id, task] : state.tasks()) {
    if (task->state != TaskState::kRunning || task->is_evicted ||
        !task->class_key.gang.has_value()) {
      continue;
    }
    const auto it = found.find(*task->class_key.gang);
    if (it == found.end() || !may_leave(*task)) continue;
    Found& of = it->second;
    of.tasks.push_back(task.get());
    of.priority = std::max(of.priority, task->class_key.priority);
    // MinimumFor() may look at each machine.
    if (of.rules == task->class_key.rules) continue;
    of.rules = task->class_key.rules;
    of.minimum = std::max(of.minimum, gangs.MinimumFor(task->class_key));
  }
  std::vector<std::tuple<uint32_t, int64_t, JobId>> order;
  for (const auto& [id, of] : found) {
    if (std::ssize(of.tasks) == state.FindJob(id)->running_count) {
      order.emplace_back(of.priority, std::ssize(of.tasks), id);
    }
  }
  std::ranges::sort(order);
  if (order.size() > kGangVictimsMax) order.resize(kGangVictimsMax);
  GangVictims victims;
  for (const auto& [priority, tasks, id] : order) {
    Found& of = found.at(id);
    victims[id] = {std::min(of.minimum, tasks), std::move(of.tasks)};
  }
  return victims;
}

}  // namespace sluice
