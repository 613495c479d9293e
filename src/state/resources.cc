#include "sluice/state/resources.h"

#include <algorithm>

#include "base/int128.h"

namespace sluice {
namespace {

int64_t Saturate(Int128 sum) {
  return static_cast<int64_t>(
      std::clamp<Int128>(sum, -kAmountSaturated, kAmountSaturated));
}

}  // namespace

void Resources::Set(ResourceIndex index, int64_t amount) {
  if (index < kBuiltinResourceCount) {
    builtin_[index] = amount;
    return;
  }
  index -= kBuiltinResourceCount;
  if (index >= extended_.size()) {
    if (amount == 0) return;
    extended_.resize(index + 1, 0);
  }
  extended_[index] = amount;
}

void Resources::AddScaled(const Resources& other, int64_t count) {
  Combine(other, [count](int64_t a, int64_t b) {
    return Saturate(a + static_cast<Int128>(b) * count);
  });
}

bool Resources::IsSaturated() const {
  const auto is_at_bound = [](int64_t amount) {
    return amount <= -kAmountSaturated || amount >= kAmountSaturated;
  };
  return std::ranges::any_of(builtin_, is_at_bound) ||
         std::ranges::any_of(extended_, is_at_bound);
}

int64_t Resources::TimesIn(const Resources& free, int64_t limit) const {
  int64_t times = limit;
  for (ResourceIndex i = 0; i < size() && times > 0; ++i) {
    const int64_t amount = (*this)[i];
    if (amount <= 0) continue;
    const int64_t available = std::max<int64_t>(free[i], 0);
    // The common case first: a division costs more than a multiplication.
    if (static_cast<Int128>(amount) * times <= available) continue;
    times = available / amount;
  }
  return times;
}

std::strong_ordering operator<=>(const Resources& a, const Resources& b) {
  if (const auto order = a.builtin_ <=> b.builtin_; order != 0) return order;
  const size_t size = std::max(a.size(), b.size());
  for (ResourceIndex i = kBuiltinResourceCount; i < size; ++i) {
    if (a[i] != b[i]) return a[i] <=> b[i];
  }
  return std::strong_ordering::equal;
}

}  // namespace sluice
