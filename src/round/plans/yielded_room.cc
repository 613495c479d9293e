#include "round/plans/yielded_room.h"

#include <algorithm>
#include <iterator>

#include "round/context/known_plan.h"

namespace sluice {
namespace {

Resources RequestsOf(const std::map<ClassKey, int64_t>& counts) {
  Resources requests;
  for (const auto& [key, count] : counts) {
    requests.AddScaled(key.request, count);
  }
  return requests;
}

}  // namespace

YieldedRoom::YieldedRoom(std::span<const std::pair<TaskId, MachineId>> tasks,
                         std::span<const TaskId> placed, RoundContext* context)
    : context_(*context) {
  for (const auto& [id, machine] : tasks) {
    const Task* task = context_.state.FindTask(id);
    if (task != nullptr) tasks_[machine].push_back(task);
  }
  for (auto& [machine, here] : tasks_) {
    std::ranges::stable_sort(here, [](const Task* a, const Task* b) {
      return a->class_key.priority > b->class_key.priority;
    });
  }
  if (tasks_.empty()) return;
  for (const TaskId id : placed) {
    const Task* task = context_.state.FindTask(id);
    if (task == nullptr || task->state != TaskState::kRunning) continue;
    placed_[task->machine] += task->class_key.request;
  }
}

Resources YieldedRoom::RoomOn(const Machine& machine) const {
  Resources room =
      machine.Free() + context_.state.nominations().LeavingFrom(machine);
  if (machine.KeepsRoom()) room -= machine.awaited;
  const auto placed = placed_.find(machine.id);
  if (placed != placed_.end()) room += placed->second;
  return room;
}

Resources YieldedRoom::KeepOn(const Machine& machine, const Resources& room,
                              std::map<ClassKey, int64_t>* newcomers) {
  const Resources now = RoomOn(machine);
  Resources kept;
  const auto here = tasks_.extract(machine.id);
  for (const Task* task : here.mapped()) {
    const uint32_t priority = task->class_key.priority;
    const Resources& request = task->class_key.request;
    Resources needed = kept + request;
    for (const auto& [key, count] : *newcomers) {
      if (key.priority <= priority) break;
      needed.AddScaled(key.request, count);
    }
    if (!needed.FitsIn(now) || !needed.FitsIn(room) ||
        !KeepRoomAgain(task->id, machine.id,
                       context_.final_before.contains(task->id),
                       &context_.state)) {
      continue;
    }
    kept += request;
    while (!newcomers->empty() &&
           !(RequestsOf(*newcomers) + kept).FitsIn(room)) {
      const auto last = std::prev(newcomers->end());
      if (last->first.priority > priority) break;
      if (--last->second == 0) newcomers->erase(last);
    }
  }
  return kept;
}

void YieldedRoom::KeepBeside(MachinePatterns* patterns) {
  std::vector<MachineId> machines;
  for (const auto& [id, tasks] : tasks_) {
    if (patterns->of_machine.contains(id)) machines.push_back(id);
  }
  for (const MachineId id : machines) {
    const Machine* machine = context_.state.FindMachine(id);
    if (machine == nullptr) continue;
    uint32_t& index = patterns->of_machine.at(id);
    std::map<ClassKey, int64_t> newcomers = patterns->patterns[index - 1];
    KeepOn(*machine, RoomOn(*machine), &newcomers);
    patterns->patterns.push_back(std::move(newcomers));
    index = static_cast<uint32_t>(patterns->patterns.size());
  }
}

void YieldedRoom::KeepElsewhere() {
  for (const auto& [machine, tasks] : tasks_) {
    for (const Task* task : tasks) {
      KeepRoomAgain(task->id, machine, context_.final_before.contains(task->id),
                    &context_.state);
    }
  }
}

}  // namespace sluice
