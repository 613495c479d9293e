#include "round/leaving/template_tasks.h"

#include <map>
#include <vector>

#include "state/templates.h"

namespace sluice {
namespace {

bool IsMeant(const Task& made_from, const Machine& machine,
             const ConstraintSet& constraints) {
  return machine.IsUsable() &&
         constraints.AllowsAspect(MachineAspect::kLabels, made_from.class_key,
                                  machine) &&
         constraints.AllowsAspect(MachineAspect::kTaints, made_from.class_key,
                                  machine);
}

// Returns whether it did: nothing that waits may be more urgent.
bool PlaceAtOnce(const Task& task, const Machine& machine,
                 const ConstraintSet& constraints, int64_t now_ms,
                 ClusterState* state) {
  const ClassKey& key = task.class_key;
  if (!task.IsSchedulable() || key.IsBound() ||
      state->pending().begin()->first.priority > key.priority ||
      !constraints.Allows(key, machine)) {
    return false;
  }
  state->Place(task.id, machine.id, now_ms);
  return true;
}

}  // namespace

int64_t KeepTemplates(const ConstraintSet& constraints, int64_t now_ms,
                      ClusterState* state) {
  if (state->templates().empty()) return 0;
  Templates templates(now_ms, state);
  int64_t placed = 0;
  const std::map<TaskId, TemplateIndex::TasksByMachine> made =
      state->templates().made();
  for (const auto& [id, tasks] : made) {
    const Task* made_from = state->FindTask(id);
    const bool is_there = made_from != nullptr && made_from->is_template &&
                          made_from->state == TaskState::kPending &&
                          !made_from->client.IsMuted();
    for (const auto& [machine_id, task] : tasks) {
      const Machine* machine = state->FindMachine(machine_id);
      const bool is_on = machine != nullptr && machine->is_present;
      if (!is_there || !is_on) templates.End(task);
    }
    // A template that is stale or quarantined makes no new task.
    if (!is_there || made_from->client.is_stale ||
        !made_from->quarantine_reason.empty()) {
      continue;
    }
    std::vector<MachineId> without;
    for (const auto& [machine_id, machine] : state->machines()) {
      if (!tasks.contains(machine_id) &&
          IsMeant(*made_from, *machine, constraints)) {
        without.push_back(machine_id);
      }
    }
    for (const MachineId machine_id : without) {
      const Machine& machine = *state->FindMachine(machine_id);
      const Task& task = templates.Make(id, machine);
      if (PlaceAtOnce(task, machine, constraints, now_ms, state)) ++placed;
    }
  }
  return placed;
}

}  // namespace sluice
