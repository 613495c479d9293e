#include "state/peer_table.h"

#include <glog/logging.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/glob.h"
#include "base/strings.h"
#include "state/cluster_state.h"
#include "state/interference.h"

namespace sluice {
namespace {

// What a task is worth to those that its required affinity means, as in
// Kubernetes (hardPodAffinityWeight).
constexpr int64_t kRequiredAffinityWorth = 1;

}  // namespace

// ---------------------------------------------------------------------------
// Domains

void PeerTable::Describe(const Machine& machine) {
  std::vector<std::pair<Topology*, DomainIndex>> moves;
  for (const auto& [key, topology] : topologies_) {
    const DomainIndex domain = topology->DomainFor(machine);
    if (domain != topology->DomainOf(machine.id)) {
      moves.emplace_back(topology.get(), domain);
    }
  }
  if (moves.empty()) return;
  const auto count_all = [&](int64_t sign) {
    for (const TaskId id : machine.tasks) Count(*state_.FindTask(id), sign);
    for (const auto& [id, expected] : expected_) {
      if (expected.machine == machine.id) Count(expected, sign);
    }
  };
  count_all(-1);
  for (const auto& [topology, domain] : moves) {
    topology->Move(machine.id, domain);
  }
  count_all(1);
}

void PeerTable::Drop(const Machine& machine) {
  CHECK(machine.tasks.empty());
  for (const auto& [key, topology] : topologies_) {
    topology->Move(machine.id, kNoDomain);
  }
}

Topology* PeerTable::TopologyOf(const std::string& key) {
  std::unique_ptr<Topology>& topology = topologies_[key];
  if (topology == nullptr) {
    topology = std::make_unique<Topology>(key);
    for (const auto& [id, machine] : state_.machines()) {
      topology->Move(id, topology->DomainFor(*machine));
    }
  }
  return topology.get();
}

// ---------------------------------------------------------------------------
// Rules and their terms

void PeerTable::Learn(const PlacementRules& rules) {
  if (!rules.HasPeerTerms() || terms_of_rules_.contains(rules.id)) return;
  PeerTerms& terms = terms_of_rules_[rules.id];
  std::vector<TaskSelector> required;
  for (const PeerTerm& term : rules.affinity) required.push_back(term.tasks);
  for (const PeerTerm& term : rules.affinity) {
    terms.affinity.push_back(Acquire(required, term.topology_key));
    terms.given.push_back(
        {Acquire({term.tasks}, term.topology_key), kRequiredAffinityWorth});
  }
  for (const PeerTerm& term : rules.anti_affinity) {
    terms.anti_affinity.push_back(Acquire({term.tasks}, term.topology_key));
  }
  std::vector<WeightedPeerTerm> wishes = rules.preferred_peers;
  if (rules.kind.has_value()) {
    const auto of_kind =
        TermsOfKind(*rules.kind, needs_.interference.value_or(Interference()));
    wishes.insert(wishes.end(), of_kind.begin(), of_kind.end());
  }
  for (const WeightedPeerTerm& preferred : wishes) {
    const PeerTerm& term = preferred.term;
    terms.preferred.push_back(
        {Acquire({term.tasks}, term.topology_key), preferred.weight});
    terms.given.push_back(
        {Acquire({term.tasks}, term.topology_key), preferred.weight});
  }
  for (const SpreadConstraint& constraint : rules.spread) {
    terms.spread.push_back(
        Acquire({constraint.term.tasks}, constraint.term.topology_key));
    terms.spread_by_machine.push_back(Acquire({constraint.term.tasks}, ""));
  }
  for (const DomainMinimum& minimum : rules.minimums) {
    terms.minimums.push_back(
        Acquire({minimum.term.tasks}, minimum.term.topology_key));
  }
}

const PeerTerms& PeerTable::TermsOf(const PlacementRules& rules) const {
  static const PeerTerms none;
  if (!rules.HasPeerTerms()) return none;
  return terms_of_rules_.at(rules.id);
}

bool PeerTable::KeepApart(
    const ClassKey& a, const ClassKey& b,
    absl::FunctionRef<bool(const CountedTerm&)> counts) const {
  const auto says_so = [&](const ClassKey& one, const ClassKey& other) {
    return std::ranges::any_of(
        TermsOf(*one.rules).anti_affinity, [&](const CountedTerm* term) {
          return IsMeantBy(*term, other) && counts(*term);
        });
  };
  return says_so(a, b) || says_so(b, a);
}

const std::vector<TaskSelector>& PeerTable::SelectorsOf(
    uint32_t selector) const {
  return selectors_.at(selector).all;
}

const std::vector<CountedTerm*>& PeerTable::TermsAbout(
    uint32_t selector) const {
  return selectors_.at(selector).terms;
}

uint32_t PeerTable::SelectorOf(const std::vector<TaskSelector>& selectors) {
  const auto [it, is_new] = selector_ids_.try_emplace(selectors, 0);
  if (is_new) {
    it->second = next_selector_++;
    selectors_[it->second].all = selectors;
    index_.Update(selectors, it->second, /*is_added=*/true);
    has_new_selectors_ = true;
  }
  return it->second;
}

CountedTerm* PeerTable::Acquire(const std::vector<TaskSelector>& selectors,
                                const std::string& topology_key) {
  const uint32_t selector = SelectorOf(selectors);
  std::unique_ptr<CountedTerm>& term = terms_[{selector, topology_key}];
  if (term == nullptr) {
    term = std::make_unique<CountedTerm>();
    term->selector = selector;
    term->topology = TopologyOf(topology_key);
    selectors_[selector].terms.push_back(term.get());
    CountMeant(term.get());
  }
  ++term->uses;
  return term.get();
}

void PeerTable::CountMeant(CountedTerm* term) {
  if (selectors_.at(term->selector).is_new) return;  // It means nobody yet.
  for (const auto& [identity, members] : identities_) {
    if (!std::ranges::binary_search(*members.meant_by, term->selector)) {
      continue;
    }
    for (const TaskId id : members.tasks) {
      const Task* task = state_.FindTask(id);
      // A task that is being described anew is on no machine at the moment.
      const Machine* machine = state_.FindMachine(task->machine);
      if (task->state != TaskState::kRunning || machine == nullptr ||
          !machine->tasks.contains(id)) {
        continue;
      }
      const DomainIndex domain = term->topology->DomainOf(task->machine);
      term->meant.Add(domain, 1);
      if (task->is_evicted) term->leaving.Add(domain, 1);
    }
    for (const uint64_t id : members.expected) {
      const MachineId machine = expected_.at(id).machine;
      term->expected.Add(term->topology->DomainOf(machine), 1);
    }
  }
}

void PeerTable::Release(CountedTerm* term) {
  if (--term->uses == 0) has_idle_terms_ = true;
}

// ---------------------------------------------------------------------------
// Tasks

void PeerTable::Index::Update(const std::vector<TaskSelector>& all,
                              uint32_t selector, bool is_added) {
  const auto update = [&](auto* of, const auto& key) {
    if (is_added) {
      (*of)[key].insert(selector);
    } else if ((*of)[key].erase(selector) > 0 && (*of)[key].empty()) {
      of->erase(key);
    }
  };
  for (const TaskSelector& one : all) {
    const std::optional<std::string> job = LiteralOf(one.job);
    if (job.has_value() && !job->empty()) {
      update(&by_job, *job);
      return;
    }
    for (const LabelRequirement& requirement :
         one.labels.value_or(std::vector<LabelRequirement>())) {
      if (requirement.op != LabelOperator::kIn) continue;
      for (const std::string& value : requirement.values) {
        update(&by_label, std::pair(requirement.key, value));
      }
      return;
    }
  }
  if (is_added) {
    others.insert(selector);
  } else {
    others.erase(selector);
  }
}

SelectorSet PeerTable::Match(const TaskIdentity& identity,
                             const Index& index) const {
  std::set<uint32_t> candidates = index.others;
  const auto add = [&](const auto& of, const auto& key) {
    const auto it = of.find(key);
    if (it != of.end()) candidates.insert(it->second.begin(), it->second.end());
  };
  if (!index.by_label.empty()) {
    for (const auto& label : identity.labels) add(index.by_label, label);
  }
  add(index.by_job, identity.job);
  SelectorSet result;
  for (const uint32_t id : candidates) {
    const Selector& selector = selectors_.at(id);
    if (!selector.is_new && SelectsAll(selector.all, identity)) {
      result.push_back(id);
    }
  }
  return result;
}

const SelectorSet* PeerTable::Keep(SelectorSet set) {
  return set.empty() ? &NoSelectors() : &*sets_.insert(std::move(set)).first;
}

const SelectorSet* PeerTable::Identify(TaskId task,
                                       const TaskIdentity& identity) {
  const auto known = identity_of_.find(task);
  if (known != identity_of_.end() && known->second->first == identity) {
    return known->second->second.meant_by;
  }
  Erase(task);
  const Identities::iterator it = FindOrAdd(identity);
  it->second.tasks.insert(task);
  identity_of_[task] = it;
  return it->second.meant_by;
}

PeerTable::Identities::iterator PeerTable::FindOrAdd(
    const TaskIdentity& identity) {
  const auto [it, is_new] = identities_.try_emplace(identity);
  if (is_new) it->second.meant_by = Keep(Match(identity, index_));
  return it;
}

void PeerTable::EraseIfIdle(Identities::iterator identity) {
  const Identity& members = identity->second;
  if (members.tasks.empty() && members.expected.empty()) {
    identities_.erase(identity);
  }
}

const SelectorSet* PeerTable::MeaningOf(TaskId task) const {
  return identity_of_.at(task)->second.meant_by;
}

void PeerTable::Erase(TaskId task) {
  const auto known = identity_of_.find(task);
  if (known == identity_of_.end()) return;
  const Identities::iterator identity = known->second;
  identity->second.tasks.erase(task);
  EraseIfIdle(identity);
  identity_of_.erase(known);
}

void PeerTable::Count(const Task& task, int64_t sign) {
  if (empty()) return;  // There is nothing to count.
  for (const uint32_t selector : *MeaningOf(task.id)) {
    for (CountedTerm* term : selectors_.at(selector).terms) {
      const DomainIndex domain = term->topology->DomainOf(task.machine);
      term->meant.Add(domain, sign);
      if (task.is_evicted) term->leaving.Add(domain, sign);
    }
  }
  const PeerTerms& terms = TermsOf(*task.class_key.rules);
  for (CountedTerm* term : terms.anti_affinity) {
    term->keeping_away.Add(term->topology->DomainOf(task.machine), sign);
  }
  for (const auto& [term, weight] : terms.given) {
    term->worth.Add(term->topology->DomainOf(task.machine), sign * weight);
  }
}

void PeerTable::Count(const Expected& expected, int64_t sign) {
  for (const uint32_t selector : *expected.identity->second.meant_by) {
    for (CountedTerm* term : selectors_.at(selector).terms) {
      term->expected.Add(term->topology->DomainOf(expected.machine), sign);
    }
  }
  for (CountedTerm* term : TermsOf(*expected.rules).anti_affinity) {
    term->keeping_away.Add(term->topology->DomainOf(expected.machine), sign);
  }
}

uint64_t PeerTable::Expect(const TaskIdentity& identity,
                           const PlacementRules& rules, MachineId machine) {
  const uint64_t id = next_expected_++;
  const Identities::iterator it = FindOrAdd(identity);
  it->second.expected.insert(id);
  const Expected expected = {
      .identity = it, .rules = &rules, .machine = machine};
  expected_.emplace(id, expected);
  Count(expected, 1);
  return id;
}

void PeerTable::EndExpecting(uint64_t id) {
  const auto it = expected_.find(id);
  CHECK(it != expected_.end());
  const Identities::iterator identity = it->second.identity;
  Count(it->second, -1);
  expected_.erase(it);
  identity->second.expected.erase(id);
  EraseIfIdle(identity);
}

void PeerTable::SetMeaning(Identity* identity, SelectorSet set,
                           std::vector<TaskId>* changed) {
  std::vector<const Task*> running;
  for (const TaskId id : identity->tasks) {
    const Task* task = state_.FindTask(id);
    if (task->state == TaskState::kRunning) running.push_back(task);
    changed->push_back(id);
  }
  const auto count_all = [&](int64_t sign) {
    for (const Task* task : running) Count(*task, sign);
    for (const uint64_t id : identity->expected) Count(expected_.at(id), sign);
  };
  count_all(-1);
  identity->meant_by = Keep(std::move(set));
  count_all(1);
}

std::vector<TaskId> PeerTable::Sync() {
  std::vector<TaskId> changed;
  if (!std::exchange(has_new_selectors_, false)) return changed;
  Index index;
  for (auto& [id, selector] : selectors_) {
    if (!std::exchange(selector.is_new, false)) continue;
    index.Update(selector.all, id, /*is_added=*/true);
  }
  for (auto& [identity, members] : identities_) {
    const SelectorSet more = Match(identity, index);
    if (more.empty()) continue;
    SelectorSet set;
    std::ranges::set_union(*members.meant_by, more, std::back_inserter(set));
    SetMeaning(&members, std::move(set), &changed);
  }
  std::ranges::sort(changed);
  return changed;
}

std::vector<TaskId> PeerTable::Collect(const std::vector<uint32_t>& rules) {
  // Each identity needs one set at most; further sets are idle.
  if (sets_.size() > identities_.size()) {
    std::set<const SelectorSet*> used;
    for (const auto& [identity, members] : identities_) {
      used.insert(members.meant_by);
    }
    std::erase_if(sets_,
                  [&](const SelectorSet& set) { return !used.contains(&set); });
  }
  for (const uint32_t id : rules) {
    const auto it = terms_of_rules_.find(id);
    if (it == terms_of_rules_.end()) continue;
    const PeerTerms& terms = it->second;
    for (CountedTerm* term : terms.affinity) Release(term);
    for (CountedTerm* term : terms.anti_affinity) Release(term);
    for (CountedTerm* term : terms.spread) Release(term);
    for (CountedTerm* term : terms.spread_by_machine) Release(term);
    for (CountedTerm* term : terms.minimums) Release(term);
    for (const WeightedTerm& preferred : terms.preferred) {
      Release(preferred.term);
    }
    for (const WeightedTerm& given : terms.given) Release(given.term);
    terms_of_rules_.erase(it);
  }
  std::vector<TaskId> changed;
  if (!std::exchange(has_idle_terms_, false)) return changed;
  SelectorSet idle;
  for (auto it = terms_.begin(); it != terms_.end();) {
    CountedTerm* const term = it->second.get();
    if (term->uses > 0) {
      ++it;
      continue;
    }
    std::vector<CountedTerm*>& about = selectors_.at(term->selector).terms;
    std::erase(about, term);
    if (about.empty()) idle.push_back(term->selector);
    it = terms_.erase(it);
  }
  for (auto& [identity, members] : identities_) {
    SelectorSet kept;
    std::ranges::set_difference(*members.meant_by, idle,
                                std::back_inserter(kept));
    if (kept != *members.meant_by) {
      SetMeaning(&members, std::move(kept), &changed);
    }
  }
  for (const uint32_t id : idle) {
    const Selector& selector = selectors_.at(id);
    index_.Update(selector.all, id, /*is_added=*/false);
    selector_ids_.erase(selector.all);
    selectors_.erase(id);
  }
  std::erase_if(topologies_, [&](const auto& entry) {
    return std::ranges::none_of(terms_, [&](const auto& term) {
      return term.second->topology == entry.second.get();
    });
  });
  std::ranges::sort(changed);
  return changed;
}

}  // namespace sluice
