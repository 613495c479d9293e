#include "packing/pattern_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace sluice {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kPlenty = 100'000'000;

// The uppermost level is held at that waiting cost.
std::vector<int64_t> Held(int64_t cost) { return {cost}; }

// Machines of ten units, each of which one kind of tasks likes better.
PackingProblem TwoLikings() {
  PackingProblem problem;
  problem.classes = {{.request = {4}, .waiting = {{8, 100}}},
                     {.request = {3}, .waiting = {{9, 100}}}};
  problem.groups = {{{10}, 4, 0}, {{10}, 3, 1}};
  problem.costs = {{1, 5}, {5, 1}};
  return problem;
}

TEST(Dive, GivesEachTheMachinesThatItLikes) {
  const PackingProblem problem = TwoLikings();
  PatternRelaxation relaxation(problem, kPlenty);
  const PackingDraft draft =
      Dive(PackingDraft(problem, AllOf(problem)), Held(0), 1.0, &relaxation);
  EXPECT_EQ(draft.Cost(), (PackingCost{0, 8 + 9}));
  EXPECT_THAT(draft.rest().machines, Each(0));
}

TEST(Dive, DecidesOnTheRestAlone) {
  const PackingProblem problem = TwoLikings();
  PatternRelaxation relaxation(problem, kPlenty);
  const PackingDraft draft =
      Dive(PackingDraft(problem, {{3, 0}, {1, 0}}), {}, 1.0, &relaxation);
  EXPECT_EQ(draft.Cost(), (PackingCost{100, 2}));
  EXPECT_THAT(draft.rest().tasks, ElementsAre(1, 0));
}

TEST(Dive, HasNothingToDoWithoutTasksOrMachines) {
  const PackingProblem problem = TwoLikings();
  PatternRelaxation relaxation(problem, kPlenty);
  const PackingDraft no_tasks =
      Dive(PackingDraft(problem, {{0, 0}, {4, 3}}), Held(0), 0.55, &relaxation);
  EXPECT_EQ(no_tasks.Cost(), PackingCost());
  const PackingDraft no_machines =
      Dive(PackingDraft(problem, {{8, 9}, {0, 0}}), Held(0), 0.55, &relaxation);
  EXPECT_EQ(no_machines.Cost(), (PackingCost{1700, 0}));
  EXPECT_THAT(no_machines.patterns(), IsEmpty());
}

TEST(Dive, PacksWithoutAnyWorkToSpend) {
  const PackingProblem problem = TwoLikings();
  PatternRelaxation relaxation(problem, 0);
  const PackingDraft draft =
      Dive(PackingDraft(problem, AllOf(problem)), Held(0), 1.0, &relaxation);
  EXPECT_EQ(draft.Cost().waiting, 0);
}

// Each class where the other would rather be.
PackingDraft Swapped(const PackingProblem& problem) {
  PackingDraft draft(problem, AllOf(problem));
  EXPECT_TRUE(draft.Put({0, 3, {{1, 3}}}));
  EXPECT_TRUE(draft.Put({1, 3, {{0, 2}}}));
  draft.FillUp();
  return draft;
}

TEST(Mend, FindsThatTwoWouldRatherSwapMachines) {
  const PackingProblem problem = TwoLikings();
  PatternRelaxation relaxation(problem, kPlenty);
  PackingDraft draft = Swapped(problem);
  EXPECT_EQ(draft.Cost(), (PackingCost{0, 9 * 5 + 6 * 5 + 2 * 1}));
  Mend(problem, {{0, 17}, 1000}, &relaxation, &draft);
  EXPECT_EQ(draft.Cost(), (PackingCost{0, 17}));
}

TEST(Mend, PlacesWhatWaitsForRoomThatIsScattered) {
  PackingProblem problem;
  problem.classes = {{.request = {6}, .waiting = {{2, 10}}},
                     {.request = {4}, .waiting = {{4, 1}}}};
  problem.groups = {{{10}, 3, 0}};
  problem.costs = {{0, 0}};
  PatternRelaxation relaxation(problem, kPlenty);
  PackingDraft draft(problem, AllOf(problem));
  ASSERT_TRUE(draft.Put({0, 2, {{1, 2}}}));
  ASSERT_TRUE(draft.Put({0, 1, {{0, 1}}}));
  EXPECT_EQ(draft.Cost(), (PackingCost{10, 0}));
  Mend(problem, {{0, 0}, 1000}, &relaxation, &draft);
  EXPECT_EQ(draft.Cost(), (PackingCost{0, 0}));
}

