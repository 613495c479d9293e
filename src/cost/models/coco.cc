// The CoCo policy: tasks that get into each other's way on a machine part
// (Firmament's coordinated co-location model, OSDI'16, section 6.1).
//
// A task of a kind minds each task beside it, by their kinds, in weights of a
// preferred anti-affinity:
//
//              turtle  sheep  rabbit  devil
//   turtle          5      5       5      5
//   sheep           1      5      10     20
//   rabbit          1      5      20    100
//   devil           1     20     100     20
//
// Both of a pair are charged, so that a rabbit beside a devil costs 200 and two
// sheep 10.  The weights are a tenth of Firmament's.

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>

#include "sluice/cost/cost_model.h"

namespace sluice {
namespace {

// As TaskKind: sheep, rabbit, devil, turtle.
constexpr Interference kMinds = {{
    {5, 10, 20, 1},
    {5, 20, 100, 1},
    {20, 100, 20, 1},
    {5, 5, 5, 5},
}};
static_assert(std::ranges::all_of(kMinds, [](const auto& of_kind) {
  return std::ranges::all_of(
      of_kind, [](int32_t weight) { return weight >= 0 && weight <= 100; });
}));

class Coco : public CostModel {
 public:
  int32_t Minds(TaskKind task, TaskKind neighbor) const override {
    return kMinds[static_cast<size_t>(task)][static_cast<size_t>(neighbor)];
  }
};

}  // namespace

std::unique_ptr<CostModel> Make_coco() { return std::make_unique<Coco>(); }

}  // namespace sluice
