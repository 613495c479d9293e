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

}  // namespace

RisingCandidates::RisingCandidates(const Aggregates& aggregates,
                                   const PolicySet& policies,
                                   const Resources& mean_request,
                                   std::span<const MachineGroup> groups,
                                   std::span<const uint32_t> group_at,
                                   FlowUnits task_count)
    : aggregates_(aggregates),
      groups_(groups),
      group_at_(group_at),
      count_(task_count),
      ladders_(aggregates, policies, mean_request),
      slack_(aggregates.size(), 0) {
  if (aggregates.empty()) return;
  least_.assign(groups.size(), kNoBound);
  cost_on_.assign(groups.size(), kClosed);
  // By group, one more than the index of its last part.
  std::vector<size_t> end_of(groups.size(), 0);
  for (size_t i = 0; i <= aggregates.size(); ++i) {
    const size_t aggregate = i < aggregates.size() ? i : Aggregates::kNone;
    const FlowCost first_cost = ladders_.First(aggregate);
    const size_t begin = parts_.size();
    for (const uint32_t place : aggregates.PlacesOf(aggregate)) {
      const uint32_t group = group_at[place];
      if (group == kNoGroup) continue;
      if (end_of[group] <= begin) {
        parts_.push_back({group, place, 0});
        end_of[group] = parts_.size();
        least_[group] = std::min(least_[group], first_cost);
      }
      ++parts_[end_of[group] - 1].machines;
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
      if (cost != kClosed) places.push_back({cost, part});
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
  for (const auto& [cost, group] : offers) cost_on_[group] = kClosed;
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
std::vector<Candidate> RisingCandidates::Trimmed(
    const Outlet& outlet, std::span<const FlowUnits> units) {
  for (const auto& [cost, group] : outlet.offers) cost_on_[group] = cost;
  std::vector<Candidate> trimmed;
  for (size_t slice = 0; slice < slices_.size(); ++slice) {
    const auto& [aggregate, first_cost, begin, end] = slices_[slice];
    const auto first = std::ssize(trimmed);
    for (size_t part = begin; part < end; ++part) {
      const FlowCost cost = cost_on_[parts_[part].group];
      if (cost == kClosed || cost + first_cost > outlet.bound) continue;
      trimmed.push_back({cost + first_cost, part});
    }
    if (std::ssize(trimmed) - first < 2) continue;
    std::sort(trimmed.begin() + first, trimmed.end());
    FlowUnits missing = units[slice];
    auto kept = trimmed.begin() + first;
    for (; kept != trimmed.end() && missing > 0; ++kept) {
      missing -= parts_[kept->group].machines;
    }
    trimmed.erase(kept, trimmed.end());
  }
  for (const auto& [cost, group] : outlet.offers) cost_on_[group] = kClosed;
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
