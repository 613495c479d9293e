#include "solver/dynamic_residual_network.h"

#include <gtest/gtest.h>

#include <optional>

namespace sluice {
namespace {

using ArcState = DynamicResidualNetwork::ArcState;

TEST(DynamicResidualNetwork, ListsHalfArcsByWhatIsOpen) {
  DynamicResidualNetwork network;
  network.Build(2, 0, [](ArcIndex) { return std::optional<ArcState>(); });
  network.Grow(2, 3);
  network.Add(0, {0, 1, true, false, 4, 4});
  network.Add(1, {0, 1, true, true, 5, 5});
  network.Add(2, {0, 1, false, true, 6, 6});
  EXPECT_EQ(network.NearOut(0).size(), 1U);
  EXPECT_EQ(network.Both(0).size(), 1U);
  EXPECT_EQ(network.NearIn(0).size(), 1U);
  EXPECT_EQ(network.Out(1).size(), 2U);
  network.Update(0, {0, 1, false, true, 4, 4});
  EXPECT_EQ(network.NearOut(0).size(), 0U);
  EXPECT_EQ(network.NearIn(0).size(), 2U);
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

TEST(DynamicResidualNetwork, SplitsOffTheFarHalfArcs) {
  DynamicResidualNetwork network;
  network.Build(2, 10, [](ArcIndex arc) {
    return std::optional<ArcState>({0, 1, true, false, arc, arc});
  });
  network.SplitFarOut(0,
                      [](const auto& half_arc) { return half_arc.cost > 3; });
  EXPECT_EQ(network.FarOut(0).size(), 6U);
  EXPECT_EQ(network.Out(0).size(), 4U);
  network.MakeNearFrom(1);
  EXPECT_EQ(network.FarOut(0).size(), 6U);
  network.MakeNearTo(1);
  EXPECT_EQ(network.FarOut(0).size(), 0U);
}

}  // namespace
}  // namespace sluice
