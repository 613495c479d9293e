#include "solver/hub_tiers.h"

#include <algorithm>
#include <limits>

namespace sluice {
namespace {

constexpr FlowCost kInfinity = std::numeric_limits<FlowCost>::max();

// A tier is divided when it was read this often: then dividing costs less than
// the reads did.
constexpr int32_t kReadsPerDivide = 4;

// Half arcs are filed as shorter by this much.
constexpr FlowCost kMargin = 3;

}  // namespace

void HubTiers::Reset() {
  places_.clear();
  hubs_.clear();
}

void HubTiers::Begin(const std::vector<FlowCost>* potentials) {
  potentials_ = potentials;
  for (size_t node = places_.size(); node < potentials->size(); ++node) {
    const FlowCost potential = (*potentials)[node];
    places_.push_back({.filed = {potential + kMargin, potential - kMargin}});
  }
}

template <bool is_forward>
FlowCost HubTiers::LeastReducedCost(NodeIndex node, int tier) const {
  const Order& order =
      hubs_[static_cast<size_t>(place(node).hub)][is_forward ? 0 : 1];
  const FlowCost potential = (*potentials_)[static_cast<size_t>(node)];
  return order.levels[static_cast<size_t>(tier)] +
         (is_forward ? potential : -potential);
}
template FlowCost HubTiers::LeastReducedCost<true>(NodeIndex, int) const;
template FlowCost HubTiers::LeastReducedCost<false>(NodeIndex, int) const;

template <bool is_forward>
size_t HubTiers::CountRead(NodeIndex node, int tier) {
  const size_t size = network_.Tiers<is_forward>(node, 0, tier).size();
  const bool is_overgrown = tier + 1 < kTierCount && size > 2 * EndRank(tier);
  Place& here = place(node);
  if (here.hub == kNoHub) {
    if (!is_overgrown) return 0;
    here.hub = static_cast<int32_t>(hubs_.size());
    Order order;
    order.levels.fill(kInfinity);
    order.levels[0] = -kInfinity;
    hubs_.push_back({order, order});
  }
  int32_t& reads = OrderAt<is_forward>(here).reads[static_cast<size_t>(tier)];
  if (!is_overgrown && (tier == 0 || ++reads < kReadsPerDivide)) return 0;
  Divide<is_forward>(node, tier);
  return size;
}
template size_t HubTiers::CountRead<true>(NodeIndex, int);
template size_t HubTiers::CountRead<false>(NodeIndex, int);

// Redistributes the half arcs of the tiers up to `tier`, all of which were
// read: to these, to empty ones that follow and to the next one.  None comes
// from there; a search that read the tiers before would miss it.
template <bool is_forward>
void HubTiers::Divide(NodeIndex node, int tier) {
  Order& order = OrderAt<is_forward>(place(node));
  keys_.clear();
  for (const HalfArc& half_arc : network_.Tiers<is_forward>(node, 0, tier)) {
    keys_.push_back(Key<is_forward>(half_arc));
  }
  network_.MergeTiers<is_forward>(node, tier);
  int to = std::min(tier + 1, kTierCount - 1);
  while (to + 1 < kTierCount && network_.Tier<is_forward>(node, to).empty()) {
    ++to;
  }
  FlowCost level = network_.Tier<is_forward>(node, to).empty()
                       ? kInfinity
                       : order.levels[static_cast<size_t>(to)];
  for (; to > 0; --to) {
    const size_t rank = EndRank(to - 1);
    if (rank < keys_.size()) {
      const auto nth = keys_.begin() + static_cast<ptrdiff_t>(rank);
      std::ranges::nth_element(keys_, nth);
      level = std::min(level, *nth);
      keys_.erase(nth, keys_.end());
    }
    order.levels[static_cast<size_t>(to)] = level;
    order.reads[static_cast<size_t>(to)] = 0;
    network_.SplitTiers<is_forward>(node, to, [&](const HalfArc& half_arc) {
      const bool is_far = Key<is_forward>(half_arc) >= level;
      if (is_far) place(half_arc.head).is_watched[is_forward ? 0 : 1] = true;
      return is_far;
    });
  }
}

size_t HubTiers::MovePotential(NodeIndex node) {
  const FlowCost potential = (*potentials_)[static_cast<size_t>(node)];
  auto& [high, low] = place(node).filed;
  // Half arcs to a node that rises, or from one that sinks, get shorter.
  const bool is_above = potential > high;
  const bool is_below = potential < low;
  if (is_above || high - potential > 2 * kMargin) high = potential + kMargin;
  if (is_below || potential - low > 2 * kMargin) low = potential - kMargin;
  if (is_above) return Refile<true>(node);
  if (is_below) return Refile<false>(node);
  return 0;
}

// Refiles those half arcs to (from) `node` that are in too high a tier.
template <bool is_forward>
size_t HubTiers::Refile(NodeIndex node) {
  bool& is_watched = place(node).is_watched[is_forward ? 0 : 1];
  if (!is_watched) return 0;
  is_watched = false;
  // The twins of the half arcs in the hubs' lists.
  const auto twins = network_.Tiers<!is_forward>(node, 0, kTierCount - 1);
  const FlowCost filed = place(node).filed[is_forward ? 0 : 1];
  for (const HalfArc& twin : twins) {
    const NodeIndex hub = twin.head;
    if (place(hub).hub == kNoHub) continue;
    const HalfArcId id = DynamicResidualNetwork::Twin(twin.id());
    int tier = network_.TierOf<is_forward>(hub, id);
    if (tier == 0) continue;
    const auto& levels = OrderAt<is_forward>(place(hub)).levels;
    const FlowCost key = is_forward ? -twin.cost - filed : twin.cost + filed;
    if (key < levels[static_cast<size_t>(tier)]) {
      while (key < levels[static_cast<size_t>(tier)]) --tier;
      network_.SetTier<is_forward>(hub, id, tier);
    }
    is_watched = is_watched || tier > 0;
  }
  return twins.size();
}

}  // namespace sluice
