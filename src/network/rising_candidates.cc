#include "network/rising_candidates.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace sluice {
namespace {

// A bound by another class's sample will do unless it leaves so many times as
// much room above the cheapest unit as that class's own.
constexpr FlowCost kLooseness = 2;

// The next machines to take of an aggregate, by what one unit more costs there.
struct Front {
  FlowCost cost = 0;
  std::span<Candidate> places;  // A heap of its parts.
  size_t slice = 0;
  FlowUnits machines = 0;  // Left of the first of these.
  size_t step = 0;
  FlowUnits width = 0;  // Left of the step.

  friend bool operator>(const Front& a, const Front& b) {
    return a.cost > b.cost;
  }
};

// The parts of an aggregate that are left.
struct Range {
  FlowCost cost;   // Of the first unit there.
  uint32_t place;  // Of the first machine.
  size_t begin;
  size_t end;

  friend auto operator<=>(const Range&, const Range&) = default;
};

}  // namespace

RisingCandidates::RisingCandidates(const Cut& cut, const PolicySet& policies,
                                   const Resources& mean_request,
                                   FlowUnits task_count)
    : aggregates_(cut.aggregates),
      groups_(cut.groups),
      group_at_(cut.group_at),
      count_(task_count),
      ladders_(aggregates_, policies, mean_request),
      slack_(aggregates_.size(), 0) {
  if (aggregates_.empty()) return;
  least_.assign(groups_.size(), kNoBound);
  cost_on_.assign(groups_.size(), kNoBound);
  if (cut.parts.empty()) {
    AddSlices(aggregates_.PartsBy(group_at_));
  } else {
    AddSlices(cut.parts);
  }
}

void RisingCandidates::AddSlices(std::span<const Aggregates::Parts> parts) {
  for (size_t i = 0; i <= aggregates_.size(); ++i) {
    const size_t aggregate = i < aggregates_.size() ? i : Aggregates::kNone;
    const FlowCost first_cost = ladders_.First(aggregate);
    const size_t begin = parts_.size();
    for (const auto& [first, machines] : parts[i]) {
      const uint32_t group = group_at_[first];
      parts_.push_back({group, first, machines});
      least_[group] = std::min(least_[group], first_cost);
    }
    slices_.push_back({aggregate, first_cost, begin, parts_.size()});
  }
}

void RisingCandidates::Add(std::vector<Candidate> offers, bool is_bound) {
  FlowUnits machines = 0;
  for (const Candidate& one : offers) machines += groups_[one.group].size();
  const FlowCost bound =
      is_bound && machines >= count_ ? BoundFor(offers) : kNoBound;
  outlets_.push_back({std::move(offers), bound});
}

FlowCost RisingCandidates::BoundFor(std::span<const Candidate> offers) {
  FlowCost cheapest = kNoBound;
  for (const auto& [cost, group] : offers) {
    cheapest = std::min(cheapest, cost + least_[group]);
  }
  const std::optional<FlowCost> bound = BoundBySample(offers);
  if (bound.has_value() && *bound - cheapest <= kLooseness * width_of_sample_) {
    return *bound;
  }
  const FlowCost own = TakeSample(offers);
  width_of_sample_ = own - cheapest;
  return own;
}

// Of the sample's machines some aggregate has fewer units than machines, if
// others have one unit less than these together.  So one is empty-handed there,
// and a unit costs no more on it than the dearest of them in the last step that
// the sample took.
std::optional<FlowCost> RisingCandidates::BoundBySample(
    std::span<const Candidate> offers) const {
  FlowCost bound = 0;
  size_t found = 0;
  if (sampled_.empty()) return std::nullopt;
  for (const auto& [cost, group] : offers) {
    if (sampled_[group] == kClosed) continue;
    bound = std::max(bound, cost + sampled_[group]);
    ++found;
  }
  if (found < sampled_count_) return std::nullopt;
  return bound;
}

