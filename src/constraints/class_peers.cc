#include "constraints/class_peers.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "constraints/domain_shares.h"

namespace sluice {
namespace {

int64_t CrowdingPerTask(const TopologySpread& spread) {
  // Two domains are added so that even one domain has a weight, as in
  // Kubernetes.
  const auto domains = static_cast<double>(spread.domain_count() + 2);
  return std::llround(std::log(domains) * static_cast<double>(kCrowdingUnit));
}

}  // namespace

ClassPeers::ClassPeers(const ClusterState& state,
                       const ConstraintSet& constraints, const ClassKey& key,
                       const Task* leaver)
    : state_(state),
      constraints_(constraints),
      key_(key),
      terms_(state.peers().TermsOf(*key.rules)),
      leaver_(leaver) {
  if (leaver_ != nullptr) {
    terms_of_leaver_ = &state.peers().TermsOf(*leaver_->class_key.rules);
    is_leaver_running_ = leaver_->state == TaskState::kRunning;
    leaver_machine_ = is_leaver_running_
                          ? leaver_->machine
                          : state.nominations().machines().at(leaver_->id);
  }
  for (const uint32_t selector : *key.meant_by) {
    for (const CountedTerm* term : state.peers().TermsAbout(selector)) {
      about_.push_back(term);
    }
  }
  for (size_t i = 0; i < terms_.spread.size(); ++i) {
    spreads_.emplace_back(state, constraints, key, i);
    if (leaver_ != nullptr && is_leaver_running_) {
      spreads_.back().Note(leaver_->class_key, leaver_machine_, -1);
    } else if (leaver_ != nullptr && leaver_->class_key != key) {
      spreads_.back().ForgetExpected(leaver_->class_key, leaver_machine_, 1);
    }
    // Among equal tasks with reserved room, whichever comes first does not wait
    // for the others.
    for (const auto& [machine, count] : state.nominations().MachinesOf(key)) {
      spreads_.back().ForgetExpected(key, machine, count);
    }
    if (!spreads_.back().topology().is_by_machine()) continue;
    const CountedTerm& by_machine = *terms_.spread_by_machine[i];
    tallied_.push_back(
        {by_machine.topology, &by_machine.meant, /*is_counted=*/true});
    tallied_.push_back(
        {by_machine.topology, &by_machine.expected, /*is_counted=*/true});
  }
  for (const CountedTerm* term : terms_.affinity) {
    tallied_.push_back({term->topology, &term->meant, false});
  }
  for (const CountedTerm* term : terms_.anti_affinity) {
    tallied_.push_back({term->topology, &term->meant, false});
    tallied_.push_back({term->topology, &term->expected, false});
  }
  for (const CountedTerm* term : terms_.minimums) {
    tallied_.push_back({term->topology, &term->meant, /*is_counted=*/true});
  }
  for (const CountedTerm* term : about_) {
    if (term->keeping_away.total() > 0) {
      tallied_.push_back({term->topology, &term->keeping_away, false});
    }
  }
  if (!terms_.affinity.empty()) {
    const auto is_empty = [this](const CountedTerm* term) {
      return MeantAnywhere(*term) == 0;
    };
    is_affinity_met_ = std::ranges::none_of(terms_.affinity, is_empty);
    is_first_of_affinity_ = std::ranges::all_of(terms_.affinity, is_empty) &&
                            IsMeantBy(*terms_.affinity.front(), key_);
    if (is_first_of_affinity_) {
      leader_topology_ = terms_.affinity.front()->topology;
    }
  }
  FindWorths();
}

void ClassPeers::FindWorths() {
  const auto add = [&](const CountedTerm* term, int64_t weight) {
    const Tally& tally = weight == 0 ? term->worth : term->meant;
    worths_.push_back({term, weight});
    if (tally.counts().empty()) return;
    tallied_.push_back({term->topology, &tally, /*is_counted=*/true});
    int64_t most = 0;
    int64_t least = 0;
    for (const auto& [domain, count] : tally.counts()) {
      const int64_t worth = weight == 0 ? count : count * weight;
      most = std::max(most, worth);
      least = std::min(least, worth);
    }
    worth_max_ += most;
    worth_min_ += least;
  };
  for (const auto& [term, weight] : terms_.preferred) {
    add(term, weight);
    // None of the tasks that they prefer to be near runs: they follow one of
    // their own.
    if (weight > 0 && term->meant.total() == 0 && IsMeantBy(*term, key_)) {
      if (leader_topology_ == nullptr) leader_topology_ = term->topology;
    }
  }
  for (const CountedTerm* term : about_) {
    if (!term->worth.counts().empty()) add(term, 0);
  }
}

bool ClassPeers::MeansLeaver(const CountedTerm& term) const {
  return leaver_ != nullptr && std::ranges::binary_search(
                                   *leaver_->class_key.meant_by, term.selector);
}

int64_t ClassPeers::MeantAnywhere(const CountedTerm& term) const {
  const bool is_one_less =
      is_leaver_running_ && MeansLeaver(term) &&
      term.topology->DomainOf(leaver_machine_) != kNoDomain;
  return term.meant.total() - (is_one_less ? 1 : 0);
}

int64_t ClassPeers::MeantIn(const CountedTerm& term, DomainIndex domain) const {
  const bool is_one_less = is_leaver_running_ && MeansLeaver(term) &&
                           term.topology->DomainOf(leaver_machine_) == domain;
  return term.meant.At(domain) - (is_one_less ? 1 : 0);
}

int64_t ClassPeers::ExpectedIn(const CountedTerm& term,
                               DomainIndex domain) const {
  const bool is_one_less = !is_leaver_running_ && MeansLeaver(term) &&
                           term.topology->DomainOf(leaver_machine_) == domain;
  return term.expected.At(domain) - (is_one_less ? 1 : 0);
}

bool ClassPeers::IsFirstOnceAllLeave() const {
  return !terms_.affinity.empty() && !is_first_of_affinity_ &&
         IsMeantBy(*terms_.affinity.front(), key_) &&
         std::ranges::all_of(terms_.affinity, [](const CountedTerm* term) {
           return term->meant.total() == term->leaving.total();
         });
}

bool ClassPeers::MeetsAffinity(MachineId machine) const {
  return std::ranges::all_of(terms_.affinity, [&](const CountedTerm* term) {
    const DomainIndex domain = term->topology->DomainOf(machine);
    return domain != kNoDomain &&
           (MeantIn(*term, domain) > 0 || is_first_of_affinity_);
  });
}

const CountedTerm* ClassPeers::OwnAntiAffinity(MachineId machine) const {
  for (const CountedTerm* term : terms_.anti_affinity) {
    const DomainIndex domain = term->topology->DomainOf(machine);
    if (domain == kNoDomain) continue;
    if (MeantIn(*term, domain) + ExpectedIn(*term, domain) > 0) return term;
  }
  return nullptr;
}

const CountedTerm* ClassPeers::AntiAffinityOfOthers(MachineId machine) const {
  for (const CountedTerm* term : about_) {
    const DomainIndex domain = term->topology->DomainOf(machine);
    int64_t keeping_away = term->keeping_away.At(domain);
    if (leaver_ != nullptr &&
        term->topology->DomainOf(leaver_machine_) == domain) {
      keeping_away -= std::ranges::count(terms_of_leaver_->anti_affinity, term);
    }
    if (keeping_away > 0) return term;
  }
  return nullptr;
}

bool ClassPeers::Allows(const Machine& machine) const {
  return MeetsAffinity(machine.id) && AllowsBesideAffinity(machine);
}

bool ClassPeers::AllowsBesideAffinity(const Machine& machine) const {
  return OwnAntiAffinity(machine.id) == nullptr &&
         AntiAffinityOfOthers(machine.id) == nullptr &&
         std::ranges::all_of(spreads_, [&](const TopologySpread& spread) {
           return !spread.constraint().is_required || spread.Allows(machine.id);
         });
}

bool ClassPeers::AllowsBesideSpread(const Machine& machine) const {
  return MeetsAffinity(machine.id) && OwnAntiAffinity(machine.id) == nullptr &&
         AntiAffinityOfOthers(machine.id) == nullptr;
}

bool ClassPeers::AreApartWithout(const Machine& machine,
                                 std::span<const Task* const> leavers) const {
  const auto keeps_away = [&](const CountedTerm* term) {
    const DomainIndex domain = term->topology->DomainOf(machine.id);
    if (domain == kNoDomain) return false;
    const auto is_meant = [term, domain](const Task* task) {
      return term->topology->DomainOf(task->machine) == domain &&
             IsMeantBy(*term, task->class_key);
    };
    const int64_t there = MeantIn(*term, domain) + ExpectedIn(*term, domain);
    return there > 0 && there > std::ranges::count_if(leavers, is_meant);
  };
  const auto is_kept_away = [&](const CountedTerm* term) {
    const DomainIndex domain = term->topology->DomainOf(machine.id);
    if (domain == kNoDomain) return false;
    int64_t there = term->keeping_away.At(domain);
    if (leaver_ != nullptr &&
        term->topology->DomainOf(leaver_machine_) == domain) {
      there -= std::ranges::count(terms_of_leaver_->anti_affinity, term);
    }
    for (const Task* task : leavers) {
      if (task == leaver_) continue;
      if (there == 0) break;
      if (term->topology->DomainOf(task->machine) != domain) continue;
      const PeerTerms& terms = state_.peers().TermsOf(*task->class_key.rules);
      there -= std::ranges::count(terms.anti_affinity, term);
    }
    return there > 0;
  };
  return std::ranges::none_of(terms_.anti_affinity, keeps_away) &&
         std::ranges::none_of(about_, is_kept_away);
}

bool ClassPeers::MeetsAffinityWithout(
    MachineId machine, std::span<const Task* const> leavers) const {
  const bool is_first = is_first_of_affinity_ || IsFirstOnceAllLeave();
  return std::ranges::all_of(terms_.affinity, [&](const CountedTerm* term) {
    const DomainIndex domain = term->topology->DomainOf(machine);
    if (domain == kNoDomain) return false;
    if (is_first) return true;
    const int64_t staying = MeantIn(*term, domain) - term->leaving.At(domain);
    return staying > std::ranges::count_if(leavers, [&](const Task* task) {
             return !task->is_evicted &&
                    term->topology->DomainOf(task->machine) == domain &&
                    IsMeantBy(*term, task->class_key);
           });
  });
}

bool ClassPeers::AllowsWithout(const Machine& machine,
                               std::span<const Task* const> leavers) const {
  return AllowsBesideSpreadWithout(machine, leavers) &&
         std::ranges::all_of(spreads_, [&](const TopologySpread& spread) {
           return !spread.constraint().is_required ||
                  AllowsWithout(spread, machine.id, leavers);
         });
}

bool ClassPeers::AllowsBesideSpreadWithout(
    const Machine& machine, std::span<const Task* const> leavers) const {
  return MeetsAffinityWithout(machine.id, leavers) &&
         AreApartWithout(machine, leavers);
}

bool ClassPeers::AllowsWithout(const TopologySpread& spread, MachineId machine,
                               std::span<const Task* const> leavers) {
  std::vector<const Task*> here;
  std::optional<TopologySpread> without;  // Without those elsewhere.
  for (const Task* task : leavers) {
    if (task->machine == machine) {
      here.push_back(task);
    } else if (!task->is_evicted) {  // Else it no longer counts.
      if (!without.has_value()) without = spread;
      without->Note(task->class_key, task->machine, -1);
    }
  }
  return (without.has_value() ? *without : spread).AllowsWithout(machine, here);
}

std::vector<const TopologySpread*> ClassPeers::OwnSpreads() const {
  std::vector<const TopologySpread*> own;
  for (const TopologySpread& spread : spreads_) {
    if (spread.constraint().is_required && spread.is_self()) {
      own.push_back(&spread);
    }
  }
  std::ranges::stable_sort(own, std::ranges::greater{},
                           &TopologySpread::domain_count);
  return own;
}

bool ClassPeers::IsSpreadOver(const ClassKey& other) const {
  return std::ranges::any_of(spreads_, [&](const TopologySpread& spread) {
    return spread.constraint().is_required && spread.Means(other);
  });
}

int64_t ClassPeers::WorthOn(MachineId machine) const {
  int64_t worth = 0;
  for (const auto& [term, weight] : worths_) {
    const DomainIndex domain = term->topology->DomainOf(machine);
    worth +=
        weight == 0 ? term->worth.At(domain) : weight * term->meant.At(domain);
  }
  return worth;
}

PeerStanding ClassPeers::StandingOn(const Machine& machine) const {
  PeerStanding standing;
  standing.missed_weight_max = worth_max_ - worth_min_;
  if (!worths_.empty()) {
    standing.missed_weight = worth_max_ - WorthOn(machine.id);
  }
  standing.crowding = CrowdingOn(machine.id);
  return standing;
}

int64_t ClassPeers::CrowdingOn(MachineId machine) const {
  int64_t crowding = 0;
  for (const TopologySpread& spread : spreads_) {
    if (spread.constraint().is_required) continue;
    crowding += CrowdingPerTask(spread) * spread.ExcessAt(machine);
  }
  return crowding;
}

int64_t ClassPeers::CrowdOn(MachineId machine) const {
  int64_t crowd = 0;
  for (const TopologySpread& spread : spreads_) {
    if (spread.constraint().is_required) continue;
    crowd += CrowdingPerTask(spread) * spread.CountAt(machine);
  }
  return crowd;
}

ClassPeers::Share ClassPeers::ShareOf(const ClassKey& other, MachineId there,
                                      MachineId here) const {
  Share share;
  const auto is_one_domain = [&](const Topology& topology) {
    const DomainIndex domain = topology.DomainOf(there);
    return domain != kNoDomain && domain == topology.DomainOf(here);
  };
  for (const auto& [term, weight] : worths_) {
    if (!is_one_domain(*term->topology)) continue;
    if (weight != 0) {
      if (IsMeantBy(*term, other)) {
        share.worth += weight;
      }
      continue;
    }
    for (const auto& [of, given] : state_.peers().TermsOf(*other.rules).given) {
      if (of == term) share.worth += given;
    }
  }
  for (const TopologySpread& spread : spreads_) {
    if (spread.constraint().is_required || !spread.Means(other) ||
        !is_one_domain(spread.topology()) || !spread.Counts(there)) {
      continue;
    }
    share.crowding += CrowdingPerTask(spread);
  }
  return share;
}

void ClassPeers::Note(const ClassKey& placed, MachineId machine,
                      int64_t count) {
  for (TopologySpread& spread : spreads_) spread.Note(placed, machine, count);
  if (!is_first_of_affinity_) return;
  // Its first task, or another one that it had to wait for, is there now.
  is_first_of_affinity_ = std::ranges::all_of(
      terms_.affinity,
      [](const CountedTerm* term) { return term->meant.total() == 0; });
}

ClassPeers::Limits ClassPeers::LimitsFor(int64_t count) const {
  Limits limits;
  const auto of = [&](const Topology* topology) -> Limits::OfTopology& {
    for (Limits::OfTopology& one : limits.topologies) {
      if (one.topology == topology) return one;
    }
    limits.topologies.emplace_back().topology = topology;
    return limits.topologies.back();
  };
  const auto bound = [](std::vector<int64_t> room, Limits::OfTopology* one) {
    if (!one->room.has_value()) {
      one->room = std::move(room);
      return;
    }
    for (size_t d = 0; d < room.size(); ++d) {
      (*one->room)[d] = std::min((*one->room)[d], room[d]);
    }
  };
  for (const CountedTerm* term : terms_.anti_affinity) {
    if (!IsMeantBy(*term, key_)) continue;
    const auto domains = static_cast<size_t>(term->topology->domain_end());
    bound(std::vector<int64_t>(domains, 1), &of(term->topology));
  }
  for (const TopologySpread& spread : spreads_) {
    if (!spread.is_self()) continue;
    if (spread.constraint().is_required) {
      Limits::OfTopology& one = of(&spread.topology());
      const int64_t level = spread.LevelFor(count);
      bound(spread.RoomUpTo(level + spread.constraint().max_skew), &one);
      one.first = spread.RoomUpTo(level);
    } else {
      of(&spread.topology()).step.crowding += CrowdingPerTask(spread);
    }
  }
  for (const auto& [term, weight] : terms_.preferred) {
    if (weight >= 0 || !IsMeantBy(*term, key_)) continue;
    // Both the newcomer and those that are there mind.
    PeerStanding& step = of(term->topology).step;
    step.missed_weight -= 2 * weight;
    step.missed_weight_max = worth_max_ - worth_min_;
  }
  return limits;
}

std::vector<int64_t> ClassPeers::SharesOf(size_t index, int64_t count) const {
  if (!IsMeantBy(*terms_.minimums[index], key_)) return {};
  const bool is_one_a_machine =
      key_.rules->ComeOneByOne() ||
      std::ranges::any_of(terms_.anti_affinity, [&](const CountedTerm* term) {
        return IsMeantBy(*term, key_);
      });
  const auto room_on = [&](const Machine& machine) -> int64_t {
    if (!constraints_.Allows(key_, machine) || !Allows(machine)) return 0;
    return is_one_a_machine ? 1 : key_.request.TimesIn(machine.Free(), count);
  };
  return DomainShares(state_, key_, index).Of(count, room_on);
}

ClassPeers::Limits ClassPeers::LimitsWithMinimumsFor(int64_t count) const {
  Limits limits = LimitsFor(count);
  for (size_t i = 0; i < terms_.minimums.size(); ++i) {
    const Topology* topology = terms_.minimums[i]->topology;
    auto it = std::ranges::find(limits.topologies, topology,
                                &Limits::OfTopology::topology);
    if (it == limits.topologies.end()) {
      it = limits.topologies.emplace(it);
      it->topology = topology;
    }
    const std::vector<int64_t> shares = SharesOf(i, count);
    it->at_least.resize(shares.size(), 0);
    for (size_t d = 0; d < shares.size(); ++d) {
      it->at_least[d] = std::max(it->at_least[d], shares[d]);
    }
  }
  return limits;
}

int64_t ClassPeers::CountLacking(int64_t count) const {
  int64_t most = 0;
  for (size_t i = 0; i < terms_.minimums.size(); ++i) {
    const std::vector<int64_t> shares = SharesOf(i, count);
    most = std::max(most,
                    std::accumulate(shares.begin(), shares.end(), int64_t{0}));
  }
  return most;
}

std::vector<const Topology*> ClassPeers::Topologies() const {
  std::vector<const Topology*> result;
  for (const Tallied& one : tallied_) result.push_back(one.topology);
  for (const CountedTerm* term : terms_.spread) {
    result.push_back(term->topology);
  }
  for (const CountedTerm* term : terms_.minimums) {
    result.push_back(term->topology);
  }
  for (const CountedTerm* term : terms_.anti_affinity) {
    result.push_back(term->topology);
  }
  for (const auto& [term, weight] : terms_.preferred) {
    result.push_back(term->topology);
  }
  return result;
}

}  // namespace sluice
