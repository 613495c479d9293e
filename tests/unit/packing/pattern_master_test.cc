#include "packing/pattern_master.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/rng.h"

namespace sluice {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Tasks = std::vector<std::pair<size_t, int64_t>>;

constexpr int64_t kPlenty = 1'000'000;

auto IsAbout(double expected) { return DoubleNear(expected, 1e-4); }

// Waiting costs count: all of it overflows.
PatternMaster::Terms Terms(
    std::vector<std::vector<PatternMaster::Step>> waiting,
    std::vector<double> machines) {
  return {.waiting = std::move(waiting),
          .machines = std::move(machines),
          .levels = {{.free = 0, .overflow_cost = 1}}};
}

TEST(PatternMaster, EverythingWaitsWithoutPatterns) {
  PatternMaster master(Terms({{{3, 2}}, {{1, 5}, {2, 7}}}, {4}));
  ASSERT_TRUE(master.Solve(kPlenty));
  EXPECT_THAT(master.objective(), IsAbout(6 + 5 + 14));
  EXPECT_THAT(master.ClassPrice(0), IsAbout(2));
  EXPECT_THAT(master.ClassPrice(1), IsAbout(7));
  EXPECT_THAT(master.GroupPrice(0), IsAbout(0));
  EXPECT_THAT(master.Amounts(), IsEmpty());
}

TEST(PatternMaster, CapsLetInNoMoreThanTheySay) {
  PatternMaster::Terms terms = Terms({{{10, 1}}, {{10, 1}}}, {4});
  terms.caps = {3};
  PatternMaster master(terms);
  master.AddPattern(0, Tasks{{0, 2}}, 0, Tasks{{0, 2}});
  master.AddPattern(0, Tasks{{1, 1}}, 0);
  ASSERT_TRUE(master.Solve(kPlenty));
  EXPECT_THAT(master.objective(), IsAbout(20 - 3 - 2.5));
  EXPECT_THAT(master.GroupPrice(0), IsAbout(1));
  EXPECT_THAT(master.CapPrice(0), IsAbout(0.5));
}

// Two classes share a budget of three: what it is exceeded by costs five each.
TEST(PatternMaster, BudgetsLetNoMoreWaitThanTheySayForNothing) {
  PatternMaster::Terms terms = Terms({{{4, 1}}, {{2, 2}, {3, 3}}}, {4});
  terms.budgets_of = {{0}, {0}};
  terms.budgets = {{.waiting_max = 3, .cost = 5, .level = 0}};
  PatternMaster master(terms);
  ASSERT_TRUE(master.Solve(kPlenty));
  EXPECT_THAT(master.objective(), IsAbout(4 + 4 + 9 + 6 * 5));
  EXPECT_THAT(master.ClassPrice(0), IsAbout(1 + 5));
  EXPECT_THAT(master.ClassPrice(1), IsAbout(3 + 5));
  EXPECT_THAT(master.BudgetPrice(0), IsAbout(5));
  master.AddPattern(0, Tasks{{0, 1}}, 2);
  master.AddPattern(0, Tasks{{1, 2}}, 3);
  ASSERT_TRUE(master.Solve(kPlenty));
  // All of the second class have room; of the first one must be placed, too.
  EXPECT_THAT(master.Amounts(), ElementsAre(IsAbout(1), IsAbout(2.5)));
  EXPECT_THAT(master.objective(), IsAbout(2 + 2.5 * 3 + 3));
}

// One task a machine, in either of two domains: the second has one machine, so
// the first takes no more than two.
TEST(PatternMaster, CapsOfASpreadRiseTogether) {
  PatternMaster::Terms terms = Terms({{{10, 1}}}, {5, 1});
  terms.caps = {1, 1};
  terms.spreads = {{{0, 1}, {0, 0}, 4}};
  PatternMaster master(terms);
  master.AddPattern(0, Tasks{{0, 1}}, 0, Tasks{{0, 1}});
  master.AddPattern(1, Tasks{{0, 1}}, 0, Tasks{{1, 1}});
  ASSERT_TRUE(master.Solve(kPlenty));
  EXPECT_THAT(master.Amounts(), ElementsAre(IsAbout(2), IsAbout(1)));
  EXPECT_THAT(master.CapPrice(0), IsAbout(1));
  EXPECT_THAT(master.FloorPrice(1), IsAbout(1));
  EXPECT_THAT(master.FloorPrice(0), IsAbout(0));
}

TEST(PatternMaster, MachinesHoldThePatternThatSavesTheMost) {
  PatternMaster master(Terms({{{10, 1}}, {{10, 1}}}, {2}));
  EXPECT_EQ(master.AddPattern(0, Tasks{{0, 2}}, 0), 0u);
  EXPECT_EQ(master.AddPattern(0, Tasks{{0, 1}, {1, 3}}, 0), 1u);
  ASSERT_TRUE(master.Solve(kPlenty));
  EXPECT_THAT(master.objective(), IsAbout(20 - 8));
  EXPECT_THAT(master.GroupPrice(0), IsAbout(4));
  EXPECT_THAT(master.Amounts(), ElementsAre(IsAbout(0), IsAbout(2)));
}

// What the amounts leave waiting costs no more than the prices prove.
TEST(PatternMaster, AmountsAndPricesProveEachOther) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const size_t classes = 1 + rng.Below(6);
    const size_t groups = 1 + rng.Below(5);
    const auto up_to = [&](uint64_t most) {
      return static_cast<double>(1 + rng.Below(most));
    };
    PatternMaster::Terms terms = Terms({}, {});
    for (size_t c = 0; c < classes; ++c) {
      terms.waiting.push_back({{up_to(20), up_to(5)}});
    }
    for (size_t g = 0; g < groups; ++g) terms.machines.push_back(up_to(4));
    PatternMaster master(terms);
    std::vector<std::pair<size_t, Tasks>> patterns;
    for (uint64_t i = rng.Below(20); i > 0; --i) {
      auto& [group, tasks] = patterns.emplace_back(rng.Below(groups), Tasks());
      for (size_t c = 0; c < classes; ++c) {
        const auto count = static_cast<int64_t>(rng.Below(4));
        if (count > 0) tasks.emplace_back(c, count);
      }
      master.AddPattern(group, tasks, 0);
      ASSERT_TRUE(rng.Chance(3, 4) || master.Solve(kPlenty));
    }
    ASSERT_TRUE(master.Solve(kPlenty));

