// Thousands of simulated lives.  One that goes wrong is lived again, and made
// smaller, by
//   build/ci/bin/simulate --seed=N --shrink

#include "sim/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "util/seed_count.h"

namespace sluice::sim {
namespace {

TEST(Simulation, NothingIsLostDoubledOrOvercommittedWhateverBreaks) {
  int64_t placements = 0;
  int64_t stops = 0;
  int64_t moves = 0;
  uint64_t processes = 0;
  uint64_t overlaps = 0;
  const uint64_t count = SeedCount(400);
  for (uint64_t seed = 1; seed <= count; ++seed) {
    const LifeShape shape = DrawShape(seed);
    const LifeReport report = Live(seed, shape);
    ASSERT_THAT(report.errors, testing::IsEmpty())
        << "seed " << seed << ": " << ToText(shape);
    placements += report.placements;
    stops += report.stops;
    moves += report.moves;
    processes += report.processes;
    overlaps += report.overlaps;
  }
  // A life in which nothing happens proves nothing; fewer lives may lack some
  // of it by chance.
  if (kDrawsFewerSeeds) return;
  EXPECT_GT(placements, static_cast<int64_t>(50 * count));
  EXPECT_GT(stops, static_cast<int64_t>(2 * count));
  EXPECT_GT(moves, static_cast<int64_t>(count / 5));
  EXPECT_GT(processes, 2 * count);
  EXPECT_GT(overlaps, count / 2);
}

TEST(Simulation, TheSameSeedIsTheSameLife) {
  const LifeShape shape = DrawShape(7);
  const LifeReport first = Live(7, shape);
  const LifeReport second = Live(7, shape);
  EXPECT_EQ(first.placements, second.placements);
  EXPECT_EQ(first.processes, second.processes);
}

}  // namespace
}  // namespace sluice::sim
