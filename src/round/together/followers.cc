#include "round/together/followers.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

namespace sluice {
namespace {

// How deep followers of followers are searched for.
constexpr int kDepthMax = 4;
// Of one leader; those with the highest waiting cost.
constexpr size_t kFollowersMax = 8;
// A class whose followers still lack room is not held back any longer.
constexpr int kGuidedPassesMax = 8;

int64_t DivideUp(int64_t dividend, int64_t divisor) {
  return (dividend + divisor - 1) / divisor;
}

// How many tasks the class's own terms allow to come to the machine together
// (or, with `is_by_machine` false, to its smallest domain).
int64_t RoomByOwnTermsAt(const ClassPeers::Limits& limits,
                         const Machine& machine, bool is_by_machine,
                         int64_t limit) {
  for (const ClassPeers::Limits::OfTopology& one : limits.topologies) {
    const DomainIndex domain = one.topology->DomainOf(machine.id);
    if (!one.room.has_value() || domain == kNoDomain ||
        one.topology->is_by_machine() != is_by_machine) {
      continue;
    }
    limit = std::min(limit, (*one.room)[static_cast<size_t>(domain)]);
  }
  return limit;
}

}  // namespace

bool Followers::Follower::IsOnSameMachine() const {
  return std::ranges::any_of(topologies, &Topology::is_by_machine);
}

bool Followers::Follower::IsIn(const Machine& machine) const {
  return std::ranges::all_of(topologies, [&](const Topology* topology) {
    return topology->DomainOf(machine.id) != kNoDomain;
  });
}

// A class of a pass with followers.
struct Followers::Leader {
  const BandClass* band_class = nullptr;
  std::vector<size_t> groups;                    // Those that take one.
  std::vector<std::optional<Cost>> preferences;  // By kind of machines.
  // Those on the same machine, and those somewhere in the same domain.
  std::vector<const Follower*> beside;
  std::vector<const Follower*> around;

  int64_t count() const { return std::ssize(band_class->tasks); }
};

// The room that is left in a pass, leader after leader.
class Followers::Pass {
 public:
  Pass(std::span<const MachineGroup> groups, const ConstraintSet& constraints,
       Eligibility* eligibility)
      : groups_(groups), constraints_(constraints), eligibility_(eligibility) {}

  // Nullopt if no follower has room near the leader, wherever it goes.
  std::optional<Guidance> Guide(const BandClass& band_class,
                                std::vector<Follower>* followers) {
    Leader leader = Describe(band_class, followers);
    std::optional<Guidance> guidance = GuideBeside(leader);
    if (guidance.has_value()) leader.groups = guidance->groups;
    const Resources& request =
        guidance.has_value() ? guidance->request : band_class.key.request;
    const bool is_guided_around = GuideAround(request, &leader);
    if (!guidance.has_value()) {
      if (!is_guided_around) return std::nullopt;
      guidance = {{}, request, 1};
    }
    guidance->groups = leader.groups;
    return guidance;
  }

 private:
  // A domain of each of some topologies, and what the leader finds there.
  using PlaceId = std::vector<DomainIndex>;
  struct Place {
    std::vector<size_t> groups;
    Cost preference = std::numeric_limits<Cost>::max();  // The lowest.
  };

  Leader Describe(const BandClass& band_class,
                  std::vector<Follower>* followers) {
    Leader leader;
    leader.band_class = &band_class;
    leader.preferences.resize(static_cast<size_t>(eligibility_->kind_count()));
    for (const Eligibility::Kind& kind :
         eligibility_->KindsFor(*band_class.key.rules)) {
      leader.preferences[static_cast<size_t>(kind.id)] = kind.preference;
    }
    for (size_t g = 0; g < groups_.size(); ++g) {
      const Machine& machine = groups_[g].representative();
      if (leader.preferences[static_cast<size_t>(groups_[g].kind)] &&
          constraints_.AllowsLoad(band_class.key, machine, groups_[g].free) &&
          band_class.peers->Allows(machine)) {
        leader.groups.push_back(g);
      }
    }
    for (Follower& follower : *followers) {
      Waiting& waiting = *follower.waiting;
      if (waiting.kinds.empty()) {
        waiting.kinds = eligibility_->MaskFor(*waiting.key.rules);
      }
      if (!follower.IsOnSameMachine()) {
        leader.around.push_back(&follower);
      } else if (FitsBeside(leader, follower)) {
        leader.beside.push_back(&follower);
      }
    }
    return leader;
  }

