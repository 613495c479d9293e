#include "state/templates.h"

#include <glog/logging.h>

#include <memory>
#include <utility>

#include "base/strings.h"
#include "state/announcements.h"
#include "state/cluster_state.h"
#include "state/task_commands.h"

namespace sluice {
namespace {

// The spec of the task that is made from the template for the machine.
TaskSpec SpecFor(const Task& made_from, const Machine& machine,
                 const ClusterState& state) {
  TaskSpec spec;
  spec.name = StrCat(made_from.name, "-",
                     machine.name.empty() ? machine.uuid : machine.name);
  spec.task_namespace = made_from.task_namespace;
  spec.request = state.ToNamed(made_from.class_key.request);
  // Describe() adds the task's own pod.
  for (auto& [name, amount] : spec.request) {
    if (name == state.ResourceName(kPods)) --amount;
  }
  spec.priority = made_from.class_key.priority;
  spec.labels = state.ToPairs(made_from.labels);
  spec.namespace_labels = made_from.namespace_labels;
  spec.rules = *made_from.class_key.rules;
  spec.rules.owner = {};
  DemandMachine(machine.uuid, &spec.rules.required);
  // As long as it runs, its machine must match the template.
  spec.rules.keeps_node_rules = true;
  spec.owner = made_from.owner;
  spec.task_type = made_from.task_type;
  spec.binary = made_from.binary;
  spec.preemption_cost = made_from.preemption_cost;
  return spec;
}

}  // namespace

const TemplateIndex::TasksByMachine& TemplateIndex::MadeFrom(TaskId id) const {
  static const TasksByMachine none;
  const auto it = made_.find(id);
  return it == made_.end() ? none : it->second;
}

void TemplateIndex::Note(const Task& task) {
  if (task.made_from.has_value()) {
    made_[*task.made_from][task.made_for] = task.id;
  } else if (task.is_template) {
    templates_.insert(task.id);
    made_.try_emplace(task.id);
  } else if (templates_.contains(task.id)) {
    Drop(task);
  }
}

void TemplateIndex::Drop(const Task& task) {
  const TaskId made_from = task.made_from.value_or(task.id);
  const auto it = made_.find(made_from);
  if (it == made_.end()) return;
  if (task.made_from.has_value()) {
    it->second.erase(task.made_for);
  } else {
    templates_.erase(task.id);
  }
  // The tasks made from a template outlive it for a while.
  if (it->second.empty() && !templates_.contains(made_from)) made_.erase(it);
}

const Task& Templates::Make(TaskId id, const Machine& machine) {
  const Task& made_from = *state_.FindTask(id);
  auto owned = std::make_unique<Task>();
  Task* task = owned.get();
  task->sequence = state_.counters_.next_task_sequence++;
  task->id = {kMadeUidBegin + task->sequence};
  while (state_.FindTask(task->id) != nullptr ||
         state_.FindHolder({task->id.value}) != nullptr) {
    task->id.value += uint64_t{1} << 40;
  }
  task->client.uid = {task->id.value};
  task->submitted_ms = now_ms_;
  task->made_from = id;
  task->made_for = machine.id;
  const Job& job = *state_.FindJob(made_from.job);
  task->job = state_.JobFor(job.uuid, job.name, job.gang);
  state_.tasks_.Add(task->id, std::move(owned));
  Announcements(now_ms_, &state_).Mention(task);
  state_.Describe(task, SpecFor(made_from, machine, state_));
  state_.EnterQueue(task);
  return *task;
}

void Templates::Follow(const Task& made_from, bool tells_again) {
  const TemplateIndex::TasksByMachine made =
      state_.templates_.MadeFrom(made_from.id);
  for (const auto& [machine_id, id] : made) {
    const Machine* machine = state_.FindMachine(machine_id);
    if (machine == nullptr) continue;
    Task* task = state_.MutableTask(id);
    state_.LeaveQueue(*task);
    Announcements(now_ms_, &state_).Mention(task);
    if (tells_again && task->state == TaskState::kRunning) {
      TaskCommands(now_ms_, &state_).Repeat(task);
    }
    // An invalid template changes nothing about the tasks already made.
    if (made_from.quarantine_reason.empty()) {
      state_.Describe(task, SpecFor(made_from, *machine, state_));
    }
    state_.EnterQueue(task);
  }
}

void Templates::End(TaskId id) {
  const Task& task = *state_.FindTask(id);
  if (task.state == TaskState::kRunning) {
    if (state_.IsUntold(id)) {
      state_.Withdraw(id);
    } else if (state_.FindMachine(task.machine)->is_present) {
      if (!task.is_evicted && state_.CanPreempt(task)) state_.Preempt(id);
      return;
    }
  }
  TaskCommands(now_ms_, &state_).Forget(id);
}

}  // namespace sluice
