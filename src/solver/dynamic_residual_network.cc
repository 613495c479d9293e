#include "solver/dynamic_residual_network.h"

#include <algorithm>
#include <utility>

namespace sluice {

DynamicResidualNetwork::HalfArc DynamicResidualNetwork::MakeHalfArc(
    HalfArcId id, const ArcState& state) {
  const bool is_along = IsAlong(id);
  HalfArc half_arc = {.head = is_along ? state.head : state.tail, .label = id};
  // The cost of the open direction; if both are, outward.
  const bool is_next = is_along ? state.can_rise : !state.can_fall;
  const FlowCost cost = is_next ? state.next_cost : state.last_cost;
  half_arc.cost = is_along ? cost : -cost;
  if (state.is_convex) half_arc.label |= kConvex;
  return half_arc;
}

// Converts the zones' sizes in their `end` to where each zone begins.
void DynamicResidualNetwork::LayOut() {
  uint32_t position = 0;
  for (List& list : lists_) {
    list.begin = position;
    for (uint32_t& end : list.end) {
      const uint32_t size = end;
      end = position;
      position += size;
    }
    const uint32_t size = position - list.begin;
    position += size < 8 ? 0 : RoomFor(size);
    list.limit = position;
  }
  used_ = position;
  // Room for lists that move, so that the first one does not reallocate the
  // pool.
  half_arcs_.resize(used_ + used_ / 16);
}

void DynamicResidualNetwork::Grow(NodeIndex node_count, ArcIndex arc_count) {
  lists_.resize(static_cast<size_t>(node_count));
  position_.resize(2 * static_cast<size_t>(arc_count), kNowhere);
}

void DynamicResidualNetwork::Add(ArcIndex arc, const ArcState& state) {
  const HalfArcId id = 2 * static_cast<HalfArcId>(arc);
  Insert(state.tail, MakeHalfArc(id, state), ZoneAt(id, state));
  Insert(state.head, MakeHalfArc(Twin(id), state), ZoneAt(Twin(id), state));
}

void DynamicResidualNetwork::Remove(ArcIndex arc) {
  const HalfArcId id = 2 * static_cast<HalfArcId>(arc);
  const NodeIndex tail = this->tail(arc);
  Erase(head(arc), Twin(id));
  Erase(tail, id);
}

void DynamicResidualNetwork::Update(ArcIndex arc, const ArcState& state) {
  const HalfArcId id = 2 * static_cast<HalfArcId>(arc);
  Set(id, state);
  Set(Twin(id), state);
}

void DynamicResidualNetwork::Set(HalfArcId id, const ArcState& state) {
  const uint32_t position = position_[id];
  List& of = list(IsAlong(id) ? state.tail : state.head);
  half_arcs_[position] = MakeHalfArc(id, state);
  Move(&of, position, FindZone(of, position), ZoneAt(id, state));
}

DynamicResidualNetwork::Zone DynamicResidualNetwork::FindZone(
    const List& list, uint32_t position) const {
  uint32_t zone = 0;
  while (position >= list.end[zone]) ++zone;
  return zone;
}

void DynamicResidualNetwork::Swap(uint32_t a, uint32_t b) {
  if (a == b) return;
  std::swap(half_arcs_[a], half_arcs_[b]);
  position_[half_arcs_[a].id()] = a;
  position_[half_arcs_[b].id()] = b;
}

// Returns the new position.
uint32_t DynamicResidualNetwork::Move(List* list, uint32_t position, Zone from,
                                      Zone to) {
  for (uint32_t zone = from; zone < to; ++zone) {
    Swap(position, --list->end[zone]);
    position = list->end[zone];
  }
  for (uint32_t zone = from; zone > to; --zone) {
    Swap(position, list->end[zone - 1]);
    position = list->end[zone - 1]++;
  }
  return position;
}

void DynamicResidualNetwork::Insert(NodeIndex node, const HalfArc& half_arc,
                                    Zone zone) {
  if (list(node).end[kClosed] == list(node).limit) MakeRoom(node);
  List& of = list(node);
  const uint32_t position = of.end[kClosed]++;
  Put(position, half_arc);
  Move(&of, position, kClosed, zone);
}

void DynamicResidualNetwork::Erase(NodeIndex node, HalfArcId id) {
  List& of = list(node);
  const uint32_t position = position_[id];
  const uint32_t last = Move(&of, position, FindZone(of, position), kClosed);
  Swap(last, --of.end[kClosed]);
  position_[id] = kNowhere;
}

template <bool is_out>
int DynamicResidualNetwork::TierOf(NodeIndex node, HalfArcId id) const {
  const Zone zone = FindZone(lists_[static_cast<size_t>(node)], position_[id]);
  return static_cast<int>(is_out ? kNearOut - zone : zone - kNearIn);
}
template int DynamicResidualNetwork::TierOf<true>(NodeIndex, HalfArcId) const;
template int DynamicResidualNetwork::TierOf<false>(NodeIndex, HalfArcId) const;

template <bool is_out>
void DynamicResidualNetwork::SetTier(NodeIndex node, HalfArcId id, int tier) {
  const uint32_t position = position_[id];
  List& of = list(node);
  Move(&of, position, FindZone(of, position), ZoneOfTier<is_out>(tier));
}
template void DynamicResidualNetwork::SetTier<true>(NodeIndex, HalfArcId, int);
template void DynamicResidualNetwork::SetTier<false>(NodeIndex, HalfArcId, int);

template <bool is_out>
void DynamicResidualNetwork::MergeTiers(NodeIndex node, int tier) {
  List& of = list(node);
  const Zone first = ZoneOfTier<is_out>(is_out ? tier : 0);
  const Zone last = ZoneOfTier<is_out>(is_out ? 0 : tier);
  const uint32_t bound = is_out ? BeginOf(of, first) : of.end[last];
  for (Zone zone = first; zone < last; ++zone) of.end[zone] = bound;
}
template void DynamicResidualNetwork::MergeTiers<true>(NodeIndex, int);
template void DynamicResidualNetwork::MergeTiers<false>(NodeIndex, int);

// Gives the full list of `node` more room, at the end of the pool.
void DynamicResidualNetwork::MakeRoom(NodeIndex node) {
  const uint32_t size = list(node).end[kClosed] - list(node).begin;
  const uint32_t room = size + std::max<uint32_t>(size / 2, 4);
  if (used_ + room > half_arcs_.size()) {
    Pack();
    if (used_ + room > half_arcs_.size())
      half_arcs_.resize(used_ + size_t{2} * room);
  }
  List& of = list(node);
  if (of.end[kClosed] != of.limit) return;  // Packing gave it room.
  Relocate(&of, static_cast<uint32_t>(used_), room);
  used_ += room;
}

void DynamicResidualNetwork::Relocate(List* list, uint32_t to, uint32_t room) {
  const uint32_t from = list->begin;
  for (uint32_t i = from; i < list->end[kClosed]; ++i) {
    Put(to + (i - from), half_arcs_[i]);
  }
  list->begin = to;
  for (uint32_t& end : list->end) end = to + (end - from);
  list->limit = to + room;
}

// Moves all lists to a new pool, contiguously in node order.
void DynamicResidualNetwork::Pack() {
  const std::vector<HalfArc> old = std::move(half_arcs_);
  const std::vector<List> old_lists = lists_;
  for (List& list : lists_) {
    uint32_t begin = list.begin;
    for (uint32_t& end : list.end) {
      const uint32_t size = end - begin;
      begin = end;
      end = size;
    }
  }
  half_arcs_ = {};
  LayOut();
  for (size_t node = 0; node < lists_.size(); ++node) {
    const List& from = old_lists[node];
    List& to = lists_[node];
    for (uint32_t i = from.begin; i < from.end[kClosed]; ++i) {
      Put(to.begin + (i - from.begin), old[i]);
    }
    for (uint32_t zone = 0; zone < kZoneCount; ++zone) {
      to.end[zone] = to.begin + (from.end[zone] - from.begin);
    }
  }
}

}  // namespace sluice