FlowCost RisingCandidates::TakeSample(std::span<const Candidate> offers) {
  for (const auto& [cost, group] : offers) cost_on_[group] = cost;
  std::vector<Candidate> places;
  places.reserve(parts_.size());
  std::priority_queue<Front, std::vector<Front>, std::greater<>> fronts;
  const auto open = [&](Front front) {
    if (front.places.empty()) return;
    const auto& [cost, part] = front.places.front();
    if (front.machines == 0) front.machines = parts_[part].machines;
    const CostSegment step =
        ladders_.Step(slices_[front.slice].aggregate, front.step);
    if (front.width == 0) front.width = step.width;
    front.cost = cost + step.cost;
    fronts.push(front);
  };
  for (size_t slice = 0; slice < slices_.size(); ++slice) {
    const size_t begin = places.size();
    for (size_t part = slices_[slice].begin; part < slices_[slice].end;
         ++part) {
      const FlowCost cost = cost_on_[parts_[part].group];
      if (cost != kNoBound) places.push_back({cost, part});
    }
    const std::span<Candidate> of_slice = std::span(places).subspan(begin);
    std::ranges::make_heap(of_slice, std::greater<>());
    open({.places = of_slice, .slice = slice});
  }
  std::vector<std::pair<size_t, size_t>> taken;  // Groups, and where.
  std::vector<FlowCost> last(slices_.size());    // Of aggregates alone.
  FlowCost bound = 0;
  for (FlowUnits left = count_; left > 0;) {
    Front front = fronts.top();
    fronts.pop();
    bound = front.cost;
    const auto& [cost, part] = front.places.front();
    if (front.machines == parts_[part].machines) {
      taken.emplace_back(parts_[part].group, front.slice);
    }
    last[front.slice] = front.cost - cost;
    const FlowUnits units = std::min({left, front.machines, front.width});
    left -= units;
    front.machines -= units;
    front.width -= units;
    if (front.machines == 0) {
      std::ranges::pop_heap(front.places, std::greater<>());
      front.places = front.places.first(front.places.size() - 1);
    }
    if (front.width == 0) ++front.step;
    open(front);
  }
  sampled_.assign(groups_.size(), kClosed);
  sampled_count_ = 0;
  for (const auto& [group, slice] : taken) {
    if (sampled_[group] == kClosed) ++sampled_count_;
    sampled_[group] = std::max(sampled_[group], last[slice]);
  }
  for (const auto& [cost, group] : offers) cost_on_[group] = kNoBound;
  return bound;
}

void RisingCandidates::DropDistantParts() {
  // By group, what its aggregate may cost at most.
  std::vector<FlowCost> reach(groups_.size(), kClosed);
  for (const auto& [offers, bound] : outlets_) {
    for (const auto& [cost, group] : offers) {
      reach[group] =
          std::max(reach[group], bound == kNoBound ? kNoBound : bound - cost);
    }
  }
  std::vector<Part> near;
  for (auto& [aggregate, first_cost, begin, end] : slices_) {
    const size_t first = near.size();
    for (size_t part = begin; part < end; ++part) {
      const FlowCost most = reach[parts_[part].group];
      if (most < first_cost) continue;
      near.push_back(parts_[part]);
      if (aggregate == Aggregates::kNone) continue;
      slack_[aggregate] = std::max(
          slack_[aggregate], most == kNoBound ? kNoBound : most - first_cost);
    }
    begin = first;
    end = near.size();
  }
  parts_ = std::move(near);
  std::erase_if(slices_,
                [](const Slice& slice) { return slice.begin == slice.end; });
}

RisingCandidates::Choice RisingCandidates::Choose() {
  DropDistantParts();
  std::vector<FlowUnits> units;  // By slice.
  for (const Slice& slice : slices_) {
    units.push_back(UnitsOf(slice.aggregate, count_));
  }
  Choice choice;
  std::vector<bool> is_needed(parts_.size());
  for (const Outlet& outlet : outlets_) {
    choice.candidates.push_back(
        outlet.bound == kNoBound ? All(outlet) : Trimmed(outlet, units));
    for (const Candidate& one : choice.candidates.back()) {
      is_needed[one.group] = true;
    }
  }
  std::vector<std::pair<size_t, size_t>> needed;  // Parts, and of what.
  for (const Slice& slice : slices_) {
    for (size_t part = slice.begin; part < slice.end; ++part) {
      if (is_needed[part]) needed.emplace_back(part, slice.aggregate);
    }
  }
  std::ranges::sort(
      needed, {}, [this](const auto& one) { return parts_[one.first].first; });
  std::vector<size_t> index_of(parts_.size());
  for (const auto& [part, aggregate] : needed) {
    index_of[part] = choice.parts.size();
    choice.parts.push_back(Made(parts_[part], aggregate));
  }
  for (std::vector<Candidate>& of_outlet : choice.candidates) {
    for (Candidate& one : of_outlet) one.group = index_of[one.group];
  }
  return choice;
}

