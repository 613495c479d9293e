#include "state/destination.h"

namespace sluice {

Destination DestinationOf(const Delta& delta, const ClusterState& state) {
  const Succession* succession =
      state.nominations().successions().Find(delta.sequence);
  if (succession == nullptr || !succession->machine.has_value()) {
    const Machine& machine = *state.FindMachine(delta.machine);
    const int32_t pu = state.FindTask(delta.task)->pu;
    return {&machine, &machine.ResourceUuid(pu)};
  }
  const Machine& machine = *state.FindMachine(*succession->machine);
  const int32_t pu = machine.RoomiestPu(succession->request);
  return {&machine, &machine.ResourceUuid(pu)};
}

}  // namespace sluice
