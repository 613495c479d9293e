#include "network/share_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/rng.h"
#include "oracle/random_packing.h"
#include "packing/pack.h"
#include "packing/packing_problem.h"
#include "sluice/solver/generalized.h"
#include "solver/verify_generalized.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::ElementsAre;

int64_t BoundOf(std::span<const int64_t> held, ShareNetwork* network) {
  network->AimAt(held);
  const GeneralizedSolution solution =
      GeneralizedSolver().Solve(network->problem());
  EXPECT_THAT(VerifyGeneralized(network->problem(), solution), IsOk());
  return network->BoundOf(solution);
}

// A machine of 10, which costs 2 for each task, and one of 2, of which there is
// enough otherwise.
PackingProblem TwoMachines() {
  PackingProblem problem;
  problem.groups = {{.free = {10, 100}, .machines = 1, .kind = 0},
                    {.free = {2, 100}, .machines = 1, .kind = 1}};
  // Three tasks of 3 and three of 2.
  problem.classes = {
      {.request = {3, 1}, .waiting = {{.count = 3, .cost = 20, .level = 0}}},
      {.request = {2, 1}, .waiting = {{.count = 3, .cost = 30, .level = 1}}}};
  problem.costs = {{2, 2}, {0, 0}};
  return problem;
}

TEST(ShareNetwork, BoundsWhatWaits) {
  const PackingProblem problem = TwoMachines();
  ShareNetwork network(problem, 0);
  EXPECT_EQ(BoundOf({}, &network), 0);
  // The first class takes 9, so that there are 1 and 2 for the second, for one
  // and a half of its tasks.  45 are no multiple of 10, as costs are.
  const std::vector<int64_t> none_waits = {0};
  EXPECT_EQ(BoundOf(none_waits, &network), 50);
  const std::vector<int64_t> one_waits = {20};
  EXPECT_EQ(BoundOf(one_waits, &network), 0);
  // Of the other resource there is enough.
  ShareNetwork other(problem, 1);
  EXPECT_EQ(BoundOf(none_waits, &other), 0);
}

TEST(ShareNetwork, BoundsWhatPlacementsCost) {
  const PackingProblem problem = TwoMachines();
  ShareNetwork network(problem, 0);
  const std::vector<int64_t> two_wait = {0, 60};
  EXPECT_EQ(BoundOf(two_wait, &network), 3 * 2);
  // A third of a task more, at 2 for each.
  const std::vector<int64_t> less_waits = {0, 50};
  EXPECT_EQ(BoundOf(less_waits, &network), 4 * 2);
  // Where all are placed, only one fits on the machine that costs nothing.
  ShareNetwork other(problem, 1);
  const std::vector<int64_t> none_waits = {0, 0};
  EXPECT_EQ(BoundOf(none_waits, &other), 5 * 2);
}

TEST(ShareNetwork, FindsWhatIsScarce) {
  PackingProblem problem = TwoMachines();
  EXPECT_THAT(FindScarce(problem), ElementsAre(0, 1));
  for (PackingGroup& group : problem.groups) group.free[1] = 1;
  EXPECT_THAT(FindScarce(problem), ElementsAre(1, 0));
  problem.classes.clear();
  EXPECT_TRUE(FindScarce(problem).empty());
}

// Amounts that are no gains, and costs that are not, are rounded to the safe
// side.
TEST(ShareNetwork, RoundsLargeAmountsDown) {
  constexpr int64_t kLarge = (int64_t{1} << 40) + 1;
  PackingProblem problem;
  problem.groups = {{.free = {2 * kLarge}, .machines = 1, .kind = 0}};
  problem.classes = {
      {.request = {kLarge}, .waiting = {{.count = 3, .cost = kLarge}}},
      {.request = {7}, .waiting = {{.count = 1, .cost = 7}}}};
  problem.costs = {{0, 0}};
  ShareNetwork network(problem, 0);
  const int64_t bound = BoundOf({}, &network);
  EXPECT_LE(bound, kLarge);
  EXPECT_GE(bound, kLarge - (int64_t{1} << 30));
}

TEST(ShareNetwork, NamesItsNodes) {
  const PackingProblem problem = TwoMachines();
  const ShareNetwork network(problem, 0);
  const std::vector<std::vector<MachineId>> machines = {{MachineId{3}},
                                                        {MachineId{5}}};
  const std::vector<NodeMeaning> meanings = network.Meanings(machines);
  using Kind = NodeMeaning::Kind;
  std::vector<Kind> kinds;
  for (const NodeMeaning& one : meanings) kinds.push_back(one.kind);
  EXPECT_THAT(kinds, ElementsAre(Kind::kClass, Kind::kClass, Kind::kMachines,
                                 Kind::kMachines, Kind::kLevel, Kind::kLevel,
                                 Kind::kSink));
  EXPECT_EQ(meanings[3].machine, MachineId{5});
  EXPECT_EQ(meanings[3].machine_count, 1u);
}

// Whatever else a problem has, no packing is better than the bounds beside it.
TEST(ShareNetwork, BoundsEveryPacking) {
  int met = 0;
  for (uint64_t seed = 0; seed < 400 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const bool is_mixed = seed % 2 == 1;
    const PackingProblem problem =
        MakeRandomPacking({.groups_max = 6,
                           .machines_max = 10,
                           .classes_max = 6,
                           .levels_max = 3,
                           .keeps_apart = is_mixed,
                           .has_spread = is_mixed,
                           .needs_company = is_mixed,
                           .gangs_max = is_mixed ? 2 : 0,
                           .has_staying = is_mixed,
                           .may_move = is_mixed},
                          &rng);
    const PackingSolution packing = Pack(problem, {.work_max = 1'000'000});
    const std::vector<int64_t> reached =
        packing.cost.waiting.ByLevel(problem.level_count());
    for (const size_t dimension : FindScarce(problem)) {
      ShareNetwork network(problem, dimension);
      for (size_t level = 0; level < reached.size(); ++level) {
        const int64_t bound =
            BoundOf(std::span(reached).first(level), &network);
        EXPECT_LE(bound, reached[level]) << "level " << level;
        met += bound == reached[level] && bound > 0 ? 1 : 0;
      }
      EXPECT_LE(BoundOf(reached, &network), packing.cost.placed);
    }
  }
  EXPECT_GT(met, 50);
}

}  // namespace
}  // namespace sluice
