#include "state/announcements.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "state/machine_commands.h"
#include "state/task_commands.h"

namespace sluice {
namespace {

// A client that mentions less than one machine in this many did not begin anew.
constexpr int64_t kMachinesForOne = 10;

}  // namespace

Ack Announcements::Apply(const BeginAnnouncement& command) {
  if (!command.is_certain && !IsAnythingKnown()) return Ack::kOk;
  StateCounters& counters = state_.counters_;
  ++counters.announcement;
  counters.announcement_ms = now_ms_;
  counters.is_announcement_expected = true;
  state_.changes_.counters = true;
  if (command.is_certain) Open();
  return Ack::kOk;
}

bool Announcements::IsAnythingKnown() const {
  return std::ranges::any_of(state_.machines_,
                             [](const auto& entry) {
                               const Machine& machine = *entry.second;
                               return machine.is_present &&
                                      machine.feed == FeedId();
                             }) ||
         std::ranges::any_of(state_.tasks_, [](const auto& entry) {
           const Task& task = *entry.second;
           return task.state != TaskState::kRemoved && !task.client.IsOfFeed();
         });
}

void Announcements::NoteAgain(uint32_t mentioned_in) {
  const StateCounters& counters = state_.counters_;
  if (!counters.is_announcement_expected) return;
  // A client may still be stating what exists, and not have come to this.
  if (counters.former_stale_below.has_value() &&
      mentioned_in < counters.stale_below) {
    return;
  }
  if (mentioned_in < counters.announcement) Open();
}

void Announcements::Open() {
  StateCounters& counters = state_.counters_;
  counters.is_announcement_expected = false;
  if (!counters.former_stale_below.has_value()) {
    counters.former_stale_below = counters.stale_below;
  }
  counters.stale_below = counters.announcement;
  FindStale();
}

Ack Announcements::Apply(const EndAnnouncement& /*command*/) {
  StateCounters& counters = state_.counters_;
  if (std::exchange(counters.is_announcement_expected, false)) return Ack::kOk;
  if (!counters.former_stale_below.has_value()) return Ack::kOk;
  int64_t present = 0;
  int64_t mentioned = 0;
  for (const auto& [id, machine] : state_.machines_) {
    if (!machine->is_present || machine->feed != FeedId()) continue;
    ++present;
    if (!machine->is_stale) ++mentioned;
  }
  if (mentioned * kMachinesForOne < present) {
    counters.stale_below = *counters.former_stale_below;
  } else {
    ForgetGuessed();
  }
  counters.former_stale_below.reset();
  FindStale();
  return Ack::kOk;
}

void Announcements::ForgetGuessed() {
  std::vector<Task*> guessed;
  for (const TaskId id : state_.removed_) {
    Task* task = state_.MutableTask(id);
    if (task->IsRemovedByGuess() &&
        task->client.announcement < state_.counters_.stale_below) {
      guessed.push_back(task);
    }
  }
  for (Task* task : guessed) state_.Erase(task);
}

void Announcements::FindStale() {
  state_.changes_.counters = true;
  ++state_.counters_.version;
  const uint32_t stale_below = state_.counters_.stale_below;
  for (const auto& [id, machine] : state_.machines_) {
    machine->is_stale =
        machine->feed == FeedId() && machine->announcement < stale_below;
    if (machine->is_stale) state_.EndSuccessionsOn(*machine);
  }
  for (const auto& [id, task] : state_.tasks_) {
    if (task->client.IsOfFeed()) continue;  // Its feed decides.
    const bool is_stale = !task->client.IsDisplaced() &&
                          task->state != TaskState::kRemoved &&
                          task->client.announcement < stale_below;
    if (is_stale == task->client.is_stale) continue;
    state_.LeaveQueue(*task);
    task->client.is_stale = is_stale;
    state_.EnterQueue(task.get());
  }
}

Ack Announcements::Apply(const ForgetStale& /*command*/) {
  const auto is_to_go = [](const Task& task) {
    return !task.client.IsOfFeed() &&
           (task.client.is_stale ||
            (task.client.IsDisplaced() && !task.client.successor.has_value() &&
             !task.IsRemovedByGuess()));
  };
  TaskCommands commands(now_ms_, &state_);
  // Once a task is forgotten, nobody will mention earlier holders of its uid.
  for (std::vector<TaskId> tasks;; tasks.clear()) {
    for (const auto& [id, task] : state_.tasks_) {
      if (is_to_go(*task)) tasks.push_back(id);
    }
    if (tasks.empty()) break;
    for (const TaskId id : tasks) commands.Forget(id);
  }
  std::vector<std::string> machines;
  for (const auto& [id, machine] : state_.machines_) {
    if (machine->is_present && machine->is_stale) {
      machines.push_back(machine->uuid);
    }
  }
  for (const std::string& uuid : machines) {
    MachineCommands(now_ms_, &state_).Apply(RemoveMachine{uuid});
  }
  return Ack::kOk;
}

void Announcements::Mention(Task* task) {
  task->client.announcement = state_.counters_.announcement;
  task->client.is_stale = false;
}

void Announcements::Mention(Machine* machine) {
  machine->announcement = state_.counters_.announcement;
  machine->is_stale = false;
  state_.Touch(*machine);
}

}  // namespace sluice
