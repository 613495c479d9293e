#include "packing/packing_draft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <tuple>
#include <vector>

#include "packing/pattern_rules.h"
#include "util/packing_builder.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

// Two kinds of machines of ten units each; tasks of three and of two units.
PackingProblem TwoKinds() {
  PackingProblem problem;
  problem.classes = {{.request = {3}, .waiting = {{2, 5}, {6, 7}}},
                     {.request = {2}, .waiting = {{4, 4}}}};
  problem.groups = {{{10}, 2, 0}, {{10}, 3, 1}};
  problem.costs = {{1, 9}, {2, kNotAllowed}};
  return problem;
}

TEST(PackingDraft, FillsUpWithTheMostUrgentFirst) {
  PackingProblem problem;
  problem.classes = {{.request = {1}, .waiting = {{4, 9, 1}, {1, 9}}},
                     {.request = {3}, .waiting = {{1, 1, 0}}}};
  problem.groups = {{{5}, 1, 0}};
  problem.costs = {{0, 0}};
  PackingDraft draft(problem, {{5, 1}, {1}});
  draft.FillUp();
  EXPECT_EQ(draft.rest().tasks, (std::vector<int64_t>{3, 0}));
}

TEST(PackingDraft, BeginsWithEverythingWaiting) {
  const PackingProblem problem = TwoKinds();
  const PackingDraft draft(problem, AllOf(problem));
  EXPECT_THAT(draft.patterns(), IsEmpty());
  EXPECT_EQ(draft.Cost(), (PackingCost{2 * 5 + 6 * 7 + 4 * 4, 0}));
}

TEST(PackingDraft, PutsAPatternOnSoManyMachines) {
  const PackingProblem problem = TwoKinds();
  PackingDraft draft(problem, AllOf(problem));
  EXPECT_TRUE(draft.Put({0, 2, {{0, 2}, {1, 1}}}));
  ASSERT_THAT(draft.patterns(), SizeIs(1));
  EXPECT_EQ(draft.patterns()[0].machines, 2);
  EXPECT_THAT(draft.rest().tasks, ElementsAre(4, 2));
  EXPECT_THAT(draft.rest().machines, ElementsAre(0, 3));
  EXPECT_EQ(draft.Cost(), (PackingCost{2 * 5 + 2 * 7 + 2 * 4, 4 + 2 * 9}));
}

TEST(PackingDraft, PutsNoMoreThanThereAreMachinesAndTasks) {
  const PackingProblem problem = TwoKinds();
  PackingDraft draft(problem, AllOf(problem));
  // Eight tasks are two machines of three, and one of two.
  EXPECT_TRUE(draft.Put({1, 100, {{0, 3}}}));
  ASSERT_THAT(draft.patterns(), SizeIs(2));
  EXPECT_EQ(draft.patterns()[0].machines, 2);
  EXPECT_EQ(draft.patterns()[1].machines, 1);
  EXPECT_THAT(draft.patterns()[1].tasks, ElementsAre(Pair(0, 2)));
  EXPECT_FALSE(draft.Put({1, 1, {{1, 1}}}));  // All of its machines are taken.
  EXPECT_FALSE(draft.Put({0, 1, {{0, 1}}}));  // There are no such tasks left.
  EXPECT_FALSE(draft.Put({0, 0, {{1, 1}}}));
  EXPECT_FALSE(draft.Put({0, 1, {}}));
}

TEST(PackingDraft, FillsUpWhereItCostsTheLeast) {
  const PackingProblem problem = TwoKinds();
  PackingDraft draft(problem, AllOf(problem));
  draft.FillUp();
  // Six of the first class on the first kind, and then no room for the second
  // class, which the other kind is closed to.
  EXPECT_THAT(draft.rest().tasks, ElementsAre(0, 4));
  EXPECT_THAT(draft.rest().machines, ElementsAre(0, 0));
  EXPECT_EQ(draft.Cost(), (PackingCost{16, 6 + 2 * 2}));
}