  // How many of the follower go to each machine of the group, as if the leader
  // were there already, given `free`.
  int64_t FitOn(const Waiting& waiting, size_t group, const Resources& free,
                int64_t limit) const {
    const Machine& machine = groups_[group].representative();
    if (!waiting.kinds[static_cast<size_t>(groups_[group].kind)] ||
        !constraints_.AllowsLoadBesideFit(waiting.key, machine) ||
        !waiting.peers->AllowsBesideAffinity(machine)) {
      return 0;
    }
    return RoomByOwnTermsAt(waiting.limits, machine, /*is_by_machine=*/true,
                            TimesIn(free, waiting.key, limit));
  }

  bool FitsBeside(const Leader& leader, const Follower& follower) const {
    const Resources request =
        leader.band_class->key.request + follower.waiting->key.request;
    return std::ranges::any_of(leader.groups, [&](size_t g) {
      return request.FitsIn(groups_[g].free) &&
             follower.IsIn(groups_[g].representative()) &&
             FitOn(*follower.waiting, g, groups_[g].free, 1) > 0;
    });
  }

  // The machines that take the leader and its share of `followers`, but no more
  // than `share` of each.  Returns their worth to all leaders together.
  std::pair<Cost, Guidance> TryBeside(
      const Leader& leader, std::span<const Follower* const> followers,
      int64_t share) const {
    Guidance guidance{{}, leader.band_class->key.request, 1};
    Cost worth = 0;
    std::vector<int64_t> counts;
    for (const Follower* follower : followers) {
      const auto& [key, missing, cost, peers, limits, kinds] =
          *follower->waiting;
      counts.push_back(std::min(share, DivideUp(missing, leader.count())));
      guidance.request.AddScaled(key.request, counts.back());
      guidance.leaders =
          std::max(guidance.leaders, DivideUp(missing, counts.back()));
      worth += counts.back() * cost;
    }
    guidance.leaders = std::min(guidance.leaders, leader.count());
    int64_t slots = 0;
    for (const size_t g : leader.groups) {
      if (!guidance.request.FitsIn(groups_[g].free)) continue;
      const auto has_room = [&, i = size_t{0}](const Follower* one) mutable {
        const int64_t count = counts[i++];
        return one->IsIn(groups_[g].representative()) &&
               FitOn(*one->waiting, g, groups_[g].free, count) == count;
      };
      if (!std::ranges::all_of(followers, has_room)) continue;
      guidance.groups.push_back(g);
      slots +=
          groups_[g].size() *
          guidance.request.TimesIn(
              groups_[g].free, TimesIn(groups_[g].free, leader.band_class->key,
                                       guidance.leaders));
    }
    return {worth * std::min(slots, guidance.leaders), std::move(guidance)};
  }

  // First tries all of them, then fewer of each, then without those that are
  // cheapest to leave waiting.
  std::optional<Guidance> GuideBeside(const Leader& leader) const {
    std::span<const Follower* const> followers = leader.beside;
    int64_t share = 0;
    for (const Follower* follower : followers) {
      share =
          std::max(share, DivideUp(follower->waiting->missing, leader.count()));
    }
    std::optional<Guidance> best;
    Cost best_worth = 0;
    while (!followers.empty()) {
      auto [worth, guidance] = TryBeside(leader, followers, share);
      if (worth > best_worth) {
        best_worth = worth;
        best = std::move(guidance);
      }
      if (share > 1) {
        share = share > 8 ? share / 2 : share - 1;
      } else if (best.has_value()) {
        break;
      } else {
        followers = followers.first(followers.size() - 1);
      }
    }
    return best;
  }

