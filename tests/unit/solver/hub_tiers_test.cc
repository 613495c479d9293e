#include "solver/hub_tiers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/rng.h"

namespace sluice {
namespace {

constexpr int kTierCount = HubTiers::kTierCount;

// Node 0 is a hub; arcs lead from it to the other nodes, or the other way.
template <bool is_forward>
class Star {
 public:
  Star(std::vector<FlowCost> costs, size_t near_count)
      : costs_(std::move(costs)),
        potentials_(costs_.size() + 1),
        tiers_(near_count, &network_) {
    const auto arc_count = static_cast<ArcIndex>(costs_.size());
    network_.Build(arc_count + 1, arc_count,
                   [this](ArcIndex arc)
                       -> std::optional<DynamicResidualNetwork::ArcState> {
                     return State(arc);
                   });
    tiers_.Reset();
    tiers_.Begin(&potentials_);
  }

  DynamicResidualNetwork::ArcState State(ArcIndex arc) const {
    const FlowCost cost = costs_[static_cast<size_t>(arc)];
    return {is_forward ? 0 : arc + 1,
            is_forward ? arc + 1 : 0,
            true,
            false,
            cost,
            cost};
  }

  // Reads tiers as a search does that ends within `distance`; returns how many
  // half arcs within it that found.
  int64_t Read(FlowCost distance) {
    std::vector<bool> is_found(costs_.size());
    for (int tier = 0; tier < kTierCount; ++tier) {
      const auto half_arcs = network_.Tier<is_forward>(0, tier);
      if (half_arcs.empty()) continue;
      if (tier > 0 && tiers_.LeastReducedCost<is_forward>(0, tier) > distance) {
        break;
      }
      read_count_ += static_cast<int64_t>(half_arcs.size());
      for (const auto& half_arc : half_arcs) {
        const ArcIndex arc = DynamicResidualNetwork::ArcOf(half_arc.id());
        if (ReducedCost(arc) <= distance) {
          is_found[static_cast<size_t>(arc)] = true;
        }
      }
      tiers_.CountRead<is_forward>(0, tier);
    }
    return std::ranges::count(is_found, true);
  }

  int64_t CountWithin(FlowCost distance) const {
    int64_t count = 0;
    for (size_t arc = 0; arc < costs_.size(); ++arc) {
      if (ReducedCost(static_cast<ArcIndex>(arc)) <= distance) ++count;
    }
    return count;
  }

  FlowCost ReducedCost(ArcIndex arc) const {
    const auto state = State(arc);
    return state.next_cost + potentials_[static_cast<size_t>(state.tail)] -
           potentials_[static_cast<size_t>(state.head)];
  }

  void SetPotential(NodeIndex node, FlowCost potential) {
    potentials_[static_cast<size_t>(node)] = potential;
    tiers_.MovePotential(node);
  }

  void SetCost(ArcIndex arc, FlowCost cost) {
    costs_[static_cast<size_t>(arc)] = cost;
    network_.Update(arc, State(arc));
  }

  int64_t read_count() const { return read_count_; }

 private:
  std::vector<FlowCost> costs_;
  std::vector<FlowCost> potentials_;
  DynamicResidualNetwork network_;
  HubTiers tiers_;
  int64_t read_count_ = 0;
};

std::vector<FlowCost> DrawCosts(int64_t count, FlowCost cost_max, Rng* rng) {
  std::vector<FlowCost> costs(static_cast<size_t>(count));
  for (FlowCost& cost : costs) cost = rng->Between(0, cost_max);
  return costs;
}

// Whatever happens between two searches, and to the tiers during one, no search
// misses a half arc.
template <bool is_forward>
void FollowChanges() {
  for (uint64_t seed = 0; seed < 1000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const int64_t count = rng.Between(1, 200);
    const FlowCost cost_max = rng.Chance(1, 4) ? 5 : 100;
    Star<is_forward> star(DrawCosts(count, cost_max, &rng),
                          static_cast<size_t>(rng.Between(1, 4)));
    for (int step = 0; step < 60; ++step) {
      const auto node = static_cast<NodeIndex>(rng.Between(0, count));
      if (rng.Chance(1, 2)) {
        star.SetPotential(node, rng.Between(-cost_max, cost_max));
      } else if (node > 0) {
        star.SetCost(node - 1, rng.Between(0, cost_max));
      }
      const FlowCost distance = rng.Between(-cost_max, cost_max);
      ASSERT_EQ(star.Read(distance), star.CountWithin(distance));
    }
  }
}

TEST(HubTiers, MissesNothingForward) { FollowChanges<true>(); }

TEST(HubTiers, MissesNothingBackward) { FollowChanges<false>(); }

TEST(HubTiers, ReadsLittleOfAHub) {
  Rng rng(1);
  Star<true> star(DrawCosts(4000, 100000, &rng), 48);
  constexpr int kSearchCount = 100;
  for (int i = 0; i < kSearchCount; ++i) {
    EXPECT_EQ(star.Read(100), star.CountWithin(100));
  }
  // All of it once, then the first tier.
  EXPECT_LT(star.read_count(), 2 * 4000 + kSearchCount * 2 * 48);
}

}  // namespace
}  // namespace sluice
