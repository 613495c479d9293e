#include "round/context/minimum_askers.h"

#include <vector>

#include "constraints/domain_shares.h"
#include "state/peer_table.h"

namespace sluice {

void MinimumAskers::Add(const ClassKey& key, const ClusterState& state) {
  const std::vector<DomainMinimum>& minimums = key.rules->minimums;
  const PeerTerms& terms = state.peers().TermsOf(*key.rules);
  for (size_t i = 0; i < minimums.size(); ++i) {
    Add({terms.minimums[i]->selector, minimums[i].term.topology_key}, {key, i});
  }
}

void MinimumAskers::Add(const MinimumAskers& others) {
  for (const auto& [subject, asker] : others.askers_) Add(subject, asker);
}

void MinimumAskers::Add(const Subject& subject, const Asker& asker) {
  const auto [it, is_new] = askers_.try_emplace(subject, asker);
  if (!is_new && asker.AtLeast() > it->second.AtLeast()) it->second = asker;
}

int64_t MinimumAskers::CountLacking(const ClusterState& state) const {
  int64_t lacking = 0;
  for (const auto& [subject, asker] : askers_) {
    lacking += DomainShares(state, asker.key, asker.minimum).Lacking();
  }
  return lacking;
}

}  // namespace sluice
