#include "core/packing_peers.h"

#include <algorithm>
#include <map>
#include <set>

namespace sluice {
namespace {

// Each is a row of the relaxation.
constexpr int64_t kCapsMax = 200;

}  // namespace

PackingPeers::PackingPeers(const ClusterState& state,
                           std::span<const Placement> placements)
    : state_(state), caps_left_(kCapsMax) {
  if (state_.peers().empty()) return;
  FindInPlay(placements);
  for (const ClassKey* key : in_play_) {
    const PeerTerms& terms = state_.peers().TermsOf(*key->rules);
    for (const CountedTerm* term : terms.affinity) {
      followed_.insert(term->selector);
    }
    for (const auto& [term, weight] : terms.preferred) {
      followed_.insert(term->selector);
    }
    for (const CountedTerm* term : terms.anti_affinity) {
      if (IsOfOneMachine(*term) || IsMutual(*term)) continue;
      followed_.insert(term->selector);
    }
    for (const CountedTerm* term : terms.spread) {
      followed_.insert(term->selector);
    }
  }
}

void PackingPeers::FindInPlay(std::span<const Placement> placements) {
  const auto add = [&](const ClassKey& key) {
    if (!key.DependsOnPeers()) return;
    // Unknown yet.
    if (is_heeded_.try_emplace({key.rules, key.meant_by}, false).second) {
      in_play_.push_back(&key);
    }
  };
  for (const auto& [key, tasks] : state_.pending()) add(key);
  for (const Placement& one : placements) add(one.task->class_key);
  is_heeded_.clear();
}

bool PackingPeers::IsHeeded(const ClassKey& key) {
  if (!key.DependsOnPeers()) return true;
  const auto [it, is_new] =
      is_heeded_.try_emplace({key.rules, key.meant_by}, false);
  if (!is_new) return it->second;
  const PeerTable& peers = state_.peers();
  it->second =
      AreTermsHeeded(key) &&
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

bool PackingPeers::AreTermsHeeded(const ClassKey& key) {
  const PlacementRules& rules = *key.rules;
  return rules.affinity.empty() && rules.preferred_peers.empty() &&
         rules.spread.empty() &&
         std::ranges::all_of(state_.peers().TermsOf(rules).anti_affinity,
                             [&](const CountedTerm* term) {
                               return IsOfOneMachine(*term) || IsMutual(*term);
                             });
}

bool PackingPeers::IsMutual(const CountedTerm& term) {
  const auto [it, is_new] = is_mutual_.try_emplace(&term, false);
  if (!is_new) return it->second;
  it->second =
      term.topology->domain_end() <= caps_left_ &&
      std::ranges::all_of(in_play_, [&](const ClassKey* key) {
        const auto& own = state_.peers().TermsOf(*key->rules).anti_affinity;
        return std::ranges::binary_search(*key->meant_by, term.selector) ==
               (std::ranges::find(own, &term) != own.end());
      });
  if (it->second) caps_left_ -= term.topology->domain_end();
  return it->second;
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
                             PackingProblem* problem) {
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
      if (!IsOfOneMachine(*term)) {
        if (IsMutual(*term)) AddCapped(*term, c);
        continue;
      }
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
    PackingClass& one = problem->classes[c];
    if (other == c) {
      one.per_machine_max = 1;
    } else {
      one.apart_from.push_back(other);
    }
  }
  AddCaps(problem);
}

void PackingPeers::AddCapped(const CountedTerm& term, size_t task_class) {
  auto it = std::ranges::find(capped_, &term, &Capped::term);
  if (it == capped_.end()) it = capped_.insert(it, {&term, {}});
  it->classes.push_back(task_class);
}

void PackingPeers::AddCaps(PackingProblem* problem) {
  for (Capped& capped : capped_) {
    capped.first_cap = problem->caps.size();
    problem->caps.insert(
        problem->caps.end(),
        static_cast<size_t>(capped.term->topology->domain_end()),
        {capped.classes, 1});
  }
}

std::vector<size_t> PackingPeers::CapsOn(MachineId machine) const {
  std::vector<size_t> caps;
  for (const Capped& capped : capped_) {
    const DomainIndex domain = capped.term->topology->DomainOf(machine);
    if (domain == kNoDomain) continue;
    caps.push_back(capped.first_cap + static_cast<size_t>(domain));
  }
  return caps;
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
