// Which classes of a tier fit somewhere, and the order in which they are
// packed.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_ROUND_PASSES_TIER_DEMAND_H_
#define SLUICE_ROUND_PASSES_TIER_DEMAND_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "round/context/round_context.h"
#include "round/passes/pass.h"
#include "sluice/state/resources.h"

namespace sluice {

struct TierDemand {
  // The waiting classes that fit on a machine, each with as many tasks as would
  // fit if no other class took the room.
  std::vector<BandMember> members;
  Resources free;  // On the machines that take any of them.
};

// Finds a tier's demand in steps, between which commands may come.  After a
// command it begins again, but only a limited number of times.  Closed gangs
// have no demand.
class DemandSearch {
 public:
  // `context` must outlive this.
  DemandSearch(const Tier& tier, RoundContext* context)
      : priority_(tier.priority), context_(*context) {}

  // Returns true when it is done.  Otherwise commands should be let in.
  bool Continue();
  // REQUIRES: it is done.
  TierDemand Take() { return std::move(demand_); }

 private:
  struct OfKind {
    std::vector<size_t> order;  // Groups; those known to take something first.
    size_t taking = 0;          // The number of these.
    Resources most;             // Free on any, by resource.
  };

  void Restart();
  void LookAt(const ClassKey& key, const std::vector<MachineGroup>& groups);

  const uint32_t priority_;
  RoundContext& context_;
  std::optional<uint64_t> version_;  // Of the state when it was looked at.
  int restarts_ = -1;                // The start makes it 0.
  std::optional<ClassKey> last_;     // The last class that was looked at.
  std::vector<OfKind> kinds_;
  TierDemand demand_;
};

// The same without steps.
TierDemand FindDemand(const Tier& tier, RoundContext* context);

// The request's dominant share of the whole, in units of 2^-40 of it.  It is
// small enough to be multiplied by 63.
int64_t SizeOf(const Resources& request, const Resources& whole);

// Leaves the tasks of each class that should get the free room, so that the
// waiting cost left over is least (round/passes/admission.h).
void Admit(const RoundContext& context, TierDemand* demand);

// What classes that differ in priority alone have in common.
ClassKey ShapeOf(ClassKey key);

// As members of a band: classes of one shape are merged, unless they depend on
// other tasks.
std::vector<BandMember> MergeAlike(std::vector<BandMember> members);

// Cuts the members into bands of similar size, the largest first.  None takes
// long to draw with this many groups of machines.
std::vector<Band> CutBands(std::vector<BandMember> members, size_t groups);

}  // namespace sluice

#endif  // SLUICE_ROUND_PASSES_TIER_DEMAND_H_
