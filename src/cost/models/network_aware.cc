// The network_aware policy: the machine whose links are the emptiest comes
// first (Firmament's network-aware policy, OSDI'16, figure 6c).
//
//   1000 x in use / capacity, the mean of receiving and sending
//
// What is in use is what is requested, or what was last measured if that is
// more, plus the requests of the tasks that a round adds.  A stale sample
// (UsageHistory::Current()) does not count, and a link without a stated
// capacity counts as full.
//
// Requests alone decide what fits: bandwidth is a resource like any other
// (constraints/rules/resource_fit.cc), so a link is never oversubscribed.

#include <algorithm>
#include <memory>

#include "base/int128.h"
#include "sluice/cost/cost_model.h"

namespace sluice {
namespace {

constexpr Cost kScale = 1000;
// An overcommitted link (it came back smaller, or more is measured than there
// is) costs at most as much as ten full ones; the bound keeps the model within
// kModelCostMax.
constexpr Cost kCostMax = 10 * kScale;

// Of one direction.
Cost LinkCost(const Machine& machine, const Resources& used,
              ResourceIndex index, int64_t measured) {
  const int64_t capacity =
      std::max(machine.capacity[index], machine.allocatable[index]);
  if (capacity <= 0) return kScale;
  // What the system reserves is in use, too.
  const Int128 reserved = capacity - machine.allocatable[index];
  const Int128 unasked =
      std::max<Int128>(measured - reserved - machine.used[index], 0);
  const Int128 in_use = reserved + used[index] + unasked;
  return static_cast<Cost>(
      std::clamp<Int128>(kScale * in_use / capacity, 0, kCostMax));
}

class NetworkAware : public CostModel {
 public:
  Cost LoadCost(const Machine& machine, const Resources& used) const override {
    const MachineUsage* sample = machine.usage.Current();
    const MachineUsage measured = sample == nullptr ? MachineUsage() : *sample;
    return (LinkCost(machine, used, machine.net_rx, measured.net_rx_kb) +
            LinkCost(machine, used, machine.net_tx, measured.net_tx_kb)) /
           2;
  }

  // Each machine has its own samples.
  bool TellsMachinesApart() const override { return true; }
};

}  // namespace

std::unique_ptr<CostModel> Make_network_aware() {
  return std::make_unique<NetworkAware>();
}

}  // namespace sluice
