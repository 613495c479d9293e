#include "round/search/suitability.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

namespace sluice {
namespace {

constexpr Cost kForbidden = std::numeric_limits<Cost>::max();

}  // namespace

bool LeaveMovable(const PlacementRules& rules) {
  return rules.affinity.empty() && rules.minimums.empty() &&
         std::ranges::none_of(rules.spread, &SpreadConstraint::is_required);
}

Suitability::Suitability(RoundContext* context, MovablePlacements* placements,
                         Allowance* work)
    : context_(*context),
      state_(context->state),
      eligibility_(context->eligibility()),
      placements_(*placements),
      work_(*work) {
  FindBinding();
  FindWaiting();
}

// The tasks that placed tasks must be near or are counted with.  Tasks that ran
// before are where they are because of others.
void Suitability::FindBinding() {
  if (state_.peers().empty()) return;
  for (auto it = state_.outbox().lower_bound(context_.delta_begin);
       it != state_.outbox().end(); ++it) {
    const Task* task = state_.FindTask(it->second.task);
    if (task == nullptr || !task->class_key.rules->HasPeerTerms()) continue;
    const PlacementRules& rules = *task->class_key.rules;
    const PeerTerms& terms = state_.peers().TermsOf(rules);
    for (const CountedTerm* term : terms.affinity) {
      binding_.insert(term->selector);
    }
    for (size_t i = 0; i < terms.spread.size(); ++i) {
      if (!rules.spread[i].is_required) continue;
      binding_.insert(terms.spread[i]->selector);
    }
    for (const CountedTerm* term : terms.minimums) {
      binding_.insert(term->selector);
    }
  }
}

// The priorities of waiting tasks that may fit somewhere.
void Suitability::FindWaiting() {
  if (state_.pending().empty()) return;
  std::vector<Resources> most(static_cast<size_t>(eligibility_.kind_count()));
  work_.Spend(std::ssize(state_.machines()));
  for (const auto& [id, machine] : state_.machines()) {
    if (!machine->IsUsable()) continue;
    most[static_cast<size_t>(eligibility_.KindOf(*machine))].MaxWith(
        machine->allocatable);
  }
  for (const auto& [key, tasks] : state_.pending()) {
    if (waiting_.contains(key.priority) || context_.CountWaiting(key) == 0) {
      continue;
    }
    const auto kinds = eligibility_.KindsFor(*key.rules);
    work_.Spend(std::ssize(kinds));
    if (std::ranges::any_of(kinds, [&](const Eligibility::Kind& kind) {
          return key.request.FitsIn(most[static_cast<size_t>(kind.id)]);
        })) {
      waiting_.insert(key.priority);
    }
  }
}

bool Suitability::IsMovable(const ClassKey& key) const {
  return LeaveMovable(*key.rules) &&
         std::ranges::none_of(*key.meant_by, [this](uint32_t selector) {
           return binding_.contains(selector);
         });
}

View& Suitability::ViewOf(const ClassKey& key) {
  std::unique_ptr<View>& view = views_[{key.rules, key.meant_by}];
  if (view != nullptr) return *view;
  view = std::make_unique<View>();
  view->is_movable = IsMovable(key);
  if (!view->is_movable) return *view;
  view->preference.assign(static_cast<size_t>(eligibility_.kind_count()),
                          kForbidden);
  for (const Eligibility::Kind& kind : eligibility_.KindsFor(*key.rules)) {
    const auto id = static_cast<size_t>(kind.id);
    view->preference[id] = kind.preference;
    view->kinds.emplace_back(kind.preference, id);
  }
  std::ranges::sort(view->kinds);
  work_.Spend(std::ssize(view->preference));
  if (key.DependsOnPeers()) {
    view->peers =
        std::make_unique<ClassPeers>(state_, context_.constraints, key);
    placements_.Follow(view->peers.get());
    work_.Spend(std::ssize(state_.machines()));
  }
  return *view;
}

void Suitability::FindParts(View* view) {
  if (!view->parts.empty()) return;
  std::vector<const Topology*> topologies;
  if (view->peers != nullptr) topologies = view->peers->Topologies();
  std::ranges::sort(topologies);
  const auto [end, last] = std::ranges::unique(topologies);
  topologies.erase(end, last);
  std::map<std::vector<DomainIndex>, size_t> part_of;
  for (const auto& [id, machine] : state_.machines()) {
    work_.Spend(1 + std::ssize(topologies));
    if (!machine->IsUsable() || PreferenceOn(*view, *machine) == kForbidden) {
      continue;
    }
    std::vector<DomainIndex> domains = {eligibility_.KindOf(*machine)};
    for (const Topology* topology : topologies) {
      domains.push_back(topology->DomainOf(id));
    }
    const auto [it, is_new] =
        part_of.try_emplace(std::move(domains), view->parts.size());
    if (is_new) view->parts.emplace_back();
    view->parts[it->second].push_back(machine.get());
    view->part_of[id] = it->second;
  }
}

Seeker Suitability::SeekerOf(const Placement& one) {
  const View& view = ViewOf(one.task->class_key);
  return {
      .task = one.task,
      .view = &view,
      .home = state_.FindMachine(one.machine),
      .worth = view.peers == nullptr ? 0 : view.peers->WorthOn(one.machine)};
}

bool Suitability::MayGo(const Seeker& seeker, const Machine& machine) const {
  const ClassKey& key = seeker.task->class_key;
  const View& view = *seeker.view;
  if (vacated_.contains(machine.id) && IsAnyWaitingAbove(key.priority)) {
    return false;
  }
  return machine.IsUsable() && PreferenceOn(view, machine) != kForbidden &&
         key.request.FitsIn(machine.Free()) &&
         context_.constraints.Allows(key, machine) &&
         (view.peers == nullptr || view.peers->Allows(machine));
}

Liking Suitability::LikingOf(const Seeker& seeker, const Machine& machine) {
  work_.Spend(1);
  Liking liking{.wishes = PreferenceOn(*seeker.view, machine)};
  if (seeker.view->peers != nullptr) {
    const ClassPeers& peers = *seeker.view->peers;
    const int64_t missed = seeker.worth - peers.WorthOn(machine.id);
    const int64_t range = peers.worth_max() - peers.worth_min();
    liking.wishes += context_.policies.PeerCost(
                         {.missed_weight = std::max<int64_t>(missed, 0),
                          .missed_weight_max = range,
                          .crowding = peers.CrowdingOn(machine.id)}) -
                     context_.policies.PeerCost(
                         {.missed_weight = std::max<int64_t>(-missed, 0),
                          .missed_weight_max = range});
  }
  const bool is_there = seeker.task->state == TaskState::kRunning &&
                        seeker.task->machine == machine.id;
  liking.siblings = context_.policies.SiblingCost(
      placements_.CountSiblings(seeker.task->job, machine.id) -
      (is_there ? 1 : 0));
  return liking;
}

Cost Suitability::TwiceWishesOf(const Placement& one) {
  work_.Spend(1);
  const Seeker seeker = SeekerOf(one);
  const Cost preferences = 2 * PreferenceOn(*seeker.view, *seeker.home);
  if (seeker.view->peers == nullptr) return preferences;
  const ClassPeers::Share of_all = {
      .worth = seeker.worth,
      .crowding = seeker.view->peers->CrowdOn(one.machine)};
  return preferences + CostOf(*seeker.view->peers, of_all) -
         ShareOf(seeker, one.task->class_key, one.machine, one.machine);
}

// What additional worth and crowding cost; may be negative.
Cost Suitability::CostOf(const ClassPeers& peers,
                         const ClassPeers::Share& share) const {
  const int64_t range = peers.worth_max() - peers.worth_min();
  return context_.policies.PeerCost(
             {.missed_weight = std::max<int64_t>(-share.worth, 0),
              .missed_weight_max = range,
              .crowding = share.crowding}) -
         context_.policies.PeerCost(
             {.missed_weight = std::max<int64_t>(share.worth, 0),
              .missed_weight_max = range});
}

Cost Suitability::ShareOf(const Seeker& seeker, const ClassKey& other,
                          MachineId there, MachineId here) {
  work_.Spend(2);
  if (seeker.view->peers == nullptr) return 0;
  const ClassPeers& peers = *seeker.view->peers;
  return CostOf(peers, peers.ShareOf(other, there, here));
}

bool Suitability::MakesWay(const Placement& one) {
  if (waiting_.empty()) return false;
  const uint32_t priority = one.task->class_key.priority;
  const Machine& machine = *state_.FindMachine(one.machine);
  work_.Spend(std::ssize(machine.tasks));
  uint32_t least = priority;
  for (const TaskId id : machine.tasks) {
    least = std::min(least, state_.FindTask(id)->class_key.priority);
  }
  return IsAnyBetween(least, priority);
}

bool Suitability::IsAnyBetween(uint32_t less_urgent,
                               uint32_t more_urgent) const {
  const auto it = waiting_.upper_bound(less_urgent);
  return it != waiting_.end() && *it <= more_urgent;
}

}  // namespace sluice
