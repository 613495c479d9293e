#include "solver/dynamic_residual_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ArcState = DynamicResidualNetwork::ArcState;

TEST(DynamicResidualNetwork, ListsHalfArcsByWhatIsOpen) {
  DynamicResidualNetwork network;
  network.Build(2, 0, [](ArcIndex) { return std::optional<ArcState>(); });
  network.Grow(2, 3);
  network.Add(0, {0, 1, true, false, 4, 4});
  network.Add(1, {0, 1, true, true, 5, 5});
  network.Add(2, {0, 1, false, true, 6, 6});
  EXPECT_EQ(network.Tier<true>(0, 0).size(), 1U);
  EXPECT_EQ(network.Both(0).size(), 1U);
  EXPECT_EQ(network.Tier<false>(0, 0).size(), 1U);
  EXPECT_EQ(network.Out(1).size(), 2U);
  network.Update(0, {0, 1, false, true, 4, 4});
  EXPECT_EQ(network.Tier<true>(0, 0).size(), 0U);
  EXPECT_EQ(network.Tier<false>(0, 0).size(), 2U);
  network.Remove(1);
  EXPECT_FALSE(network.IsListed(1));
  EXPECT_EQ(network.degree(0), 2);
}

TEST(DynamicResidualNetwork, KeepsItsListsWhileTheyGrow) {
  DynamicResidualNetwork network;
  network.Build(3, 0, [](ArcIndex) { return std::optional<ArcState>(); });
  for (ArcIndex arc = 0; arc < 1000; ++arc) {
    network.Grow(3, arc + 1);
    network.Add(arc, {arc % 2, 2, true, false, arc, arc});
  }
  EXPECT_EQ(network.degree(2), 1000);
  for (ArcIndex arc = 0; arc < 1000; ++arc) {
    EXPECT_EQ(network.tail(arc), arc % 2);
    EXPECT_EQ(network.head(arc), 2);
  }
}

// Costs 0 to 9, outward from node 0.
DynamicResidualNetwork MakeStar() {
  DynamicResidualNetwork network;
  network.Build(2, 10, [](ArcIndex arc) {
    return std::optional<ArcState>({0, 1, true, false, arc, arc});
  });
  return network;
}

// The costs of a tier, ascending.
template <bool is_out>
std::vector<FlowCost> Costs(const DynamicResidualNetwork& network,
                            NodeIndex node, int tier) {
  std::vector<FlowCost> costs;
  for (const auto& half_arc : network.Tier<is_out>(node, tier)) {
    costs.push_back(half_arc.cost);
  }
  std::ranges::sort(costs);
  return costs;
}

TEST(DynamicResidualNetwork, SplitsAndMergesTiersOutward) {
  DynamicResidualNetwork network = MakeStar();
  for (const int tier : {3, 1}) {
    network.SplitTiers<true>(0, tier, [tier](const auto& half_arc) {
      return half_arc.cost > 2 * tier + 1;
    });
  }
  EXPECT_THAT(Costs<true>(network, 0, 0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Costs<true>(network, 0, 1), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(Costs<true>(network, 0, 2), IsEmpty());
  EXPECT_THAT(Costs<true>(network, 0, 3), ElementsAre(8, 9));
  network.MergeTiers<true>(0, 2);
  EXPECT_EQ(network.Tier<true>(0, 0).size(), 8U);
  EXPECT_THAT(Costs<true>(network, 0, 3), ElementsAre(8, 9));
  EXPECT_EQ(network.Out(0).size(), 10U);
}

TEST(DynamicResidualNetwork, SplitsAndMergesTiersInward) {
  DynamicResidualNetwork network = MakeStar();
  for (const int tier : {3, 1}) {
    network.SplitTiers<false>(1, tier, [tier](const auto& half_arc) {
      return -half_arc.cost > 2 * tier + 1;
    });
  }
  EXPECT_THAT(Costs<false>(network, 1, 0), ElementsAre(-3, -2, -1, 0));
  EXPECT_THAT(Costs<false>(network, 1, 1), ElementsAre(-7, -6, -5, -4));
  EXPECT_THAT(Costs<false>(network, 1, 3), ElementsAre(-9, -8));
  network.MergeTiers<false>(1, 2);
  EXPECT_EQ(network.Tier<false>(1, 0).size(), 8U);
  EXPECT_THAT(Costs<false>(network, 1, 3), ElementsAre(-9, -8));
}

TEST(DynamicResidualNetwork, AnArcThatIsUpdatedComesToTierZero) {
  DynamicResidualNetwork network = MakeStar();
  network.SplitTiers<true>(0, 2, [](const auto&) { return true; });
  EXPECT_EQ(network.TierOf<true>(0, 2 * 4), 2);
  network.SetTier<true>(0, 2 * 4, 1);
  EXPECT_EQ(network.TierOf<true>(0, 2 * 4), 1);
  network.Update(4, {0, 1, true, false, 20, 20});
  EXPECT_EQ(network.TierOf<true>(0, 2 * 4), 0);
  EXPECT_EQ(network.half_arc(2 * 4).cost, 20);
  EXPECT_EQ(network.Tier<true>(0, 2).size(), 9U);
}

}  // namespace
}  // namespace sluice
