#include "round/packing/former_placements.h"

#include <utility>

#include "packing/pattern_rules.h"

namespace sluice {

FormerPlacements::FormerPlacements(const RoundPacking& packing)
    : packing_(packing) {
  for (size_t g = 0; g < packing.machines.size(); ++g) {
    for (const MachineId id : packing.machines[g]) group_of_[id] = g;
  }
}

void FormerPlacements::Add(MachineId machine, size_t task_class) {
  if (group_of_.contains(machine)) ++holds_[machine][task_class];
}

void FormerPlacements::AddWhatRuns() {
  const PackingProblem& problem = packing_.problem;
  for (size_t g = 0; g < packing_.machines.size(); ++g) {
    const size_t kind = problem.groups[g].kind;
    if (kind >= problem.staying.size()) continue;
    for (const auto& [c, count] : problem.staying[kind]) {
      for (const MachineId id : packing_.machines[g]) holds_[id][c] = count;
    }
  }
}

void FormerPlacements::Remove(MachineId machine, size_t task_class) {
  const auto there = holds_.find(machine);
  if (there == holds_.end()) return;
  const auto of_class = there->second.find(task_class);
  if (of_class == there->second.end()) return;
  if (--of_class->second == 0) there->second.erase(of_class);
}

void FormerPlacements::AddIfThereIsRoom(MachineId machine, size_t task_class) {
  const auto group = group_of_.find(machine);
  if (group == group_of_.end()) return;
  const PackingProblem& problem = packing_.problem;
  const size_t kind = problem.groups[group->second].kind;
  if (problem.costs[kind][task_class] == kNotAllowed) return;
  std::map<size_t, int64_t>& there = holds_[machine];
  const Pattern pattern{group->second, 1, {there.begin(), there.end()}};
  if (RoomOn(problem, pattern, task_class) > 0) ++there[task_class];
}

std::vector<Pattern> FormerPlacements::Patterns() const {
  std::map<std::pair<size_t, std::map<size_t, int64_t>>, int64_t> counts;
  for (size_t g = 0; g < packing_.machines.size(); ++g) {
    for (const MachineId machine : packing_.machines[g]) {
      const auto it = holds_.find(machine);
      if (it != holds_.end() && !it->second.empty()) ++counts[{g, it->second}];
    }
  }
  std::vector<Pattern> patterns;
  for (const auto& [what, machines] : counts) {
    patterns.push_back(
        {what.first, machines, {what.second.begin(), what.second.end()}});
  }
  return patterns;
}

}  // namespace sluice