    double proved = 0;
    std::vector<double> waiting;
    for (size_t c = 0; c < classes; ++c) {
      const PatternMaster::Step& all = terms.waiting[c][0];
      EXPECT_GE(master.ClassPrice(c), -1e-6);
      EXPECT_LE(master.ClassPrice(c), all.cost + 1e-6);
      proved += all.count * master.ClassPrice(c);
      waiting.push_back(all.count);
    }
    std::vector<double> machines = terms.machines;
    for (size_t g = 0; g < groups; ++g) {
      EXPECT_GE(master.GroupPrice(g), -1e-6);
      proved -= machines[g] * master.GroupPrice(g);
    }
    const std::vector<double> amounts = master.Amounts();
    for (size_t i = 0; i < patterns.size(); ++i) {
      const auto& [group, tasks] = patterns[i];
      double worth = 0;
      for (const auto& [c, count] : tasks) {
        worth += static_cast<double>(count) * master.ClassPrice(c);
        waiting[c] -= static_cast<double>(count) * amounts[i];
      }
      EXPECT_LE(worth, master.GroupPrice(group) + 1e-6);
      machines[group] -= amounts[i];
    }
    for (const double left : machines) EXPECT_GE(left, -1e-4);
    double cost = 0;
    for (size_t c = 0; c < classes; ++c) {
      cost += std::max(waiting[c], 0.0) * terms.waiting[c][0].cost;
    }
    EXPECT_THAT(proved, DoubleNear(cost, 1e-3));
    EXPECT_THAT(master.objective(), DoubleNear(cost, 1e-3));
  }
}

TEST(PatternMaster, EachLevelHasItsOwnThatIsFree) {
  // Two of level 0 may wait, and of level 1 what waits costs a tenth.
  PatternMaster::Terms terms =
      Terms({{{4, 1, 1}, {3, 1, 0}}, {{5, 1, 1}}, {{2, 0}}}, {1});
  terms.levels = {{.free = 2, .overflow_cost = 100},
                  {.free = 0, .overflow_cost = 0.1}};
  PatternMaster master(terms);
  ASSERT_TRUE(master.Solve(kPlenty));
  EXPECT_THAT(master.objective(), DoubleNear(100 + 0.9, 1e-3));
  master.AddPattern(0, Tasks{{0, 1}}, 0);
  ASSERT_TRUE(master.Solve(kPlenty));
  EXPECT_THAT(master.objective(), IsAbout(0.9));
  EXPECT_THAT(master.ClassPrice(2), IsAbout(0));
  master.AddPattern(0, Tasks{{0, 1}, {1, 3}}, 0);
  ASSERT_TRUE(master.Solve(kPlenty));
  EXPECT_THAT(master.objective(), IsAbout(0.6));
}

TEST(PatternMaster, MixesPatternsInParts) {
  // Three machines, five tasks of each class; three of one kind or two of each.
  PatternMaster master(Terms({{{5, 1}}, {{5, 1}}}, {3}));
  master.AddPattern(0, Tasks{{0, 4}}, 0);
  master.AddPattern(0, Tasks{{1, 4}}, 0);
  ASSERT_TRUE(master.Solve(kPlenty));
  EXPECT_THAT(master.objective(), IsAbout(0));
  EXPECT_THAT(master.Amounts(), ElementsAre(IsAbout(1.25), IsAbout(1.25)));
}

