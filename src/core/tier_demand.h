// Which classes of a tier fit somewhere, and in which order they are packed.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_CORE_TIER_DEMAND_H_
#define SLUICE_CORE_TIER_DEMAND_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
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

// Finds a tier's demand in steps, between which commands may come: then it
// begins again, but not for ever.  Gangs that are closed have no demand.
class DemandSearch {
 public:
  // `context` must outlive this.
  DemandSearch(const Tier& tier, RoundContext* context)
      : priority_(tier.priority), context_(*context) {}

  // Returns whether it is done; else commands should be let in.
  bool Continue();
  // REQUIRES: it is done.
  TierDemand Take() { return std::move(demand_); }

 private:
  struct OfKind {
    std::vector<size_t> order;  // Groups; those known to take something first.
    size_t taking = 0;          // So many are.
    Resources most;             // Of each resource what any has free.
  };

  void Restart();
  void LookAt(const ClassKey& key, const std::vector<MachineGroup>& groups);

  const uint32_t priority_;
  RoundContext& context_;
  std::optional<uint64_t> version_;  // Of the state, as it was looked at.
  int restarts_ = -1;                // The first is the beginning.
  std::optional<ClassKey> last_;     // The last class that was looked at.
  std::vector<OfKind> kinds_;
  TierDemand demand_;
};

// The same in one go.
TierDemand FindDemand(const Tier& tier, RoundContext* context);

// The largest share of the cluster's capacity that a request takes of any
// resource.
int64_t DominantShare(const Resources& request, const Resources& cluster);

// Leaves of each class the tasks that the free room should go to, at the least
// waiting cost left over (core/admission.h).
void Admit(const RoundContext& context, TierDemand* demand);

// What is the same of classes that nothing but their priorities tell apart.
ClassKey ShapeOf(ClassKey key);

// As members of a band: classes of one shape are one, unless they are bound to
// others.
std::vector<BandMember> MergeAlike(std::vector<BandMember> members);

// The members in bands of similar size, the largest first, none of which takes
// long to draw where there are so many groups of machines.
std::vector<Band> CutBands(std::vector<BandMember> members, size_t groups);

}  // namespace sluice

#endif  // SLUICE_CORE_TIER_DEMAND_H_
