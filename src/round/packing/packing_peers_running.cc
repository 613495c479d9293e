// What a packing knows of the rules between running tasks that may leave and
// the tasks to be placed.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "round/packing/packing_peers.h"

namespace sluice {
namespace {

// How many tasks of these classes there are to place.
int64_t CountTasks(const std::vector<size_t>& classes,
                   const PackingProblem& problem) {
  int64_t count = 0;
  for (const size_t c : classes) count += problem.classes[c].count();
  return std::max<int64_t>(count, 1);
}

}  // namespace

bool PackingPeers::Concerns(const ClassKey& running) {
  if (!running.rules->host_ports.empty() &&
      std::ranges::any_of(with_ports_, [&](const PlacementRules* rules) {
        return WantSamePort(*rules, *running.rules);
      })) {
    return true;
  }
  if (!heeds_terms_ || in_play_.empty() || !running.DependsOnPeers()) {
    return false;
  }
  const auto [it, is_new] =
      concerns_.try_emplace({running.rules, running.meant_by}, false);
  if (!is_new) return it->second;
  it->second = !WideTermsOf(running).empty() || IsCounted(running) ||
               std::ranges::any_of(in_play_, [&](const ClassKey* key) {
                 return KeepApart(*key, running) || NeedsBeside(*key, running);
               });
  return it->second;
}

std::vector<const CountedTerm*> PackingPeers::WideTermsOf(
    const ClassKey& running) const {
  const PeerTable& peers = state_.peers();
  std::vector<const CountedTerm*> wide;
  const auto add = [&](const CountedTerm* term,
                       const std::vector<const CountedTerm*>& of_lone) {
    if ((IsKnownMutual(term) ||
         std::ranges::find(of_lone, term) != of_lone.end()) &&
        std::ranges::find(wide, term) == wide.end()) {
      wide.push_back(term);
    }
  };
  for (const uint32_t selector : *running.meant_by) {
    for (const CountedTerm* term : peers.TermsAbout(selector)) {
      add(term, terms_of_lone_);
    }
  }
  for (const CountedTerm* term : peers.TermsOf(*running.rules).anti_affinity) {
    add(term, terms_about_lone_);
  }
  return wide;
}

uint32_t PackingPeers::HighestKeptBy(const CountedTerm* term) {
  const auto [it, is_new] = highest_kept_.try_emplace(term, 0);
  if (!is_new) return it->second;
  if (IsOfLone(term)) it->second = priority_of_lone_;
  for (const ClassKey* key : in_play_) {
    const auto& own = state_.peers().TermsOf(*key->rules).anti_affinity;
    if (std::ranges::find(own, term) == own.end()) continue;
    it->second = std::max(it->second, urgency_of_.at(key->rules).highest);
  }
  return it->second;
}

size_t PackingPeers::NoteLeaving(const Task& running) {
  const PeerTable& peers = state_.peers();
  const ClassKey& key = running.class_key;
  std::vector<const CountedTerm*> wide = WideTermsOf(key);
  std::erase_if(wide, [&](const CountedTerm* term) {
    return !running.is_evicted && HighestKeptBy(term) <= key.priority;
  });
  size_t turn = 0;
  if (cap_rows_left_ >= std::ssize(wide)) {
    for (const CountedTerm* term : wide) {
      const DomainIndex domain = term->topology->DomainOf(running.machine);
      const auto last = turns_.find({term, domain});
      if (last != turns_.end()) turn = std::max(turn, last->second);
    }
    turn += wide.empty() ? 0 : 1;
  }
  const auto note = [&](const CountedTerm& term, const Tally& tally) {
    const DomainIndex domain = term.topology->DomainOf(running.machine);
    if (IsOfOneMachine(term)) {
      freed_[&tally].Add(domain, 1);
    } else if (turn > 0 && (IsKnownMutual(&term) ||
                            (gang_.has_value() && IsOfLone(&term)))) {
      leaving_[&tally].Add(domain, 1);
    }
  };
  for (const uint32_t selector : *key.meant_by) {
    for (const CountedTerm* term : peers.TermsAbout(selector)) {
      note(*term, term->meant);
    }
  }
  for (const CountedTerm* term : peers.TermsOf(*key.rules).anti_affinity) {
    note(*term, term->keeping_away);
  }
  if (lone_.has_value()) {
    auto& leavers = turn > 0 ? leavers_for_lone_ : leavers_on_[running.machine];
    leavers.push_back(&running);
  }
  if (turn == 0) return 0;
  for (const CountedTerm* term : wide) {
    const DomainIndex domain = term->topology->DomainOf(running.machine);
    if (domain == kNoDomain) continue;
    turns_[{term, domain}] = turn;
    // Tasks told to leave are no part of the problem.
    if (running.is_evicted) continue;
    keepers_.push_back({term, running.machine, running.id});
    --cap_rows_left_;
  }
  return turn;
}

void PackingPeers::RelateRunning(std::span<const ClassKey> keys,
                                 std::span<const ClassKey> running,
                                 std::span<const size_t> in_the_way,
                                 PackingProblem* problem) {
  std::vector<bool> is_in_the_way(running.size(), false);
  for (const size_t i : in_the_way) is_in_the_way[i] = true;
  for (size_t c = 0; c < keys.size(); ++c) {
    const bool has_terms = heeds_terms_ && keys[c].DependsOnPeers();
    if (!has_terms && keys[c].rules->host_ports.empty()) continue;
    for (size_t i = 0; i < running.size(); ++i) {
      const bool must_go = (is_in_the_way[i] && IsTakenAlone(keys[c])) ||
                           WantSamePort(*keys[c].rules, *running[i].rules);
      const bool is_related = has_terms && running[i].DependsOnPeers();
      const size_t r = keys.size() + i;
      if (must_go || (is_related && KeepApart(keys[c], running[i]))) {
        problem->classes[c].apart_from.push_back(r);
        problem->classes[r].apart_from.push_back(c);
      }
      if (is_related && NeedsBeside(keys[c], running[i])) {
        problem->classes[c].company.push_back(r);
      }
    }
  }
  for (size_t i = 0; i < running.size(); ++i) {
    CountInSpreads(running[i], keys.size() + i, problem);
  }
}

void PackingPeers::CountInSpreads(const ClassKey& running, size_t task_class,
                                  PackingProblem* problem) {
  for (CappedClasses& capped : capped_) {
    if (!capped.counts.has_value() || !capped.counts->Means(running)) continue;
    capped.has_running = true;
    for (size_t domain = 0; domain < capped.is_over.size(); ++domain) {
      if (capped.is_over[domain]) continue;
      problem->caps[capped.first_cap + domain].classes.push_back(task_class);
    }
  }
}

void PackingPeers::CapRunning(
    absl::FunctionRef<std::optional<size_t>(MachineId, TaskId)> class_of,
    PackingProblem* problem) {
  for (const auto& [term, machine, task] : keepers_) {
    const std::optional<size_t> c = class_of(machine, task);
    if (!c.has_value()) continue;
    PackingCap cap;
    cap.most = 1;
    const auto capped =
        std::ranges::find_if(capped_, [term = term](const CappedClasses& one) {
          return one.term == term && !one.spread.has_value();
        });
    if (capped != capped_.end()) {
      cap.classes = capped->classes;
    } else if (const auto of_lone = classes_of_lone_.find(term);
               of_lone != classes_of_lone_.end()) {
      cap.classes = of_lone->second;
      if (gang_.has_value()) cap.most = CountTasks(cap.classes, *problem);
      cap.of_running = cap.most;
    } else {
      continue;
    }
    cap.classes.push_back(*c);
    caps_beside_[{term, term->topology->DomainOf(machine)}].push_back(
        problem->caps.size());
    problem->caps.push_back(std::move(cap));
  }
}

}  // namespace sluice
