#include "network/band_network.h"

#include <glog/logging.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/int128.h"
#include "cost/waiting_cost.h"
#include "network/constructs.h"

namespace sluice {
namespace {

Resources MeanRequest(std::span<const BandClass> classes, FlowUnits tasks) {
  ResourceIndex size = 0;
  for (const BandClass& band_class : classes) {
    size = std::max(size, band_class.key.request.size());
  }
  Resources mean;
  for (ResourceIndex i = 0; i < size && tasks > 0; ++i) {
    Int128 sum = 0;
    for (const BandClass& band_class : classes) {
      sum += static_cast<Int128>(band_class.key.request[i]) *
             static_cast<int64_t>(band_class.tasks.size());
    }
    mean.Set(i, static_cast<int64_t>(sum / tasks));
  }
  return mean;
}

// `copies` units of each of these costs, as segments of equal ones, cheapest
// first and no more than `limit` units together.
std::vector<CostSegment> ToSegments(std::vector<FlowCost> costs,
                                    FlowUnits copies, FlowUnits limit) {
  std::ranges::sort(costs);
  std::vector<CostSegment> segments;
  for (const FlowCost cost : costs) {
    if (limit == 0) break;
    const FlowUnits width = std::min(copies, limit);
    limit -= width;
    if (!segments.empty() && segments.back().cost == cost) {
      segments.back().width += width;
    } else {
      segments.push_back({width, cost});
    }
  }
  return segments;
}

// Domains that a gang may choose from that goes to one of them: each is a
// decision of its own.
constexpr size_t kTogetherDomainsMax = 32;

// What is dear enough to come last, and no dearer than waiting, however many
// tasks come together.
constexpr Cost kStepsMax = 3000000;

// What a unit that a minimum asks for costs less than others, where minimums
// are elastic: more than to have any other task wait.
constexpr FlowCost kMinimumWorth =
    4 * (kPlacementCostMax + kWaitingCostMax) * kPartsPerPoint;

// The cost of an aggregate rises in steps, of which each is a segment: with
// each of the first tasks, and then by as many as are a part of those before.
constexpr FlowUnits kTogetherPart = 20;

// For how many there should be room where the first one goes.
int64_t WantedBy(const BandClass& band_class) {
  return std::max<int64_t>(band_class.followers, 1);
}

bool IsOpen(const BandClass& band_class, size_t group) {
  return band_class.open_groups.empty() || band_class.open_groups[group];
}

// How many of its tasks a machine takes that has so much free, with all that
// room is reserved for.
FlowUnits TimesWithReserved(const Resources& free, const BandClass& band_class,
                            FlowUnits limit) {
  return band_class.Room().TimesIn(free, TimesIn(free, band_class.key, limit));
}

// Units of which each `width` cost `step` more than those before, the first
// `cost`, and those beyond `first` come last; `limit` units together.
std::vector<CostSegment> RisingSegments(FlowCost cost, FlowCost step,
                                        FlowUnits width, FlowUnits first,
                                        FlowUnits limit) {
  constexpr FlowCost kLast = kStepsMax * kPartsPerPoint;
  std::vector<CostSegment> segments;
  first = std::min(first, limit);
  FlowUnits left = first;
  for (FlowCost rise = 0; left > 0; rise = std::min(rise + step, kLast)) {
    const bool is_flat = step <= 0 || rise == kLast;
    segments.push_back({is_flat ? left : std::min(width, left), cost + rise});
    left -= segments.back().width;
  }
  if (limit > first) segments.push_back({limit - first, cost + kLast});
  return segments;
}

// Where all machines differ, pairs of a class and a group are what a round
// spends its time on: what is read of a class for each stands close together.
struct Asker {
  Resources request;
  Resources room;  // The request, and what is reserved with it.
  const ClassPeers* peers;
  bool asks_for_more;  // Than that there is room.
};

std::vector<Asker> AskersFor(std::span<const BandClass> classes,
                             const ConstraintSet& constraints) {
  std::vector<Asker> askers;
  for (const BandClass& one : classes) {
    askers.push_back(
        {one.key.request, one.Room(), one.peers,
         one.peers != nullptr || constraints.AsksForMoreThanFit(one.key)});
  }
  return askers;
}

// What the k-th task to land on the machine costs, for each of its slots.
std::vector<FlowCost> LoadCosts(const Machine& machine,
                                const Resources& mean_request, FlowUnits slots,
                                const PolicySet& policies) {
  std::vector<FlowCost> costs(static_cast<size_t>(slots));
  Resources load = machine.used;
  for (FlowCost& cost : costs) {
    cost = LoadArcCost(policies, machine, load);
    load += mean_request;
  }
  if (policies.FallsWithLoad()) {
    const FlowCost sum =
        std::accumulate(costs.begin(), costs.end(), FlowCost{0});
    std::ranges::fill(costs, sum / slots);
  }
  return costs;
}

// Within each priority, among tasks that are sorted by it.
void SortByPrice(const WaitingPrices& prices, std::vector<const Task*>* tasks) {
  prices.Sort(tasks);
  std::ranges::stable_sort(
      *tasks, std::ranges::greater{},
      [](const Task* task) { return task->class_key.priority; });
}

}  // namespace

BandNetwork::BandNetwork(const Input& input, Eligibility* eligibility,
                         const WaitingPrices& prices, Minimums minimums)
    : minimums_(minimums) {
  const std::span<const MachineGroup> groups = input.groups;
  const std::span<const BandClass> classes = input.classes;
  for (const BandClass& band_class : classes) {
    const auto count = static_cast<FlowUnits>(band_class.tasks.size());
    problem_.SetName(problem_.AddNode(count), band_class.key.name);
    supply_ += count;
  }
  sink_ = problem_.AddNode(-supply_);
  mean_request_ = MeanRequest(classes, supply_);
  for (size_t i = 0; i < classes.size(); ++i) {
    outlets_.push_back({i, static_cast<NodeIndex>(i)});
    is_in_gang_.push_back(classes[i].gang_minimum > 0);
  }
  apart_.resize(classes.size());
  // Patterns heed what classes over the same domains may do together.
  const bool has_patterns = !groups.empty() && !groups.front().room.empty();
  if (!has_patterns) FindLimits(classes);
  const std::vector<std::vector<Interest>> interests =
      FindInterests(classes, eligibility);
  const std::vector<std::vector<bool>> has_room_for_all =
      FindRoomForAll(input, interests);
  AddGangs(groups, classes, has_room_for_all);
  std::vector<std::vector<FlowCost>> slot_costs(groups.size());
  const std::vector<std::vector<Candidate>> candidates =
      FindCandidates(input, interests, has_room_for_all, &slot_costs);
  AddPlacementArcs(input, candidates, slot_costs);
  AddWaitingArcs(classes, prices);
}

void BandNetwork::AddGangs(
    std::span<const MachineGroup> groups, std::span<const BandClass> classes,
    const std::vector<std::vector<bool>>& has_room_for_all) {
  std::map<JobId, std::vector<size_t>> members;
  for (size_t i = 0; i < classes.size(); ++i) {
    if (is_in_gang_[i]) members[*classes[i].key.gang].push_back(i);
  }
  for (const auto& [job, of_job] : members) {
    Gang& gang = gangs_[job];
    std::vector<Port> sources;
    // Where they go together; none where each goes its own way.
    absl::btree_set<DomainIndex> domains;
    const Topology* together = nullptr;
    for (const size_t i : of_job) {
      const auto count = static_cast<FlowUnits>(classes[i].tasks.size());
      gang.task_count += count;
      gang.minimum = classes[i].gang_minimum;
      sources.push_back({.node = outlets_[i].node, .at_most = count});
      const ClassPeers* peers = classes[i].peers;
      if (peers == nullptr || !peers->NeedsLeader()) continue;
      together = apart_[i].together = peers->LeaderTopology();
      for (size_t g = 0; g < has_room_for_all[i].size(); ++g) {
        if (!has_room_for_all[i][g]) continue;
        domains.insert(together->DomainOf(groups[g].representative().id));
        if (domains.size() == kTogetherDomainsMax) break;
      }
    }
    // Past the gates the units are told apart again.
    const auto add_classes = [&](NodeIndex from, auto note) {
      for (const size_t i : of_job) {
        const NodeIndex node = problem_.AddNode(0);
        problem_.AddArc(from, node,
                        static_cast<FlowUnits>(classes[i].tasks.size()), 0);
        note(i, node);
      }
    };
    if (together == nullptr) {
      gang.placed = {AddGang(sources, {}, &problem_).place};
      add_classes(gang.placed[0], [this](size_t i, NodeIndex node) {
        outlets_[i].node = node;
      });
      continue;
    }
    std::vector<Port> targets;
    for (const DomainIndex domain : domains) {
      gang.placed.push_back(problem_.AddNode(0));
      targets.push_back(
          {.node = gang.placed.back(), .at_most = gang.task_count});
      add_classes(gang.placed.back(), [&](size_t i, NodeIndex node) {
        apart_[i].outlets[domain] = outlets_.size();
        outlets_.push_back({i, node});
      });
    }
    AddColocation(sources, targets, &problem_);
  }
}

void BandNetwork::FindLimits(std::span<const BandClass> classes) {
  for (size_t i = 0; i < classes.size(); ++i) {
    if (classes[i].peers == nullptr) continue;
    Apart& apart = apart_[i];
    const int64_t count = std::ssize(classes[i].tasks);
    apart.limits = minimums_ == Minimums::kNone
                       ? classes[i].peers->LimitsFor(count)
                       : classes[i].peers->LimitsWithMinimumsFor(count);
    const auto room = [](const ClassPeers::Limits::OfTopology& one) {
      // What must go there is said of domains that are drawn.
      if (std::ranges::any_of(one.at_least,
                              [](int64_t least) { return least > 0; })) {
        return int64_t{-1};
      }
      if (!one.room.has_value()) return std::numeric_limits<int64_t>::max();
      return std::accumulate(one.room->begin(), one.room->end(), int64_t{0});
    };
    for (const auto& one : apart.limits.topologies) {
      if (one.topology->is_by_machine()) continue;
      if (apart.domains == nullptr || room(one) < room(*apart.domains)) {
        apart.domains = &one;
      }
    }
  }
}

std::optional<size_t> BandNetwork::OutletFor(size_t class_index,
                                             const BandClass& band_class,
                                             const Machine& machine,
                                             const PolicySet& policies) {
  Apart& apart = apart_[class_index];
  if (apart.together != nullptr) {
    const auto it = apart.outlets.find(apart.together->DomainOf(machine.id));
    if (it == apart.outlets.end()) return std::nullopt;
    return it->second;
  }
  if (IsDirect(class_index)) return class_index;
  const DomainIndex domain = apart.domains->topology->DomainOf(machine.id);
  if (domain == kNoDomain) return class_index;
  const auto [it, is_new] = apart.outlets.try_emplace(domain, outlets_.size());
  if (is_new) {
    auto room = static_cast<FlowUnits>(band_class.tasks.size());
    if (apart.domains->room.has_value()) {
      room = std::min<FlowUnits>(
          room, (*apart.domains->room)[static_cast<size_t>(domain)]);
    }
    const NodeIndex node = problem_.AddNode(0);
    const FlowUnits first =
        apart.domains->first.empty()
            ? room
            : std::min<FlowUnits>(
                  room, apart.domains->first[static_cast<size_t>(domain)]);
    const FlowUnits least =
        apart.domains->at_least.empty()
            ? 0
            : apart.domains->at_least[static_cast<size_t>(domain)];
    AddArcWithMinimum(
        outlets_[class_index].node, node,
        RisingSegments(0,
                       policies.PeerCost(apart.domains->step) * kPartsPerPoint,
                       1, first, room),
        std::min(least, room));
    outlets_.push_back({class_index, node});
  }
  return it->second;
}

ArcIndex BandNetwork::AddArcWithMinimum(NodeIndex from, NodeIndex to,
                                        std::vector<CostSegment> segments,
                                        FlowUnits at_least) {
  if (minimums_ != Minimums::kElastic || at_least == 0) {
    return problem_.AddConvexArc(from, to, segments, at_least);
  }
  std::vector<CostSegment> parts;
  for (const auto& [width, cost] : segments) {
    const FlowUnits first = std::min(width, at_least);
    if (first > 0) parts.push_back({first, cost - kMinimumWorth});
    if (width > first) parts.push_back({width - first, cost});
    at_least -= first;
  }
  return problem_.AddConvexArc(from, to, parts);
}

FlowUnits BandNetwork::LeastOn(size_t class_index,
                               const MachineGroup& group) const {
  FlowUnits most = 0;
  for (const auto& one : apart_[class_index].limits.topologies) {
    if (one.at_least.empty() || !one.topology->is_by_machine()) continue;
    FlowUnits least = 0;
    for (const Machine* machine : group.machines) {
      const DomainIndex domain = one.topology->DomainOf(machine->id);
      if (domain == kNoDomain) continue;
      least += one.at_least[static_cast<size_t>(domain)];
    }
    most = std::max(most, least);
  }
  return most;
}

FlowUnits BandNetwork::RoomOn(size_t class_index, const Machine& machine,
                              FlowUnits limit) const {
  for (const auto& one : apart_[class_index].limits.topologies) {
    const DomainIndex domain = one.topology->DomainOf(machine.id);
    if (!one.room.has_value() || domain == kNoDomain) continue;
    limit =
        std::min<FlowUnits>(limit, (*one.room)[static_cast<size_t>(domain)]);
  }
  return limit;
}

Cost BandNetwork::StepOn(size_t class_index, const PolicySet& policies) const {
  Cost step = 0;
  for (const auto& one : apart_[class_index].limits.topologies) {
    if (one.topology->is_by_machine()) step += policies.PeerCost(one.step);
  }
  return step;
}

FlowUnits BandNetwork::FirstOn(size_t class_index, const Machine& machine,
                               FlowUnits room) const {
  for (const auto& one : apart_[class_index].limits.topologies) {
    const DomainIndex domain = one.topology->DomainOf(machine.id);
    if (one.first.empty() || !one.topology->is_by_machine()) continue;
    room = std::min<FlowUnits>(room, one.first[static_cast<size_t>(domain)]);
  }
  return room;
}

std::vector<BandNetwork::Places> BandNetwork::FindPlaces(
    const Input& input, const std::vector<std::vector<Interest>>& interests) {
  const std::span<const MachineGroup> groups = input.groups;
  std::vector<Places> places(input.classes.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    const Machine& machine = groups[g].representative();
    for (const auto& [i, preference] :
         interests[static_cast<size_t>(groups[g].kind)]) {
      const BandClass& band_class = input.classes[i];
      if (band_class.peers == nullptr || !band_class.peers->NeedsLeader() ||
          !input.constraints.AllowsLoad(band_class.key, machine,
                                        groups[g].free) ||
          !band_class.peers->Allows(machine)) {
        continue;
      }
      const Topology* topology = band_class.peers->LeaderTopology();
      const int64_t fit =
          TimesIn(groups[g].free, band_class.key, WantedBy(band_class));
      const bool is_by_machine = topology->is_by_machine();
      Place& place =
          places[i][{topology, is_by_machine ? static_cast<int64_t>(g)
                                             : topology->DomainOf(machine.id)}];
      place.preference = std::min(place.preference, preference);
      place.room += is_by_machine ? fit : fit * groups[g].size();
      if (is_by_machine) place.domains = groups[g].size();
      if (IsOpen(band_class, g)) place.groups.push_back(g);
    }
  }
  return places;
}

std::vector<std::vector<bool>> BandNetwork::FindRoomForAll(
    const Input& input,
    const std::vector<std::vector<Interest>>& interests) const {
  const std::span<const BandClass> classes = input.classes;
  std::vector<std::vector<bool>> has_room(classes.size());
  if (std::ranges::none_of(classes, [](const BandClass& band_class) {
        return band_class.peers != nullptr && band_class.peers->NeedsLeader();
      })) {
    return has_room;
  }
  const std::vector<Places> places = FindPlaces(input, interests);
  // How full the followers of the leaders before make each place, in parts.
  std::map<Places::key_type, int64_t> taken;
  constexpr int64_t kFull = 1 << 20;
  for (size_t i = 0; i < classes.size(); ++i) {
    if (std::ranges::all_of(places[i], [](const auto& entry) {
          return entry.second.groups.empty();
        })) {
      continue;
    }
    has_room[i].resize(input.groups.size(), false);
    const auto allow = [&](const Place& place) {
      for (const size_t g : place.groups) has_room[i][g] = true;
    };
    const int64_t wanted = WantedBy(classes[i]);
    if (is_in_gang_[i]) {
      // Which one is decided with all else.
      for (const auto& [id, place] : places[i]) {
        if (place.room >= wanted) allow(place);
      }
      continue;
    }
    std::optional<std::tuple<bool, Cost, int64_t>> best;
    Places::key_type best_id;
    int64_t best_part = 0;
    for (const auto& [id, place] : places[i]) {
      if (place.groups.empty()) continue;
      const int64_t part = wanted * kFull / std::max<int64_t>(place.room, 1);
      const int64_t full = (taken[id] + part) / place.domains;
      const std::tuple rank(full > kFull, place.preference, full);
      if (best.has_value() && rank >= *best) continue;
      best = rank;
      best_id = id;
      best_part = part;
    }
    taken[best_id] += best_part;
    allow(places[i].at(best_id));
  }
  return has_room;
}

std::vector<std::vector<BandNetwork::Interest>> BandNetwork::FindInterests(
    std::span<const BandClass> classes, Eligibility* eligibility) {
  std::vector<std::vector<Interest>> interests(
      static_cast<size_t>(eligibility->kind_count()));
  for (size_t i = 0; i < classes.size(); ++i) {
    if (classes[i].tasks.empty()) continue;
    for (const auto& [kind, preference] :
         eligibility->KindsFor(*classes[i].key.rules)) {
      interests[static_cast<size_t>(kind)].push_back({i, preference});
    }
  }
  return interests;
}

bool BandNetwork::IsOpenBesideFit(size_t class_index,
                                  const BandClass& band_class,
                                  const MachineGroup& group,
                                  const ConstraintSet& constraints) const {
  const Machine& machine = group.representative();
  const ClassPeers* peers = band_class.peers;
  if (!constraints.AllowsLoadBesideFit(band_class.key, machine)) return false;
  if (peers == nullptr) return true;
  // What a pattern is for is placed in the order in which domains rise.
  const bool is_allowed = group.room.empty()
                              ? peers->Allows(machine)
                              : peers->AllowsBesideSpread(machine);
  return is_allowed && RoomOn(class_index, machine, 1) > 0;
}

// Of the groups offered to it, in order, the cheapest that together have a
// machine for each of `task_count` tasks.
class BandNetwork::Candidates {
 public:
  explicit Candidates(FlowUnits task_count) : count_max_(task_count) {}
  void Offer(const Candidate& candidate);
  // In no order.
  std::vector<Candidate> Take(std::span<const MachineGroup> groups);

