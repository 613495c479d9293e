#include "core/packing_peers.h"

#include <algorithm>
#include <map>
#include <set>

namespace sluice {

void PackingPeers::FindFollowed(std::span<const Placement> placements) {
  if (state_.peers().empty()) return;
  const PlacementRules* last = nullptr;
  const auto look = [&](const ClassKey& key) {
    if (std::exchange(last, key.rules) == key.rules) return;
    if (!key.rules->HasPeerTerms()) return;
    const PeerTerms& terms = state_.peers().TermsOf(*key.rules);
    for (const auto* list : {&terms.affinity, &terms.spread}) {
      for (const CountedTerm* term : *list) followed_.insert(term->selector);
    }
    for (const auto& [term, weight] : terms.preferred) {
      followed_.insert(term->selector);
    }
    for (const CountedTerm* term : terms.anti_affinity) {
      if (!IsOfOneMachine(*term)) followed_.insert(term->selector);
    }
  };
  for (const auto& [key, tasks] : state_.pending()) look(key);
  for (const Placement& one : placements) look(one.task->class_key);
}

bool PackingPeers::DependsOnMachineOnly(const ClassKey& key) {
  if (!key.DependsOnPeers()) return true;
  const auto [it, is_new] =
      is_movable_.try_emplace({key.rules, key.meant_by}, false);
  if (!is_new) return it->second;
  const PeerTable& peers = state_.peers();
  it->second =
      HasTermsOfOneMachine(key) &&
      std::ranges::none_of(*key.meant_by, [&](uint32_t selector) {
        // Nor is it worth anything to others, be they running for long.
        return followed_.contains(selector) ||
               std::ranges::any_of(peers.TermsAbout(selector),
                                   [](const CountedTerm* term) {
                                     return !term->worth.counts().empty();
                                   });
      });
  return it->second;
}

bool PackingPeers::HasTermsOfOneMachine(const ClassKey& key) {
  const PlacementRules& rules = *key.rules;
  return rules.affinity.empty() && rules.preferred_peers.empty() &&
         rules.spread.empty() &&
         std::ranges::all_of(
             state_.peers().TermsOf(rules).anti_affinity,
             [&](const CountedTerm* term) { return IsOfOneMachine(*term); });
}

bool PackingPeers::IsOfOneMachine(const CountedTerm& term) {
  const Topology& topology = *term.topology;
  const auto [it, is_new] = is_of_one_machine_.try_emplace(&topology, false);
  if (is_new) {
    it->second = topology.is_by_machine() &&
                 std::ranges::all_of(state_.machines(), [&](const auto& entry) {
                   return !entry.second->IsUsable() ||
                          topology.DomainOf(entry.first) != kNoDomain;
                 });
  }
  return it->second;
}

void PackingPeers::NoteFreed(const ClassKey& key, MachineId machine) {
  if (!key.DependsOnPeers()) return;
  const PeerTable& peers = state_.peers();
  for (const uint32_t selector : *key.meant_by) {
    for (const CountedTerm* term : peers.TermsAbout(selector)) {
      freed_[&term->meant].Add(term->topology->DomainOf(machine), 1);
    }
  }
  for (const CountedTerm* term : peers.TermsOf(*key.rules).anti_affinity) {
    freed_[&term->keeping_away].Add(term->topology->DomainOf(machine), 1);
  }
}

void PackingPeers::KeepApart(std::span<const ClassKey> keys,
                             std::vector<PackingClass>* classes) {
  std::map<uint32_t, std::vector<size_t>> meant;  // By selector.
  for (size_t c = 0; c < keys.size(); ++c) {
    for (const uint32_t selector : *keys[c].meant_by) {
      meant[selector].push_back(c);
    }
  }
  const PeerTable& peers = state_.peers();
  std::set<std::pair<size_t, size_t>> apart;
  for (size_t c = 0; c < keys.size(); ++c) {
    if (!keys[c].DependsOnPeers()) continue;
    for (const CountedTerm* term :
         peers.TermsOf(*keys[c].rules).anti_affinity) {
      KeepAway(c, *term->topology, term->meant);
      if (!IsOfOneMachine(*term)) continue;
      for (const size_t other : meant[term->selector]) {
        apart.emplace(c, other);
        apart.emplace(other, c);
      }
    }
    for (const uint32_t selector : *keys[c].meant_by) {
      for (const CountedTerm* term : peers.TermsAbout(selector)) {
        KeepAway(c, *term->topology, term->keeping_away);
      }
    }
  }
  for (const auto& [c, other] : apart) {
    PackingClass& one = (*classes)[c];
    if (other == c) {
      one.per_machine_max = 1;
    } else {
      one.apart_from.push_back(other);
    }
  }
}

void PackingPeers::KeepAway(size_t task_class, const Topology& topology,
                            const Tally& tally) {
  const auto freed = freed_.find(&tally);
  for (const auto& [domain, count] : tally.counts()) {
    const bool all_leave =
        freed != freed_.end() && freed->second.At(domain) == count;
    if (domain == kNoDomain || all_leave) continue;
    for (const MachineId machine : topology.MachinesOf(domain)) {
      kept_away_[machine].push_back(task_class);
    }
  }
}

std::span<const size_t> PackingPeers::KeptAwayFrom(MachineId machine) const {
  const auto it = kept_away_.find(machine);
  return it == kept_away_.end() ? std::span<const size_t>()
                                : std::span<const size_t>(it->second);
}

}  // namespace sluice
