// The CoCo policy: separates tasks that get in each other's way on a machine
// (Firmament's coordinated co-location model, OSDI'16, section 6.1).
//
// A task minds each task beside it, depending on their kinds, in weights of a
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
//
// The kind of a task that states none is learned from how its kind of work used
// the last-level cache (docs/decisions/0035-learned-kinds.md).

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <memory>

#include "base/strings.h"
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

constexpr int64_t kParameterMax = 1000;

struct Parameter {
  std::string_view name;
  int64_t KindScheme::*value;
};
constexpr Parameter kParameters[] = {
    {"samples", &KindScheme::reports_min},
    {"devil", &KindScheme::devil_misses},
    {"rabbit", &KindScheme::rabbit_hits},
    {"turtle", &KindScheme::turtle_references},
};

class Coco : public CostModel {
 public:
  absl::Status Set(std::string_view parameter, int64_t value) override {
    const auto* it =
        std::ranges::find(kParameters, parameter, &Parameter::name);
    if (it == std::end(kParameters)) return CostModel::Set(parameter, value);
    if (value < 1 || value > kParameterMax) {
      return absl::InvalidArgumentError(StrCat(parameter, ": ", value,
                                               " is not a number from 1 to ",
                                               kParameterMax));
    }
    scheme_.*(it->value) = value;
    return absl::OkStatus();
  }

  std::optional<KindScheme> LearnedKinds() const override { return scheme_; }

  int32_t Minds(TaskKind task, TaskKind neighbor) const override {
    return kMinds[static_cast<size_t>(task)][static_cast<size_t>(neighbor)];
  }

 private:
  KindScheme scheme_ = {.reports_min = 3,
                        .devil_misses = 10,
                        .rabbit_hits = 10,
                        .turtle_references = 1};
};

}  // namespace

std::unique_ptr<CostModel> Make_coco() { return std::make_unique<Coco>(); }

}  // namespace sluice
