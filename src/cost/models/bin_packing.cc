// The bin_packing policy: as few machines as possible (Kubernetes'
// MostAllocated).
//
//   room left     1000 x what is free of the capacity, the mean of cpu and
//                 memory
//   a new machine 1000 more where nothing runs yet
//
// Costs fall with load.  The network charges each task of a pass the mean of
// what the tasks on the machine would pay, and fills machines one after the
// other (network/band_network.h).  So a pass that fills its machines pays
// exactly this.  A packing places tasks by its patterns, regardless of load.
// job_spread has the opposite goal; if both are in force, placements are
// rearranged by it afterwards.

#include <algorithm>
#include <memory>

#include "base/int128.h"
#include "sluice/cost/cost_model.h"

namespace sluice {
namespace {

constexpr Cost kScale = 1000;

// 0 if it is full, or there is none of the resource.
Cost FreePart(const Machine& machine, const Resources& used,
              ResourceIndex index) {
  const int64_t capacity =
      std::max(machine.capacity[index], machine.allocatable[index]);
  if (capacity <= 0) return 0;
  const int64_t free = std::clamp<int64_t>(
      machine.allocatable[index] - used[index], 0, capacity);
  return static_cast<Cost>(static_cast<Int128>(free) * kScale / capacity);
}

class BinPacking : public CostModel {
 public:
  Cost LoadCost(const Machine& machine, const Resources& used) const override {
    const Cost room_left =
        (FreePart(machine, used, kCpu) + FreePart(machine, used, kMemory)) / 2;
    return room_left + (used[kPods] <= 0 ? kScale : 0);
  }

  bool FallsWithLoad() const override { return true; }
};

}  // namespace

std::unique_ptr<CostModel> Make_bin_packing() {
  return std::make_unique<BinPacking>();
}

}  // namespace sluice