TEST(PackingDraft, FillsUpBesideWhatStands) {
  PackingProblem problem = TwoKinds();
  problem.classes[0].per_machine_max = 2;
  PackingDraft draft(problem, AllOf(problem));
  ASSERT_TRUE(draft.Put({0, 2, {{0, 1}, {1, 2}}}));
  draft.FillUp();
  EXPECT_THAT(draft.rest().tasks, ElementsAre(0, 0));
  int64_t machines = 0;
  for (const Pattern& pattern : draft.patterns()) {
    for (const auto& [c, count] : pattern.tasks) EXPECT_LE(count, 2);
    machines += pattern.machines;
  }
  EXPECT_EQ(machines, 5);
  EXPECT_EQ(draft.Cost(), (PackingCost{0, 4 + 4 * 9 + 4 * 2}));
}

TEST(PackingDraft, FillsUpWithNothingThatIsToBeApart) {
  PackingProblem problem = TwoKinds();
  problem.classes[0].apart_from = {1};
  problem.classes[1].apart_from = {0};
  PackingDraft draft(problem, AllOf(problem));
  ASSERT_TRUE(draft.Put({0, 1, {{0, 1}}}));
  draft.FillUp();
  EXPECT_THAT(draft.rest().tasks, ElementsAre(0, 4));
  for (const Pattern& pattern : draft.patterns()) {
    EXPECT_LE(pattern.tasks.size(), 1u);
  }
}

// At most three of the first class and the second together on the first kind.
TEST(PackingDraft, KeepsWithinCaps) {
  PackingProblem problem = TwoKinds();
  problem.caps = {{{0, 1}, 3}};
  problem.groups[0].caps = {0};
  EXPECT_THAT(WithinCaps(problem, {0, 2, {{0, 2}, {1, 2}}}, {3}),
              Eq(Pattern{0, 1, {{0, 2}, {1, 1}}}));
  PackingDraft draft(problem, AllOf(problem));
  ASSERT_TRUE(draft.Put({0, 2, {{1, 2}}}));
  EXPECT_THAT(draft.rest().caps, ElementsAre(0));
  draft.FillUp();
  EXPECT_THAT(draft.rest().tasks, ElementsAre(0, 1));
  draft.MoveUp();
  EXPECT_THAT(draft.rest().caps, ElementsAre(0)) << "nothing moves there";
  for (size_t p = 0; p < draft.patterns().size(); ++p) {
    if (draft.patterns()[p].group != 0 || draft.patterns()[p].machines == 0) {
      continue;
    }
    PackingRest taken{draft.rest().tasks, {0, 0}, draft.rest().caps};
    draft.TakeOut(p, &taken);
    EXPECT_GT(taken.caps[0], 0);
    draft.PutBack(p);
  }
}

// The first class is spread over the two kinds, the second of which has room
// for one of it.
TEST(PackingDraft, DropsWhatCapsThatHaveNotRisenDoNotLetIn) {
  PackingProblem problem = TwoKinds();
  problem.groups[1] = {{3}, 1, 1};
  problem.caps = {{{0}, 1, 3}, {{0}, 1, 3}};
  problem.groups[0].caps = {0};
  problem.groups[1].caps = {1};
  problem.spreads = {{{0, 1}, {0, 0}, 3}};
  PackingDraft draft(problem, AllOf(problem));
  ASSERT_TRUE(draft.Put({0, 1, {{0, 3}}}));
  EXPECT_EQ(RiseOf(problem, problem.spreads[0], draft.rest().caps), 0);
  EXPECT_EQ(draft.Cost().waiting, 2 * 5 + 5 * 7 + 4 * 4)
      << "as if one of the three were placed";
  draft.FillUp();
  EXPECT_EQ(RiseOf(problem, problem.spreads[0], draft.rest().caps), 1);
  EXPECT_THAT(draft.rest().caps, ElementsAre(-1, 0));
  EXPECT_THAT(draft.rest().tasks, ElementsAre(5, 0));
}

