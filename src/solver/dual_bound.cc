#include "solver/dual_bound.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/int128.h"

namespace sluice {
namespace {

constexpr int kBits = 40;  // Fractional bits of a price.
// Leaves room for a scaled price times a gain.
constexpr double kScaledMax = 0x1p80;

Int128 RoundedUp(Int128 numerator, Int128 denominator) {
  const Int128 quotient = numerator / denominator;
  return quotient + (numerator % denominator > 0 ? 1 : 0);
}

Int128 RoundedDown(Int128 numerator, Int128 denominator) {
  const Int128 quotient = numerator / denominator;
  return quotient - (numerator % denominator < 0 ? 1 : 0);
}

}  // namespace

std::optional<FlowCost> DualBound(const FlowProblem& problem,
                                  std::span<const double> prices) {
  std::vector<Int128> scaled;
  for (const double price : prices) {
    const double value = std::ldexp(price, kBits);
    if (!(std::abs(value) <= kScaledMax)) return std::nullopt;
    scaled.push_back(static_cast<Int128>(std::nearbyint(value)));
  }
  const auto price = [&scaled](NodeIndex node) {
    return scaled[static_cast<size_t>(node)];
  };
  Int128 sum = 0;
  for (NodeIndex n = 0; n < problem.node_count(); ++n) {
    Int128 term = 0;
    if (__builtin_mul_overflow(price(n), Int128{problem.supply(n)}, &term) ||
        __builtin_sub_overflow(sum, term, &sum)) {
      return std::nullopt;
    }
  }
  for (ArcIndex a = 0; a < problem.arc_count(); ++a) {
    const FlowProblem::Arc& arc = problem.arc(a);
    if (arc.is_removed()) continue;
    const FlowGain gain = problem.gain(a);
    // Times the gain's denominator.
    const Int128 reduced =
        ((static_cast<Int128>(arc.whole.cost) << kBits) + price(arc.tail)) *
            gain.denominator -
        price(arc.head) * gain.numerator;
    Int128 term = 0;
    if (__builtin_mul_overflow(
            reduced, Int128{reduced < 0 ? arc.capacity() : arc.lower}, &term) ||
        __builtin_add_overflow(sum, RoundedDown(term, gain.denominator),
                               &sum)) {
      return std::nullopt;
    }
  }
  const Int128 bound = RoundedUp(sum, Int128{1} << kBits);
  if (bound > std::numeric_limits<FlowCost>::max() ||
      bound < std::numeric_limits<FlowCost>::min()) {
    return std::nullopt;
  }
  return static_cast<FlowCost>(bound);
}

}  // namespace sluice
