#include "network/rising_candidates.h"

#include <algorithm>
#include <compare>
#include <functional>
#include <queue>
#include <utility>

namespace sluice {
namespace {

// A bound by another class's sample will do unless it leaves so many times as
// many groups as that class's own.
constexpr size_t kLooseness = 2;

// Machines that cost the same.
struct Place {
  size_t aggregate;
  FlowCost cost;
  size_t group;

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

}  // namespace

void RisingCandidates::Add(std::vector<Candidate> candidates, bool is_bound) {
  FlowUnits machines = 0;
  for (const Candidate& one : candidates) machines += groups_[one.group].size();
  const FlowCost bound =
      is_bound && machines >= count_ ? BoundOf(&candidates) : kNoBound;
  for (const auto& [cost, g] : candidates) {
    const size_t aggregate = groups_[g].aggregate;
    if (aggregate == Aggregates::kNone) continue;
    slack_[aggregate] = bound == kNoBound
                            ? kNoBound
                            : std::max(slack_[aggregate], bound - cost);
  }
  candidates_.push_back(std::move(candidates));
  is_bound_.push_back(is_bound);
}

FlowCost RisingCandidates::BoundOf(std::vector<Candidate>* candidates) {
  const auto erase_beyond = [candidates](FlowCost bound) {
    std::erase_if(*candidates,
                  [bound](const Candidate& one) { return one.cost > bound; });
  };
  if (const auto bound = BoundBySample(*candidates)) {
    const auto left = std::ranges::count_if(
        *candidates,
        [&bound](const Candidate& one) { return one.cost <= *bound; });
    if (std::cmp_less_equal(left, kLooseness * left_by_sample_)) {
      erase_beyond(*bound);
      return *bound;
    }
  }
  if (std::ssize(*candidates) > count_) {
    // Of the cheapest alone, which leaves few to sort.
    const size_t cheapest = PutCheapestFirst(groups_, count_, *candidates);
    erase_beyond(TakeSample(std::span(*candidates).first(cheapest)));
  }
  const FlowCost bound = TakeSample(*candidates);
  erase_beyond(bound);
  left_by_sample_ = candidates->size();
  return bound;
}

// Of the sample's machines some aggregate has fewer units than machines, if
// others have one unit less than these together.  So one is empty-handed there,
// and a unit costs no more on it than the dearest of them in the last step that
// the sample took.
std::optional<FlowCost> RisingCandidates::BoundBySample(
    std::span<const Candidate> candidates) const {
  FlowCost bound = 0;
  size_t found = 0;
  for (const auto& [cost, g] : candidates) {
    if (rise_[g] == kNotTaken) continue;
    bound = std::max(bound, cost + rise_[g]);
    ++found;
  }
  if (found == 0 || found < sampled_) return std::nullopt;
  return bound;
}

FlowCost RisingCandidates::TakeSample(std::span<const Candidate> candidates) {
  std::vector<Place> places;
  for (const auto& [cost, g] : candidates) {
    places.push_back({groups_[g].aggregate, cost, g});
  }
  std::ranges::sort(places);
  std::priority_queue<Front, std::vector<Front>, std::greater<>> fronts;
  const auto open = [&](Front front) {
    if (front.places.empty()) return;
    const auto& [aggregate, cost, g] = front.places.front();
    if (front.machines == 0) front.machines = groups_[g].size();
    const CostSegment step = ladders_.Step(aggregate, front.step);
    if (front.width == 0) front.width = step.width;
    front.cost = cost - ladders_.First(aggregate) + step.cost;
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
  std::ranges::fill(rise_, kNotTaken);
  std::vector<size_t> taken;
  // By aggregate, and of none.
  std::vector<FlowCost> last_rise(slack_.size() + 1, 0);
  FlowCost bound = 0;
  for (FlowUnits left = count_; left > 0;) {
    Front front = fronts.top();
    fronts.pop();
    bound = front.cost;
    const auto& [aggregate, cost, g] = front.places.front();
    if (taken.empty() || rise_[g] == kNotTaken) {
      taken.push_back(g);
      rise_[g] = 0;
    }
    last_rise[std::min(aggregate, slack_.size())] = front.cost - cost;
    const FlowUnits units = std::min({left, front.machines, front.width});
    left -= units;
    front.machines -= units;
    front.width -= units;
    if (front.machines == 0) front.places = front.places.subspan(1);
    if (front.width == 0) ++front.step;
    open(front);
  }
  for (const size_t g : taken) {
    rise_[g] = last_rise[std::min(groups_[g].aggregate, slack_.size())];
  }
  sampled_ = taken.size();
  return bound;
}

std::vector<std::vector<Candidate>> RisingCandidates::TakeCandidates() {
  std::vector<FlowUnits> units;  // By aggregate, and of none.
  for (size_t aggregate = 0; aggregate < slack_.size(); ++aggregate) {
    units.push_back(UnitsOf(aggregate, count_));
  }
  units.push_back(count_);
  for (size_t outlet = 0; outlet < candidates_.size(); ++outlet) {
    if (is_bound_[outlet]) Trim(units, &candidates_[outlet]);
  }
  return std::move(candidates_);
}

// Those of an aggregate that are left out would get a unit while one that is
// kept, and is no dearer, is empty-handed.
void RisingCandidates::Trim(std::span<const FlowUnits> units,
                            std::vector<Candidate>* candidates) {
  std::vector<std::vector<Candidate>> by_aggregate(units.size());
  for (const Candidate& one : *candidates) {
    const size_t aggregate = groups_[one.group].aggregate;
    by_aggregate[std::min(aggregate, units.size() - 1)].push_back(one);
  }
  candidates->clear();
  for (size_t aggregate = 0; aggregate < units.size(); ++aggregate) {
    std::vector<Candidate>& there = by_aggregate[aggregate];
    const size_t needed = PutCheapestFirst(groups_, units[aggregate], there);
    candidates->insert(candidates->end(), there.begin(),
                       there.begin() + static_cast<ptrdiff_t>(needed));
  }
}

std::vector<CostSegment> RisingCandidates::StepsOf(size_t aggregate,
                                                   FlowUnits limit) {
  if (aggregate == Aggregates::kNone) return {{limit, 0}};
  FlowCost most = slack_[aggregate];
  if (most != kNoBound) most += ladders_.First(aggregate);
  return ladders_.Steps(aggregate, most, limit);
}

FlowUnits RisingCandidates::UnitsOf(size_t aggregate, FlowUnits limit) {
  if (aggregate == Aggregates::kNone) return limit;
  FlowUnits units = 0;
  for (const CostSegment& step : StepsOf(aggregate, limit)) {
    units += step.width;
  }
  return units;
}

}  // namespace sluice