// Those of an aggregate that are left out would get a unit while one that is
// kept, and is no dearer, is empty-handed.
void RisingCandidates::AddCheapest(const Slice& slice, FlowCost bound,
                                   FlowUnits units,
                                   std::vector<Candidate>* kept) const {
  const FlowCost most = bound - slice.first_cost;
  const auto cost_of = [this](size_t part) {
    return cost_on_[parts_[part].group];
  };
  FlowCost least = kNoBound;
  size_t cheapest = slice.begin;
  for (size_t part = slice.begin; part < slice.end; ++part) {
    const FlowCost cost = cost_of(part);
    if (cost >= least) continue;
    least = cost;
    cheapest = part;
  }
  if (least > most) return;
  const size_t first = kept->size();
  kept->push_back({least + slice.first_cost, cheapest});
  // Mostly that one has machines enough.
  units -= parts_[cheapest].machines;
  if (units <= 0) return;
  for (size_t part = slice.begin; part < slice.end; ++part) {
    const FlowCost cost = cost_of(part);
    if (cost > most || part == cheapest) continue;
    kept->push_back({cost + slice.first_cost, part});
  }
  auto end = kept->begin() + static_cast<ptrdiff_t>(first) + 1;
  std::sort(end, kept->end());
  for (; end != kept->end() && units > 0; ++end) {
    units -= parts_[end->group].machines;
  }
  kept->erase(end, kept->end());
}

// So many aggregates as there are units are enough, the cheapest by their first
// units: if one of the units is elsewhere, one of these has none.
std::vector<Candidate> RisingCandidates::Trimmed(
    const Outlet& outlet, std::span<const FlowUnits> units) {
  for (const auto& [cost, group] : outlet.offers) cost_on_[group] = cost;
  std::vector<Candidate> trimmed;
  trimmed.reserve(slices_.size());
  const bool may_be_too_many = std::ssize(slices_) > count_;
  std::vector<Range> ranges;
  for (size_t slice = 0; slice < slices_.size(); ++slice) {
    const size_t aggregate = slices_[slice].aggregate;
    const size_t first = trimmed.size();
    AddCheapest(slices_[slice], outlet.bound, units[slice], &trimmed);
    if (!may_be_too_many || trimmed.size() == first ||
        aggregate == Aggregates::kNone) {
      continue;
    }
    ranges.push_back({.cost = trimmed[first].cost,
                      .place = aggregates_.PlacesOf(aggregate).front(),
                      .begin = first,
                      .end = trimmed.size()});
  }
  for (const auto& [cost, group] : outlet.offers) cost_on_[group] = kNoBound;
  if (std::ssize(ranges) <= count_) return trimmed;
  const auto needed = ranges.begin() + count_;
  std::ranges::nth_element(ranges, needed);
  for (const Range& range : std::ranges::subrange(needed, ranges.end())) {
    for (size_t i = range.begin; i < range.end; ++i) {
      trimmed[i].group = parts_.size();
    }
  }
  std::erase_if(trimmed, [this](const Candidate& one) {
    return one.group == parts_.size();
  });
  return trimmed;
}

std::vector<Candidate> RisingCandidates::All(const Outlet& outlet) {
  if (parts_of_.empty()) {
    parts_of_.resize(groups_.size());
    for (const auto& [aggregate, first_cost, begin, end] : slices_) {
      for (size_t part = begin; part < end; ++part) {
        parts_of_[parts_[part].group].push_back({first_cost, part});
      }
    }
  }
  std::vector<Candidate> all;
  for (const auto& [cost, group] : outlet.offers) {
    for (const auto& [first_cost, part] : parts_of_[group]) {
      all.push_back({cost + first_cost, part});
    }
  }
  return all;
}

MachineGroup RisingCandidates::Made(const Part& part, size_t aggregate) const {
  const MachineGroup& whole = groups_[part.group];
  MachineGroup made = {.kind = whole.kind,
                       .machines = {},
                       .free = whole.free,
                       .room = whole.room,
                       .aggregate = aggregate,
                       .whole = part.group};
  const std::span<const uint32_t> places = aggregates_.PlacesOf(aggregate);
  made.machines.reserve(static_cast<size_t>(part.machines));
  for (auto it = std::ranges::lower_bound(places, part.first);
       made.size() < part.machines; ++it) {
    if (group_at_[*it] != part.group) continue;
    made.machines.push_back(aggregates_.MachineAt(*it));
  }
  return made;
}

FlowCost RisingCandidates::DearestOf(size_t aggregate) {
  const FlowCost slack = slack_[aggregate];
  return slack == kNoBound ? kNoBound : slack + ladders_.First(aggregate);
}

std::vector<CostSegment> RisingCandidates::StepsOf(size_t aggregate,
                                                   FlowUnits limit) {
  if (aggregate == Aggregates::kNone) return {{limit, 0}};
  return ladders_.Steps(aggregate, DearestOf(aggregate), limit);
}

FlowUnits RisingCandidates::UnitsOf(size_t aggregate, FlowUnits limit) {
  if (aggregate == Aggregates::kNone) return limit;
  const FlowCost most = DearestOf(aggregate);
  FlowUnits units = 0;
  for (size_t index = 0; units < limit; ++index) {
    const auto [width, cost] = ladders_.Step(aggregate, index);
    if (cost > most) break;
    units += width;
  }
  return std::min(units, limit);
}

}  // namespace sluice
