#include "core/gang_victims.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace sluice {

absl::flat_hash_map<JobId, int64_t> FindGangVictims(
    const ClusterState& state, const Gangs& gangs,
    absl::FunctionRef<bool(const Task&)> may_leave) {
  struct Found {
    int64_t tasks = 0;  // That may leave.
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
    ++of.tasks;
    of.priority = std::max(of.priority, task->class_key.priority);
    // One for every machine takes a look at each.
    if (of.rules == task->class_key.rules) continue;
    of.rules = task->class_key.rules;
    of.minimum = std::max(of.minimum, gangs.MinimumFor(task->class_key));
  }
  std::vector<std::tuple<uint32_t, int64_t, JobId>> order;
  for (const auto& [id, of] : found) {
    if (of.tasks == state.FindJob(id)->running_count) {
      order.emplace_back(of.priority, of.tasks, id);
    }
  }
  std::ranges::sort(order);
  if (order.size() > kGangVictimsMax) order.resize(kGangVictimsMax);
  absl::flat_hash_map<JobId, int64_t> minimums;
  for (const auto& [priority, tasks, id] : order) {
    minimums[id] = std::min(found.at(id).minimum, tasks);
  }
  return minimums;
}

}  // namespace sluice
