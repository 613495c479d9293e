// The directions in which flow may still move, in a problem that changes.
//
// Each arc that can carry anything is listed at both of its ends, as two half
// arcs.  A node's half arcs are contiguous, in zones: first those over which
// flow may only leave the node, then those open both ways, then those over
// which it may only arrive, last the closed ones.  So a search reads only half
// arcs that it can use, forward or backward, and reading one touches no other
// memory than the node at the other end.
//
// Half arcs open one way only are kept in tiers; solver/hub_tiers.h says why.
//
// Lists have some room to grow.  They move to the end of the pool when they
// need more, and the pool is packed when it is full.  So adding an arc takes
// amortized constant time, plus the length of a list that moves.
//
// The owner keeps flows and bounds; it tells this class what is open.
// Threads: none; confined to its owner.

#ifndef SLUICE_SOLVER_DYNAMIC_RESIDUAL_NETWORK_H_
#define SLUICE_SOLVER_DYNAMIC_RESIDUAL_NETWORK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sluice/flow/problem.h"

namespace sluice {

class DynamicResidualNetwork {
 public:
  static constexpr int kTierCount = 4;

  // 2 * arc, or 2 * arc + 1 for the half arc at the arc's head.
  using HalfArcId = uint32_t;

  struct HalfArc {
    // Cost of one more unit from the node to `head`; if flow may only come the
    // other way, the cost of taking back one unit of that.
    FlowCost cost = 0;
    NodeIndex head = 0;
    uint32_t label = 0;  // The id, and kConvex.

    HalfArcId id() const { return label & ~kConvex; }
    bool is_convex() const { return (label & kConvex) != 0; }
  };
  static_assert(sizeof(HalfArc) == 16);

  // What may happen to an arc's flow.
  struct ArcState {
    NodeIndex tail = 0;
    NodeIndex head = 0;
    bool can_rise = false;
    bool can_fall = false;
    FlowCost next_cost = 0;  // Of one more unit, if can_rise.
    FlowCost last_cost = 0;  // Of the last unit, if can_fall.
    bool is_convex = false;
  };

  static ArcIndex ArcOf(HalfArcId id) { return static_cast<ArcIndex>(id >> 1); }
  static HalfArcId Twin(HalfArcId id) { return id ^ 1; }
  // True if a unit over the half arc raises the arc's flow.
  static bool IsAlong(HalfArcId id) { return (id & 1) == 0; }

  // Forgets everything, and lists each arc for which `state(arc)` returns a
  // state (a std::optional<ArcState>).  Calls `state` twice per arc.
  template <class StateOf>
  void Build(NodeIndex node_count, ArcIndex arc_count, const StateOf& state);

  // Makes room for nodes and arcs that were added to the problem.
  void Grow(NodeIndex node_count, ArcIndex arc_count);

  bool IsListed(ArcIndex arc) const {
    return position_[2 * static_cast<size_t>(arc)] != kNowhere;
  }
  // REQUIRES: the arc is not listed.
  void Add(ArcIndex arc, const ArcState& state);
  // REQUIRES, here and below: the arc is listed.
  void Remove(ArcIndex arc);
  // REQUIRES: the arc's ends are those it is listed with.
  void Update(ArcIndex arc, const ArcState& state);

  const HalfArc& half_arc(HalfArcId id) const {
    return half_arcs_[position_[id]];
  }
  NodeIndex tail(ArcIndex arc) const {
    return half_arc(Twin(2 * static_cast<HalfArcId>(arc))).head;
  }
  NodeIndex head(ArcIndex arc) const {
    return half_arc(2 * static_cast<HalfArcId>(arc)).head;
  }

  // The half arcs at `node` over which flow may leave it; and of these, tier 0
  // and those open both ways.  Spans are valid until the next change.
  std::span<const HalfArc> Out(NodeIndex node) const {
    return Zones(node, 0, kBoth);
  }
  std::span<const HalfArc> NearOut(NodeIndex node) const {
    return Zones(node, ZoneOfTier<true>(0), kBoth);
  }
  // Those open outward only (inward only).
  template <bool is_out>
  std::span<const HalfArc> Tiers(NodeIndex node, int first, int last) const {
    return is_out
               ? Zones(node, ZoneOfTier<true>(last), ZoneOfTier<true>(first))
               : Zones(node, ZoneOfTier<false>(first), ZoneOfTier<false>(last));
  }
  template <bool is_out>
  std::span<const HalfArc> Tier(NodeIndex node, int tier) const {
    return Tiers<is_out>(node, tier, tier);
  }
  // Those open both ways.  A unit over the twin of a half arc usually costs
  // -cost(half arc), but here CostOfTwin().
  std::span<const HalfArc> Both(NodeIndex node) const {
    return Zones(node, kBoth, kBoth);
  }
  FlowCost CostOfTwin(const HalfArc& half_arc) const {
    return half_arc.is_convex() ? this->half_arc(Twin(half_arc.id())).cost
                                : -half_arc.cost;
  }
  int32_t degree(NodeIndex node) const {
    const List& list = lists_[static_cast<size_t>(node)];
    return static_cast<int32_t>(list.end[kClosed] - list.begin);
  }

  // The tier of a half arc at `node` that is open outward only (inward only).
  template <bool is_out>
  int TierOf(NodeIndex node, HalfArcId id) const;
  template <bool is_out>
  void SetTier(NodeIndex node, HalfArcId id, int tier);
  // Puts the half arcs of tiers up to `tier` into tier 0.
  template <bool is_out>
  void MergeTiers(NodeIndex node, int tier);
  // Adds to `tier` those of lower tiers for which `is_far(half arc)`, and puts
  // the others into tier 0.
  template <bool is_out, class IsFar>
  void SplitTiers(NodeIndex node, int tier, const IsFar& is_far);

