#include "solver/gain_basis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/rng.h"

namespace sluice {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;

std::vector<BasisArc> Loops(int count, double gain) {
  std::vector<BasisArc> loops;
  for (int i = 0; i < count; ++i) {
    loops.push_back({.index = i, .tail = i, .head = i, .gain = gain});
  }
  return loops;
}

// How far the column of `arc` is from the sum of its steps, by node.
std::vector<double> Missing(const GainBasis& basis, const BasisArc& arc,
                            std::span<const GainBasis::Step> steps) {
  std::vector<double> missing(static_cast<size_t>(basis.node_count()));
  const auto add = [&missing](const BasisArc& of, double flow) {
    missing[static_cast<size_t>(of.tail)] += flow;
    missing[static_cast<size_t>(of.head)] -= of.gain * flow;
  };
  add(arc, 1);
  for (const auto& [node, rate] : steps) add(basis.arc(node), -rate);
  return missing;
}

double LargestSize(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) {
    largest = std::max(largest, std::abs(value));
  }
  return largest;
}

// The index of the step of `node`.
size_t StepOf(std::span<const GainBasis::Step> steps, NodeIndex node) {
  size_t i = 0;
  while (steps[i].node != node) ++i;
  return i;
}

TEST(GainBasis, RepresentsAnArcByTheLoopsAtItsEnds) {
  GainBasis basis(Loops(3, 0));
  const auto steps = basis.Represent({.tail = 0, .head = 2, .gain = 4});
  ASSERT_EQ(steps.size(), 2);
  EXPECT_EQ(steps[0].node, 0);
  EXPECT_EQ(steps[0].rate, 1);
  EXPECT_EQ(steps[1].node, 2);
  EXPECT_EQ(steps[1].rate, -4);
}

TEST(GainBasis, PricesWhatHangsOnAnArc) {
  std::vector<BasisArc> loops = Loops(3, 0);
  loops[2].cost = -7;  // A unit swallowed there earns 7.
  GainBasis basis(loops);
  EXPECT_EQ(basis.potential(2), 7);
  // 0 -> 1 -> 2, and two units at 2 for each at 0.
  const BasisArc second = {
      .index = 3, .tail = 1, .head = 2, .gain = 4, .cost = 1};
  basis.Exchange(StepOf(basis.Represent(second), 1), second);
  const BasisArc first = {
      .index = 4, .tail = 0, .head = 1, .gain = 0.5, .cost = 10};
  EXPECT_EQ(basis.Exchange(StepOf(basis.Represent(first), 0), first), 1);
  EXPECT_EQ(basis.potential(1), 4 * 7 - 1);
  EXPECT_EQ(basis.potential(0), 0.5 * 27 - 10);
  EXPECT_THAT(basis.Flows({6, 0, 0}), ElementsAre(6, 3, 12));
}

TEST(GainBasis, SendsFlowAroundACycle) {
  // 0 -> 1 doubles, 1 -> 0 keeps a quarter: half comes back.
  GainBasis basis(Loops(2, 0));
  const BasisArc there = {.index = 2, .tail = 0, .head = 1, .gain = 2};
  const BasisArc back = {.index = 3, .tail = 1, .head = 0, .gain = 0.25};
  basis.Exchange(StepOf(basis.Represent(there), 0), there);
  basis.Exchange(StepOf(basis.Represent(back), 1), back);
  EXPECT_THAT(basis.Flows({3, 0}), ElementsAre(DoubleEq(6), DoubleEq(12)));
  const BasisArc loop = {.tail = 0, .head = 0, .gain = 0};
  EXPECT_LT(LargestSize(Missing(basis, loop, basis.Represent(loop))), 1e-15);
}

TEST(GainBasis, TakesNoPartWhereAPathIsLeftTheWayItCame) {
  // Both ends hang on node 2, and the gains cancel but for rounding.
  GainBasis basis(Loops(3, 0));
  for (const NodeIndex node : {0, 1}) {
    const BasisArc arc = {
        .index = 3 + node, .tail = node, .head = 2, .gain = 0.1 + 0.2 * node};
    basis.Exchange(StepOf(basis.Represent(arc), node), arc);
  }
  const auto steps =
      basis.Represent({.tail = 0, .head = 1, .gain = 0.1 / (0.1 + 0.2)});
  EXPECT_EQ(steps[StepOf(steps, 2)].rate, 0);
}

TEST(GainBasis, StaysSoundOverThousandsOfExchanges) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const auto node_count = static_cast<int>(rng.Between(1, 12));
    const auto draw = [&rng, node_count] {
      return static_cast<NodeIndex>(rng.Between(0, node_count - 1));
    };
    GainBasis basis(Loops(node_count, 0));
    for (int i = 0; i < 200; ++i) {
      const BasisArc arc = {.index = node_count + i,
                            .tail = draw(),
                            .head = draw(),
                            .gain = static_cast<double>(rng.Between(1, 4)) / 2,
                            .cost = static_cast<double>(rng.Between(-9, 9))};
      const auto steps = basis.Represent(arc);
      ASSERT_LT(LargestSize(Missing(basis, arc, steps)), 1e-7);
      const size_t leaving = rng.Below(steps.size());
      // A tiny rate would make for a basis that tells nothing.
      if (std::abs(steps[leaving].rate) < 0.01) continue;
      basis.Exchange(leaving, arc);
    }
    std::vector<double> amounts;
    for (NodeIndex node = 0; node < node_count; ++node) {
      amounts.push_back(static_cast<double>(rng.Between(-5, 5)));
      const BasisArc& arc = basis.arc(node);
      EXPECT_NEAR(arc.cost + basis.potential(arc.tail),
                  arc.gain * basis.potential(arc.head),
                  1e-9 * (1 + std::abs(basis.potential(arc.tail))));
    }
    std::vector<double> rest = amounts;
    const std::vector<double> flows = basis.Flows(amounts);
    for (NodeIndex node = 0; node < node_count; ++node) {
      const BasisArc& arc = basis.arc(node);
      const double flow = flows[static_cast<size_t>(node)];
      rest[static_cast<size_t>(arc.tail)] -= flow;
      rest[static_cast<size_t>(arc.head)] += arc.gain * flow;
    }
    EXPECT_LT(LargestSize(rest), 1e-9 * (1 + LargestSize(flows)));
  }
}

}  // namespace
}  // namespace sluice