// Over two zones, and over the five racks in them, of which the first has room
// for three, the second for none, and the others for one.
// A machine in each of two domains, on which two tasks run that count for a
// spread; one of another class waits that does so, and one that does not.
PackingProblem SpreadOverRunning() {
  PackingProblem problem;
  problem.classes = {{.request = {1}, .waiting = {{1, 1, 0}}},
                     {.request = {4}, .waiting = {{1, 1, 0}}},
                     {.request = {1}, .waiting = {{4, 1, 1}}, .runs = true}};
  problem.groups = {{{4}, 1, 0, {}, {0}}, {{4}, 1, 0, {}, {1}}};
  problem.costs = {{0, 0, 0}};
  problem.staying = {{{2, 2}}};
  problem.caps = {{{0, 2}, 3, 0}, {{0, 2}, 3, 0}};
  problem.spreads = {{{0, 1}, {-2, -2}, 0}};
  return problem;
}

TEST(PackingDraft, StopsWhatRunsWhereASpreadMindsWhatIsMoreUrgent) {
  PackingProblem problem = SpreadOverRunning();
  problem.caps[0].most = 2;  // One more is there that cannot be stopped.
  problem.caps[0].rise_max = problem.spreads[0].rise_max = 1;
  PackingDraft draft(problem, AllOf(problem));
  draft.Put({0, 1, {{0, 1}, {2, 2}}});
  draft.Put({1, 1, {{2, 2}}});
  draft.FillUp();
  EXPECT_THAT(draft.rest().tasks, ElementsAre(0, 1, 1));
  // Not where it is as urgent.
  problem.classes[2].waiting[0].level = 0;
  problem.classes[0].waiting[0].level = 1;
  PackingDraft other(problem, AllOf(problem));
  other.Put({0, 1, {{0, 1}, {2, 2}}});
  other.Put({1, 1, {{2, 2}}});
  EXPECT_EQ(other.Cost().waiting[1], 1);
}

TEST(PackingDraft, StopsNobodyWhereCapsSinkUnderWhatRunsAlone) {
  const PackingProblem problem = SpreadOverRunning();
  PackingDraft draft(problem, {{0, 1, 4}, {1, 1}, {3, 3}});
  draft.Put({0, 1, {{2, 2}}});
  draft.Put({1, 1, {{1, 1}}});
  EXPECT_EQ(RiseOf(problem, problem.spreads[0], draft.rest().caps), -2);
  draft.FillUp();
  EXPECT_THAT(draft.rest().tasks, ElementsAre(0, 0, 2));
}

TEST(PackingDraft, LetsCapsSinkForWhatDoesNotRun) {
  const PackingProblem problem = SpreadOverRunning();
  PackingDraft draft(problem, AllOf(problem));
  draft.Put({0, 1, {{0, 1}, {2, 2}}});
  draft.Put({1, 1, {{1, 1}}});
  draft.FillUp();
  EXPECT_THAT(draft.rest().tasks, ElementsAre(0, 0, 4))
      << "one in the first domain, as there is none in the second";
}

TEST(PackingDraft, DropsForOneSpreadWhatAnotherRisesBy) {
  PackingProblem problem;
  problem.classes = {{.request = {1}, .waiting = {{6, 1}}}};
  problem.costs = {{0}};
  problem.caps.assign(7, {{0}, 1, 3});
  for (const auto& [zone, rack, room] :
       std::vector<std::tuple<size_t, size_t, int64_t>>{
           {0, 2, 3}, {0, 3, 0}, {1, 4, 1}, {1, 5, 1}, {1, 6, 1}}) {
    problem.groups.push_back(
        {.free = {room}, .machines = 1, .caps = {zone, rack}});
  }
  problem.spreads = {{{0, 1}, {0, 0}, 3},
                     {{2, 3, 4, 5, 6}, {0, 0, 0, 0, 0}, 3}};
  PackingDraft draft(problem, AllOf(problem));
  draft.FillUp();
  for (const PackingSpread& spread : problem.spreads) {
    const int64_t rise = RiseOf(problem, spread, draft.rest().caps);
    for (const size_t cap : spread.caps) {
      EXPECT_GE(draft.rest().caps[cap] + rise, 0) << cap;
    }
  }
  EXPECT_LE(draft.rest().tasks[0], 3);
}

