#include "packing/machine_filling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "util/packing_builder.h"
#include "util/seed_count.h"

namespace sluice {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using Effort = MachineFilling::Effort;
using Amounts = std::vector<int64_t>;

constexpr int64_t kHuge = int64_t{1} << 60;
constexpr int64_t kMany = int64_t{1} << 40;

// One machine; a class for each request, each charged 0.
PackingProblem OneMachine(const Amounts& free,
                          const std::vector<Amounts>& requests) {
  PackingProblem problem = OneGroup(free);
  for (const Amounts& request : requests) {
    AddClass({.request = request, .waiting = {}}, 0, &problem);
  }
  return problem;
}

Filling Fill(const PackingProblem& problem, const std::vector<double>& values,
             const Amounts& counts, Effort effort = Effort::kExact) {
  return MachineFilling(problem).Fill(0, values, counts, effort);
}

TEST(MachineFilling, PrefersTwoThatFillTheMachineToTheMostValuableOne) {
  const PackingProblem problem = OneMachine({10}, {{6}, {5}});
  const Filling filling = Fill(problem, {10, 9}, {5, 5});
  EXPECT_THAT(filling.tasks, ElementsAre(Pair(1, 2)));
  EXPECT_DOUBLE_EQ(filling.value, 18);
  EXPECT_GE(filling.bound, 18);
  EXPECT_LT(filling.bound, 18.001);
}

TEST(MachineFilling, PutsTogetherWhatAsksForDifferentThings) {
  const PackingProblem problem = OneMachine({8, 8}, {{7, 1}, {1, 7}, {4, 4}});
  const Filling filling = Fill(problem, {5, 5, 4.5}, {9, 9, 9});
  EXPECT_THAT(filling.tasks, ElementsAre(Pair(0, 1), Pair(1, 1)));
  EXPECT_DOUBLE_EQ(filling.value, 10);
}

TEST(MachineFilling, TakesNoMoreThanThereIs) {
  const PackingProblem problem = OneMachine({10}, {{1}, {2}});
  EXPECT_THAT(Fill(problem, {5, 1}, {3, 2}).tasks,
              ElementsAre(Pair(0, 3), Pair(1, 2)));
}

TEST(MachineFilling, HeedsTheMostThatMayShareAMachine) {
  PackingProblem problem = OneMachine({10}, {{1}, {2}, {1}});
  problem.classes[0].per_machine_max = 2;
  problem.classes[2].per_machine_max = 0;
  EXPECT_THAT(Fill(problem, {5, 1, 9}, {100, 100, 100}).tasks,
              ElementsAre(Pair(0, 2), Pair(1, 4)));
}

TEST(MachineFilling, MovesNobodyToAnotherMachine) {
  PackingProblem problem = OneMachine({10}, {{1}, {2}, {1}});
  problem.classes[0].runs = true;
  problem.classes[2].runs = true;
  problem.staying = {{{0, 2}}};
  EXPECT_THAT(Fill(problem, {5, 1, 9}, {100, 100, 100}).tasks,
              ElementsAre(Pair(0, 2), Pair(1, 4)));
}

// Two of the first class run there; each that moves there is worth less.
TEST(MachineFilling, TakesWhatRunsThereBeforeWhatMovesThere) {
  PackingProblem problem = OneMachine({10}, {{2}, {2}});
  problem.classes[0].runs = true;
  problem.classes[0].move_cost = 4;
  problem.staying = {{{0, 2}}};
  MachineFilling filling(problem);
  const std::vector<double> values = {5, 3};
  const std::vector<double> moved = {1, 3};
  const Amounts counts = {4, 2};
  const Filling made = filling.Fill(0, values, counts, Effort::kExact, moved);
  EXPECT_THAT(made.tasks, ElementsAre(Pair(0, 3), Pair(1, 2)));
  EXPECT_DOUBLE_EQ(made.value, 2 * 5 + 2 * 3 + 1);
  // Where moves cost nothing all of the class is worth the same.
  EXPECT_THAT(Fill(problem, values, counts).tasks,
              ElementsAre(Pair(0, 4), Pair(1, 1)));
  // What costs more than it is worth does not move.
  const std::vector<double> dear = {-1, 3};
  EXPECT_THAT(filling.Fill(0, values, counts, Effort::kExact, dear).tasks,
              ElementsAre(Pair(0, 2), Pair(1, 2)));
}

TEST(MachineFilling, PutsNothingTogetherThatIsToBeApart) {
  PackingProblem problem = OneMachine({10}, {{3}, {4}, {2}});
  problem.classes[0].apart_from = {1};
  problem.classes[1].apart_from = {0};
  // Two of the second and one of the last, and no more of the first.
  const Filling filling = Fill(problem, {3.1, 4.2, 1.9}, {9, 9, 1});
  EXPECT_THAT(filling.tasks, ElementsAre(Pair(1, 2), Pair(2, 1)));
  EXPECT_DOUBLE_EQ(filling.value, 10.3);
  EXPECT_GE(filling.bound, 10.3);
}

TEST(MachineFilling, LeavesOutWhatMayNotGoThere) {
  PackingProblem problem = OneMachine({10}, {{1}, {2}});
  problem.costs[0][0] = kNotAllowed;
  EXPECT_THAT(Fill(problem, {5, 1}, {100, 100}).tasks, ElementsAre(Pair(1, 5)));
}

TEST(MachineFilling, LeavesOutWhatIsWorthNothing) {
  const PackingProblem problem = OneMachine({10}, {{1}, {2}});
  const Filling filling = Fill(problem, {0, -1}, {100, 100});
  EXPECT_THAT(filling.tasks, IsEmpty());
  EXPECT_EQ(filling.value, 0);
  EXPECT_EQ(filling.bound, 0);
}

TEST(MachineFilling, HasNothingToSayWithoutClasses) {
  const Filling filling = Fill(OneMachine({10}, {}), {}, {});
  EXPECT_THAT(filling.tasks, IsEmpty());
  EXPECT_EQ(filling.bound, 0);
}

TEST(MachineFilling, PutsOnAFullMachineWhatAsksForNothingThatIsGone) {
  const PackingProblem problem = OneMachine({0, 4}, {{1, 1}, {0, 2}});
  EXPECT_THAT(Fill(problem, {9, 1}, {5, 5}).tasks, ElementsAre(Pair(1, 2)));
}

TEST(MachineFilling, TakesAllThatAsksForNothing) {
  const PackingProblem problem = OneMachine({3, 0}, {{0, 0}, {2, 0}});
  const Filling filling = Fill(problem, {1, 1}, {7, 7});
  EXPECT_THAT(filling.tasks, ElementsAre(Pair(0, 7), Pair(1, 1)));
  EXPECT_DOUBLE_EQ(filling.value, 8);
}

TEST(MachineFilling, RoughFillingsAreSoundAndBounded) {
  // Fifteen classes of nearly the same density.
  std::vector<Amounts> requests;
  std::vector<double> values;
  for (int64_t i = 0; i < 15; ++i) {
    requests.push_back({101 + 7 * i, 211 - 5 * i});
    values.push_back(static_cast<double>(100 + i));
  }
  const PackingProblem problem = OneMachine({997, 1009}, requests);
  const Amounts counts(15, 3);
  const Filling rough = Fill(problem, values, counts, Effort::kRough);
  const Filling exact = Fill(problem, values, counts);
  EXPECT_LE(rough.value, exact.value);
  EXPECT_LE(exact.value, rough.bound);
  EXPECT_LE(exact.bound, rough.bound);
}

TEST(MachineFilling, FillsAlikeWhenAskedAgain) {
  const PackingProblem problem =
      OneMachine({97, 101}, {{13, 7}, {11, 17}, {5, 19}, {23, 3}});
  const std::vector<double> values = {4, 6, 5, 7};
  MachineFilling one(problem);
  MachineFilling other(problem);
  for (int i = 0; i < 3; ++i) {
    const Filling a = one.Fill(0, values, Amounts(4, 9), Effort::kRough);
    const Filling b = other.Fill(0, values, Amounts(4, 9), Effort::kRough);
    EXPECT_EQ(a.tasks, b.tasks);
    EXPECT_EQ(a.value, b.value);
    EXPECT_EQ(a.bound, b.bound);
  }
  EXPECT_EQ(one.work(), other.work());
  EXPECT_GT(one.work(), 0);
}

TEST(MachineFilling, CopesWithHugeAmounts) {
  const PackingProblem problem =
      OneMachine({kHuge, kHuge - 1}, {{kHuge / 3, 1}, {1, kHuge / 2}});
  const Filling filling = Fill(problem, {2, 1}, {kMany, 5});
  EXPECT_THAT(filling.tasks, ElementsAre(Pair(0, 3), Pair(1, 1)));
  EXPECT_DOUBLE_EQ(filling.value, 7);
}

TEST(MachineFilling, DoesNotCountDownFromHugeCounts) {
  // Of neither does a whole number of tasks fill the machine in both
  // dimensions, so that the search has to give some of the first up.
  const PackingProblem problem =
      OneMachine({kHuge, kHuge}, {{kHuge / kMany, 1}, {3, kHuge / kMany - 1}});
  const Filling filling = Fill(problem, {1, 0.7}, {kMany, kMany});
  EXPECT_LE(filling.value, filling.bound);
  EXPECT_GE(filling.value, static_cast<double>(kMany));
}

// Of which the search does not come to an end, so that the grid decides: all
// requests are even, what is free is odd, and a task is worth what it asks for.
PackingProblem ManyAlike(const Amounts& free) {
  std::vector<Amounts> requests;
  for (int64_t i = 0; i < 12; ++i) {
    Amounts& request = requests.emplace_back(free.size(), 1);
    request.back() = 100 + 6 * i;
  }
  return OneMachine(free, requests);
}

std::vector<double> ValuesOf(const PackingProblem& problem, int64_t of_each) {
  std::vector<double> values;
  for (const PackingClass& one : problem.classes) {
    values.push_back(static_cast<double>(one.request.back() + of_each));
  }
  return values;
}

TEST(MachineFilling, TheGridProvesWhatTheSearchLeavesOpen) {
  const PackingProblem problem = ManyAlike({995});
  const std::vector<double> values = ValuesOf(problem, 0);
  const Amounts counts(12, 9);
  EXPECT_GT(Fill(problem, values, counts, Effort::kRough).bound, 994.5);
  const Filling filling = Fill(problem, values, counts);
  EXPECT_EQ(filling.value, 994);  // Seven tasks.
  EXPECT_GE(filling.bound, 994);
  EXPECT_LT(filling.bound, 994.5);
}

TEST(MachineFilling, TheGridKnowsTasksThatAskForNothing) {
  PackingProblem problem = ManyAlike({995});
  problem.classes.emplace_back().request = {0};
  problem.costs[0].push_back(0);
  const Filling filling = Fill(problem, ValuesOf(problem, 1), Amounts(13, 9));
  EXPECT_THAT(filling.tasks, Contains(Pair(12, 9)));
  EXPECT_EQ(filling.value, 994 + 7 + 9);
  EXPECT_GE(filling.bound, filling.value);
}

TEST(MachineFilling, TheGridTakesNothingOffForCompanyThatAsksForNothing) {
  PackingProblem problem = ManyAlike({995});
  problem.classes.emplace_back().request = {0};
  problem.costs[0].push_back(0);
  problem.classes[0].needs_company = true;
  problem.classes[0].company = {12};
  std::vector<double> values = ValuesOf(problem, 0);
  values[12] = -500;
  const Filling filling = Fill(problem, values, Amounts(13, 9));
  EXPECT_EQ(filling.value, 994);
  EXPECT_GE(filling.bound, filling.value);
}

TEST(MachineFilling, TheGridKnowsDimensionsThatLimitEachOther) {
  // Five tasks at most by each of the first two dimensions, neither of which
  // may be left out because of the other; six by the third.
  const PackingProblem problem = ManyAlike({5, 5, 615});
  const Filling filling = Fill(problem, ValuesOf(problem, 20), Amounts(12, 9));
  int64_t tasks = 0;
  for (const auto& [c, count] : filling.tasks) tasks += count;
  EXPECT_EQ(tasks, 5);
  EXPECT_EQ(filling.value, 614 + 5 * 20);
  EXPECT_GE(filling.bound, filling.value);
}

// Whether all that is chosen, by class, may share the machine.
bool MayShare(const PackingProblem& problem, const Amounts& chosen) {
  for (size_t c = 0; c < chosen.size(); ++c) {
    if (chosen[c] == 0) continue;
    const PackingClass& one = problem.classes[c];
    const auto is_chosen = [&](size_t other) { return chosen[other] > 0; };
    if (std::ranges::any_of(one.apart_from, is_chosen)) return false;
    bool has_company = !one.needs_company;
    for (const std::vector<size_t>& there : problem.company) {
      has_company = has_company || std::ranges::count(there, c) > 0;
    }
    if (!has_company && std::ranges::none_of(one.company, is_chosen)) {
      return false;
    }
  }
  return true;
}

// The most valuable filling by trying all that begin as is chosen.
double MostValuable(const PackingProblem& problem,
                    const std::vector<double>& values, const Amounts& counts,
                    Amounts free, Amounts* chosen) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  const size_t c = chosen->size();
  if (c == counts.size()) return MayShare(problem, *chosen) ? 0 : kNone;
  const PackingClass& one = problem.classes[c];
  double most = kNone;
  for (int64_t count = 0; count <= counts[c]; ++count) {
    if (std::ranges::any_of(free, [](int64_t left) { return left < 0; })) break;
    chosen->push_back(count);
    most =
        std::max(most, static_cast<double>(count) * values[c] +
                           MostValuable(problem, values, counts, free, chosen));
    chosen->pop_back();
    for (size_t d = 0; d < free.size(); ++d) free[d] -= one.request[d];
  }
  return most;
}

