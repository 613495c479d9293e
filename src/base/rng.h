// Random numbers that are the same everywhere: a seed fixes the whole sequence
// on every compiler, library and machine.
//
// The generator is xoshiro256**, its state filled by splitmix64.  The
// distributions are our own because those of <random> differ between
// libraries.  Not for secrets.
//
// Threads: none; confined to its owner.

#ifndef SLUICE_BASE_RNG_H_
#define SLUICE_BASE_RNG_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <utility>

namespace sluice {

class Rng {
 public:
  explicit Rng(uint64_t seed);

  // Any 64 bits, all equally likely.
  uint64_t Next();

  // A number in [0, n), without bias.  REQUIRES: n > 0.
  uint64_t Below(uint64_t n);

  // A number in [lo, hi], both included.  REQUIRES: lo <= hi.
  int64_t Between(int64_t lo, int64_t hi);

  // True in `numerator` out of `denominator` cases.
  // REQUIRES: denominator > 0.
  bool Chance(uint64_t numerator, uint64_t denominator);

  // Puts `values` into an order drawn from all orders alike.
  template <std::ranges::random_access_range Range>
  void Shuffle(Range&& values) {
    const auto begin = std::ranges::begin(values);
    for (auto left = std::ranges::ssize(values); left > 1; --left) {
      using Difference = decltype(left);
      const auto chosen =
          static_cast<Difference>(Below(static_cast<uint64_t>(left)));
      using std::swap;
      swap(begin[left - 1], begin[chosen]);
    }
  }

 private:
  std::array<uint64_t, 4> state_;
};

}  // namespace sluice

#endif  // SLUICE_BASE_RNG_H_
