#include "rpc/inspect_plan.h"

#include <cstdint>
#include <string>

#include "constraints/named_task.h"

namespace sluice {
namespace {

int64_t StatedPriority(const ClusterState& state, const Task& task) {
  const int64_t priority = task.class_key.priority;
  return !task.client.IsOfFeed()
             ? priority
             : priority - state.feeds().at(task.client.feed).priority_zero;
}

template <class Message>
void SetTask(const Task& task, Message* message) {
  message->set_task(IdAtClient(task));
  message->set_task_name(task.name);
}

}  // namespace

void InspectPlan(const ClusterState& state, const RebalancePlan& plan,
                 v1::RebalancePlan* response) {
  const auto name_of = [&state](MachineId id) {
    const Machine& machine = *state.FindMachine(id);
    return machine.name.empty() ? machine.uuid : machine.name;
  };
  for (const PreemptingPlan::Move& move : plan.decided.moves) {
    v1::RebalancePlan::Move* message = response->add_moves();
    SetTask(*state.FindTask(move.task), message);
    message->set_from(name_of(move.from));
    message->set_to(name_of(move.to));
    message->set_gain(move.gain);
  }
  for (size_t i = 0; i < plan.decided.stopped.size(); ++i) {
    const Task& task = *state.FindTask(plan.decided.stopped[i]);
    v1::RebalancePlan::Stop* message = response->add_stops();
    SetTask(task, message);
    message->set_machine(name_of(task.machine));
    message->set_priority(StatedPriority(state, task));
    message->set_cost(plan.stop_costs[i]);
  }
  for (const auto& [id, machine] : plan.decided.nominated) {
    const Task& task = *state.FindTask(id);
    v1::RebalancePlan::Served* message = response->add_served();
    SetTask(task, message);
    message->set_machine(name_of(machine));
    message->set_priority(StatedPriority(state, task));
  }
  response->set_is_too_large(plan.is_too_large);
  response->set_machines_in_part(plan.machines_in_part);
}

}  // namespace sluice