// Compares both efforts with the most valuable of all fillings.
void CheckFillings(const PackingProblem& problem,
                   const std::vector<double>& values, const Amounts& counts) {
  const Amounts& free = problem.groups[0].free;
  Amounts begin;
  const double most = MostValuable(problem, values, counts, free, &begin);
  MachineFilling filling(problem);
  for (const Effort effort : {Effort::kRough, Effort::kExact}) {
    const Filling filled = filling.Fill(0, values, counts, effort);
    EXPECT_GE(filled.bound, most);
    EXPECT_LE(filled.value, most + 1e-9);
    double value = 0;
    Amounts left = free;
    Amounts chosen(counts.size(), 0);
    for (const auto& [c, count] : filled.tasks) {
      chosen[c] += count;
      EXPECT_LE(chosen[c], counts[c]);
      value += static_cast<double>(count) * values[c];
      for (size_t d = 0; d < left.size(); ++d) {
        left[d] -= count * problem.classes[c].request[d];
        EXPECT_GE(left[d], 0);
      }
    }
    EXPECT_NEAR(filled.value, value, 1e-9);
    EXPECT_TRUE(MayShare(problem, chosen));
  }
}

// Makes some of the classes need company of some others, or of those before
// them that need it, too, and half of these worth less or even a loss.
void NeedCompany(Rng* rng, PackingProblem* problem,
                 std::vector<double>* values) {
  std::vector<size_t> others;
  for (size_t c = 0; c < values->size(); ++c) {
    PackingClass& one = problem->classes[c];
    one.needs_company = rng->Chance(1, 2);
    if (!one.needs_company) others.push_back(c);
  }
  problem->company.resize(1);
  const bool has_chains = rng->Chance(1, 2);
  for (size_t c = 0; c < values->size(); ++c) {
    PackingClass& one = problem->classes[c];
    if (!one.needs_company) continue;
    if (rng->Chance(1, 8)) problem->company[0].push_back(c);
    for (const size_t other : others) {
      if (rng->Chance(1, 2)) one.company.push_back(other);
    }
    std::ranges::sort(one.company);
    if (has_chains) others.push_back(c);
  }
  for (const size_t c : others) {
    if (!rng->Chance(1, 2)) continue;
    (*values)[c] = static_cast<double>(rng->Between(-10, 5));
  }
}

