#include "round/passes/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"
#include "cost/waiting_cost.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Cost ValueOf(const std::vector<AdmissionGroup>& groups,
             const std::vector<int64_t>& admitted) {
  Cost value = 0;
  for (size_t g = 0; g < groups.size(); ++g) {
    value += groups[g].waiting_cost * admitted[g];
  }
  return value;
}

Resources UseOf(const std::vector<AdmissionGroup>& groups,
                const std::vector<int64_t>& admitted) {
  Resources used;
  for (size_t g = 0; g < groups.size(); ++g) {
    used.AddScaled(groups[g].request, admitted[g]);
  }
  return used;
}

// The best value of any counts within `free`, by trying all.
Cost BestValue(const std::vector<AdmissionGroup>& groups, const Resources& free,
               size_t from = 0) {
  if (from == groups.size()) return 0;
  Cost best = 0;
  Resources left = free;
  for (int64_t count = 0; count <= groups[from].count; ++count) {
    if (count > 0) left -= groups[from].request;
    if (left[kCpu] < 0 || left[kMemory] < 0) break;
    best = std::max(best, groups[from].waiting_cost * count +
                              BestValue(groups, left, from + 1));
  }
  return best;
}

TEST(Admit, TakesEverythingWhereEverythingFits) {
  const std::vector<AdmissionGroup> groups = {{Resources(100, 10, 0, 1), 5, 4},
                                              {Resources(300, 20, 0, 1), 1, 2}};
  EXPECT_THAT(Admit(groups, Resources(1000, 80, 0, 6)), ElementsAre(4, 2));
}

TEST(Admit, TakesNothingWhereThereIsNothing) {
  const std::vector<AdmissionGroup> groups = {{Resources(1, 0, 0, 1), 5, 4}};
  EXPECT_THAT(Admit({}, Resources(1, 1, 1, 1)), IsEmpty());
  EXPECT_THAT(Admit(groups, Resources()), ElementsAre(0));
  EXPECT_THAT(Admit(groups, Resources(-5, 0, 0, 1)), ElementsAre(0));
}

TEST(Admit, TakesWhatAsksForNothingOnAnOvercommittedCluster) {
  const std::vector<AdmissionGroup> groups = {{Resources(0, 0, 0, 1), 5, 4}};
  EXPECT_THAT(Admit(groups, Resources(-5, -5, 0, 3)), ElementsAre(3));
}

TEST(Admit, TakesSmallTasksBeforeLargeOnesOfOneCost) {
  const std::vector<AdmissionGroup> groups = {{Resources(600, 0, 0, 0), 10, 3},
                                              {Resources(100, 0, 0, 0), 10, 8}};
  EXPECT_THAT(Admit(groups, Resources(1000, 0, 0, 0)), ElementsAre(0, 8));
}

// After k minutes a task that asks for k times as much comes first.
TEST(Admit, TakesALargeTaskThatHasWaitedLongEnough) {
  const Resources free(600, 0, 0, 0);
  const auto groups = [](int64_t waited_ms) {
    return std::vector<AdmissionGroup>{
        {Resources(600, 0, 0, 0), WaitingCost(waited_ms), 1},
        {Resources(100, 0, 0, 0), WaitingCost(0), 6}};
  };
  EXPECT_THAT(Admit(groups(60000 * 4), free), ElementsAre(0, 6));
  EXPECT_THAT(Admit(groups(60000 * 6), free), ElementsAre(1, 0));
}

// Ten cpu-heavy tasks and ten memory-heavy ones share what each kind alone
// could not use.
TEST(Admit, MixesWhatUsesDifferentResources) {
  const std::vector<AdmissionGroup> groups = {
      {Resources(100, 10, 0, 1), 10, 20}, {Resources(10, 100, 0, 1), 10, 20}};
  EXPECT_THAT(Admit(groups, Resources(1100, 1100, 0, 99)), ElementsAre(10, 10));
}

TEST(Admit, TakesAsManyAsFitWhereAllAreAlike) {
  const std::vector<AdmissionGroup> groups = {{Resources(300, 7, 0, 1), 10, 9}};
  EXPECT_THAT(Admit(groups, Resources(1000, 999, 0, 9)), ElementsAre(3));
}

TEST(Admit, SurvivesTheLargestAmountsAndCosts) {
  const Resources all(kAmountMax, kAmountMax, kAmountMax, kAmountMax);
  const std::vector<AdmissionGroup> groups = {
      {all, kWaitingCostMax, 1000000}, {Resources(1, 1, 1, 1), 1, 1000000}};
  const auto admitted = Admit(groups, all + all + all);
  EXPECT_TRUE(UseOf(groups, admitted).FitsIn(all + all + all));
  EXPECT_EQ(admitted[0] + admitted[1] > 0, true);
}

std::vector<AdmissionGroup> DrawGroups(Rng* rng) {
  std::vector<AdmissionGroup> groups;
  const auto count = rng->Between(2, 4);
  for (int64_t g = 0; g < count; ++g) {
    groups.push_back({Resources(rng->Between(1, 20), rng->Between(1, 20), 0, 0),
                      WaitingCost(rng->Between(0, 5) * 10000),
                      rng->Between(1, 10)});
  }
  return groups;
}

// The largest request is a fifth of the capacity: the finer the grain, the
// nearer a fractional knapsack's greedy choice is to the best one.
TEST(Admit, IsWithinCapacityAndNearTheBestOnSmallInstances) {
  double sum = 0;
  double worst = 1;
  constexpr int kSeeds = 400;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Rng rng(seed);
    const auto groups = DrawGroups(&rng);
    const Resources free(rng.Between(100, 200), rng.Between(100, 200), 0, 0);
    const auto admitted = Admit(groups, free);
    ASSERT_TRUE(UseOf(groups, admitted).FitsIn(free)) << "seed " << seed;
    for (size_t g = 0; g < groups.size(); ++g) {
      ASSERT_GE(admitted[g], 0) << "seed " << seed;
      ASSERT_LE(admitted[g], groups[g].count) << "seed " << seed;
    }
    const double ratio = static_cast<double>(ValueOf(groups, admitted)) /
                         static_cast<double>(BestValue(groups, free));
    sum += ratio;
    worst = std::min(worst, ratio);
    EXPECT_GE(ratio, 0.9) << "seed " << seed;
  }
  EXPECT_GE(sum / kSeeds, 0.99);
  RecordProperty("worst", std::to_string(worst));
  RecordProperty("mean", std::to_string(sum / kSeeds));
}

}  // namespace
}  // namespace sluice
