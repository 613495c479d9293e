// The Quincy policy: a task goes to its data (Isard et al., SOSP'09, section
// 4.2).
//
//   3,000 for each GiB that comes from elsewhere in the machine's rack,
//   6,000 for each that comes from another rack
//
// A new task goes only where its data is nearest.  For each second that it
// waits, it accepts a machine that costs 1,500 more.  So a task whose machine
// is full waits 2 s for each GiB that it would otherwise get from the rack, and
// 4 s for each from another.  Firmament's defaults say the same: 1 and 2 for a
// GB, and 0.5 for a second.

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "base/int128.h"
#include "sluice/cost/cost_model.h"

namespace sluice {
namespace {

constexpr Cost kPerGibInRack = 3000;
constexpr Cost kPerGibFromRack = 6000;
constexpr Cost kPerSecond = 1500;
constexpr int64_t kGib = int64_t{1} << 30;
constexpr int64_t kMsPerSecond = 1000;

class Quincy : public CostModel {
 public:
  Cost PreferenceCost(const PlacementRules& rules,
                      const Machine& machine) const override {
    const TaskData& data = rules.data;
    if (data.empty()) return 0;
    const std::string* rack = FindLabel(machine.labels, kRackLabel);
    const int64_t here = TaskData::AmountAt(data.on_machines, machine.name);
    // Racks that nobody states do not help.
    const int64_t near =
        rack == nullptr
            ? here
            : std::max(here, TaskData::AmountAt(data.in_racks, *rack));
    const Int128 cost = (Int128{kPerGibInRack} * (near - here) +
                         Int128{kPerGibFromRack} * (data.bytes - near)) /
                        kGib;
    return static_cast<Cost>(std::min<Int128>(cost, kModelCostMax));
  }

  std::optional<Cost> DetourMax(int64_t waited_ms) const override {
    const Int128 detour = Int128{kPerSecond} * waited_ms / kMsPerSecond;
    return static_cast<Cost>(std::min<Int128>(detour, kModelCostMax));
  }
};

}  // namespace

std::unique_ptr<CostModel> Make_quincy() { return std::make_unique<Quincy>(); }

}  // namespace sluice
