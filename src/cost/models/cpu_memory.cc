// The cpu_memory policy: least requested first, and cpu and memory used evenly
// (Firmament's CPU-MEM model; Kubernetes' LeastAllocated and
// BalancedAllocation).
//
//   least requested   1000 x used / capacity, the mean of cpu and memory
//   balanced          1000 x the variance of the two, at most 250
//   plain             2000, what Firmament adds for a task without preferences
//
// Load is measured against the machine's capacity, so what the system reserves
// counts as load.

#include <algorithm>
#include <memory>

#include "base/int128.h"
#include "sluice/cost/cost_model.h"

namespace sluice {
namespace {

constexpr Cost kScale = 1000;
constexpr Cost kPlain = 2000;
// An overcommitted machine (it came back smaller) costs at most as much as ten
// full ones; the bound keeps the model within kModelCostMax.
constexpr int64_t kLoadMaxPpm = 10000000;

// Load in parts per million of the capacity.  A missing resource counts as
// full.
int64_t LoadPpm(const Machine& machine, const Resources& used,
                ResourceIndex index) {
  const int64_t capacity =
      std::max(machine.capacity[index], machine.allocatable[index]);
  if (capacity <= 0) return 1000000;
  const int64_t load = capacity - machine.allocatable[index] + used[index];
  if (load <= 0) return 0;
  if (load < (int64_t{1} << 43)) {
    return std::min(load * 1000000 / capacity, kLoadMaxPpm);
  }
  return static_cast<int64_t>(std::min<Int128>(
      static_cast<Int128>(load) * 1000000 / capacity, kLoadMaxPpm));
}

class CpuMemory : public CostModel {
 public:
  Cost LoadCost(const Machine& machine, const Resources& used) const override {
    const int64_t cpu = LoadPpm(machine, used, kCpu);
    const int64_t memory = LoadPpm(machine, used, kMemory);
    // Each rounded down before the mean, as in Firmament, so that costs can be
    // compared.
    const Cost least_requested = (cpu / 1000 + memory / 1000) / 2;
    const int64_t half_difference = (cpu - memory) / 2000;
    const Cost balanced = half_difference * half_difference / kScale;
    return kPlain + least_requested + balanced;
  }
};

}  // namespace

std::unique_ptr<CostModel> Make_cpu_memory() {
  return std::make_unique<CpuMemory>();
}

}  // namespace sluice