TEST(PackingDraft, WhatIsTakenOutAndPutBackCostsTheSame) {
  const PackingProblem problem = TwoKinds();
  PackingDraft draft(problem, AllOf(problem));
  ASSERT_TRUE(draft.Put({0, 2, {{0, 2}, {1, 1}}}));
  const PackingCost before = draft.Cost();
  PackingRest taken{draft.rest().tasks, {0, 0}};
  draft.TakeOut(0, &taken);
  EXPECT_THAT(taken.tasks, ElementsAre(6, 3));
  EXPECT_THAT(taken.machines, ElementsAre(1, 0));
  EXPECT_EQ(draft.Cost().placed, before.placed / 2);
  EXPECT_EQ(draft.patterns()[0].machines, 1);
  draft.PutBack(0);
  EXPECT_EQ(draft.Cost(), before);
  EXPECT_EQ(draft.patterns()[0].machines, 2);
}

TEST(PackingDraft, PutsInWhatWasMadeOfWhatWasTakenOut) {
  const PackingProblem problem = TwoKinds();
  PackingDraft draft(problem, AllOf(problem));
  ASSERT_TRUE(draft.Put({0, 2, {{0, 1}}}));
  PackingRest taken{draft.rest().tasks, {0, 0}};
  draft.TakeOut(0, &taken);
  PackingDraft made(problem, taken);
  ASSERT_TRUE(made.Put({0, 1, {{1, 2}}}));
  draft.PutIn(made);
  EXPECT_EQ(draft.Cost(), (PackingCost{2 * 5 + 5 * 7 + 2 * 4, 1 + 2 * 9}));
  EXPECT_THAT(draft.rest().tasks, ElementsAre(7, 2));
  EXPECT_THAT(draft.patterns(), SizeIs(2));
}

TEST(PackingDraft, CopesWithHugeCounts) {
  constexpr int64_t kMany = int64_t{1} << 40;
  PackingProblem problem;
  problem.classes = {
      {.request = {int64_t{1} << 19, 0}, .waiting = {{kMany, 1 << 20}}},
      {.request = {0, 0}, .waiting = {{kMany, 1}}}};
  problem.groups = {{{int64_t{1} << 60, 0}, kMany, 0}};
  problem.costs = {{1 << 20, 1}};
  PackingDraft draft(problem, AllOf(problem));
  draft.FillUp();
  EXPECT_THAT(draft.rest().tasks, ElementsAre(0, 0));
  EXPECT_EQ(draft.Cost(), (PackingCost{0, (kMany << 20) + kMany}));
}

TEST(PackingDraft, MovesTasksToWhereTheyCostLess) {
  const PackingProblem problem = TwoKinds();
  PackingDraft draft(problem, {{5, 2}, {2, 3}});
  ASSERT_TRUE(draft.Put({1, 3, {{0, 1}}}));
  ASSERT_TRUE(draft.Put({0, 2, {{0, 1}, {1, 1}}}));
  ASSERT_EQ(draft.Cost(), (PackingCost{0, 3 * 2 + 2 * (1 + 9)}));
  // There is room for one more beside each pair.
  EXPECT_GT(draft.MoveUp(), 0);
  EXPECT_EQ(draft.Cost(), (PackingCost{0, 1 * 2 + 4 * 1 + 2 * 9}));
  int64_t tasks = 0;
  for (const Pattern& pattern : draft.patterns()) {
    if (pattern.group == 0) {
      EXPECT_THAT(pattern.tasks, ElementsAre(Pair(0, 2), Pair(1, 1)));
    }
    for (const auto& [task_class, count] : pattern.tasks) {
      tasks += count * pattern.machines;
    }
  }
  EXPECT_EQ(tasks, 7);
}

