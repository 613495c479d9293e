// The whare_map policy: a task goes where its kind of work runs fastest,
// according to final reports (Mars and Tang, "Whare-Map", ISCA'13; Firmament's
// WHARE model).
//
//   75,000 for each twentieth by which an instruction takes longer on machines
//   of this type than on the best; 3,000,000 at most, three times as long
//
// A type counts once there are enough runs of the kind on it (samples=N).  A
// type with fewer costs nothing, so that it is tried.  The cost rises in steps,
// since runs on equal machines also differ by a few percent: such differences
// should not outweigh load.

#include <algorithm>
#include <memory>

#include "base/int128.h"
#include "base/strings.h"
#include "sluice/cost/cost_model.h"

namespace sluice {
namespace {

constexpr int64_t kSteps = 20;  // Of as much again.
constexpr Cost kPerStep = 75000;
constexpr Cost kCostMax = 3000000;
constexpr int64_t kSamplesMax = 1000;

class WhareMap : public CostModel {
 public:
  absl::Status Set(std::string_view parameter, int64_t value) override {
    if (parameter != "samples") return CostModel::Set(parameter, value);
    if (value < 1 || value > kSamplesMax) {
      return absl::InvalidArgumentError(StrCat(
          "samples: ", value, " is not a number from 1 to ", kSamplesMax));
    }
    samples_min_ = value;
    return absl::OkStatus();
  }

  std::optional<int64_t> SpeedSamplesMin() const override {
    return samples_min_;
  }

  Cost SpeedCost(const ExpectedSpeed& speed) const override {
    const Int128 steps =
        Int128{kSteps} * (speed.here_fs - speed.best_fs) / speed.best_fs;
    return static_cast<Cost>(std::min<Int128>(kPerStep * steps, kCostMax));
  }

 private:
  int64_t samples_min_ = 4;
};

}  // namespace

std::unique_ptr<CostModel> Make_whare_map() {
  return std::make_unique<WhareMap>();
}

}  // namespace sluice
