// The random policy: a random machine with room (Firmament's Random model).  A
// baseline for comparisons.
//
//   0 to 999, drawn anew for each machine and number of tasks on it
//
// random:seed=N gives other draws; equal seeds give equal ones.

#include <memory>
#include <string>

#include "base/hash.h"
#include "base/strings.h"
#include "sluice/cost/cost_model.h"

namespace sluice {
namespace {

constexpr uint64_t kDraws = 1000;

class Random : public CostModel {
 public:
  absl::Status Set(std::string_view parameter, int64_t value) override {
    if (parameter != "seed") return CostModel::Set(parameter, value);
    seed_ = value;
    return absl::OkStatus();
  }

  Cost LoadCost(const Machine& machine, const Resources& used) const override {
    const std::string draw = StrCat(seed_, ' ', machine.uuid, ' ', used[kPods]);
    return static_cast<Cost>(Fnv1a64(draw) % kDraws);
  }

  bool TellsMachinesApart() const override { return true; }

 private:
  int64_t seed_ = 1;
};

}  // namespace

std::unique_ptr<CostModel> Make_random() { return std::make_unique<Random>(); }

}  // namespace sluice