// Two tasks of the first class run on each machine of the first kind, and each
// may move for 5.
PackingProblem WithMovable() {
  PackingProblem problem = TwoKinds();
  problem.classes[0].runs = true;
  problem.classes[0].waiting = {{4, 7}};
  problem.classes[0].move_cost = 5;
  problem.staying = {{{0, 2}}};
  return problem;
}

TEST(PackingDraft, ChargesWhatMovesForItsMove) {
  const PackingProblem problem = WithMovable();
  PackingDraft draft(problem, AllOf(problem));
  ASSERT_TRUE(draft.Put({0, 1, {{0, 3}}}));
  EXPECT_EQ(draft.placed_cost(), 3 * 1 + 5);
  EXPECT_EQ(draft.CostOfLast(0, 0), 1 + 5);
  ASSERT_TRUE(draft.Put({0, 1, {{0, 1}}}));
  EXPECT_EQ(draft.CostOfLast(1, 0), 1);
  // What moved goes back to where it runs.
  draft.MoveUp();
  EXPECT_EQ(draft.Cost(), (PackingCost{16, 4 * 1}));
}

TEST(PackingDraft, FillsUpWhereTasksRunBeforeOthersMove) {
  PackingProblem problem = WithMovable();
  // The second kind is liked better, though not by what a move costs.
  problem.costs[0][0] = 4;
  PackingDraft draft(problem, AllOf(problem));
  draft.FillUp();
  EXPECT_EQ(draft.placed_cost(), 4 * 4 + 4 * 9);
  problem.costs[0][0] = 8;
  PackingDraft other(problem, AllOf(problem));
  other.FillUp();
  EXPECT_EQ(other.placed_cost(), 4 * (2 + 5) + 4 * 9);
}

TEST(PackingDraft, MovesMoreOnceOthersHaveMoved) {
  PackingProblem problem;
  problem.classes = {{.request = {6}, .waiting = {{1, 1}}},
                     {.request = {5}, .waiting = {{1, 1}}}};
  problem.groups = {{{10}, 1, 0}, {{10}, 1, 1}, {{10}, 1, 2}};
  problem.costs = {{5, 0}, {0, 9}, {9, 9}};
  PackingDraft draft(problem, {{1, 1}, {1, 1, 1}});
  ASSERT_TRUE(draft.Put({0, 1, {{0, 1}}}));
  ASSERT_TRUE(draft.Put({2, 1, {{1, 1}}}));
  draft.FillUp();
  draft.MoveUp();
  EXPECT_EQ(draft.Cost(), PackingCost());
}

// Three tasks of three units are a gang of two at least.
PackingProblem WithGang(int64_t free) {
  PackingProblem problem = OneGroup({free});
  AddGang({.request = {3}, .waiting = {{3, 5}}}, 0, 2, &problem);
  AddClass({.request = {1}, .waiting = {{9, 1}}}, 0, &problem);
  return problem;
}

// Each class is one by itself.
Seating SeatingOf(const PackingProblem& problem) {
  std::vector<size_t> merged_of(problem.classes.size());
  std::iota(merged_of.begin(), merged_of.end(), size_t{0});
  return {problem, merged_of};
}

TEST(PackingDraft, StartsAGangOnlyAsAWhole) {
  const PackingProblem small = WithGang(5);
  Seating of_small = SeatingOf(small);
  PackingDraft without(small, AllOf(small), &of_small);
  without.FillUp();
  EXPECT_THAT(without.rest().tasks, ElementsAre(3, 4));
  const PackingProblem large = WithGang(7);
  Seating of_large = SeatingOf(large);
  PackingDraft with(large, AllOf(large), &of_large);
  with.FillUp();
  EXPECT_THAT(with.rest().tasks, ElementsAre(1, 8));
  EXPECT_TRUE(with.HasStarted(0));
  EXPECT_GT(with.TakeWork(), 0);
}

