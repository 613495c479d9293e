#include "round/passes/commit_order.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <utility>

#include "constraints/class_peers.h"

namespace sluice {

std::vector<Proposal> InCommitOrder(const ClusterState& state,
                                    std::span<const BandClass> classes,
                                    std::vector<Proposal> proposals) {
  if (std::ranges::all_of(classes, [](const BandClass& band_class) {
        return band_class.peers == nullptr;
      })) {
    return proposals;
  }
  std::vector<std::vector<const TopologySpread*>> spreads;
  size_t spreads_max = 0;
  for (const BandClass& band_class : classes) {
    spreads.emplace_back();
    if (band_class.peers == nullptr) continue;
    spreads.back() = band_class.peers->OwnSpreads();
    spreads_max = std::max(spreads_max, spreads.back().size());
  }
  const auto sort_by = [&proposals](auto rank) {
    std::vector<std::pair<int64_t, Proposal>> ranked;
    for (const Proposal& one : proposals) ranked.emplace_back(rank(one), one);
    std::ranges::stable_sort(ranked, {}, &std::pair<int64_t, Proposal>::first);
    std::ranges::copy(ranked | std::views::values, proposals.begin());
  };
  // Each further task on a machine costs more.
  std::map<MachineId, int64_t> landed;
  sort_by([&](const Proposal& one) { return ++landed[one.machine]; });
  sort_by([&state](const Proposal& one) {
    const Task* task = state.FindTask(one.task);
    return task == nullptr ? 0 : task->submitted_ms;
  });
  // The spread over the fewest domains is sorted last and counts most: within
  // one of its domains, the tasks then rise by the levels of the others.
  for (size_t left = spreads_max; left > 0; --left) {
    // Classes with the same rules are counted together.
    std::map<std::pair<const SpreadConstraint*, DomainIndex>, int64_t> levels;
    sort_by([&](const Proposal& one) -> int64_t {
      const auto& of_class = spreads[one.class_index];
      if (left > of_class.size()) return 0;
      const TopologySpread& spread = *of_class[of_class.size() - left];
      const auto [it, is_new] = levels.try_emplace(
          {&spread.constraint(), spread.topology().DomainOf(one.machine)},
          spread.CountAt(one.machine));
      return ++it->second;
    });
  }
  return proposals;
}

}  // namespace sluice