TEST(PatternMaster, TheCheapestStepsAreThoseThatWait) {
  PatternMaster master(Terms({{{1, 1}, {1, 5}, {1, 9}}}, {1}));
  master.AddPattern(0, Tasks{{0, 2}}, 0);
  ASSERT_TRUE(master.Solve(kPlenty));
  EXPECT_THAT(master.objective(), IsAbout(1));
}

TEST(PatternMaster, PatternsAreAddedBetweenSolves) {
  PatternMaster master(Terms({{{6, 1}}}, {2}));
  ASSERT_TRUE(master.Solve(kPlenty));
  EXPECT_THAT(master.objective(), IsAbout(6));
  const int64_t work = master.work();
  master.AddPattern(0, Tasks{{0, 1}}, 0);
  ASSERT_TRUE(master.Solve(kPlenty));
  EXPECT_THAT(master.objective(), IsAbout(4));
  master.AddPattern(0, Tasks{{0, 3}}, 0);
  ASSERT_TRUE(master.Solve(kPlenty));
  EXPECT_THAT(master.objective(), IsAbout(0));
  EXPECT_GT(master.work(), work);
}

TEST(PatternMaster, WaitingIsFreeAsFarAsItIsAllowed) {
  PatternMaster::Terms terms = Terms({{{4, 2}}}, {4});
  terms.levels[0].free = 4;  // Two of the four may wait.
  terms.levels[0].overflow_cost = 100;
  PatternMaster master(terms);
  master.AddPattern(0, Tasks{{0, 1}}, 3);
  ASSERT_TRUE(master.Solve(kPlenty));
  EXPECT_THAT(master.objective(), IsAbout(6));
  EXPECT_THAT(master.Amounts(), ElementsAre(IsAbout(2)));
  EXPECT_THAT(master.ClassPrice(0), IsAbout(3));
}

TEST(PatternMaster, OverflowIsPaidForWhereWaitingCannotBeAvoided) {
  PatternMaster::Terms terms = Terms({{{4, 2}}}, {});
  terms.levels[0].free = 2;
  terms.levels[0].overflow_cost = 10;
  PatternMaster master(terms);
  ASSERT_TRUE(master.Solve(kPlenty));
  EXPECT_THAT(master.objective(), DoubleNear(60, 1e-3));
}

TEST(PatternMaster, PatternsMayHoldMoreThanThereIs) {
  PatternMaster master(Terms({{{3, 1}}}, {5}));
  master.AddPattern(0, Tasks{{0, 100}}, 0);
  ASSERT_TRUE(master.Solve(kPlenty));
  EXPECT_THAT(master.objective(), IsAbout(0));
}

TEST(PatternMaster, SaysThatItDidNotComeToTheEnd) {
  PatternMaster master(Terms({{{3, 1}}, {{3, 1}}}, {5, 5}));
  for (size_t c = 0; c < 2; ++c) master.AddPattern(c, Tasks{{c, 1}}, 0);
  EXPECT_FALSE(master.Solve(0));
  EXPECT_THAT(master.objective(), IsAbout(6));
}

TEST(PatternMaster, HasNothingToDoWithoutClasses) {
  PatternMaster master(Terms({}, {3}));
  EXPECT_TRUE(master.Solve(kPlenty));
  EXPECT_THAT(master.objective(), IsAbout(0));
}

TEST(PatternMaster, CopesWithHugeCounts) {
  constexpr double kMany = 1099511627776;  // 2^40.
  PatternMaster master(Terms({{{kMany, 1}}, {{kMany, 1}}}, {kMany}));
  master.AddPattern(0, Tasks{{0, int64_t{1} << 40}}, 0);
  master.AddPattern(0, Tasks{{1, 2}}, 0);
  ASSERT_TRUE(master.Solve(kPlenty));
  EXPECT_THAT(master.objective(), DoubleNear(0, 1));
}

TEST(PatternMaster, TheSameCallsGiveTheSamePrices) {
  const auto prices = [] {
    PatternMaster master(Terms({{{9, 1}, {3, 2}}, {{7, 1}}, {{5, 3}}}, {2, 3}));
    master.AddPattern(0, Tasks{{0, 2}, {1, 1}}, 0);
    master.AddPattern(0, Tasks{{1, 2}, {2, 1}}, 0);
    master.AddPattern(1, Tasks{{0, 1}, {2, 1}}, 0);
    EXPECT_TRUE(master.Solve(kPlenty));
    return std::vector<double>{master.ClassPrice(0), master.ClassPrice(1),
                               master.ClassPrice(2), master.GroupPrice(0),
                               master.GroupPrice(1)};
  };
  EXPECT_EQ(prices(), prices());
}

}  // namespace
}  // namespace sluice
