#include "network/candidates.h"

#include <algorithm>

namespace sluice {

size_t PutCheapestFirst(std::span<const MachineGroup> groups,
                        FlowUnits machines, std::span<Candidate> candidates) {
  // All before `begin` are taken, none from `end` on.  Bisecting the range
  // between them is faster than sorting it.
  auto begin = candidates.begin();
  auto end = candidates.end();
  for (FlowUnits missing = machines; begin != end && missing > 0;) {
    const auto middle = begin + (end - begin) / 2;
    std::ranges::nth_element(begin, middle, end);
    FlowUnits found = 0;
    for (auto it = begin; it != middle; ++it) found += groups[it->group].size();
    if (found >= missing) {
      end = middle;
    } else {
      missing -= found + groups[middle->group].size();
      begin = middle + 1;
    }
  }
  return static_cast<size_t>(begin - candidates.begin());
}

void Candidates::Forget() {
  const auto end = candidates_.begin() + count_max_;
  std::ranges::nth_element(candidates_, end - 1);
  candidates_.erase(end, candidates_.end());
  cost_end_ = candidates_.back().cost;
}

std::vector<Candidate> Candidates::Take(
    std::span<const MachineGroup> groups) && {
  candidates_.resize(PutCheapestFirst(groups, count_max_, candidates_));
  return std::move(candidates_);
}

}  // namespace sluice