TEST(Mend, PlacesMoreByFillingMachinesInTurn) {
  PackingProblem problem;
  problem.classes = {{.request = {6}, .waiting = {{20, 1}}},
                     {.request = {5}, .waiting = {{20, 1}}},
                     {.request = {4}, .waiting = {{20, 1}}}};
  problem.groups = {{{10}, 30, 0}};
  problem.costs = {{0, 0, 0}};
  PatternRelaxation relaxation(problem, kPlenty);
  relaxation.Seed();
  PackingDraft draft(problem, AllOf(problem));
  ASSERT_TRUE(draft.Put({0, 10, {{2, 2}}}));
  ASSERT_TRUE(draft.Put({0, 10, {{1, 2}}}));
  draft.FillUp();
  ASSERT_EQ(draft.Cost(), (PackingCost{10, 0}));
  const int64_t work_max = relaxation.work() + 1'000'000;
  Mend(problem, {.attempts_max = 5000, .work_max = work_max, .in_turn = true},
       &relaxation, &draft);
  EXPECT_EQ(draft.Cost(), PackingCost());
}

// What so many attempts take that gain nothing: all machines are full.  With
// `is_any_unmet` those on the last one would rather be elsewhere.
int64_t WorkOfMending(size_t machines, int attempts, bool is_any_unmet) {
  PackingProblem problem;
  const auto tasks = static_cast<int64_t>(2 * machines);
  problem.classes = {{.request = {5}, .waiting = {{tasks + 1, 100}}}};
  problem.groups.assign(machines, {{10}, 1, 0});
  problem.groups.back().kind = is_any_unmet ? 1 : 0;
  problem.costs = {{0}, {7}};
  PatternRelaxation relaxation(problem, kPlenty);
  PackingDraft draft(problem, AllOf(problem));
  for (size_t g = 0; g < machines; ++g) {
    EXPECT_TRUE(draft.Put({g, 1, {{0, 2}}}));
  }
  draft.FillUp();
  const PackingCost cost = draft.Cost();
  const int64_t before = relaxation.work();
  Mend(problem, {.attempts_max = attempts, .in_turn = true}, &relaxation,
       &draft);
  EXPECT_EQ(draft.Cost(), cost);
  return relaxation.work() - before;
}

TEST(Mend, ChargesForWhatItPassesOver) {
  constexpr int kAttempts = 100;
  const int64_t more = WorkOfMending(10100, kAttempts, false) -
                       WorkOfMending(100, kAttempts, false);
  // Ten thousand more groups, and as many patterns.
  EXPECT_GE(more, kAttempts * (10000 + 10000) / 16);
}

TEST(Mend, ChargesForTheSearchForATaskThatWouldRatherBeElsewhere) {
  constexpr int kAttempts = 100;
  const int64_t more = WorkOfMending(1100, kAttempts, true) -
                       WorkOfMending(100, kAttempts, true);
  // It passes half of them in the mean, three times out of four.
  EXPECT_GE(more, kAttempts * 1000 / 4);
}

TEST(Mend, LooksForATaskThatWouldRatherBeElsewhereOnceIfThereIsNone) {
  constexpr int kAttempts = 1000;
  const int64_t more = WorkOfMending(1100, kAttempts, false) -
                       WorkOfMending(100, kAttempts, false);
  // Groups, and of patterns twice as many: some are not in use.
  EXPECT_LE(more, kAttempts * (1000 + 2 * 1000) / 16 + 10 * 1000);
}

TEST(Mend, LeavesAloneWhatIsAtTheBound) {
  const PackingProblem problem = TwoLikings();
  PatternRelaxation relaxation(problem, kPlenty);
  PackingDraft draft = Swapped(problem);
  const PackingCost cost = draft.Cost();
  const int64_t work = relaxation.work();
  Mend(problem, {cost, 1000}, &relaxation, &draft);
  EXPECT_EQ(draft.Cost(), cost);
  EXPECT_EQ(relaxation.work(), work);
}

TEST(Mend, NeverMakesAPackingDearer) {
  const PackingProblem problem = TwoLikings();
  PatternRelaxation relaxation(problem, kPlenty);
  PackingDraft draft = Swapped(problem);
  for (int i = 0; i < 20; ++i) {
    const PackingCost before = draft.Cost();
    Mend(problem, {{0, 0}, 1}, &relaxation, &draft);
    EXPECT_LE(draft.Cost(), before);
  }
}

TEST(Mend, HasNothingToDoWithoutMachines) {
  PackingProblem problem = TwoLikings();
  problem.groups.clear();
  PatternRelaxation relaxation(problem, kPlenty);
  PackingDraft draft(problem, AllOf(problem));
  Mend(problem, {{0, 0}, 10}, &relaxation, &draft);
  EXPECT_EQ(draft.Cost(), (PackingCost{1700, 0}));
}

}  // namespace
}  // namespace sluice
