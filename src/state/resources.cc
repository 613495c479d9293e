#include "sluice/state/resources.h"

#include <algorithm>

#include "base/int128.h"

namespace sluice {
namespace {

int64_t Saturate(Int128 sum) {
  return static_cast<int64_t>(
      std::clamp<Int128>(sum, -kAmountSaturated, kAmountSaturated));
}

// The same for two amounts, none of which is beyond the bound.
int64_t Sum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) sum = a;  // Both are at the bound.
  return std::clamp(sum, -kAmountSaturated, kAmountSaturated);
}

}  // namespace

void Resources::Set(ResourceIndex index, int64_t amount) {
  if (index >= amounts_.size()) {
    if (amount == 0) return;
    amounts_.resize(index + 1, 0);
  }
  amounts_[index] = amount;
}

Resources& Resources::operator+=(const Resources& other) {
  if (other.size() > size()) amounts_.resize(other.size(), 0);
  for (ResourceIndex i = 0; i < other.size(); ++i) {
    amounts_[i] = Sum(amounts_[i], other.amounts_[i]);
  }
  return *this;
}

Resources& Resources::operator-=(const Resources& other) {
  if (other.size() > size()) amounts_.resize(other.size(), 0);
  for (ResourceIndex i = 0; i < other.size(); ++i) {
    amounts_[i] = Sum(amounts_[i], -other.amounts_[i]);
  }
  return *this;
}

void Resources::AddScaled(const Resources& other, int64_t count) {
  if (other.size() > size()) amounts_.resize(other.size(), 0);
  for (ResourceIndex i = 0; i < other.size(); ++i) {
    amounts_[i] = Saturate(static_cast<Int128>(amounts_[i]) +
                           static_cast<Int128>(other.amounts_[i]) * count);
  }
}

bool Resources::IsSaturated() const {
  return std::ranges::any_of(amounts_, [](int64_t amount) {
    return amount <= -kAmountSaturated || amount >= kAmountSaturated;
  });
}

bool Resources::FitsIn(const Resources& free) const {
  for (ResourceIndex i = 0; i < size(); ++i) {
    if (amounts_[i] > 0 && amounts_[i] > free[i]) return false;
  }
  return true;
}

int64_t Resources::TimesIn(const Resources& free, int64_t limit) const {
  int64_t times = limit;
  for (ResourceIndex i = 0; i < size() && times > 0; ++i) {
    if (amounts_[i] <= 0) continue;
    const int64_t available = std::max<int64_t>(free[i], 0);
    // The common case first: a division costs more than a product.
    if (static_cast<Int128>(amounts_[i]) * times <= available) continue;
    times = available / amounts_[i];
  }
  return times;
}

void Resources::MaxWith(const Resources& other) {
  if (other.size() > size()) amounts_.resize(other.size(), 0);
  for (ResourceIndex i = 0; i < other.size(); ++i) {
    amounts_[i] = std::max(amounts_[i], other.amounts_[i]);
  }
}

bool operator==(const Resources& a, const Resources& b) {
  return (a <=> b) == std::strong_ordering::equal;
}

std::strong_ordering operator<=>(const Resources& a, const Resources& b) {
  const size_t size = std::max(a.size(), b.size());
  for (ResourceIndex i = 0; i < size; ++i) {
    if (a[i] != b[i]) return a[i] <=> b[i];
  }
  return std::strong_ordering::equal;
}

}  // namespace sluice