 private:
  FlowUnits count_max_;  // No more groups than tasks are ever needed.
  FlowCost cost_end_ = std::numeric_limits<FlowCost>::max();
  std::vector<Candidate> candidates_;
};

std::vector<std::vector<BandNetwork::Candidate>> BandNetwork::FindCandidates(
    const Input& input, const std::vector<std::vector<Interest>>& interests,
    const std::vector<std::vector<bool>>& has_room_for_all,
    std::vector<std::vector<FlowCost>>* slot_costs) {
  const auto& [groups, policies, constraints, classes, aggregates] = input;
  const std::vector<Asker> askers = AskersFor(classes, constraints);
  // Where aggregates rise in cost, too, other ones may be cheaper by then.
  const FlowUnits enough =
      supply_ * std::max<FlowUnits>(std::ssize(aggregates), 1);
  std::vector<Candidates> candidates(outlets_.size(), Candidates(enough));
  std::vector<Interest> fitting;
  Resources load;
  for (size_t g = 0; g < groups.size(); ++g) {
    const MachineGroup& group = groups[g];
    const Machine& machine = group.representative();
    fitting.clear();
    Resources largest;
    for (const Interest& interest :
         interests[static_cast<size_t>(group.kind)]) {
      const size_t i = interest.class_index;
      if (!askers[i].room.FitsIn(group.free) ||
          (!group.room.empty() && group.room[i] == 0)) {
        continue;
      }
      if (askers[i].asks_for_more) {
        const std::vector<bool>& has_room = has_room_for_all[i];
        if ((!has_room.empty() && !has_room[g]) || !IsOpen(classes[i], g) ||
            !IsOpenBesideFit(i, classes[i], group, constraints)) {
          continue;
        }
      }
      fitting.push_back(interest);
      largest.MaxWith(askers[i].room);
    }
    if (fitting.empty()) continue;
    const FlowUnits slots =
        group.room.empty()
            ? std::max<FlowUnits>(largest.TimesIn(group.free, supply_), 1)
            : std::min<FlowUnits>(
                  std::accumulate(group.room.begin(), group.room.end(),
                                  FlowUnits{0}),
                  supply_);
    (*slot_costs)[g] = LoadCosts(machine, mean_request_, slots, policies);
    // The ladder charges every unit for the mean: what a class weighs more or
    // less is its own.
    const FlowCost for_all =
        std::ranges::min((*slot_costs)[g]) -
        LoadArcCost(policies, machine, machine.used + mean_request_) +
        FirstTogether(input, group);
    for (const auto& [i, preference] : fitting) {
      load = machine.used;
      load += askers[i].request;
      FlowCost cost = for_all + LoadArcCost(policies, machine, load) +
                      preference * kPartsPerPoint;
      std::optional<size_t> outlet = i;
      if (const ClassPeers* peers = askers[i].peers; peers != nullptr) {
        cost += policies.PeerCost(peers->StandingOn(machine)) * kPartsPerPoint;
        outlet = OutletFor(i, classes[i], machine, policies);
        candidates.resize(outlets_.size(), Candidates(enough));
        if (LeastOn(i, group) > 0) cost -= kMinimumWorth;
      }
      if (!outlet.has_value()) continue;
      candidates[*outlet].Offer({cost, g});
    }
  }
  std::vector<std::vector<Candidate>> cheapest;
  for (Candidates& of_outlet : candidates) {
    cheapest.push_back(of_outlet.Take(groups));
  }
  return cheapest;
}

void BandNetwork::Candidates::Offer(const Candidate& candidate) {
  // Groups come in order, so that of equal ones the earlier is kept.
  if (candidate.cost >= cost_end_) return;
  candidates_.push_back(candidate);
  if (std::ssize(candidates_) < 2 * count_max_) return;
  const auto end = candidates_.begin() + count_max_;
  std::ranges::nth_element(candidates_, end - 1);
  candidates_.erase(end, candidates_.end());
  cost_end_ = candidates_.back().cost;
}

std::vector<BandNetwork::Candidate> BandNetwork::Candidates::Take(
    std::span<const MachineGroup> groups) {
  // All before `begin` are taken, none from `end` on.  Halving what is between
  // them takes less than to sort it.
  auto begin = candidates_.begin();
  auto end = candidates_.end();
  for (FlowUnits missing = count_max_; begin != end && missing > 0;) {
    const auto middle = begin + (end - begin) / 2;
    std::ranges::nth_element(begin, middle, end);
    FlowUnits machines = 0;
    for (auto it = begin; it != middle; ++it) {
      machines += groups[it->group].size();
    }
    if (machines >= missing) {
      end = middle;
    } else {
      missing -= machines + groups[middle->group].size();
      begin = middle + 1;
    }
  }
  candidates_.erase(begin, candidates_.end());
  return std::move(candidates_);
}

FlowCost BandNetwork::FirstTogether(const Input& input,
                                    const MachineGroup& group) const {
  const size_t index = input.aggregates.Of(group.representative().id);
  if (index == Aggregates::kNone) return 0;
  const auto& [used, offered] = input.aggregates[index];
  return input.policies.AggregateCost(used, offered) * kPartsPerPoint;
}

NodeIndex BandNetwork::ExitOf(const Input& input, const MachineGroup& group) {
  const MachineId machine = group.representative().id;
  const size_t index = input.aggregates.Of(machine);
  if (index == Aggregates::kNone) return sink_;
  const auto [it, is_new] = aggregate_nodes_.try_emplace(index);
  if (!is_new) return it->second.node;
  const NodeIndex node = problem_.AddNode(0);
  it->second = {node, machine};
  auto [used, offered] = input.aggregates[index];
  std::vector<CostSegment> segments;
  FlowCost cost = 0;
  for (FlowUnits before = 0; before < supply_;
       before += segments.back().width) {
    const FlowUnits width =
        std::clamp<FlowUnits>(before / kTogetherPart, 1, supply_ - before);
    // It may fall for no unit.
    cost = std::max(
        cost, input.policies.AggregateCost(used, offered) * kPartsPerPoint);
    segments.push_back({width, cost});
    used.AddScaled(mean_request_, width);
  }
  problem_.AddConvexArc(node, sink_, segments);
  return node;
}

void BandNetwork::AddPlacementArcs(
    const Input& input, const std::vector<std::vector<Candidate>>& candidates,
    std::span<const std::vector<FlowCost>> slot_costs) {
  const auto& [groups, policies, constraints, classes, aggregates] = input;
  struct OutletCandidate {
    size_t outlet;
    Candidate candidate;
  };
  std::vector<std::vector<OutletCandidate>> of_groups(groups.size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    for (const Candidate& candidate : candidates[i]) {
      of_groups[candidate.group].push_back({i, candidate});
    }
  }
  for (size_t g = 0; g < groups.size(); ++g) {
    if (of_groups[g].empty()) continue;
    const NodeIndex node = problem_.AddNode(0);
    const Machine& machine = groups[g].representative();
    const FlowUnits machines = groups[g].size();
    // An arc costs what is left when the slot has been paid.
    const FlowCost first_slot =
        std::ranges::min(slot_costs[g]) + FirstTogether(input, groups[g]);
    const FlowUnits slots = std::ssize(slot_costs[g]);
    bool is_open = groups[g].room.empty();
    // Each machine is to have its share of a minimum.
    const bool can_be_filled =
        policies.FallsWithLoad() && minimums_ == Minimums::kNone;
    for (const auto& [outlet, candidate] : of_groups[g]) {
      const auto [i, from] = outlets_[outlet];
      const auto tasks = std::ssize(classes[i].tasks);
      FlowUnits fit = TimesWithReserved(groups[g].free, classes[i], tasks);
      if (!groups[g].room.empty()) fit = std::min(fit, groups[g].room[i]);
      fit = RoomOn(i, machine, fit);
      is_open = is_open && fit >= std::min(slots, tasks) &&
                StepOn(i, policies) == 0 && FirstOn(i, machine, fit) == fit;
      const FlowUnits least =
          std::min({LeastOn(i, groups[g]), fit * machines, tasks});
      const ArcIndex arc = AddArcWithMinimum(
          from, node,
          RisingSegments(
              candidate.cost + (least > 0 ? kMinimumWorth : 0) - first_slot,
              StepOn(i, policies) * kPartsPerPoint, machines,
              FirstOn(i, machine, fit) * machines,
              std::min<FlowUnits>(fit * machines, tasks)),
          least);
      placement_arcs_.push_back({i, groups_.size(), arc});
    }
    problem_.AddConvexArc(node, ExitOf(input, groups[g]),
                          ToSegments(slot_costs[g], machines, supply_));
    std::vector<MachineId> ids;
    for (const Machine* member : groups[g].machines) {
      // More than there are tasks are not needed either, but to choose from.
      if (std::ssize(ids) == supply_ + kSpareMachines) break;
      ids.push_back(member->id);
    }
    groups_.push_back({.machines = std::move(ids),
                       .in_a_row = can_be_filled && is_open ? slots : 1,
                       .is_open = is_open});
  }
}

void BandNetwork::AddWaitingArcs(std::span<const BandClass> classes,
                                 const WaitingPrices& prices) {
  std::map<JobId, std::vector<std::pair<size_t, std::vector<const Task*>>>>
      by_job;
  for (size_t i = 0; i < classes.size(); ++i) {
    for (const Task* task : classes[i].tasks) {
      auto& of_job = by_job[task->job];
      if (of_job.empty() || of_job.back().first != i) of_job.push_back({i, {}});
      of_job.back().second.push_back(task);
    }
  }
  for (const BandClass& band_class : classes) {
    std::vector<const Task*> tasks = band_class.tasks;
    const auto comes_before = [](const Task* a, const Task* b) {
      return std::tuple(b->class_key.priority, a->submitted_ms, a->sequence) <
             std::tuple(a->class_key.priority, b->submitted_ms, b->sequence);
    };
    if (!std::ranges::is_sorted(tasks, comes_before)) {
      std::ranges::sort(tasks, comes_before);
    }
    if (prices.HeedKinds()) SortByPrice(prices, &tasks);
    std::vector<Newcomer>& newcomers = tasks_.emplace_back();
    for (const Task* task : tasks) newcomers.push_back({task->id, task->job});
  }
  waiting_arcs_.resize(classes.size());
  for (const auto& [job, of_classes] : by_job) {
    const NodeIndex unscheduled = problem_.AddNode(0);
    FlowUnits capacity = 0;
    std::vector<FlowCost> job_costs;
    for (const auto& [class_index, tasks] : of_classes) {
      std::vector<FlowCost> costs;
      WaitingArc waiting;
      waiting.job = job;
      for (const Task* task : tasks) {
        costs.push_back((kPlacementCostMax + prices.Of(*task)) *
                        kPartsPerPoint);
      }
      job_costs.insert(job_costs.end(), costs.begin(), costs.end());
      waiting.arc = problem_.AddConvexArc(
          static_cast<NodeIndex>(class_index), unscheduled,
          ToSegments(std::move(costs), 1, supply_));
      waiting_arcs_[class_index].push_back(waiting);
      capacity += static_cast<FlowUnits>(tasks.size());
    }
    if (const auto it = gangs_.find(job); it != gangs_.end()) {
      // Those beyond the minimum may wait although the gang does not.
      const Gang& gang = it->second;
      const FlowUnits others = gang.task_count - gang.minimum;
      for (const NodeIndex placed : gang.placed) {
        if (others <= 0) break;
        problem_.AddConvexArc(placed, unscheduled,
                              ToSegments(job_costs, 1, others));
      }
    }
    problem_.AddArc(unscheduled, sink_, capacity, 0);
  }
}

}  // namespace sluice