// Keeps some pairs of classes apart.
void KeepApart(Rng* rng, PackingProblem* problem) {
  const uint64_t chance = rng->Below(4);  // In ten pairs.
  for (size_t a = 0; a < problem->classes.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      if (!rng->Chance(chance, 10)) continue;
      problem->classes[a].apart_from.push_back(b);
      problem->classes[b].apart_from.push_back(a);
    }
  }
}

struct RandomMachine {
  PackingProblem problem;
  std::vector<double> values;
  Amounts counts;
};

RandomMachine FewTasks(Rng* rng) {
  const auto dimensions = static_cast<size_t>(rng->Between(1, 3));
  const auto classes = static_cast<size_t>(rng->Between(1, 5));
  Amounts free(dimensions);
  for (int64_t& amount : free) amount = rng->Between(0, 40);
  std::vector<Amounts> requests(classes, Amounts(dimensions));
  std::vector<double> values(classes);
  Amounts counts(classes);
  for (size_t c = 0; c < classes; ++c) {
    for (int64_t& amount : requests[c]) amount = rng->Between(0, 15);
    values[c] = static_cast<double>(rng->Between(1, 30));
    counts[c] = rng->Between(0, 4);
  }
  return {OneMachine(free, requests), values, counts};
}

// Nearly equal densities, what is free is odd, and few tasks are enough.
RandomMachine NearlyAlike(Rng* rng) {
  const Amounts free = {rng->Between(5, 7), rng->Between(5, 7),
                        2 * rng->Between(150, 300) + 1};
  const int64_t of_each = rng->Between(0, 20);
  std::vector<Amounts> requests;
  std::vector<double> values;
  for (int64_t c = 0; c < 9; ++c) {
    requests.push_back({1, 1, 2 * rng->Between(20, 60)});
    if (rng->Chance(1, 40)) requests.back() = {0, 0, 0};
    values.push_back(static_cast<double>(requests.back()[2] + of_each + 1));
  }
  return {OneMachine(free, requests), values, Amounts(9, 7)};
}

