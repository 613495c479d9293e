#include "round/packing/packing_part.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

namespace sluice {

bool IsPackedInParts(const ClusterState& state, const MoveOptions& options) {
  return std::ssize(state.machines()) > options.whole_machines_max;
}

PackingPart ChoosePart(const MoveOptions& options, uint64_t turn,
                       const ClusterState& state, const PolicySet& policies,
                       const Eligibility& eligibility) {
  // Tasks that gain by a move need somewhere to go.  So two thirds of the
  // machines are those whose turn it is, and the rest are those with the most
  // room.
  const auto size =
      static_cast<size_t>(std::max<int64_t>(options.whole_machines_max / 3, 2));
  const size_t roomiest = (size + 2) / 3;
  const size_t in_turn = size - roomiest;
  // By kind, those with the least load first.
  std::vector<std::tuple<KindId, Cost, MachineId>> by_kind;
  for (const auto& [id, machine] : state.machines()) {
    if (!machine->IsUsable()) continue;
    by_kind.emplace_back(eligibility.KindOf(*machine),
                         policies.LoadCost(*machine, machine->used), id);
  }
  PackingPart part;
  if (by_kind.empty()) return part;
  // Takes every n-th machine: whatever names, or the order in which machines
  // came, have in common is spread over the parts.
  const size_t parts = (by_kind.size() + in_turn - 1) / in_turn;
  for (size_t i = turn % parts; i < by_kind.size(); i += parts) {
    part.insert(std::get<MachineId>(by_kind[i]));
  }
  std::ranges::sort(by_kind);
  // The machine with the most room of each kind, then the next one of each.
  std::vector<std::tuple<size_t, Cost, MachineId>> by_rank;
  size_t rank = 0;
  for (size_t i = 0; i < by_kind.size(); ++i) {
    const auto& [kind, load, id] = by_kind[i];
    rank = i > 0 && std::get<KindId>(by_kind[i - 1]) == kind ? rank + 1 : 0;
    by_rank.emplace_back(rank, load, id);
  }
  const size_t count = std::min(roomiest, by_rank.size());
  const auto end = by_rank.begin() + static_cast<ptrdiff_t>(count);
  std::ranges::partial_sort(by_rank, end);
  for (auto it = by_rank.begin(); it != end; ++it) {
    part.insert(std::get<MachineId>(*it));
  }
  return part;
}

}  // namespace sluice
