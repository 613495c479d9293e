#include "rpc/inspect_costs.h"

#include <algorithm>
#include <cstddef>

namespace sluice {

void FillCosts(const ClusterState& state, std::span<const CostTerms> costs,
               std::span<const std::string> names,
               v1::TaskExplanation* message) {
  for (const CostTerms& one : costs) {
    const Machine& machine = *state.FindMachine(one.machine);
    v1::MachineCost* told = message->add_costs();
    told->set_machine_uuid(machine.uuid);
    told->set_machine_name(machine.name);
    for (size_t i = 0; i < names.size(); ++i) {
      const bool is_charged = std::ranges::any_of(
          costs, [i](const CostTerms& any) { return any.terms[i] != 0; });
      if (!is_charged) continue;
      v1::PolicyCost* policy = told->add_policies();
      policy->set_policy(names[i]);
      policy->set_points(one.terms[i]);
    }
  }
}

}  // namespace sluice
