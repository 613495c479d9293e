#include "explain/replacement_text.h"

#include <vector>

#include "base/strings.h"
#include "constraints/class_peers.h"
#include "constraints/constraint_set.h"
#include "constraints/named_machine.h"
#include "constraints/named_task.h"
#include "constraints/shown_text.h"
#include "round/stages/replace.h"

namespace sluice {
namespace {

std::string MachineName(const Task& running, const ClusterState& state) {
  return NamedMachine(*state.FindMachine(running.machine));
}

// What keeps the task from the place of the former one, to be appended; empty
// if nothing does.
std::string ObstacleText(const Task& task, const Task& former,
                         const Scheduler& scheduler) {
  const ClusterState& state = scheduler.state();
  if (former.is_evicted) {
    return "; that task was told to leave: once it is gone, this one is placed "
           "like any other";
  }
  if (!state.CanPreempt(former))
    return "; that task cannot be told to leave yet";
  const Machine& machine = *state.FindMachine(former.machine);
  if (!machine.IsUsable()) return "; the machine takes no tasks now";
  std::vector<Reason> reasons;
  scheduler.constraints().Explain(
      task.class_key, WithoutTask(machine, former),
      [&](ResourceIndex index) -> const std::string& {
        return state.ResourceName(index);
      },
      &reasons);
  ClassPeers(state, scheduler.constraints(), task.class_key, &former)
      .Explain(machine, /*names_tasks=*/true, &reasons);
  return reasons.empty()
             ? ""
             : StrCat(", but could not have it: ", LackingText(reasons));
}

}  // namespace

std::string ReplacementText(const Task& task, const Scheduler& scheduler) {
  const ClusterState& state = scheduler.state();
  const Replacements& replacements = state.replacements();
  if (const Task* newcomer = replacements.FindNewcomer(task)) {
    return StrCat("task ", NamedTask(*newcomer),
                  " is to run in its place, and ",
                  newcomer->state == TaskState::kRunning
                      ? StrCat("runs on ", MachineName(*newcomer, state))
                      : "waits");
  }
  if (const Task* other = replacements.FindAlternative(task)) {
    return StrCat("task ", NamedTask(*other), ", an alternative to it, ",
                  other->state == TaskState::kRunning
                      ? StrCat("runs on ", MachineName(*other, state))
                      : "has completed");
  }
  const Task* former = replacements.FindRunningFormer(task);
  if (former == nullptr) return "waits for the next round";
  const std::string obstacle = ObstacleText(task, *former, scheduler);
  return StrCat(
      "waits for the place of task ", NamedTask(*former), " on ",
      MachineName(*former, state),
      obstacle.empty() ? ", and gets it in the next round" : obstacle);
}

}  // namespace sluice
