#include "core/lone_newcomer.h"

#include <algorithm>
#include <iterator>

namespace sluice {
namespace {

bool IsMeant(const ClassKey& key, const CountedTerm* term) {
  return std::ranges::binary_search(*key.meant_by, term->selector);
}

}  // namespace

bool LoneNewcomer::Needs(const ClassKey& running) const {
  return std::ranges::any_of(
      state_.peers().TermsOf(*key_.rules).affinity,
      [&](const CountedTerm* term) { return IsMeant(running, term); });
}

bool LoneNewcomer::Concerns(const Task& task) const {
  const PeerTable& peers = state_.peers();
  return peers.KeepApart(key_, task.class_key) ||
         std::ranges::any_of(peers.TermsOf(*key_.rules).spread,
                             [&](const CountedTerm* term) {
                               return IsMeant(task.class_key, term);
                             });
}

std::optional<std::vector<const Task*>> LoneNewcomer::FindInTheWay(
    const Machine& machine, std::span<const Task* const> leavers) const {
  std::vector<const Task*> leaving;
  for (const Task* task : leavers) {
    if (Concerns(*task)) leaving.push_back(task);
  }
  if (!peers_.AllowsWithout(machine, leaving)) return std::nullopt;
  for (size_t i = 0; i < leaving.size();) {
    std::vector<const Task*> fewer = leaving;
    fewer.erase(std::next(fewer.begin(), static_cast<ptrdiff_t>(i)));
    if (peers_.AllowsWithout(machine, fewer)) {
      leaving = std::move(fewer);
    } else {
      ++i;
    }
  }
  return leaving;
}

}  // namespace sluice
