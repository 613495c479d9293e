#include "network/band_network.h"

#include <glog/logging.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <ranges>
#include <tuple>
#include <utility>

#include "base/int128.h"
#include "cost/waiting_cost.h"
#include "network/constructs.h"
#include "network/leader_room.h"
#include "network/rising_candidates.h"

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

// `copies` units of each of these ascending costs, as segments of equal costs,
// at most `limit` units together.
std::vector<CostSegment> ToSegments(std::span<const FlowCost> costs,
                                    FlowUnits copies, FlowUnits limit) {
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

// How many domains a gang that goes to one domain may choose from: each is a
// decision of its own.
constexpr size_t kTogetherDomainsMax = 32;

// High enough to come last, but no higher than waiting, however many tasks come
// together.
constexpr Cost kStepsMax = 3000000;

// By how much a unit that a minimum asks for costs less than others if minimums
// are elastic: more than the cost of letting any other task wait.
constexpr FlowCost kMinimumWorth =
    4 * (kPlacementCostMax + kWaitingCostMax) * kPartsPerPoint;

// How many of its tasks, with all reserved room, a machine with `free` takes.
FlowUnits TimesWithReserved(const Resources& free, const BandClass& band_class,
                            FlowUnits limit) {
  return band_class.Room().TimesIn(free, TimesIn(free, band_class.key, limit));
}

// True if only slots limit how many of a class go to a group.
bool IsFreeToShare(const BandClass& band_class) {
  return band_class.peers == nullptr && band_class.open_groups.empty() &&
         (band_class.tasks.size() < 2 || !band_class.key.rules->ComeOneByOne());
}

// Units at rising costs: the first `width` cost `cost`, and each further
// `width` units `step` more.  Those beyond `first` come last.  At most `limit`
// units.
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

// If all machines differ, a round spends its time on pairs of a class and a
// group.  So the fields of a class that are read for each group are close
// together.
struct Asker {
  Resources request;
  Resources room;  // Request, and what is reserved with it.
  const ClassPeers* peers;
  bool asks_for_more;  // More than room.
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

std::vector<std::vector<Interest>> FindInterests(
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

auto IdsOf(const MachineGroup& group) {
  return group.machines | std::views::transform([](const Machine* machine) {
           return machine->id;
         });
}

// The costs of the tasks that land on the machine, one for each of its slots,
// the cheapest first.
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
  std::ranges::sort(costs);
  return costs;
}

// Sorts within each priority; the tasks are already sorted by priority.
void SortByPrice(const WaitingPrices& prices, std::vector<const Task*>* tasks) {
  prices.Sort(tasks);
  std::ranges::stable_sort(
      *tasks, std::ranges::greater{},
      [](const Task* task) { return task->class_key.priority; });
}

}  // namespace

struct BandNetwork::Demand {
  std::vector<Asker> askers;                             // By class.
  std::vector<std::vector<Interest>> interests;          // By kind.
  std::vector<std::vector<bool>> has_room_for_all = {};  // By class, group.
};

// What is drawn for groups: those of the input, or parts of them if there are
// aggregates.
struct BandNetwork::Draft {
  Draft(const Input& input, const Resources& mean_request, FlowUnits tasks)
      : slot_costs(input.groups.size()),
        groups(input.groups),
        has_parts(!input.aggregates.empty()),
        rising({input.aggregates, input.groups, input.group_at, input.parts},
               input.policies, mean_request, tasks) {}

  size_t size() const {
    return has_parts ? choice.parts.size() : groups.size();
  }
  size_t WholeOf(size_t g) const {
    return has_parts ? choice.parts[g].whole : g;
  }
  size_t AggregateOf(size_t g) const {
    return has_parts ? choice.parts[g].aggregate : Aggregates::kNone;
  }
  const Machine& RepresentativeOf(size_t g) const {
    return has_parts ? *choice.parts[g].representative
                     : groups[g].representative();
  }
  FlowUnits MachinesOf(size_t g) const {
    return has_parts ? std::ssize(choice.parts[g].machines) : groups[g].size();
  }
  const std::vector<FlowCost>& SlotsOf(size_t g) const {
    return slot_costs[WholeOf(g)];
  }

  // By group of the input: its slot costs; empty if no class may use it.
  std::vector<std::vector<FlowCost>> slot_costs;
  std::span<const MachineGroup> groups;
  bool has_parts;
  // Of groups or parts; by outlet, or of groups if its units go by group.
  RisingCandidates::Choice choice = {};
  // True if units of the outlet go by hubs (network/hub.h).
  bool IsByGroup(size_t outlet) const {
    return outlet < is_by_group.size() && is_by_group[outlet];
  }

  std::vector<bool> is_by_group = {};  // By outlet, if there are parts.
  RisingCandidates rising;             // If there are aggregates.
};

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
  }
  apart_.resize(classes.size());
  // Patterns respect what classes over the same domains may do together.
  const bool has_patterns = !groups.empty() && !groups.front().room.empty();
  if (!has_patterns) FindLimits(classes);
  Demand demand = {.askers = AskersFor(classes, input.constraints),
                   .interests = FindInterests(classes, eligibility)};
  demand.has_room_for_all =
      FindRoomForLeaders(groups, classes, input.constraints, demand.interests);
  AddGangs(groups, classes, demand.has_room_for_all);
  Draft draft(input, mean_request_, supply_);
  FindCandidates(input, demand, &draft);
  AddPlacementArcs(input, &draft);
  AddWaitingArcs(classes, prices);
}