 private:
  // The tiers outward, the last one first; both ways; inward; closed.
  using Zone = uint32_t;
  static constexpr Zone kNearOut = kTierCount - 1;
  static constexpr Zone kBoth = kTierCount;
  static constexpr Zone kNearIn = kTierCount + 1;
  static constexpr Zone kClosed = 2 * kTierCount + 1;
  static constexpr uint32_t kZoneCount = 2 * kTierCount + 2;
  static constexpr uint32_t kConvex = uint32_t{1} << 31;
  static constexpr uint32_t kNowhere = ~uint32_t{0};

  // Positions in half_arcs_.
  struct List {
    uint32_t begin = 0;
    std::array<uint32_t, kZoneCount> end = {};  // By zone.
    uint32_t limit = 0;                         // The end of its room.
  };

  template <bool is_out>
  static Zone ZoneOfTier(int tier) {
    return is_out ? kNearOut - static_cast<Zone>(tier)
                  : kNearIn + static_cast<Zone>(tier);
  }
  static Zone ZoneOf(bool is_out, bool is_in) {
    return is_out ? (is_in ? kBoth : kNearOut) : (is_in ? kNearIn : kClosed);
  }
  static Zone ZoneAt(HalfArcId id, const ArcState& state) {
    return IsAlong(id) ? ZoneOf(state.can_rise, state.can_fall)
                       : ZoneOf(state.can_fall, state.can_rise);
  }
  static HalfArc MakeHalfArc(HalfArcId id, const ArcState& state);
  static uint32_t RoomFor(uint32_t size) { return size < 8 ? size : size / 8; }

  List& list(NodeIndex node) { return lists_[static_cast<size_t>(node)]; }
  std::span<const HalfArc> Zones(NodeIndex node, Zone first, Zone last) const {
    const List& list = lists_[static_cast<size_t>(node)];
    return {half_arcs_.data() + BeginOf(list, first),
            half_arcs_.data() + list.end[last]};
  }
  static uint32_t BeginOf(const List& list, Zone zone) {
    return zone == 0 ? list.begin : list.end[zone - 1];
  }
  Zone FindZone(const List& list, uint32_t position) const;
  void Put(uint32_t position, const HalfArc& half_arc) {
    half_arcs_[position] = half_arc;
    position_[half_arc.id()] = position;
  }
  void Swap(uint32_t a, uint32_t b);
  uint32_t Move(List* list, uint32_t position, Zone from, Zone to);
  void Insert(NodeIndex node, const HalfArc& half_arc, Zone zone);
  void Erase(NodeIndex node, HalfArcId id);
  void Set(HalfArcId id, const ArcState& state);
  void MakeRoom(NodeIndex node);
  void Relocate(List* list, uint32_t to, uint32_t room);
  void Pack();
  void LayOut();

  std::vector<List> lists_;  // By node.
  std::vector<HalfArc> half_arcs_;
  std::vector<uint32_t> position_;  // By id.
  size_t used_ = 0;                 // Of half_arcs_; beyond lie free ones.
};

template <class StateOf>
void DynamicResidualNetwork::Build(NodeIndex node_count, ArcIndex arc_count,
                                   const StateOf& state) {
  lists_.assign(static_cast<size_t>(node_count), List());
  position_.assign(2 * static_cast<size_t>(arc_count), kNowhere);
  // First the zones' sizes, then their ends.
  for (ArcIndex arc = 0; arc < arc_count; ++arc) {
    const auto of = state(arc);
    if (!of.has_value()) continue;
    const HalfArcId id = 2 * static_cast<HalfArcId>(arc);
    ++list(of->tail).end[ZoneAt(id, *of)];
    ++list(of->head).end[ZoneAt(Twin(id), *of)];
  }
  LayOut();
  for (ArcIndex arc = 0; arc < arc_count; ++arc) {
    const auto of = state(arc);
    if (!of.has_value()) continue;
    const HalfArcId id = 2 * static_cast<HalfArcId>(arc);
    Put(list(of->tail).end[ZoneAt(id, *of)]++, MakeHalfArc(id, *of));
    Put(list(of->head).end[ZoneAt(Twin(id), *of)]++,
        MakeHalfArc(Twin(id), *of));
  }
}

template <bool is_out, class IsFar>
void DynamicResidualNetwork::SplitTiers(NodeIndex node, int tier,
                                        const IsFar& is_far) {
  List& of = list(node);
  const Zone first = ZoneOfTier<is_out>(is_out ? tier - 1 : 0);
  const Zone last = ZoneOfTier<is_out>(is_out ? 0 : tier - 1);
  uint32_t begin = BeginOf(of, first);
  uint32_t end = of.end[last];
  while (begin < end) {
    if (is_far(half_arcs_[begin]) == is_out) {
      ++begin;
    } else {
      Swap(begin, --end);
    }
  }
  // What ends there: the far ones outward, the near ones inward, empty tiers.
  const Zone shift = is_out ? 1 : 0;
  for (Zone zone = first; zone <= last; ++zone) of.end[zone - shift] = begin;
}

}  // namespace sluice

#endif  // SLUICE_SOLVER_DYNAMIC_RESIDUAL_NETWORK_H_
