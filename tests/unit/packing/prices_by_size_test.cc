#include "packing/prices_by_size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;

// Ten machines of ten; tasks of five and of two units that cost the same to
// leave waiting, the small ones on the level below.
PackingProblem FivesAndTwos(int64_t fives, int64_t twos) {
  PackingProblem problem;
  problem.classes = {{.request = {5}, .waiting = {{fives, 60, 0}}},
                     {.request = {2}, .waiting = {{twos, 60, 1}}}};
  problem.groups = {{{10}, 4, 0}, {{10}, 6, 0}};
  problem.costs = {{0, 0}};
  return problem;
}

TEST(FindPricesBySize, AreNothingWhereAllHaveRoom) {
  const PackingProblem problem = FivesAndTwos(10, 25);
  EXPECT_THAT(FindPricesBySize(problem), Each(Each(0)));
  EXPECT_THAT(FindValuesBySize(problem, FindPricesBySize(problem)),
              ElementsAre(1, DoubleNear(0.4, 1e-9)))
      << "as much of a machine as they take";
}

TEST(FindPricesBySize, AreInProportionToWhatTheyTakeOfTheLastOnes) {
  // Half of the small ones have no room.
  const PackingProblem problem = FivesAndTwos(10, 50);
  const auto prices = FindPricesBySize(problem);
  EXPECT_THAT(prices[0], Each(0)) << "the urgent ones have room";
  EXPECT_THAT(prices[1], ElementsAre(150, 60));
  EXPECT_THAT(FindValuesBySize(problem, prices),
              ElementsAre(1, DoubleNear(0.4, 1e-9)));
}

TEST(OverflowCost, IsFarMoreTheMoreComesAfter) {
  EXPECT_EQ(OverflowCost(0), 1);
  EXPECT_GT(OverflowCost(1), 10);
  EXPECT_GT(OverflowCost(2), 10 * OverflowCost(1));
}

}  // namespace
}  // namespace sluice