TEST(MachineFilling, NoFillingIsWorthMoreThanTheBound) {
  for (uint64_t seed = 0; seed < 2000 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const RandomMachine machine = FewTasks(&rng);
    CheckFillings(machine.problem, machine.values, machine.counts);
  }
}

TEST(MachineFilling, NoFillingInCompanyIsWorthMoreThanTheBound) {
  for (uint64_t seed = 0; seed < SeedCount(10'000) && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    RandomMachine machine = FewTasks(&rng);
    NeedCompany(&rng, &machine.problem, &machine.values);
    if (seed % 2 == 1) KeepApart(&rng, &machine.problem);
    CheckFillings(machine.problem, machine.values, machine.counts);
  }
}

TEST(MachineFilling, NoFillingIsWorthMoreThanTheBoundOfASearchThatEndsEarly) {
  for (uint64_t seed = 0; seed < SeedCount(150) && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const RandomMachine machine = NearlyAlike(&rng);
    CheckFillings(machine.problem, machine.values, machine.counts);
  }
}

TEST(MachineFilling, NoFillingInCompanyIsWorthMoreThanTheBoundOfSuchASearch) {
  for (uint64_t seed = 0; seed < SeedCount(150) && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    RandomMachine machine = NearlyAlike(&rng);
    NeedCompany(&rng, &machine.problem, &machine.values);
    if (seed % 2 == 1) KeepApart(&rng, &machine.problem);
    CheckFillings(machine.problem, machine.values, machine.counts);
  }
}

}  // namespace
}  // namespace sluice
