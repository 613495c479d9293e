#include "round/packing/packing_peers.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

namespace sluice {
namespace {

// Each cap is a row of the relaxation; a spread's cap has another row for its
// floor.
constexpr int64_t kCapRowsMax = 200;
// Pairs of classes that share no machine.  Beyond that, what the flow places is
// refused and placed elsewhere.
constexpr size_t kApartMax = 200'000;
// Tasks of a gang for which others leave its domains: the prices of caps, times
// this number, must not overflow.
constexpr int64_t kBesideMax = 1000;

}  // namespace

PackingPeers::PackingPeers(const ClusterState& state,
                           const ConstraintSet& constraints,
                           std::span<const Placement> placements,
                           const Scope& scope)
    : state_(state),
      constraints_(constraints),
      gang_(scope.gang),
      cap_rows_left_(kCapRowsMax),
      work_(Piece::kTerms, scope.budget),
      lone_work_(Piece::kLoneNewcomers, scope.budget),
      heeds_terms_(scope.heeds_terms),
      is_preempting_(scope.is_preempting) {
  FindInPlay(placements);
  if (state_.peers().empty()) return;
  for (const ClassKey* key : in_play_) {
    const PeerTerms& terms = state_.peers().TermsOf(*key->rules);
    for (const CountedTerm* term : terms.affinity) {
      required_.insert(term->selector);
    }
    for (const CountedTerm* term : terms.anti_affinity) {
      required_.insert(term->selector);
    }
    for (size_t i = 0; i < terms.spread.size(); ++i) {
      if (!key->rules->spread[i].is_required) continue;
      required_.insert(terms.spread[i]->selector);
    }
  }
  if (!heeds_terms_) return;
  for (const ClassKey* key : in_play_) {
    const PeerTerms& terms = state_.peers().TermsOf(*key->rules);
    for (const CountedTerm* term : terms.affinity) {
      if (!NeedsCompany(*key)) NoteFollowed(term->selector, *key);
    }
    for (const CountedTerm* term : terms.anti_affinity) {
      if (IsOfOneMachine(*term) || IsMutual(*term)) continue;
      NoteFollowed(term->selector, *key);
    }
    for (size_t i = 0; i < terms.spread.size(); ++i) {
      if (!key->rules->spread[i].is_required || IsSharedSpread(*key, i)) {
        continue;
      }
      NoteFollowed(terms.spread[i]->selector, *key);
    }
  }
  FollowCompany();
  if (gang_.has_value()) FindTermsOfGang();
}

void PackingPeers::FollowCompany() {
  // A class that is now followed may need company itself.
  for (bool has_grown = true; std::exchange(has_grown, false);) {
    for (const ClassKey* key : in_play_) {
      const bool stays = is_preempting_ && key->rules->never_preempts;
      if (!NeedsCompany(*key) ||
          (!stays && AreTermsHeeded(*key) && IsOnItsOwn(*key))) {
        continue;
      }
      const auto& affinity = state_.peers().TermsOf(*key->rules).affinity;
      has_grown |= NoteFollowed(affinity[0]->selector, *key);
    }
  }
}

bool PackingPeers::NeedsCompany(const ClassKey& key) {
  if (key.rules->affinity.size() != 1) return false;
  const CountedTerm& term = *state_.peers().TermsOf(*key.rules).affinity[0];
  // A class that leads back to this term is part of a circle.  So the answer is
  // no until it is known.
  const auto [it, is_new] = is_company_.try_emplace(&term, false);
  if (!is_new) return it->second;
  work_.Spend(std::ssize(in_play_));
  const bool is_company =
      IsOfOneMachine(term) && !work_.IsExceeded() &&
      std::ranges::all_of(in_play_, [&](const ClassKey* other) {
        return other->rules->affinity.empty() || !IsMeantBy(term, *other) ||
               NeedsCompany(*other);
      });
  is_company_[&term] = is_company;
  return is_company;
}

bool PackingPeers::NoteFollowed(uint32_t selector, const ClassKey& by) {
  const Urgency& urgency = urgency_of_.at(by.rules);
  const uint32_t highest = urgency.is_any_placed
                               ? std::numeric_limits<uint32_t>::max()
                               : urgency.highest;
  const auto [it, is_new] = followed_.try_emplace(selector, highest);
  const bool has_risen = is_new || it->second < highest;
  it->second = std::max(it->second, highest);
  return has_risen;
}

bool PackingPeers::IsOnItsOwn(const ClassKey& key) const {
  const auto urgency = urgency_of_.find(key.rules);
  const uint32_t lowest =
      urgency == urgency_of_.end() ? 0 : urgency->second.lowest;
  return std::ranges::none_of(*key.meant_by, [&](uint32_t selector) {
    const auto followed = followed_.find(selector);
    return followed != followed_.end() &&
           (!is_preempting_ || followed->second >= lowest);
  });
}

void PackingPeers::FindInPlay(std::span<const Placement> placements) {
  absl::flat_hash_set<std::pair<const PlacementRules*, const SelectorSet*>>
      known;
  const auto add = [&](const ClassKey& key, bool is_placed) {
    if (!key.rules->host_ports.empty()) with_ports_.insert(key.rules);
    if (!is_placed && gang_.has_value() && key.gang != gang_) return;
    Urgency& urgency = urgency_of_[key.rules];
    urgency.highest = std::max(urgency.highest, key.priority);
    urgency.lowest = std::min(urgency.lowest, key.priority);
    urgency.is_any_placed |= is_placed;
    if (key.DependsOnPeers() &&
        known.insert({key.rules, key.meant_by}).second) {
      in_play_.push_back(&key);
    }
  };
  for (const auto& [key, tasks] : state_.pending()) add(key, false);
  const ClassKey* last = nullptr;  // Mostly the same as the one before.
  for (const Placement& one : placements) {
    const ClassKey& key = one.task->class_key;
    if (last != nullptr && key.rules == last->rules &&
        key.meant_by == last->meant_by && key.priority == last->priority) {
      continue;
    }
    add(key, true);
    last = &key;
  }
}

bool PackingPeers::IsHeeded(const ClassKey& key) {
  if (!key.DependsOnPeers()) return true;
  if (!heeds_terms_ || (gang_.has_value() && key.gang != gang_)) {
    return IsFree(key);
  }
  const auto [it, is_new] =
      is_heeded_.try_emplace({key.rules, key.meant_by}, false);
  if (!is_new) return it->second;
  it->second = AreTermsHeeded(key) && IsOnItsOwn(key);
  return it->second;
}

bool PackingPeers::IsFree(const ClassKey& key) const {
  const PlacementRules& rules = *key.rules;
  return rules.affinity.empty() && rules.anti_affinity.empty() &&
         std::ranges::none_of(rules.spread, &SpreadConstraint::is_required) &&
         std::ranges::none_of(*key.meant_by, [&](uint32_t selector) {
           return required_.contains(selector) ||
                  std::ranges::any_of(state_.peers().TermsAbout(selector),
                                      [](const CountedTerm* term) {
                                        return term->keeping_away.total() > 0;
                                      });
         });
}

bool PackingPeers::HeedsWhatRuns(const ClassKey& key) {
  const auto is_seen_to = [this](const CountedTerm* term) {
    return IsOfOneMachine(*term) || IsMutual(*term);
  };
  const PeerTable& peers = state_.peers();
  return IsHeeded(key) && key.rules->affinity.empty() && DoSpreadsHold(key) &&
         std::ranges::all_of(peers.TermsOf(*key.rules).anti_affinity,
                             [&](const CountedTerm* term) {
                               return term->meant.total() == 0 ||
                                      is_seen_to(term);
                             }) &&
         std::ranges::all_of(*key.meant_by, [&](uint32_t selector) {
           return std::ranges::all_of(
               peers.TermsAbout(selector), [&](const CountedTerm* term) {
                 return term->keeping_away.total() == 0 || is_seen_to(term);
               });
         });
}

bool PackingPeers::DoSpreadsHold(const ClassKey& key) const {
  // Domains of two spreads may rise only through each other.
  if (std::ranges::count_if(key.rules->spread, &SpreadConstraint::is_required) >
      1) {
    return false;
  }
  for (size_t i = 0; i < key.rules->spread.size(); ++i) {
    if (key.rules->spread[i].is_required &&
        !TopologySpread(state_, constraints_, key, i).Holds()) {
      return false;
    }
  }
  return true;
}

bool PackingPeers::AreTermsHeeded(const ClassKey& key) {
  const PlacementRules& rules = *key.rules;
  if (!rules.affinity.empty() && !NeedsCompany(key)) return false;
  for (const CountedTerm* term : state_.peers().TermsOf(rules).anti_affinity) {
    if (IsOfOneMachine(*term) || IsMutual(*term)) continue;
    work_.Spend(std::ssize(in_play_));
    if (std::ranges::any_of(in_play_, [&](const ClassKey* other) {
          return IsMeantBy(*term, *other);
        })) {
      return false;
    }
  }
  for (size_t i = 0; i < rules.spread.size(); ++i) {
    if (rules.spread[i].is_required && !IsSharedSpread(key, i) &&
        !IsFixedSpread(key, i)) {
      return false;
    }
  }
  return true;
}

bool PackingPeers::IsFixedSpread(const ClassKey& key, size_t index) {
  const CountedTerm& term = *state_.peers().TermsOf(*key.rules).spread[index];
  work_.Spend(std::ssize(in_play_));
  return key.rules->spread[index].is_required && !work_.IsExceeded() &&
         std::ranges::none_of(in_play_, [&](const ClassKey* other) {
           return IsMeantBy(term, *other);
         });
}

void PackingPeers::HeedSpreads(const ClassKey& key, size_t task_class) {
  for (size_t i = 0; i < key.rules->spread.size(); ++i) {
    const bool is_shared = IsSharedSpread(key, i);
    if (!is_shared && !IsFixedSpread(key, i)) continue;
    const CountedTerm& term = *state_.peers().TermsOf(*key.rules).spread[i];
    if (is_shared) AddCapped(term, i, task_class);
    std::optional<TopologySpread> fixed;
    if (!is_shared) fixed.emplace(state_, constraints_, key, i);
    for (const auto& [id, machine] : state_.machines()) {
      if (!work_.Spend(1)) break;
      const bool is_allowed = is_shared
                                  ? term.topology->DomainOf(id) != kNoDomain
                                  : fixed->Allows(id);
      if (!is_allowed) kept_away_[id].push_back(task_class);
    }
  }
}

bool PackingPeers::IsMutual(const CountedTerm& term) {
  const auto [it, is_new] = is_mutual_.try_emplace(&term, false);
  if (!is_new) return it->second;
  work_.Spend(std::ssize(in_play_));
  it->second =
      term.topology->domain_end() <= cap_rows_left_ && !work_.IsExceeded() &&
      std::ranges::all_of(in_play_, [&](const ClassKey* key) {
        const auto& own = state_.peers().TermsOf(*key->rules).anti_affinity;
        return IsMeantBy(term, *key) ==
               (std::ranges::find(own, &term) != own.end());
      });
  if (it->second) cap_rows_left_ -= term.topology->domain_end();
  return it->second;
}

bool PackingPeers::IsSharedSpread(const ClassKey& key, size_t index) {
  const CountedTerm& term = *state_.peers().TermsOf(*key.rules).spread[index];
  if (!key.rules->spread[index].is_required || !IsMeantBy(term, key)) {
    return false;
  }
  const auto [it, is_new] = is_shared_.try_emplace({key.rules, index}, false);
  if (!is_new) return it->second;
  const int64_t rows = int64_t{2} * term.topology->domain_end();
  work_.Spend(std::ssize(in_play_));
  it->second = rows <= cap_rows_left_ && !work_.IsExceeded() &&
               std::ranges::all_of(in_play_, [&](const ClassKey* other) {
                 const auto& own = state_.peers().TermsOf(*other->rules).spread;
                 return other->rules == key.rules ||
                        (!IsMeantBy(term, *other) &&
                         std::ranges::find(own, &term) == own.end());
               });
  if (it->second) {
    cap_rows_left_ -= rows;
    spread_.insert(term.selector);
  }
  return it->second;
}

bool PackingPeers::IsCounted(const ClassKey& running) const {
  return std::ranges::any_of(*running.meant_by, [&](uint32_t selector) {
    return spread_.contains(selector);
  });
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

void PackingPeers::TakeOneOf(const ClassKey& key) {
  const bool was_heeded = IsHeeded(key);
  lone_.emplace(state_, constraints_, key);
  FindTermsOfLone(key);
  if (!was_heeded) return;
  for (const uint32_t selector : CountedFor(key)) {
    followed_[selector] = std::numeric_limits<uint32_t>::max();
  }
  FollowCompany();
  is_heeded_.clear();
}

void PackingPeers::FindTermsOfGang() {
  const Job* job = state_.FindJob(*gang_);
  if (job == nullptr || job->pending_count > kBesideMax) return;
  std::vector<const ClassKey*> classes;
  for (const ClassKey* key : in_play_) {
    if (key->gang != gang_) continue;
    if (!key->rules->affinity.empty() || !IsHeeded(*key)) return;
    classes.push_back(key);
  }
  for (const ClassKey* key : classes) FindTermsOfLone(*key);
}

void PackingPeers::FindTermsOfLone(const ClassKey& key) {
  priority_of_lone_ = std::max(priority_of_lone_, key.priority);
  const auto add = [this](const CountedTerm* term,
                          std::vector<const CountedTerm*>* terms) {
    if (IsOfOneMachine(*term) || IsKnownMutual(term) ||
        std::ranges::find(*terms, term) != terms->end()) {
      return;
    }
    terms->push_back(term);
  };
  const PeerTable& peers = state_.peers();
  for (const CountedTerm* term : peers.TermsOf(*key.rules).anti_affinity) {
    add(term, &terms_of_lone_);
  }
  for (const uint32_t selector : *key.meant_by) {
    for (const CountedTerm* term : peers.TermsAbout(selector)) {
      if (term->keeping_away.total() > 0) add(term, &terms_about_lone_);
    }
  }
}

std::vector<uint32_t> PackingPeers::CountedFor(const ClassKey& key) {
  const PeerTerms& terms = state_.peers().TermsOf(*key.rules);
  std::vector<uint32_t> selectors;
  for (const CountedTerm* term : terms.anti_affinity) {
    if (!IsOfOneMachine(*term)) selectors.push_back(term->selector);
  }
  for (size_t i = 0; i < terms.spread.size(); ++i) {
    if (key.rules->spread[i].is_required) {
      selectors.push_back(terms.spread[i]->selector);
    }
  }
  return selectors;
}

std::vector<const Task*> PackingPeers::OpenToLone(
    const Machine& machine, std::span<const Task* const> leavers,
    const GangVictims& gangs) {
  if (!lone_.has_value() || lone_->MayBeOn(machine)) return {};
  lone_work_.Spend(std::ssize(leavers));
  if (lone_work_.IsExceeded()) return {};
  auto in_the_way = lone_->FindInTheWay(machine, leavers, gangs);
  if (!in_the_way.has_value()) return {};
  lone_->Open(machine.id);
  return *std::move(in_the_way);
}

void PackingPeers::NoteFreed(const ClassKey& key, MachineId machine) {
  if (!key.DependsOnPeers() || !heeds_terms_) return;
  const PeerTable& peers = state_.peers();
  freed_tasks_.emplace_back(&key, machine);
  for (const uint32_t selector : *key.meant_by) {
    for (const CountedTerm* term : peers.TermsAbout(selector)) {
      freed_[&term->meant].Add(term->topology->DomainOf(machine), 1);
    }
  }
  for (const CountedTerm* term : peers.TermsOf(*key.rules).anti_affinity) {
    freed_[&term->keeping_away].Add(term->topology->DomainOf(machine), 1);
  }
}

bool PackingPeers::KeepApart(const ClassKey& a, const ClassKey& b) {
  return state_.peers().KeepApart(
      a, b, [this](const CountedTerm& term) { return IsOfOneMachine(term); });
}

bool PackingPeers::NeedsBeside(const ClassKey& a, const ClassKey& b) {
  return NeedsCompany(a) &&
         std::ranges::binary_search(
             *b.meant_by,
             state_.peers().TermsOf(*a.rules).affinity[0]->selector);
}

bool PackingPeers::IsKnownMutual(const CountedTerm* term) const {
  const auto it = is_mutual_.find(term);
  return it != is_mutual_.end() && it->second;
}

bool PackingPeers::IsOfLone(const CountedTerm* term) const {
  return std::ranges::find(terms_of_lone_, term) != terms_of_lone_.end() ||
         std::ranges::find(terms_about_lone_, term) != terms_about_lone_.end();
}

void PackingPeers::Relate(std::span<const ClassKey> keys,
                          PackingProblem* problem) {
  if (!heeds_terms_) return;
  std::map<uint32_t, std::vector<size_t>> meant;  // By selector.
  for (size_t c = 0; c < keys.size(); ++c) {
    for (const uint32_t selector : *keys[c].meant_by) {
      meant[selector].push_back(c);
    }
  }
  const PeerTable& peers = state_.peers();
  std::vector<std::pair<size_t, size_t>> apart;
  for (size_t c = 0; c < keys.size(); ++c) {
    if (!keys[c].DependsOnPeers()) continue;
    const bool is_alone = IsTakenAlone(keys[c]);
    if (is_alone) RelateAlone(c);
    if (is_alone || (gang_.has_value() && keys[c].gang == gang_)) {
      NoteOfLone(keys[c], c);
    }
    const bool has_affinity = !keys[c].rules->affinity.empty();
    for (const CountedTerm* term :
         peers.TermsOf(*keys[c].rules).anti_affinity) {
      if (!is_alone) {
        KeepAway(c, *term->topology, term->meant, has_affinity);
        KeepAway(c, *term->topology, term->expected, has_affinity);
      }
      if (!IsOfOneMachine(*term)) {
        if (IsMutual(*term)) AddCapped(*term, std::nullopt, c);
        continue;
      }
      for (const size_t other : meant[term->selector]) {
        if (apart.size() >= kApartMax) break;
        apart.emplace_back(c, other);
        apart.emplace_back(other, c);
      }
    }
    if (NeedsCompany(keys[c])) {
      const CountedTerm& term = *peers.TermsOf(*keys[c].rules).affinity[0];
      AddCompany(c, term, meant[term.selector], problem);
    }
    if (is_alone) continue;
    HeedSpreads(keys[c], c);
    for (const uint32_t selector : *keys[c].meant_by) {
      for (const CountedTerm* term : peers.TermsAbout(selector)) {
        KeepAway(c, *term->topology, term->keeping_away, has_affinity);
      }
    }
  }
  std::ranges::sort(apart);
  const auto [end, last] = std::ranges::unique(apart);
  apart.erase(end, last);
  for (const auto& [c, other] : apart) {
    PackingClass& one = problem->classes[c];
    if (other == c) {
      one.per_machine_max = 1;
    } else {
      one.apart_from.push_back(other);
    }
  }
  AddCaps(keys, problem);
}

void PackingPeers::AddCapped(const CountedTerm& term,
                             std::optional<size_t> spread, size_t task_class) {
  for (CappedClasses& capped : capped_) {
    if (capped.term != &term || capped.spread != spread) continue;
    capped.classes.push_back(task_class);
    return;
  }
  capped_.push_back({&term, spread, {task_class}});
}

void PackingPeers::AddCaps(std::span<const ClassKey> keys,
                           PackingProblem* problem) {
  for (CappedClasses& capped : capped_) {
    capped.first_cap = problem->caps.size();
    problem->caps.insert(
        problem->caps.end(),
        static_cast<size_t>(capped.term->topology->domain_end()),
        {capped.classes, 1});
    if (!capped.spread.has_value()) continue;
    capped.counts.emplace(state_, constraints_, keys[capped.classes[0]],
                          *capped.spread);
    for (const auto& [freed, machine] : freed_tasks_) {
      capped.counts->Note(*freed, machine, -1);
    }
    AddSpread(&capped, problem);
  }
}

void PackingPeers::AddSpread(CappedClasses* capped, PackingProblem* problem) {
  const TopologySpread& spread = *capped->counts;
  int64_t count = 0;
  for (const size_t c : capped->classes) count += problem->classes[c].count();
  PackingSpread made;
  made.rise_max = spread.LevelFor(count) - spread.minimum();
  const int64_t most = spread.minimum() + spread.constraint().max_skew;
  for (size_t domain = 0; domain < spread.counts().size(); ++domain) {
    const int64_t there = spread.counts()[domain];
    PackingCap& cap = problem->caps[capped->first_cap + domain];
    cap.most = 0;
    capped->is_over.push_back(there < 0 || there > most);
    if (there < 0) continue;
    cap.most = std::max<int64_t>(most - there, 0);
    cap.rise_max = made.rise_max;
    made.caps.push_back(capped->first_cap + domain);
    // Nominated tasks may not come: they have raised no domain.
    made.ahead.push_back(spread.RunningIn(domain) - spread.minimum());
  }
  // No domain counts if none has a machine that its tasks may use.
  if (!made.caps.empty()) problem->spreads.push_back(std::move(made));
}

std::vector<size_t> PackingPeers::CapsOn(MachineId machine) const {
  std::vector<size_t> caps;
  for (const CappedClasses& capped : capped_) {
    const DomainIndex domain = capped.term->topology->DomainOf(machine);
    if (domain == kNoDomain) continue;
    // What runs there would not count.
    if (capped.has_running && !capped.counts->Counts(machine)) continue;
    caps.push_back(capped.first_cap + static_cast<size_t>(domain));
  }
  for (const auto& [where, beside] : caps_beside_) {
    const auto& [term, domain] = where;
    if (term->topology->DomainOf(machine) != domain) continue;
    caps.insert(caps.end(), beside.begin(), beside.end());
  }
  std::ranges::sort(caps);
  return caps;
}

void PackingPeers::NoteOfLone(const ClassKey& key, size_t task_class) {
  const auto note = [&](const CountedTerm* term) {
    std::vector<size_t>& classes = classes_of_lone_[term];
    if (classes.empty() || classes.back() != task_class) {
      classes.push_back(task_class);
    }
  };
  const auto& own = state_.peers().TermsOf(*key.rules).anti_affinity;
  for (const CountedTerm* term : terms_of_lone_) {
    if (std::ranges::find(own, term) != own.end()) note(term);
  }
  for (const CountedTerm* term : terms_about_lone_) {
    if (IsMeantBy(*term, key)) note(term);
  }
}

void PackingPeers::RelateAlone(size_t task_class) {
  for (const auto& [id, machine] : state_.machines()) {
    if (!machine->IsUsable() || lone_->MayBeOn(*machine)) continue;
    if (lone_work_.IsExceeded()) {
      kept_away_[id].push_back(task_class);
      continue;
    }
    std::vector<const Task*> leavers = leavers_for_lone_;
    const auto here = leavers_on_.find(id);
    if (here != leavers_on_.end()) {
      // A packing never puts it beside tasks that must be apart from it on a
      // machine.
      std::ranges::copy_if(here->second, std::back_inserter(leavers),
                           [this](const Task* task) {
                             return KeepApart(lone_->key(), task->class_key);
                           });
    }
    lone_work_.Spend(std::ssize(leavers));
    if (leavers.empty() || lone_work_.IsExceeded() ||
        !lone_->MayBeOnWithout(*machine, leavers)) {
      kept_away_[id].push_back(task_class);
    }
  }
}

void PackingPeers::KeepAway(size_t task_class, const Topology& topology,
                            const Tally& tally, bool waits_for_none) {
  const auto freed = freed_.find(&tally);
  const auto leaving = waits_for_none ? leaving_.end() : leaving_.find(&tally);
  for (const auto& [domain, count] : tally.counts()) {
    int64_t left = count;
    if (freed != freed_.end()) left -= freed->second.At(domain);
    if (leaving != leaving_.end()) left -= leaving->second.At(domain);
    if (domain == kNoDomain || left == 0) continue;
    for (const MachineId machine : topology.MachinesOf(domain)) {
      if (!work_.Spend(1)) return;
      kept_away_[machine].push_back(task_class);
    }
  }
}

void PackingPeers::AddCompany(size_t task_class, const CountedTerm& term,
                              const std::vector<size_t>& meant,
                              PackingProblem* problem) {
  const auto freed = freed_.find(&term.meant);
  std::vector<MachineId> there;
  for (const auto& [domain, count] : term.meant.counts()) {
    const bool all_leave =
        freed != freed_.end() && freed->second.At(domain) == count;
    if (domain == kNoDomain || all_leave) continue;
    for (const MachineId machine : term.topology->MachinesOf(domain)) {
      // Without the rule more is allowed, which suits a bound.
      is_exhausted_ = !work_.Spend(1);
      if (is_exhausted_) return;
      there.push_back(machine);
    }
  }
  for (const MachineId machine : there) {
    accompanied_[machine].push_back(task_class);
  }
  PackingClass& one = problem->classes[task_class];
  one.needs_company = true;
  if (!leaves_out_waiting_company_) one.company = meant;
}

std::span<const size_t> PackingPeers::AccompaniedOn(MachineId machine) const {
  const auto it = accompanied_.find(machine);
  return it == accompanied_.end() ? std::span<const size_t>()
                                  : std::span<const size_t>(it->second);
}

std::span<const size_t> PackingPeers::KeptAwayFrom(MachineId machine) const {
  const auto it = kept_away_.find(machine);
  return it == kept_away_.end() ? std::span<const size_t>()
                                : std::span<const size_t>(it->second);
}

}  // namespace sluice
