#include "round/context/known_plan.h"

namespace sluice {

bool KeepRoomAgain(TaskId id, MachineId machine_id, bool is_final,
                   ClusterState* state) {
  const Task* task = state->FindTask(id);
  const Machine* machine = state->FindMachine(machine_id);
  if (task == nullptr || !task->IsSchedulable() || machine == nullptr ||
      !machine->IsUsable() || state->nominations().Contains(id)) {
    return false;
  }
  state->Nominate(id, machine_id, is_final);
  if (state->nominations().CanBeHeldBy(*machine)) return true;
  state->EndNomination(id);
  return false;
}

}  // namespace sluice
