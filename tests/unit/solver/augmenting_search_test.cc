#include "solver/augmenting_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/rng.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;

// Low enough to be crossed on graphs as small as these.
constexpr AugmentingSearch::Thresholds kEager = {.one_sided_scans = 2,
                                                 .near_count = 1};

struct TestArc {
  NodeIndex tail = 0;
  NodeIndex head = 0;
  FlowCost cost = 0;
};

// A network of arcs over which flow may only rise, and a search in it.
class World {
 public:
  World(NodeIndex node_count, std::vector<TestArc> arcs,
        const AugmentingSearch::Thresholds& thresholds = {})
      : arcs_(std::move(arcs)),
        potentials_(static_cast<size_t>(node_count)),
        search_(thresholds, &network_) {
    network_.Build(
        node_count, static_cast<ArcIndex>(arcs_.size()),
        [this](
            ArcIndex arc) -> std::optional<DynamicResidualNetwork::ArcState> {
          const auto& [tail, head, cost] = arcs_[static_cast<size_t>(arc)];
          return {{tail, head, true, false, cost, cost, false}};
        });
    search_.Reset();
  }

  // What the path found for one unit costs, or none.
  std::optional<FlowCost> FindPath(NodeIndex from, NodeIndex to,
                                   bool is_from_excess) {
    search_.Begin({}, &potentials_);
    search_.AddExcess(from, 1);
    search_.AddExcess(to, -1);
    search_.SetEnds({from, to}, AugmentingSearch::kNoNode);
    const auto path = search_.FindPath(is_from_excess ? from : to);
    search_.AddExcess(from, -1);
    search_.AddExcess(to, 1);
    if (!path.has_value()) return std::nullopt;
    EXPECT_EQ(path->source, from);
    EXPECT_EQ(path->target, to);
    FlowCost cost = 0;
    for (const auto id : path->half_arcs) {
      const TestArc& arc =
          arcs_[static_cast<size_t>(DynamicResidualNetwork::ArcOf(id))];
      EXPECT_TRUE(DynamicResidualNetwork::IsAlong(id));
      EXPECT_EQ(ReducedCost(arc), 0);
      cost += arc.cost;
    }
    return cost;
  }

  FlowCost ReducedCost(const TestArc& arc) const {
    return arc.cost + potentials_[static_cast<size_t>(arc.tail)] -
           potentials_[static_cast<size_t>(arc.head)];
  }

  std::vector<TestArc> arcs_;
  std::vector<FlowCost> potentials_;
  DynamicResidualNetwork network_;
  AugmentingSearch search_;
};

// By relaxing every arc as often as there are nodes.
std::optional<FlowCost> Distance(const World& world, NodeIndex from,
                                 NodeIndex to) {
  std::vector<std::optional<FlowCost>> distances(world.potentials_.size());
  distances[static_cast<size_t>(from)] = 0;
  for (size_t round = 0; round < distances.size(); ++round) {
    for (const auto& [tail, head, cost] : world.arcs_) {
      const std::optional<FlowCost>& before =
          distances[static_cast<size_t>(tail)];
      std::optional<FlowCost>& after = distances[static_cast<size_t>(head)];
      if (before.has_value()) {
        after = std::min(after.value_or(*before + cost), *before + cost);
      }
    }
  }
  return distances[static_cast<size_t>(to)];
}

TEST(AugmentingSearch, FindsTheShortestPathFromAnExcess) {
  World world(4, {{0, 1, 3}, {1, 3, 4}, {0, 2, 1}, {2, 3, 5}});
  EXPECT_EQ(world.FindPath(0, 3, true), 6);
}

TEST(AugmentingSearch, FindsTheShortestPathToADeficit) {
  World world(4, {{0, 1, 3}, {1, 3, 4}, {0, 2, 1}, {2, 3, 5}});
  EXPECT_EQ(world.FindPath(0, 3, false), 6);
}

TEST(AugmentingSearch, EndsAtTheReservoirWhereItIsNearer) {
  World world(3, {{0, 1, 3}, {0, 2, 1}});
  world.search_.Begin({}, &world.potentials_);
  world.search_.AddExcess(0, 5);
  world.search_.AddExcess(1, -5);
  world.search_.SetEnds({0, 1}, 2);
  const auto path = world.search_.FindPath(0);
  ASSERT_TRUE(path.has_value());
  EXPECT_EQ(path->target, 2);
  EXPECT_THAT(path->half_arcs, ElementsAre(2));
}

TEST(AugmentingSearch, CutsOffWhatAnExcessReaches) {
  World world(4, {{0, 1, 3}, {1, 0, 3}, {2, 1, 1}, {2, 3, 1}});
  EXPECT_EQ(world.FindPath(0, 3, true), std::nullopt);
  EXPECT_EQ(world.search_.outcome(), std::nullopt);
  EXPECT_THAT(world.search_.FindCut(), ElementsAre(0, 1));
}

TEST(AugmentingSearch, CutsOffWhatDoesNotReachADeficit) {
  World world(4, {{0, 1, 3}, {1, 0, 3}, {2, 1, 1}, {2, 3, 1}});
  EXPECT_EQ(world.FindPath(0, 3, false), std::nullopt);
  EXPECT_THAT(world.search_.FindCut(), ElementsAre(0, 1));
}

TEST(AugmentingSearch, StopsWhenItIsCancelled) {
  World world(2, {{0, 1, 3}});
  const std::atomic<bool> cancelled = true;
  world.search_.Begin({.cancelled = &cancelled}, &world.potentials_);
  EXPECT_EQ(world.search_.outcome(), SolveOutcome::kCancelled);
}

// Potentials of earlier paths, both ends, tiers, and caps that were too small
// must all change nothing about what is shortest.
TEST(AugmentingSearch, FindsWhatRelaxingEveryArcFinds) {
  int found_count = 0;
  int missed_count = 0;
  for (uint64_t seed = 0; seed < 2000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const auto size = static_cast<NodeIndex>(rng.Between(2, 40));
    const auto draw = [&rng, size] {
      return static_cast<NodeIndex>(rng.Between(0, size - 1));
    };
    std::vector<TestArc> arcs(rng.Below(10 * static_cast<uint64_t>(size)));
    for (TestArc& arc : arcs) {
      arc.tail = draw();
      arc.head = (arc.tail + 1 + draw()) % size;
      if (arc.head == arc.tail) arc.head = (arc.tail + 1) % size;
      arc.cost = rng.Between(0, rng.Chance(1, 8) ? 1000 : 20);
    }
    World world(size, std::move(arcs), kEager);
    for (int i = 0; i < 10; ++i) {
      const NodeIndex from = draw();
      const NodeIndex to = draw();
      if (from == to) continue;
      const std::optional<FlowCost> cost =
          world.FindPath(from, to, rng.Chance(1, 2));
      ASSERT_EQ(cost, Distance(world, from, to));
      ++(cost.has_value() ? found_count : missed_count);
      for (const TestArc& arc : world.arcs_) {
        ASSERT_GE(world.ReducedCost(arc), 0);
      }
    }
  }
  EXPECT_GT(found_count, 1000);
  EXPECT_GT(missed_count, 1000);
}

}  // namespace
}  // namespace sluice
