// Which classes of a tier fit somewhere, and in which order they are packed.
//
// Threads: free functions; confined to the core thread.

#ifndef SLUICE_CORE_TIER_DEMAND_H_
#define SLUICE_CORE_TIER_DEMAND_H_

#include <cstddef>
#include <vector>

#include "core/pass.h"
#include "core/round_context.h"
#include "sluice/state/resources.h"

namespace sluice {

struct TierDemand {
  // The classes that wait and fit on a machine, each with as many tasks as fit
  // if no other took the room.
  std::vector<BandMember> members;
  Resources free;  // On the machines that take any of them.
};

// Gangs that are closed have none.
TierDemand FindDemand(const Tier& tier, RoundContext* context);

// Leaves of each class the tasks that the free room should go to, at the least
// waiting cost left over (core/admission.h).
void Admit(const RoundContext& context, TierDemand* demand);

// The members in bands of similar size, the largest first, none of which takes
// long to draw where there are so many groups of machines.
std::vector<Band> CutBands(std::vector<BandMember> members, size_t groups);

}  // namespace sluice

#endif  // SLUICE_CORE_TIER_DEMAND_H_