  // Leaves the leader the domain in which the followers with room beside
  // `request` are worth most; then the one it likes best; then the one that the
  // fewest leaders went to.  Returns whether any follower has room there.
  bool GuideAround(const Resources& request, Leader* leader) {
    std::vector<const Topology*> topologies;
    for (const Follower* follower : leader->around) {
      for (const Topology* topology : follower->topologies) {
        if (std::ranges::find(topologies, topology) == topologies.end()) {
          topologies.push_back(topology);
        }
      }
    }
    if (topologies.empty()) return false;
    std::map<PlaceId, Place> places;
    for (const size_t g : leader->groups) {
      const Machine& machine = groups_[g].representative();
      PlaceId id;
      for (const Topology* topology : topologies) {
        id.push_back(topology->DomainOf(machine.id));
      }
      Place& place = places[id];
      place.groups.push_back(g);
      place.preference =
          std::min(place.preference,
                   *leader->preferences[static_cast<size_t>(groups_[g].kind)]);
    }
    std::optional<std::tuple<Cost, Cost, int64_t>> best;
    PlaceId chosen;
    for (auto& [id, place] : places) {
      const Cost worth = KeepBestAround(*leader, request, &place.groups);
      const std::tuple rank(-worth, place.preference,
                            leaders_in_[{topologies, id}]);
      if (best.has_value() && rank >= *best) continue;
      best = rank;
      chosen = id;
    }
    if (!best.has_value() || std::get<0>(*best) == 0) return false;
    ++leaders_in_[{topologies, chosen}];
    leader->groups = std::move(places.at(chosen).groups);
    TakeAround(*leader, request);
    return true;
  }

  // Of the groups, which are in the same domains, keeps those where the leader
  // takes least from its followers around.  Returns the worth of the followers
  // that then have room.
  Cost KeepBestAround(const Leader& leader, const Resources& request,
                      std::vector<size_t>* groups) {
    std::vector<int64_t> rooms;
    bool is_tight = false;
    for (const Follower* follower : leader.around) {
      const Waiting& waiting = *follower->waiting;
      // It takes the room of no more than all of them.
      const int64_t enough = 2 * waiting.missing;
      int64_t& room = rooms.emplace_back(0);
      VisitAround(*follower, groups->front(), [&](Space* space) {
        room += space->machines *
                FitOn(waiting, space->group, space->free, waiting.missing);
        return room < enough;
      });
      is_tight = is_tight || room < enough;
    }
    const auto worth_on = [&](size_t group) {
      Cost worth = 0;
      for (size_t i = 0; i < rooms.size(); ++i) {
        const Waiting& waiting = *leader.around[i]->waiting;
        int64_t room = rooms[i];
        if (is_tight) room -= LossOn(waiting, group, request);
        room = RoomByOwnTermsAt(waiting.limits, groups_[group].representative(),
                                /*is_by_machine=*/false,
                                std::min(room, waiting.missing));
        worth += std::max<int64_t>(room, 0) * waiting.cost;
      }
      return worth;
    };
    if (!is_tight) return worth_on(groups->front());
    Cost best = 0;
    std::vector<size_t> kept;
    for (const size_t group : *groups) {
      const Cost worth = worth_on(group);
      if (worth > best) kept.clear();
      best = std::max(best, worth);
      if (worth == best) kept.push_back(group);
    }
    *groups = std::move(kept);
    return best;
  }

  // By how many fewer of the follower fit on a machine of the group once
  // `request` is taken.
  int64_t LossOn(const Waiting& waiting, size_t group,
                 const Resources& request) const {
    const Resources& free = groups_[group].free;
    return FitOn(waiting, group, free, waiting.missing) -
           FitOn(waiting, group, free - request, waiting.missing);
  }

  // Reserves the room from the next leaders and their followers.
  void TakeAround(const Leader& leader, const Resources& request) {
    const size_t group = leader.groups.front();
    TakeFrom(*leader.around.front(), group, 1,
             [&](Space* space, int64_t /*left*/) -> int64_t {
               if (space->group != group || !request.FitsIn(space->free)) {
                 return 0;
               }
               SplitOff(1, space).free -= request;
               return 1;
             });
    for (const Follower* follower : leader.around) {
      const Waiting& waiting = *follower->waiting;
      TakeFrom(
          *follower, group, waiting.missing,
          [&](Space* space, int64_t left) -> int64_t {
            const int64_t fit = FitOn(waiting, space->group, space->free, left);
            if (fit == 0) return 0;
            const int64_t machines =
                std::min(space->machines, DivideUp(left, fit));
            SplitOff(machines, space).free.AddScaled(waiting.key.request, -fit);
            return machines * fit;
          });
    }
  }

