// The trivial policy: all machines with room cost the same (Firmament's Trivial
// model).  Among these the one with the fewest tasks comes first, as always
// when policies charge two machines the same.
//
//   2 for each task, as in Firmament
//
// In Firmament a waiting task cost 5, so that it was placed; here waiting costs
// far more than any policy charges.

#include <memory>

#include "sluice/cost/cost_model.h"

namespace sluice {
namespace {

constexpr Cost kPerTask = 2;

class Trivial : public CostModel {
 public:
  Cost LoadCost(const Machine& /*machine*/,
                const Resources& /*used*/) const override {
    return kPerTask;
  }
};

}  // namespace

std::unique_ptr<CostModel> Make_trivial() {
  return std::make_unique<Trivial>();
}

}  // namespace sluice
