#include "round/passes/admission.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/int128.h"

namespace sluice {
namespace {

// Shares of the free capacity, and prices, are fixed-point fractions of this.
constexpr int64_t kOne = int64_t{1} << 30;
// The prices settle geometrically; after this many steps the remaining gain is
// below a thousandth.
constexpr int kPriceSteps = 48;

// The group's request as shares of what is free, rounded up.
std::vector<int64_t> Shares(const Resources& request, const Resources& free,
                            size_t size) {
  std::vector<int64_t> shares(size, 0);
  for (size_t i = 0; i < size; ++i) {
    if (request[i] <= 0) continue;
    const int64_t available = std::max<int64_t>(free[i], 0);
    shares[i] =
        available == 0
            ? 2 * kOne
            : static_cast<int64_t>(std::min<Int128>(
                  (static_cast<Int128>(request[i]) * kOne + available - 1) /
                      available,
                  Int128{2} * kOne));
  }
  return shares;
}

struct Attempt {
  std::vector<int64_t> admitted;
  Int128 value = 0;
  size_t bottleneck = 0;  // The resource that first refused a task.
  bool is_complete = true;
};

// Adds to `admitted` groups by waiting cost per price of what they use.
Attempt AdmitAtPrices(std::span<const AdmissionGroup> groups,
                      const std::vector<std::vector<int64_t>>& shares,
                      const std::vector<int64_t>& prices, const Resources& free,
                      std::vector<int64_t> admitted) {
  std::vector<Int128> sizes(groups.size(), 1);
  for (size_t g = 0; g < groups.size(); ++g) {
    for (size_t i = 0; i < prices.size(); ++i) {
      sizes[g] += static_cast<Int128>(shares[g][i]) * prices[i];
    }
  }
  std::vector<size_t> order(groups.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return groups[a].waiting_cost * sizes[b] >
           groups[b].waiting_cost * sizes[a];
  });
  Attempt attempt;
  attempt.admitted = std::move(admitted);
  Resources left = free;
  for (size_t g = 0; g < groups.size(); ++g) {
    left.AddScaled(groups[g].request, -attempt.admitted[g]);
  }
  for (const size_t g : order) {
    const AdmissionGroup& group = groups[g];
    const int64_t more =
        group.request.TimesIn(left, group.count - attempt.admitted[g]);
    attempt.admitted[g] += more;
    attempt.value +=
        static_cast<Int128>(attempt.admitted[g]) * group.waiting_cost;
    left.AddScaled(group.request, -more);
    if (attempt.admitted[g] == group.count || !attempt.is_complete) continue;
    attempt.is_complete = false;
    for (size_t i = 0; i < prices.size(); ++i) {
      if (group.request[i] > 0 && group.request[i] > left[i]) {
        attempt.bottleneck = i;
        break;
      }
    }
  }
  return attempt;
}

}  // namespace

std::vector<int64_t> Admit(std::span<const AdmissionGroup> groups,
                           const Resources& free) {
  size_t size = 0;
  for (const AdmissionGroup& group : groups) {
    size = std::max(size, group.request.size());
  }
  std::vector<std::vector<int64_t>> shares;
  shares.reserve(groups.size());
  for (const AdmissionGroup& group : groups) {
    shares.push_back(Shares(group.request, free, size));
  }
  std::vector<int64_t> prices(
      size, kOne / std::max<int64_t>(static_cast<int64_t>(size), 1));
  const std::vector<int64_t> none(groups.size(), 0);
  Attempt best = AdmitAtPrices(groups, shares, prices, free, none);
  Attempt last = best;
  std::vector<Int128> sums(best.admitted.begin(), best.admitted.end());
  int64_t attempts = 1;
  // The resource that runs out first should weigh more.  The step shrinks, so
  // the prices settle between the scarce resources.
  int64_t step = kOne / 2;
  for (; attempts < kPriceSteps && !last.is_complete; ++attempts) {
    prices[last.bottleneck] += step;
    const Int128 sum = std::accumulate(prices.begin(), prices.end(), Int128{0});
    for (int64_t& price : prices) {
      price = static_cast<int64_t>(price * Int128{kOne} / sum);
    }
    step = std::max<int64_t>(step * 7 / 8, kOne / 1024);
    last = AdmitAtPrices(groups, shares, prices, free, none);
    if (last.value > best.value) best = last;
    for (size_t g = 0; g < groups.size(); ++g) sums[g] += last.admitted[g];
  }
  // Each attempt admits a whole group before the next, but groups that use
  // different resources fit together best.  The mean of the attempts mixes
  // them.  It is within the capacity, as each attempt is; what rounding left is
  // filled up.
  std::vector<int64_t> mean(groups.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    mean[g] = static_cast<int64_t>(sums[g] / attempts);
  }
  Attempt mixed = AdmitAtPrices(groups, shares, prices, free, std::move(mean));
  if (mixed.value > best.value) best = std::move(mixed);
  return best.admitted;
}

}  // namespace sluice
