// What rounds make of policies: each does what it is for.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>

#include "base/rng.h"
#include "base/strings.h"
#include "util/cluster_builder.h"
#include "util/seed_count.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

// Octopus (Firmament, OSDI'16, section 3.3): machines of any size have counts
// that differ by one at most, wherever all of them have room.
TEST(Policies, LoadSpreadingEvensOutCountsWhateverTheSizes) {
  for (uint64_t seed = 1; seed <= SeedCount(200); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Rng rng(seed);
    TestScheduler scheduler(RoundOptions(), "load_spreading");
    const int64_t machine_count = rng.Between(1, 8);
    for (int64_t i = 0; i < machine_count; ++i) {
      // Room for every task on each of them.
      scheduler.Apply(
          Added(StrCat("m", i), {.cpu = rng.Between(1, 4) * 1000000}));
    }
    uint64_t uid = 0;
    for (int batch = 0; batch < 3; ++batch) {
      for (int64_t i = rng.Between(0, 30); i > 0; --i) {
        scheduler.Apply(Submitted(
            ++uid, {.cpu = rng.Between(1, 5) * rng.Between(100, 2000)}));
      }
      scheduler.Round();
      int64_t fewest = std::numeric_limits<int64_t>::max();
      int64_t most = 0;
      for (const auto& [id, machine] : scheduler.state().machines()) {
        fewest = std::min(fewest, std::ssize(machine->tasks));
        most = std::max(most, std::ssize(machine->tasks));
      }
      EXPECT_LE(most - fewest, 1);
      EXPECT_EQ(scheduler.state().pending_count(), 0);
    }
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace sluice
