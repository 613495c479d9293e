#include "base/rng.h"

#include <glog/logging.h>

#include <bit>
#include <limits>

namespace sluice {
namespace {

uint64_t SplitMix64(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

Rng::Rng(uint64_t seed) {
  for (uint64_t& word : state_) word = SplitMix64(&seed);
}

uint64_t Rng::Next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

uint64_t Rng::Below(uint64_t n) {
  CHECK_GT(n, 0u);
  // The lowest 2^64 mod n values would make small results likelier: redraw.
  const uint64_t biased = (0 - n) % n;
  uint64_t drawn = Next();
  while (drawn < biased) drawn = Next();
  return drawn % n;
}

int64_t Rng::Between(int64_t lo, int64_t hi) {
  CHECK_LE(lo, hi);
  const uint64_t width = static_cast<uint64_t>(hi) - static_cast<uint64_t>(lo);
  const bool is_everything = width == std::numeric_limits<uint64_t>::max();
  const uint64_t offset = is_everything ? Next() : Below(width + 1);
  return static_cast<int64_t>(static_cast<uint64_t>(lo) + offset);
}

bool Rng::Chance(uint64_t numerator, uint64_t denominator) {
  return Below(denominator) < numerator;
}

}  // namespace sluice
