// Which of the many half arcs of a node a shortest path may need next.
//
// A *hub* (a class that may use a thousand machines) has far more half arcs
// than any search follows.  Those open one way only are kept in tiers of
// growing size and growing reduced cost (DynamicResidualNetwork).  A search
// reads the first tier, and comes back for more if it gets that far.  This is
// sorting on demand (Paredes and Navarro, Optimal incremental sorting, 2006):
// what is never read is hardly ever looked at.
//
// The order is maintained while potentials move.  A half arc that gets shorter
// is refiled at once, as if it were slightly shorter still, since most
// potentials go back and forth by a unit or two.  One that gets longer stays
// where it is until its tier is next divided.
//
// Threads: none; confined to its owner.

#ifndef SLUICE_SOLVER_HUB_TIERS_H_
#define SLUICE_SOLVER_HUB_TIERS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sluice/flow/problem.h"
#include "solver/dynamic_residual_network.h"

namespace sluice {

// Forward (backward) is about the half arcs open outward (inward) only.
class HubTiers {
 public:
  static constexpr int kTierCount = DynamicResidualNetwork::kTierCount;

  // Tier 0 should hold about `near_count` half arcs, and each other tier three
  // times as many as all before it.  `network` must outlive this.
  HubTiers(size_t near_count, DynamicResidualNetwork* network)
      : near_count_(near_count), network_(*network) {}

  // The network was rebuilt.
  void Reset();
  // Takes the potentials by which half arcs are ordered; nodes may have been
  // added.
  void Begin(const std::vector<FlowCost>* potentials);

  // No half arc of the tier has a reduced cost below this.
  // REQUIRES: the tier is not the first and not empty.
  template <bool is_forward>
  FlowCost LeastReducedCost(NodeIndex node, int tier) const;

  // Call these when a search has read a tier, after those before it, and when
  // the potential of a node has moved.  Both return how many half arcs they
  // looked at.
  template <bool is_forward>
  size_t CountRead(NodeIndex node, int tier);
  size_t MovePotential(NodeIndex node);

 private:
  using HalfArc = DynamicResidualNetwork::HalfArc;
  using HalfArcId = DynamicResidualNetwork::HalfArcId;
  static constexpr int32_t kNoHub = -1;

  struct Place {
    int32_t hub = kNoHub;  // Into hubs_.
    // By direction: true if a tier beyond the first may hold a half arc that
    // leads here (from here).
    std::array<bool, 2> is_watched = {};
    // By direction: the potential by which such half arcs are filed, no lower
    // (no higher) than the node's.
    std::array<FlowCost, 2> filed = {};
  };

  // By tier, of the half arcs of one hub and direction.
  struct Order {
    std::array<FlowCost, kTierCount> levels;     // No key is below.
    std::array<int32_t, kTierCount> reads = {};  // Since it was divided.
  };

  // At most the reduced cost of a half arc, without the potential of its hub.
  template <bool is_forward>
  FlowCost Key(const HalfArc& half_arc) const {
    const FlowCost key =
        half_arc.cost - place(half_arc.head).filed[is_forward ? 0 : 1];
    return is_forward ? key : -key;
  }
  Place& place(NodeIndex node) { return places_[static_cast<size_t>(node)]; }
  const Place& place(NodeIndex node) const {
    return places_[static_cast<size_t>(node)];
  }
  // REQUIRES: the place is a hub's.
  template <bool is_forward>
  Order& OrderAt(const Place& place) {
    return hubs_[static_cast<size_t>(place.hub)][is_forward ? 0 : 1];
  }
  // How many half arcs the tiers up to `tier` should hold.
  size_t EndRank(int tier) const { return near_count_ << (2 * tier); }
  template <bool is_forward>
  void Divide(NodeIndex node, int tier);
  template <bool is_forward>
  size_t Refile(NodeIndex node);

  const size_t near_count_;
  DynamicResidualNetwork& network_;
  const std::vector<FlowCost>* potentials_ = nullptr;
  std::vector<Place> places_;               // By node.
  std::vector<std::array<Order, 2>> hubs_;  // Forward and backward.
  std::vector<FlowCost> keys_;              // Scratch, kept for its memory.
};

}  // namespace sluice

#endif  // SLUICE_SOLVER_HUB_TIERS_H_
