#include "round/packing/stop_levels.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace sluice {
namespace {

// Priorities from 9 up, 5 to 8, and what is below.
PackingLevels Levels() { return {.lowest = {9, 5}, .has_rest = false}; }

TEST(StopLevels, ComeBeforeWhatIsPlacedOfTheirPriorities) {
  StopLevels levels(/*breaks_budgets=*/false);
  levels.Add(5, Levels());
  levels.Add(0, Levels());
  EXPECT_EQ(levels.Shifted(0), 0u);
  EXPECT_EQ(levels.OfStopped(5, Levels()), 1u);
  EXPECT_EQ(levels.Shifted(1), 2u);
  EXPECT_EQ(levels.OfStopped(0, Levels()), 3u);
}

TEST(StopLevels, ComeAfterWhatIsForbidden) {
  StopLevels levels(/*breaks_budgets=*/false);
  levels.Add(5, Levels());
  levels.Forbid();
  EXPECT_EQ(levels.OfForbidden(), 0u);
  EXPECT_EQ(levels.Shifted(0), 1u);
  EXPECT_EQ(levels.OfStopped(5, Levels()), 2u);
  EXPECT_EQ(levels.Shifted(1), 3u);
}

TEST(StopLevels, ComeAfterWhatMayOnlyMove) {
  StopLevels levels(/*breaks_budgets=*/true);
  levels.Add(5, Levels());
  levels.Fix();
  EXPECT_EQ(levels.OfFixed(), 0u);
  EXPECT_EQ(levels.Shifted(0), 1u);
  levels.Forbid();
  EXPECT_EQ(levels.Shifted(0), 1u);
  EXPECT_EQ(levels.OfForbidden(), 2u);
  EXPECT_EQ(levels.OfStopped(5, Levels()), 3u);
  EXPECT_EQ(levels.Shifted(1), 4u);
}

TEST(StopLevels, LetTheMostUrgentLevelExceedBudgets) {
  StopLevels levels(/*breaks_budgets=*/true);
  levels.Add(5, Levels());
  levels.Forbid();
  EXPECT_EQ(levels.Shifted(0), 0u);
  EXPECT_EQ(levels.OfForbidden(), 1u);
  EXPECT_EQ(levels.OfStopped(5, Levels()), 2u);
  EXPECT_EQ(levels.Shifted(1), 3u);
}

}  // namespace
}  // namespace sluice