void BandNetwork::AddGangs(
    std::span<const MachineGroup> groups, std::span<const BandClass> classes,
    const std::vector<std::vector<bool>>& has_room_for_all) {
  std::map<JobId, std::vector<size_t>> members;
  for (size_t i = 0; i < classes.size(); ++i) {
    if (classes[i].gang_minimum > 0) members[*classes[i].key.gang].push_back(i);
  }
  for (const auto& [job, of_job] : members) {
    Gang& gang = gangs_[job];
    std::vector<Port> sources;
    // The domains if they go together; empty if each goes its own way.
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
    // Behind the gates, the units are told apart again.
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
      // Minimums are stated for domains that are drawn.
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

template <class Ids>
FlowUnits BandNetwork::LeastOn(size_t class_index, const Ids& machines) const {
  FlowUnits most = 0;
  for (const auto& one : apart_[class_index].limits.topologies) {
    if (one.at_least.empty() || !one.topology->is_by_machine()) continue;
    FlowUnits least = 0;
    for (const MachineId machine : machines) {
      const DomainIndex domain = one.topology->DomainOf(machine);
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

bool BandNetwork::IsOpenBesideFit(size_t class_index,
                                  const BandClass& band_class,
                                  const MachineGroup& group,
                                  const ConstraintSet& constraints) const {
  const Machine& machine = group.representative();
  const ClassPeers* peers = band_class.peers;
  if (!constraints.AllowsLoadBesideFit(band_class.key, machine)) return false;
  if (peers == nullptr) return true;
  // Tasks of a pattern are placed in the order in which domains rise.
  const bool is_allowed = group.room.empty()
                              ? peers->Allows(machine)
                              : peers->AllowsBesideSpread(machine);
  return is_allowed && RoomOn(class_index, machine, 1) > 0;
}

std::vector<FlowCost> BandNetwork::FindOffers(const Input& input,
                                              const Demand& demand, size_t g,
                                              Arrivals* offers) const {
  const auto& [groups, policies, constraints, classes, aggregates, at, cut] =
      input;
  const MachineGroup& group = groups[g];
  const Machine& machine = group.representative();
  offers->clear();
  Resources largest;
  for (const auto& [i, preference] :
       demand.interests[static_cast<size_t>(group.kind)]) {
    const Asker& asker = demand.askers[i];
    if (!asker.room.FitsIn(group.free) ||
        (!group.room.empty() && group.room[i] == 0)) {
      continue;
    }
    if (asker.asks_for_more) {
      const std::vector<bool>& has_room = demand.has_room_for_all[i];
      if ((!has_room.empty() && !has_room[g]) || !classes[i].IsOpen(g) ||
          !IsOpenBesideFit(i, classes[i], group, constraints)) {
        continue;
      }
    }
    offers->push_back({i, preference * kPartsPerPoint});
    largest.MaxWith(asker.room);
  }
  if (offers->empty()) return {};
  const FlowUnits slots =
      group.room.empty()
          ? std::max<FlowUnits>(largest.TimesIn(group.free, supply_), 1)
          : std::min<FlowUnits>(std::accumulate(group.room.begin(),
                                                group.room.end(), FlowUnits{0}),
                                supply_);
  std::vector<FlowCost> slot_costs =
      LoadCosts(machine, mean_request_, slots, policies);
  // The ladder charges every unit for the mean request: each class pays the
  // difference itself.
  const FlowCost for_all =
      slot_costs.front() -
      LoadArcCost(policies, machine, machine.used + mean_request_);
  Resources load;
  for (auto& [i, cost] : *offers) {
    const Asker& asker = demand.askers[i];
    load = machine.used;
    load += asker.request;
    cost += for_all + LoadArcCost(policies, machine, load);
    if (asker.peers == nullptr) continue;
    cost +=
        policies.PeerCost(asker.peers->StandingOn(machine)) * kPartsPerPoint;
    if (LeastOn(i, IdsOf(group)) > 0) cost -= kMinimumWorth;
  }
  return slot_costs;
}

void BandNetwork::FindCandidates(const Input& input, const Demand& demand,
                                 Draft* draft) {
  const std::span<const MachineGroup> groups = input.groups;
  const bool has_parts = draft->has_parts;
  std::vector<Candidates> candidates(outlets_.size(),
                                     Candidates(supply_, has_parts));
  Arrivals offers;
  for (size_t g = 0; g < groups.size(); ++g) {
    draft->slot_costs[g] = FindOffers(input, demand, g, &offers);
    for (const auto& [i, cost] : offers) {
      std::optional<size_t> outlet = i;
      if (demand.askers[i].peers != nullptr) {
        outlet = OutletFor(i, input.classes[i], groups[g].representative(),
                           input.policies);
        candidates.resize(outlets_.size(), Candidates(supply_, has_parts));
      }
      if (outlet.has_value()) candidates[*outlet].Offer({cost, g});
    }
  }
  if (!has_parts) {
    for (Candidates& one : candidates) {
      draft->choice.candidates.push_back(std::move(one).Take(groups));
    }
    return;
  }
  // Patterns say how many of each class they have room for.
  const bool has_patterns = !groups.empty() && !groups.front().room.empty();
  for (size_t outlet = 0; outlet < candidates.size(); ++outlet) {
    std::vector<Candidate> all = std::move(candidates[outlet]).TakeAll();
    const size_t i = outlets_[outlet].class_index;
    const bool is_by_group = !has_patterns && IsFreeToShare(input.classes[i]);
    draft->is_by_group.push_back(is_by_group);
    // The cost of a class on machines that its peers leave it may rise, too.
    const bool is_bound = demand.askers[i].peers == nullptr;
    draft->rising.Add({.groups = std::move(all),
                       .is_bound = is_bound,
                       .is_by_group = is_by_group});
  }
  draft->choice = draft->rising.Choose();
}

std::vector<BandNetwork::Arrivals> BandNetwork::FindArrivals(Draft* draft) {
  const std::vector<std::vector<Candidate>>& candidates =
      draft->choice.candidates;
  std::vector<size_t> counts(draft->size(), 0);
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (draft->IsByGroup(i)) continue;
    for (const Candidate& one : candidates[i]) ++counts[one.group];
  }
  std::vector<Arrivals> arrivals(draft->size());
  std::vector<FlowCost> first_costs(draft->size());
  for (size_t g = 0; g < draft->size(); ++g) {
    if (counts[g] == 0) continue;
    arrivals[g].reserve(counts[g]);
    first_costs[g] = draft->SlotsOf(g).front() +
                     draft->rising.ladders().First(draft->AggregateOf(g));
  }
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (draft->IsByGroup(i)) continue;
    for (const auto& [cost, g] : candidates[i]) {
      arrivals[g].push_back({i, cost - first_costs[g]});
    }
  }
  return arrivals;
}

std::vector<std::optional<size_t>> BandNetwork::AddHubs(
    const Input& input, const Draft& draft, std::vector<Arrivals>* arrivals) {
  std::vector<std::optional<size_t>> hub_of(draft.size());
  if (!draft.has_parts) return hub_of;
  std::vector<Arrivals> by_whole(input.groups.size());
  for (size_t i = 0; i < draft.choice.candidates.size(); ++i) {
    if (!draft.IsByGroup(i)) continue;
    for (const auto& [cost, whole] : draft.choice.candidates[i]) {
      by_whole[whole].push_back({i, cost - draft.slot_costs[whole].front()});
    }
  }
  std::vector<std::vector<size_t>> parts_of(input.groups.size());
  for (size_t g = 0; g < draft.size(); ++g) {
    parts_of[draft.WholeOf(g)].push_back(g);
  }
  for (size_t whole = 0; whole < by_whole.size(); ++whole) {
    const Arrivals& shared = by_whole[whole];
    const std::vector<size_t>& parts = parts_of[whole];
    if (shared.empty()) continue;
    if (parts.size() < 2 || shared.size() < 2) {
      for (const size_t g : parts) {
        Arrivals& all = (*arrivals)[g];
        const auto others = std::ssize(all);
        all.insert(all.end(), shared.begin(), shared.end());
        std::ranges::inplace_merge(all, all.begin() + others, {},
                                   &Arrival::outlet);
      }
      continue;
    }
    Hub& hub = hubs_.emplace_back();
    hub.node = problem_.AddNode(0);
    for (const auto& [i, cost] : shared) {
      hub.classes.push_back(
          {i, problem_.AddArc(outlets_[i].node, hub.node,
                              std::ssize(input.classes[i].tasks), cost)});
    }
    for (const size_t g : parts) hub_of[g] = hubs_.size() - 1;
  }
  return hub_of;
}

NodeIndex BandNetwork::ExitOf(const Draft& draft, size_t g, FlowUnits units) {
  const size_t aggregate = draft.AggregateOf(g);
  if (aggregate == Aggregates::kNone) return sink_;
  const auto [it, is_new] = aggregate_nodes_.try_emplace(aggregate);
  if (is_new) {
    it->second.node = problem_.AddNode(0);
    it->second.machine = draft.RepresentativeOf(g).id;
  }
  it->second.units += units;
  return it->second.node;
}

void BandNetwork::AddPlacementArcs(const Input& input, Draft* draft) {
  std::vector<Arrivals> arrivals = FindArrivals(draft);
  const std::vector<std::optional<size_t>> hub_of =
      AddHubs(input, *draft, &arrivals);
  std::vector<size_t> in_aggregate(input.aggregates.size());
  for (const auto& part : draft->choice.parts) {
    if (part.aggregate != Aggregates::kNone) ++in_aggregate[part.aggregate];
  }
  for (size_t g = 0; g < draft->size(); ++g) {
    if (arrivals[g].empty() && !hub_of[g].has_value()) continue;
    const FlowUnits machines = draft->MachinesOf(g);
    const size_t aggregate = draft->AggregateOf(g);
    const FlowUnits units = draft->rising.UnitsOf(
        aggregate,
        std::min<FlowUnits>(std::ssize(draft->SlotsOf(g)) * machines, supply_));
    // If all come through a hub, they go on from there.
    Hub* hub = hub_of[g].has_value() ? &hubs_[*hub_of[g]] : nullptr;
    NodeIndex node = hub == nullptr ? 0 : hub->node;
    std::optional<ArcIndex> way_in;
    if (hub == nullptr || !arrivals[g].empty()) {
      node = problem_.AddNode(0);
      if (hub != nullptr) way_in = problem_.AddArc(hub->node, node, units, 0);
    }
    AddArrivals(input, *draft, g, node, arrivals[g]);
    const std::vector<CostSegment> slots =
        ToSegments(draft->SlotsOf(g), machines, units);
    if (hub != nullptr) hub->members.push_back(groups_.size() - 1);
    if (hub != nullptr && !way_in.has_value() &&
        (aggregate == Aggregates::kNone || in_aggregate[aggregate] == 1)) {
      hub->Share(groups_.size() - 1, slots,
                 draft->rising.StepsOf(aggregate, units));
      continue;
    }
    const ArcIndex way_out =
        problem_.AddConvexArc(node, ExitOf(*draft, g, units), slots);
    if (hub != nullptr) {
      hub->groups.push_back({groups_.size() - 1, way_in.value_or(way_out)});
    }
  }
  for (Hub& hub : hubs_) hub.Draw(sink_, supply_, &problem_);
  // In the order of their groups: the numbering of aggregates is arbitrary.
  std::map<NodeIndex, size_t> by_node;
  for (const auto& [index, aggregate] : aggregate_nodes_) {
    by_node.emplace(aggregate.node, index);
  }
  for (const auto& [node, index] : by_node) {
    const FlowUnits units = aggregate_nodes_.at(index).units;
    problem_.AddConvexArc(
        node, sink_, draft->rising.StepsOf(index, std::min(units, supply_)));
  }
}

void BandNetwork::AddArrivals(const Input& input, const Draft& draft, size_t g,
                              NodeIndex node, const Arrivals& arrivals) {
  const auto& [groups, policies, constraints, classes, aggregates, at, cut] =
      input;
  const MachineGroup& group = groups[draft.WholeOf(g)];
  const FlowUnits slots = std::ssize(draft.SlotsOf(g));
  const Machine& machine = draft.RepresentativeOf(g);
  const FlowUnits machines = draft.MachinesOf(g);
  bool is_open = group.room.empty();
  for (const auto& [outlet, cost] : arrivals) {
    const auto [i, from] = outlets_[outlet];
    const auto tasks = std::ssize(classes[i].tasks);
    FlowUnits fit = TimesWithReserved(group.free, classes[i], tasks);
    if (!group.room.empty()) fit = std::min(fit, group.room[i]);
    fit = RoomOn(i, machine, fit);
    is_open = is_open && fit >= std::min(slots, tasks) &&
              StepOn(i, policies) == 0 && FirstOn(i, machine, fit) == fit;
    const FlowUnits least_on_whole = LeastOn(i, IdsOf(group));
    const FlowUnits least_there =
        draft.has_parts ? LeastOn(i, draft.choice.parts[g].machines)
                        : least_on_whole;
    const FlowUnits least = std::min({least_there, fit * machines, tasks});
    const bool has_minimum = least_on_whole > 0;
    const ArcIndex arc = AddArcWithMinimum(
        from, node,
        RisingSegments(cost + (has_minimum ? kMinimumWorth : 0),
                       StepOn(i, policies) * kPartsPerPoint, machines,
                       FirstOn(i, machine, fit) * machines,
                       std::min<FlowUnits>(fit * machines, tasks)),
        least);
    placement_arcs_.push_back({i, groups_.size(), arc});
  }
  // Each machine must have its share of a minimum.
  const bool can_be_filled =
      policies.FallsWithLoad() && minimums_ == Minimums::kNone;
  // More machines than tasks are only needed as a choice.
  const auto count =
      static_cast<size_t>(std::min(machines, supply_ + kSpareMachines));
  const size_t first = machines_.size();
  if (draft.has_parts) {
    const auto ids = draft.choice.parts[g].machines.first(count);
    machines_.insert(machines_.end(), ids.begin(), ids.end());
  } else {
    std::ranges::copy(IdsOf(group) | std::views::take(count),
                      std::back_inserter(machines_));
  }
  groups_.push_back({.first = first,
                     .machines = count,
                     .in_a_row = can_be_filled && is_open ? slots : 1,
                     .is_open = is_open});
}

void BandNetwork::AddWaitingArcs(std::span<const BandClass> classes,
                                 const WaitingPrices& prices) {
  std::map<JobId, std::vector<std::pair<size_t, std::vector<const Task*>>>>
      by_job;
  for (size_t i = 0; i < classes.size(); ++i) {
    for (const Task* task : classes[i].tasks) {
      // Waiting tasks of a gang of several jobs wait together.
      const std::optional<JobId>& gang = task->class_key.gang;
      const bool is_of_gang = gang.has_value() && gangs_.contains(*gang);
      auto& of_job = by_job[is_of_gang ? *gang : task->job];
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
      std::ranges::sort(costs);
      waiting.arc =
          problem_.AddConvexArc(static_cast<NodeIndex>(class_index),
                                unscheduled, ToSegments(costs, 1, supply_));
      waiting_arcs_[class_index].push_back(waiting);
      capacity += static_cast<FlowUnits>(tasks.size());
    }
    if (const auto it = gangs_.find(job); it != gangs_.end()) {
      // Tasks beyond the minimum may wait although the gang does not.
      const Gang& gang = it->second;
      std::ranges::sort(job_costs);
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
