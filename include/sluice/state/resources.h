// Amounts of resources: one integer per resource, each in a fixed unit.
//
// cpu: millicores. memory and ephemeral-storage: millibytes (bytes x 1000), the
// unit of the wire contract, so that nothing is rounded. pods: a count; a task
// asks for one.  Extended resources ("nvidia.com/gpu"): whole units.  Bandwidth
// is two extended resources, in KB (1,024 bytes) per second.
//
// Amounts are converted once, on entry, and are at most kAmountMax there.  Sums
// saturate at kAmountSaturated, so no sum can overflow.
//
// Threads: values.

#ifndef SLUICE_STATE_RESOURCES_H_
#define SLUICE_STATE_RESOURCES_H_

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

// An index into Resources; extended resources follow the built-in ones.
using ResourceIndex = size_t;
inline constexpr ResourceIndex kCpu = 0;
inline constexpr ResourceIndex kMemory = 1;
inline constexpr ResourceIndex kEphemeralStorage = 2;
inline constexpr ResourceIndex kPods = 3;
inline constexpr ResourceIndex kBuiltinResourceCount = 4;
// The index of no resource: its amount is 0 everywhere.
inline constexpr ResourceIndex kNoResource = ~ResourceIndex{0};

// The names of bandwidth, for receiving and for sending.  The contract has
// fields for it; their indices are assigned like those of any other name.
inline constexpr char kNetRx[] = "net-rx-kb";
inline constexpr char kNetTx[] = "net-tx-kb";

// 2^60 millibytes are a pebibyte: no machine offers more, and 2^60 millicores
// are absurd.  Larger amounts are rejected at the edge.
inline constexpr int64_t kAmountMax = int64_t{1} << 60;
inline constexpr int64_t kAmountSaturated = int64_t{1} << 62;

// Amounts by name, as in messages: ascending names, without duplicates.
using NamedAmounts = std::vector<std::pair<std::string, int64_t>>;

// A vector of amounts; unstated ones are 0.  Subtraction may go below 0: a
// machine that came back smaller than its load has a negative free amount.
class Resources {
 public:
  Resources() = default;
  Resources(int64_t cpu, int64_t memory, int64_t ephemeral_storage,
            int64_t pods)
      : builtin_({cpu, memory, ephemeral_storage, pods}) {}

  int64_t operator[](ResourceIndex index) const {
    if (index < kBuiltinResourceCount) return builtin_[index];
    index -= kBuiltinResourceCount;
    return index < extended_.size() ? extended_[index] : 0;
  }
  void Set(ResourceIndex index, int64_t amount);
  // One more than the last index that may hold an amount.
  size_t size() const { return kBuiltinResourceCount + extended_.size(); }

  Resources& operator+=(const Resources& other) {
    Combine(other, [](int64_t a, int64_t b) { return Sum(a, b); });
    return *this;
  }
  Resources& operator-=(const Resources& other) {
    Combine(other, [](int64_t a, int64_t b) { return Sum(a, -b); });
    return *this;
  }
  friend Resources operator+(Resources a, const Resources& b) { return a += b; }
  friend Resources operator-(Resources a, const Resources& b) { return a -= b; }

  // True if a sum may have been cut off: then subtracting what was added does
  // not restore it.
  bool IsSaturated() const;

  // Adds `count` times `other`.
  void AddScaled(const Resources& other, int64_t count);

  // True if every resource that this asks for (more than 0 of) is in `free`.
  // Other resources are ignored, as in Kubernetes.
  bool FitsIn(const Resources& free) const {
    for (ResourceIndex i = 0; i < kBuiltinResourceCount; ++i) {
      if (builtin_[i] > std::max<int64_t>(free.builtin_[i], 0)) return false;
    }
    for (ResourceIndex i = kBuiltinResourceCount; i < size(); ++i) {
      if ((*this)[i] > std::max<int64_t>(free[i], 0)) return false;
    }
    return true;
  }

  // How many times this fits in `free`, at most `limit`.
  int64_t TimesIn(const Resources& free, int64_t limit) const;

  // The larger amount of each resource.
  void MaxWith(const Resources& other) {
    Combine(other, [](int64_t a, int64_t b) { return std::max(a, b); });
  }

  // Equal if all amounts are; unstated amounts equal stated zeros.
  friend bool operator==(const Resources& a, const Resources& b) {
    return a.builtin_ == b.builtin_ &&
           ((a.extended_.empty() && b.extended_.empty()) || (a <=> b) == 0);
  }
  friend std::strong_ordering operator<=>(const Resources& a,
                                          const Resources& b);
  template <class H>
  friend H AbslHashValue(H hash, const Resources& resources) {
    hash = H::combine(std::move(hash), resources.builtin_);
    for (ResourceIndex i = kBuiltinResourceCount; i < resources.size(); ++i) {
      if (resources[i] == 0) continue;
      hash = H::combine(std::move(hash), i, resources[i]);
    }
    return hash;
  }

 private:
  // Of two amounts within the bound.
  static int64_t Sum(int64_t a, int64_t b) {
    int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) sum = a;  // Both are at the bound.
    return std::clamp(sum, -kAmountSaturated, kAmountSaturated);
  }
  // Sets each of these amounts to `combined(it, that of other)`.  Amounts for
  // which `other` has no place stay.
  template <class F>
  void Combine(const Resources& other, F combined) {
    for (ResourceIndex i = 0; i < kBuiltinResourceCount; ++i) {
      builtin_[i] = combined(builtin_[i], other.builtin_[i]);
    }
    if (other.extended_.size() > extended_.size()) {
      extended_.resize(other.extended_.size(), 0);
    }
    for (size_t i = 0; i < other.extended_.size(); ++i) {
      extended_[i] = combined(extended_[i], other.extended_[i]);
    }
  }

  // Separate, since rounds add and compare these for every class and machine.
  std::array<int64_t, kBuiltinResourceCount> builtin_ = {};
  std::vector<int64_t> extended_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_RESOURCES_H_
