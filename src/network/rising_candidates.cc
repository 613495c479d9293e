#include "network/rising_candidates.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <utility>

namespace sluice {
namespace {

// A bound by another class's sample is accepted unless its margin above the
// cheapest unit is this many times that of the class's own sample.
constexpr FlowCost kLooseness = 2;

// The remaining parts of an aggregate.
struct Range {
  FlowCost cost;   // Of the first unit, less its limit.
  uint32_t place;  // Of the first machine.
  size_t begin;
  size_t end;

  friend auto operator<=>(const Range&, const Range&) = default;
};

// Groups count as cut into many parts if there are this many times as many
// parts.
constexpr size_t kManyParts = 4;

}  // namespace

// The next machines to take of an aggregate.
struct RisingCandidates::Front {
  Candidate cheapest = {kNoBound, 0};  // Of its parts.
  std::vector<Candidate> others;       // A heap, once the cheapest is used up.
  bool knows_others = false;
  FlowUnits machines = 0;  // Left of the cheapest.
  size_t step = 0;
  FlowUnits width = 0;  // Left of the step.
};

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
  size_t count = 0;
  for (const Aggregates::Parts& one : parts) count += one.size();
  parts_.reserve(count);
  slices_.reserve(parts.size());
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

void RisingCandidates::Add(Offers offers) {
  FlowUnits machines = 0;
  for (const Candidate& one : offers.groups) {
    machines += groups_[one.group].size();
  }
  const FlowCost bound = offers.is_bound && machines >= count_
                             ? BoundFor(offers.groups)
                             : kNoBound;
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

// If others have one unit fewer than the sample has machines, some aggregate of
// the sample has fewer units than machines.  So a machine is empty there, and a
// unit costs no more on it than the most expensive one in the last step that
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

void RisingCandidates::TakeNextPart(const Slice& slice, Front* front) const {
  std::vector<Candidate>& others = front->others;
  // Usually one part has enough machines.
  if (!std::exchange(front->knows_others, true)) {
    for (size_t part = slice.begin; part < slice.end; ++part) {
      const FlowCost cost = cost_on_[parts_[part].group];
      if (cost == kNoBound || part == front->cheapest.group) continue;
      others.push_back({cost, part});
    }
    std::ranges::make_heap(others, std::greater<>());
  }
  front->cheapest = {kNoBound, 0};
  if (others.empty()) return;
  std::ranges::pop_heap(others, std::greater<>());
  front->cheapest = others.back();
  others.pop_back();
}

FlowCost RisingCandidates::TakeSample(std::span<const Candidate> offers) {
  for (const auto& [cost, group] : offers) cost_on_[group] = cost;
  std::vector<Front> fronts(slices_.size());
  // The cost of one more unit, and where.
  using Next = std::pair<FlowCost, size_t>;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  const auto open = [&](size_t slice) {
    Front& front = fronts[slice];
    const auto& [cost, part] = front.cheapest;
    if (cost == kNoBound) return;
    if (front.machines == 0) front.machines = parts_[part].machines;
    const CostSegment step =
        ladders_.Step(slices_[slice].aggregate, front.step);
    if (front.width == 0) front.width = step.width;
    next.emplace(cost + step.cost, slice);
  };
  for (size_t slice = 0; slice < slices_.size(); ++slice) {
    Candidate cheapest = {kNoBound, 0};
    for (size_t part = slices_[slice].begin; part < slices_[slice].end;
         ++part) {
      const FlowCost cost = cost_on_[parts_[part].group];
      if (cost < cheapest.cost) cheapest = {cost, part};
    }
    fronts[slice].cheapest = cheapest;
    open(slice);
  }
  std::vector<std::pair<size_t, size_t>> taken;  // Groups, and where.
  std::vector<FlowCost> last(slices_.size());    // Of aggregates alone.
  FlowCost bound = 0;
  for (FlowUnits left = count_; left > 0;) {
    const size_t slice = next.top().second;
    bound = next.top().first;
    next.pop();
    Front& front = fronts[slice];
    const auto& [cost, part] = front.cheapest;
    if (front.machines == parts_[part].machines) {
      taken.emplace_back(parts_[part].group, slice);
    }
    last[slice] = bound - cost;
    const FlowUnits units = std::min({left, front.machines, front.width});
    left -= units;
    front.machines -= units;
    front.width -= units;
    if (front.width == 0) ++front.step;
    if (front.machines == 0) TakeNextPart(slices_[slice], &front);
    open(slice);
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
  // By group: the maximum that its aggregate may cost.
  std::vector<FlowCost> reach(groups_.size(), kClosed);
  for (const auto& [offers, bound] : outlets_) {
    for (const auto& [cost, group] : offers.groups) {
      reach[group] =
          std::max(reach[group], bound == kNoBound ? kNoBound : bound - cost);
    }
  }
  size_t count = 0;
  for (auto& [aggregate, first_cost, begin, end] : slices_) {
    const size_t first = count;
    FlowCost most = kClosed;
    for (size_t part = begin; part < end; ++part) {
      const FlowCost most_there = reach[parts_[part].group];
      if (most_there < first_cost) continue;
      parts_[count++] = parts_[part];
      most = std::max(most, most_there);
    }
    begin = first;
    end = count;
    if (begin == end || aggregate == Aggregates::kNone) continue;
    slack_[aggregate] = most == kNoBound ? kNoBound : most - first_cost;
  }
  parts_.resize(count);
  std::erase_if(slices_,
                [](const Slice& slice) { return slice.begin == slice.end; });
}

RisingCandidates::Choice RisingCandidates::Choose() {
  DropDistantParts();
  units_.assign(aggregates_.size(), 0);
  for (const Slice& slice : slices_) {
    if (slice.aggregate == Aggregates::kNone) continue;
    FlowUnits& units = units_[slice.aggregate];
    for (const CostSegment& step : StepsOf(slice.aggregate, count_)) {
      units += step.width;
    }
  }
  is_needed_.assign(parts_.size(), false);
  Choice choice;
  choice.candidates.resize(outlets_.size());
  // Ranking the groups of each class pays only if groups are cut into many
  // parts; otherwise looking at the parts for each class is cheaper.
  const bool has_many_parts = parts_.size() >= kManyParts * GroupCount();
  const bool may_be_too_many = std::ssize(slices_) > count_;
  std::map<Ranking, std::vector<size_t>> alike;
  for (size_t i = 0; i < outlets_.size(); ++i) {
    const Outlet& outlet = outlets_[i];
    if (outlet.bound == kNoBound) {
      choice.candidates[i] = All(outlet);
    } else if (outlet.offers.is_by_group && has_many_parts &&
               !may_be_too_many) {
      alike[RankingOf(outlet)].push_back(i);
    } else {
      Trim(std::span(&i, 1), &choice);
    }
  }
  for (const auto& [ranking, outlets] : alike) Trim(outlets, &choice);
  std::vector<std::pair<size_t, size_t>> needed;  // Parts, and of what.
  for (const Slice& slice : slices_) {
    for (size_t part = slice.begin; part < slice.end; ++part) {
      if (is_needed_[part]) needed.emplace_back(part, slice.aggregate);
    }
  }
  std::ranges::sort(
      needed, {}, [this](const auto& one) { return parts_[one.first].first; });
  FlowUnits machines = 0;
  for (const auto& [part, aggregate] : needed) {
    machines += parts_[part].machines;
  }
  choice.machines.reserve(static_cast<size_t>(machines));
  choice.parts.reserve(needed.size());
  std::vector<size_t> index_of(parts_.size());
  for (const auto& [part, aggregate] : needed) {
    index_of[part] = choice.parts.size();
    Draw(parts_[part], aggregate, &choice);
  }
  for (size_t i = 0; i < outlets_.size(); ++i) {
    if (outlets_[i].offers.is_by_group) continue;
    for (Candidate& one : choice.candidates[i]) one.group = index_of[one.group];
  }
  return choice;
}

size_t RisingCandidates::GroupCount() const {
  std::vector<bool> is_seen(groups_.size());
  size_t count = 0;
  for (const Part& part : parts_) {
    if (is_seen[part.group]) continue;
    is_seen[part.group] = true;
    ++count;
  }
  return count;
}

RisingCandidates::Ranking RisingCandidates::RankingOf(
    const Outlet& outlet) const {
  std::vector<Candidate> near;
  for (const Candidate& one : outlet.offers.groups) {
    const FlowCost least = least_[one.group];
    if (least != kNoBound && one.cost + least <= outlet.bound) {
      near.push_back(one);
    }
  }
  std::ranges::sort(near);
  Ranking ranking;
  ranking.reserve(near.size());
  for (const Candidate& one : near) ranking.push_back(one.group);
  return ranking;
}

void RisingCandidates::AddCheapest(const Slice& slice, FlowUnits units,
                                   std::span<const FlowCost> reach,
                                   std::vector<Candidate>* kept) const {
  const auto [aggregate, first_cost, begin, end] = slice;
  // The ones that may cost most there; among these, the first group.
  const auto comes_before = [&](size_t a, size_t b) {
    const size_t group_a = parts_[a].group;
    const size_t group_b = parts_[b].group;
    return reach[group_a] > reach[group_b] ||
           (reach[group_a] == reach[group_b] && group_a < group_b);
  };
  size_t cheapest = begin;
  for (size_t part = begin + 1; part < end; ++part) {
    if (comes_before(part, cheapest)) cheapest = part;
  }
  if (reach[parts_[cheapest].group] < first_cost) return;
  kept->push_back({first_cost, cheapest});
  // Usually that one has enough machines.
  units -= parts_[cheapest].machines;
  if (units <= 0) return;
  const std::ptrdiff_t before = std::ssize(*kept);
  for (size_t part = begin; part < end; ++part) {
    if (part == cheapest || reach[parts_[part].group] < first_cost) continue;
    kept->push_back({first_cost, part});
  }
  const std::ranges::subrange others(kept->begin() + before, kept->end());
  std::ranges::sort(others, comes_before, &Candidate::group);
  auto last = others.begin();
  for (; last != others.end() && units > 0; ++last) {
    units -= parts_[last->group].machines;
  }
  kept->erase(last, kept->end());
}

// An omitted part of an aggregate would get a unit only while a kept part,
// which costs no more, is empty.  As many aggregates as there are units
// suffice, namely the cheapest by their first units: if a unit is elsewhere,
// one of these has none.
void RisingCandidates::Trim(std::span<const size_t> outlets, Choice* choice) {
  // By group: the maximum that its aggregate may cost.
  std::vector<FlowCost> reach(groups_.size(), kClosed);
  for (const size_t i : outlets) {
    const auto& [offers, bound] = outlets_[i];
    for (const auto& [cost, group] : offers.groups) {
      reach[group] = std::max(reach[group], bound - cost);
    }
  }
  const bool may_be_cut = outlets.size() == 1 && std::ssize(slices_) > count_;
  std::vector<Candidate> kept;  // Parts, and what their aggregates cost.
  std::vector<Range> ranges;    // If some may be cut.
  for (const Slice& slice : slices_) {
    const size_t before = kept.size();
    AddCheapest(slice, UnitsOf(slice.aggregate, count_), reach, &kept);
    if (!may_be_cut || kept.size() == before ||
        slice.aggregate == Aggregates::kNone) {
      continue;
    }
    const size_t cheapest = parts_[kept[before].group].group;
    ranges.push_back({.cost = slice.first_cost - reach[cheapest],
                      .place = aggregates_.PlacesOf(slice.aggregate).front(),
                      .begin = before,
                      .end = kept.size()});
  }
  if (std::ssize(ranges) > count_) {
    const auto needed = ranges.begin() + count_;
    std::ranges::nth_element(ranges, needed);
    for (const Range& range : std::ranges::subrange(needed, ranges.end())) {
      for (size_t i = range.begin; i < range.end; ++i) {
        kept[i].group = parts_.size();
      }
    }
    std::erase_if(kept, [this](const Candidate& one) {
      return one.group == parts_.size();
    });
  }
  // The first unit of the cheapest aggregate with a kept part.
  std::vector<FlowCost> least(groups_.size(), kNoBound);
  for (const auto& [cost, part] : kept) {
    is_needed_[part] = true;
    FlowCost& least_there = least[parts_[part].group];
    least_there = std::min(least_there, cost);
  }
  for (const size_t i : outlets) {
    const auto& [offers, bound] = outlets_[i];
    std::vector<Candidate>& candidates = choice->candidates[i];
    if (offers.is_by_group) {
      for (const auto& [cost, group] : offers.groups) {
        if (least[group] == kNoBound || cost + least[group] > bound) continue;
        candidates.push_back({cost, group});
      }
      continue;
    }
    for (const auto& [cost, part] : kept) {
      candidates.push_back({bound - reach[parts_[part].group] + cost, part});
    }
  }
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
  const Offers& offers = outlet.offers;
  std::vector<Candidate> all;
  for (const auto& [cost, group] : offers.groups) {
    for (const auto& [first_cost, part] : parts_of_[group]) {
      is_needed_[part] = true;
      if (!offers.is_by_group) all.push_back({cost + first_cost, part});
    }
  }
  return offers.is_by_group ? offers.groups : all;
}

void RisingCandidates::Draw(const Part& part, size_t aggregate,
                            Choice* choice) const {
  const std::span<const uint32_t> places = aggregates_.PlacesOf(aggregate);
  std::vector<MachineId>& machines = choice->machines;
  const size_t before = machines.size();
  const size_t after = before + static_cast<size_t>(part.machines);
  for (auto it = std::ranges::lower_bound(places, part.first);
       machines.size() < after; ++it) {
    if (group_at_[*it] == part.group) machines.push_back(aggregates_.IdAt(*it));
  }
  choice->parts.push_back({.whole = part.group,
                           .aggregate = aggregate,
                           .representative = aggregates_.MachineAt(part.first),
                           .machines = std::span(machines).subspan(before)});
}

FlowCost RisingCandidates::DearestOf(size_t aggregate) {
  if (aggregate == Aggregates::kNone) return kNoBound;
  const FlowCost slack = slack_[aggregate];
  return slack == kNoBound ? kNoBound : slack + ladders_.First(aggregate);
}

}  // namespace sluice
