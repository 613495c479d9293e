#include "network/candidates.h"

#include <algorithm>
#include <compare>
#include <functional>
#include <queue>
#include <utility>

namespace sluice {
namespace {

// Machines that cost the same.
struct Place {
  size_t aggregate;
  FlowCost cost;
  FlowUnits machines;

  friend auto operator<=>(const Place&, const Place&) = default;
};

// The next machines to take of an aggregate, by what one unit more costs there.
struct Front {
  FlowCost cost = 0;
  std::span<const Place> places;  // From here on, the cheapest first.
  FlowUnits machines = 0;         // Left of the first of these.
  size_t step = 0;
  FlowUnits width = 0;  // Left of the step.

  friend bool operator>(const Front& a, const Front& b) {
    return a.cost > b.cost;
  }
};

// One unit, and so many others wherever they are: it costs no more than this.
// Of `count` machines, that many in all aggregates together, one aggregate has
// fewer units than it has of these machines, so that one of them is
// empty-handed and costs as much as the last at most.  Taken machine by machine
// where the next one costs the least, they bound it best.
// REQUIRES: they ascend, and have so many machines.
FlowCost BoundOf(std::span<const Place> places, FlowUnits count,
                 AggregateLadders* ladders) {
  std::priority_queue<Front, std::vector<Front>, std::greater<>> fronts;
  const auto open = [&](Front front) {
    if (front.places.empty()) return;
    const auto& [aggregate, cost, machines] = front.places.front();
    if (front.machines == 0) front.machines = machines;
    const CostSegment step = ladders->Step(aggregate, front.step);
    if (front.width == 0) front.width = step.width;
    front.cost = cost - ladders->First(aggregate) + step.cost;
    fronts.push(front);
  };
  for (auto first = places.begin(); first != places.end();) {
    const auto last =
        std::find_if(first, places.end(), [first](const Place& one) {
          return one.aggregate != first->aggregate;
        });
    open({.places = {first, last}});
    first = last;
  }
  FlowCost bound = 0;
  while (count > 0) {
    Front front = fronts.top();
    fronts.pop();
    bound = front.cost;
    const FlowUnits taken = std::min({count, front.machines, front.width});
    count -= taken;
    front.machines -= taken;
    front.width -= taken;
    if (front.machines == 0) front.places = front.places.subspan(1);
    if (front.width == 0) ++front.step;
    open(front);
  }
  return bound;
}

}  // namespace

void Candidates::Choice::Add(FlowCost cost) {
  for (Candidate& one : candidates) one.cost += cost;
  if (bound != kNoBound) bound += cost;
}

void Candidates::Forget() {
  const auto end = candidates_.begin() + count_max_;
  std::ranges::nth_element(candidates_, end - 1);
  candidates_.erase(end, candidates_.end());
  cost_end_ = candidates_.back().cost;
}

std::vector<Candidate>::iterator Candidates::EndOfCheapest(
    std::span<const MachineGroup> groups) {
  // All before `begin` are taken, none from `end` on.  Halving what is between
  // them takes less than to sort it.
  auto begin = candidates_.begin();
  auto end = candidates_.end();
  for (FlowUnits missing = count_max_; begin != end && missing > 0;) {
    const auto middle = begin + (end - begin) / 2;
    std::ranges::nth_element(begin, middle, end);
    FlowUnits machines = 0;
    for (auto it = begin; it != middle; ++it) {
      machines += groups[it->group].size();
    }
    if (machines >= missing) {
      end = middle;
    } else {
      missing -= machines + groups[middle->group].size();
      begin = middle + 1;
    }
  }
  return begin;
}

std::vector<Candidate> Candidates::Take(
    std::span<const MachineGroup> groups) && {
  candidates_.erase(EndOfCheapest(groups), candidates_.end());
  return std::move(candidates_);
}

std::optional<FlowCost> Candidates::CostAbove(const Candidates& others) const {
  if (candidates_.empty() || others.candidates_.empty()) return std::nullopt;
  const FlowCost above =
      candidates_.front().cost - others.candidates_.front().cost;
  if (!std::ranges::equal(candidates_, others.candidates_,
                          [above](const Candidate& a, const Candidate& b) {
                            return a.group == b.group &&
                                   a.cost - b.cost == above;
                          })) {
    return std::nullopt;
  }
  return above;
}

Candidates::Choice Candidates::TakeRising(std::span<const MachineGroup> groups,
                                          AggregateLadders* ladders) && {
  FlowUnits machines = 0;
  for (const Candidate& one : candidates_) machines += groups[one.group].size();
  if (machines < count_max_) return {.candidates = std::move(candidates_)};
  std::vector<Place> places;
  const auto bound_of = [&](std::span<const Candidate> candidates) {
    places.clear();
    for (const auto& [cost, g] : candidates) {
      places.push_back({groups[g].aggregate, cost, groups[g].size()});
    }
    std::ranges::sort(places);
    return BoundOf(places, count_max_, ladders);
  };
  FlowCost bound = kNoBound;
  const auto beyond = [&](const Candidate& one) { return one.cost > bound; };
  if (std::ssize(candidates_) > count_max_) {
    // Of the cheapest alone, which leaves few to sort.
    bound = bound_of({candidates_.begin(), EndOfCheapest(groups)});
    std::erase_if(candidates_, beyond);
  }
  bound = bound_of(candidates_);
  std::erase_if(candidates_, beyond);
  return {.candidates = std::move(candidates_), .bound = bound};
}

}  // namespace sluice