  // Calls take(space, left), which returns how many it took, until none of
  // `count` is left.
  template <class Take>
  void TakeFrom(const Follower& follower, size_t group, int64_t count,
                Take take) {
    VisitAround(follower, group, [&](Space* space) {
      count -= take(space, count);
      return count > 0;
    });
    const Topology& topology = *follower.topologies.front();
    for (Space& rest : rests_) {
      const MachineId machine = groups_[rest.group].representative().id;
      SpacesOf(topology)[topology.DomainOf(machine)].push_back(std::move(rest));
    }
    rests_.clear();
  }

  // Reduces the space to so many machines; the rest becomes a space of its own.
  Space& SplitOff(int64_t machines, Space* space) {
    if (machines < space->machines) {
      rests_.push_back(*space);
      rests_.back().machines -= machines;
      space->machines = machines;
    }
    return *space;
  }

  // Calls visit(space) for the spaces in the domains of a machine of the group,
  // as long as it returns true.
  template <class Visit>
  void VisitAround(const Follower& follower, size_t group, Visit visit) {
    const Machine& leader = groups_[group].representative();
    if (!follower.IsIn(leader)) return;
    const Topology& topology = *follower.topologies.front();
    for (Space& space : SpacesOf(topology)[topology.DomainOf(leader.id)]) {
      const Machine& machine = groups_[space.group].representative();
      const bool is_near =
          std::ranges::all_of(follower.topologies, [&](const Topology* other) {
            return other->DomainOf(machine.id) == other->DomainOf(leader.id);
          });
      if (is_near && !visit(&space)) return;
    }
  }

  std::map<DomainIndex, std::vector<Space>>& SpacesOf(
      const Topology& topology) {
    auto& spaces = spaces_[&topology];
    if (!spaces.empty()) return spaces;
    for (size_t g = 0; g < groups_.size(); ++g) {
      spaces[topology.DomainOf(groups_[g].representative().id)].push_back(
          {g, groups_[g].free, groups_[g].size()});
    }
    return spaces;
  }