TEST(PackingDraft, MakesAGangWholeOrTakesItOut) {
  const PackingProblem large = WithGang(7);
  Seating seating = SeatingOf(large);
  const PackingDraft empty(large, AllOf(large), &seating);
  PackingDraft draft = empty;
  ASSERT_TRUE(draft.Put({0, 1, {{0, 1}}}));
  EXPECT_EQ(draft.Cost(), empty.Cost()) << "as if it waited";
  EXPECT_FALSE(draft.HasStarted(0));
  draft.FillUp();
  EXPECT_THAT(draft.rest().tasks, ElementsAre(1, 8));
  PackingDraft full = empty.MakeEmpty(AllOf(large));
  ASSERT_TRUE(full.Put({0, 1, {{0, 1}, {1, 4}}}));
  full.FillUp();
  EXPECT_THAT(full.rest().tasks, ElementsAre(3, 2));
}

TEST(PackingDraft, KnowsThatAGangIsWholeElsewhere) {
  const PackingProblem problem = WithGang(4);
  Seating seating = SeatingOf(problem);
  // Two of the three are placed where nothing is to be decided on.
  PackingDraft draft(problem, {{1, 0}, {1}}, &seating);
  draft.FillUp();
  EXPECT_THAT(draft.rest().tasks, ElementsAre(0, 0));
}

// All tasks of both classes, or none.
TEST(PackingDraft, StartsAGangOfSeveralClassesTogether) {
  PackingProblem problem = WithGang(7);
  problem.gangs = {{{0, 1}, 12}};
  for (const int64_t free : {17, 18, 19}) {
    problem.groups[0].free = {free};
    Seating seating = SeatingOf(problem);
    PackingDraft draft(problem, AllOf(problem), &seating);
    draft.FillUp();
    const bool starts = free >= 3 * 3 + 9;
    EXPECT_THAT(draft.rest().tasks,
                starts ? ElementsAre(0, 0) : ElementsAre(3, 9));
  }
}

// The room for less than the gang goes to what is less urgent, and is taken
// from where it costs the most.
TEST(PackingDraft, FillsPlacesOfAClassByLevels) {
  PackingProblem problem;
  problem.classes = {{.request = {1}, .waiting = {{4, 1, 1}, {3, 1, 0}}}};
  problem.groups = {{{1}, 1, 0}, {{1}, 1, 1}};
  problem.costs = {{5}, {0}};
  PackingProblem parts = problem;
  parts.classes = {{.request = {1}, .waiting = {{3, 1, 0}}},
                   {.request = {1}, .waiting = {{4, 1, 1}}}};
  parts.gangs = {{{0}, 3}};
  const std::vector<size_t> merged_of = {0, 0};
  Seating seating(parts, merged_of);
  PackingDraft draft(problem, AllOf(problem), &seating);
  draft.FillUp();
  const std::vector<int64_t> waiting = {3, 2};
  EXPECT_EQ(draft.Cost(), (PackingCost{LevelCosts(waiting), 5}));
  parts.classes[1].waiting = {{1, 1, 1}};
  problem.classes[0].waiting = {{1, 1, 1}, {3, 1, 0}};
  Seating of_fewer(parts, merged_of);
  PackingDraft fewer(problem, AllOf(problem), &of_fewer);
  fewer.FillUp();
  EXPECT_EQ(fewer.Cost(), (PackingCost{3, 0}));
}

TEST(PackingDraft, MovesNoneBesideOnesThatItMayNotStandWith) {
  PackingProblem problem;
  problem.classes = {
      {.request = {1}, .waiting = {{2, 1}}, .per_machine_max = 1}};
  problem.groups = {{{10}, 1, 0}, {{10}, 1, 1}};
  problem.costs = {{0}, {7}};
  PackingDraft draft(problem, {{2}, {1, 1}});
  draft.FillUp();
  draft.MoveUp();
  EXPECT_EQ(draft.Cost(), (PackingCost{0, 7}));
}

}  // namespace
}  // namespace sluice
