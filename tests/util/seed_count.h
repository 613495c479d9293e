// How many random cases a property is tried with.

#ifndef SLUICE_TESTS_UTIL_SEED_COUNT_H_
#define SLUICE_TESTS_UTIL_SEED_COUNT_H_

#include <cstdint>

namespace sluice {

// `count`, and an eighth of it under AddressSanitizer, which makes each ten
// times as long: it looks for what a line does wrong, which needs no rare case.
constexpr uint64_t SeedCount(uint64_t count) {
#ifdef __SANITIZE_ADDRESS__
  return (count + 7) / 8;
#else
  return count;
#endif
}

// Whether it is less than what is asked for.
inline constexpr bool kDrawsFewerSeeds = SeedCount(8) < 8;

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_SEED_COUNT_H_