  std::span<const MachineGroup> groups_;
  const ConstraintSet& constraints_;
  Eligibility* eligibility_;
  std::map<const Topology*, std::map<DomainIndex, std::vector<Space>>> spaces_;
  std::vector<Space> rests_;  // To be added to these.
  std::map<std::pair<std::vector<const Topology*>, PlaceId>, int64_t>
      leaders_in_;
};

Followers::Followers(const ClusterState& state,
                     const ConstraintSet& constraints, uint64_t sequence_end,
                     const WaitingPrices& prices)
    : state_(state),
      constraints_(constraints),
      sequence_end_(sequence_end),
      prices_(prices) {
  for (const auto& [key, tasks] : state_.pending()) {
    if (key.rules->affinity.empty() || tasks.begin()->first >= sequence_end_) {
      continue;
    }
    // All its terms select the same tasks.
    const PeerTerms& terms = state_.peers().TermsOf(*key.rules);
    of_selector_[terms.affinity.front()->selector].push_back(key);
  }
}

std::vector<const ClassPeers*> Followers::Find(
    std::span<const BandClass> classes) {
  waiting_.clear();
  guided_.clear();
  followers_.assign(classes.size(), {});
  for (size_t i = 0; i < classes.size() && !empty(); ++i) {
    const BandClass& one = classes[i];
    if (one.tasks.empty() || one.peers == nullptr || one.gang_minimum > 0) {
      continue;
    }
    const auto guided = guided_count_.find(one.key);
    if (guided != guided_count_.end() && guided->second >= kGuidedPassesMax) {
      continue;
    }
    AddFollowersOf(one.key, {}, 0, &followers_[i]);
    std::ranges::stable_sort(
        followers_[i], [](const Follower& a, const Follower& b) {
          return std::pair(a.waiting->key.priority, a.waiting->cost) >
                 std::pair(b.waiting->key.priority, b.waiting->cost);
        });
    if (followers_[i].size() > kFollowersMax) {
      followers_[i].resize(kFollowersMax);
    }
  }
  std::vector<const ClassPeers*> peers;
  for (const auto& [key, waiting] : waiting_) {
    if (waiting != nullptr) peers.push_back(waiting->peers.get());
  }
  return peers;
}

void Followers::AddFollowersOf(const ClassKey& leader,
                               const std::vector<const Topology*>& via,
                               int depth, std::vector<Follower>* found) {
  if (depth == kDepthMax) return;
  for (const uint32_t selector : *leader.meant_by) {
    const auto it = of_selector_.find(selector);
    if (it == of_selector_.end()) continue;
    for (const ClassKey& key : it->second) {
      Waiting* waiting = key == leader ? nullptr : FindWaiting(key);
      if (waiting == nullptr ||
          std::ranges::find(*found, waiting, &Follower::waiting) !=
              found->end()) {
        continue;
      }
      Follower follower{waiting, {}};
      for (const CountedTerm* term :
           state_.peers().TermsOf(*key.rules).affinity) {
        follower.topologies.push_back(term->topology);
      }
      // A follower onto the machine of a task that is somewhere in a domain is
      // itself somewhere in that domain.
      if (!via.empty() && std::ranges::none_of(via, &Topology::is_by_machine)) {
        follower.topologies = via;
      }
      const std::vector<const Topology*> topologies = follower.topologies;
      found->push_back(std::move(follower));
      AddFollowersOf(key, topologies, depth + 1, found);
    }
  }
}

Followers::Waiting* Followers::FindWaiting(const ClassKey& key) {
  const auto [it, is_new] = waiting_.try_emplace(key);
  if (!is_new) return it->second.get();
  const auto pending = state_.pending().find(key);
  if (pending == state_.pending().end()) return nullptr;
  const auto& tasks = pending->second;
  const int64_t count =
      std::distance(tasks.begin(), tasks.lower_bound(sequence_end_));
  if (count == 0) return nullptr;
  auto peers = std::make_unique<ClassPeers>(state_, constraints_, key);
  const int64_t missing = count - RoomNow(key, *peers, count);
  if (missing <= 0) return nullptr;
  Cost cost = 0;
  for (const auto& [sequence, task] : tasks) {
    if (sequence >= sequence_end_) break;
    cost = std::max(cost, prices_.Of(*task));
    if (!prices_.HeedKinds()) break;  // The first is the oldest.
  }
  const ClassPeers::Limits limits = peers->LimitsFor(missing);
  it->second = std::make_unique<Waiting>(
      Waiting{key, missing, cost, std::move(peers), limits, {}});
  return it->second.get();
}

int64_t Followers::RoomNow(const ClassKey& key, const ClassPeers& peers,
                           int64_t count) const {
  // A task that may follow its own kind has followed nobody else yet.
  if (peers.MustWait() || peers.IsFirstOfAffinity()) return 0;
  const ClassPeers::Limits limits = peers.LimitsFor(count);
  const CountedTerm& term =
      *state_.peers().TermsOf(*key.rules).affinity.front();
  int64_t room = 0;
  for (const auto& [domain, meant] : term.meant.counts()) {
    for (const MachineId id : term.topology->MachinesOf(domain)) {
      if (room >= count) return room;
      const Machine& machine = *state_.FindMachine(id);
      if (!machine.IsUsable() || !constraints_.Allows(key, machine) ||
          !peers.Allows(machine)) {
        continue;
      }
      room += RoomByOwnTermsAt(limits, machine, /*is_by_machine=*/true,
                               TimesIn(machine.Free(), key, count));
    }
  }
  return room;
}

void Followers::Guide(std::span<const MachineGroup> groups,
                      Eligibility* eligibility,
                      std::vector<BandClass>* classes) {
  Pass pass(groups, constraints_, eligibility);
  // Empty if the pass was not looked at.
  for (size_t i = 0; i < followers_.size(); ++i) {
    if (followers_[i].empty()) continue;
    BandClass& band_class = (*classes)[i];
    const std::optional<Guidance> guidance =
        pass.Guide(band_class, &followers_[i]);
    if (!guidance.has_value()) continue;
    band_class.open_groups.assign(groups.size(), false);
    for (const size_t g : guidance->groups) band_class.open_groups[g] = true;
    band_class.reserved = guidance->request;
    band_class.tasks.resize(static_cast<size_t>(
        std::min<int64_t>(guidance->leaders, std::ssize(band_class.tasks))));
    guided_.push_back(i);
    ++guided_count_[band_class.key];
  }
}

std::vector<ClassKey> Followers::OfGuided() const {
  std::vector<ClassKey> keys;
  for (const size_t i : guided_) {
    for (const Follower& one : followers_[i]) keys.push_back(one.waiting->key);
  }
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

}  // namespace sluice
