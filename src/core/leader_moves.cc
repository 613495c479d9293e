#include "core/leader_moves.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "constraints/class_peers.h"
#include "core/placements.h"
#include "cost/waiting_cost.h"
#include "network/band_network.h"
#include "state/peer_table.h"

namespace sluice {
namespace {

// Machines that are looked at for one tier, of the round's budget.
constexpr int64_t kLooksMax = 200000;
// What is tried for one class: so many leaders, on so many machines each, with
// so many tasks that go where they go.
constexpr size_t kLeadersMax = 4;
constexpr size_t kMachinesMax = 16;
constexpr size_t kMovedMax = 32;

bool IsMeantBy(const Task& task, uint32_t selector) {
  return std::ranges::binary_search(*task.class_key.meant_by, selector);
}

class LeaderMover {
 public:
  LeaderMover(const Tier& tier, RoundContext* context, Transaction* transaction)
      : tier_(tier),
        context_(*context),
        constraints_(context->constraints),
        eligibility_(context->FreshEligibility()),
        state_(context->state),
        transaction_(*transaction) {}

  void Run() {
    std::vector<ClassKey> classes;
    tier_.VisitWaiting(state_, [&](const ClassKey& key, const auto& tasks) {
      if (!key.rules->affinity.empty() && !context_.gangs.IsClosed(key) &&
          tasks.begin()->first < context_.sequence_end) {
        classes.push_back(key);
      }
      return true;
    });
    if (!classes.empty()) FindPlacements();
    for (const ClassKey& key : classes) {
      if (looks_ > kLooksMax) break;
      if (MoveFor(key)) FindPlacements();
    }
    context_.search_budget -= looks_;
  }

 private:
  void FindPlacements() {
    placements_ = UndoablePlacements(state_, tier_.priority, tier_.delta_begin);
    spread_selectors_.clear();
    for (const auto& [task, machine] : placements_) {
      for (const CountedTerm* term : TermsOf(*task).spread) {
        spread_selectors_.insert(term->selector);
      }
    }
  }

  const PeerTerms& TermsOf(const Task& task) const {
    return state_.peers().TermsOf(*task.class_key.rules);
  }

  bool MayRunOn(const ClassKey& key, const Machine& machine) const {
    return machine.IsUsable() &&
           std::ranges::binary_search(eligibility_.KindsFor(*key.rules),
                                      eligibility_.KindOf(machine), {},
                                      &Eligibility::Kind::id);
  }

  Cost WaitingCostOf(const Task& task) const {
    return WaitingCost(context_.now_ms - task.submitted_ms);
  }

  // Returns whether it changed where anything runs.
  bool MoveFor(const ClassKey& key) {
    const uint32_t selector =
        state_.peers().TermsOf(*key.rules).affinity.front()->selector;
    std::vector<Placement> leaders;
    for (const Placement& one : placements_) {
      const auto is_alike = [&](const Placement& other) {
        return other.machine == one.machine &&
               other.task->class_key == one.task->class_key;
      };
      if (leaders.size() == kLeadersMax) break;
      if (IsMeantBy(*one.task, selector) &&
          std::ranges::none_of(leaders, is_alike)) {
        leaders.push_back(one);
      }
    }
    if (leaders.empty() || FindMachineNear(key).has_value()) return false;
    return std::ranges::any_of(leaders, [&](const Placement& leader) {
      return looks_ <= kLooksMax && TryToMove(leader, key);
    });
  }

  // The leader and those that are where they are because of it, in the order of
  // their placement; nothing where they cannot be moved.
  std::vector<Placement> FindMoved(const Placement& leader) const {
    std::vector<Placement> moved;
    for (const Placement& one : placements_) {
      const bool is_moved =
          one.task == leader.task ||
          std::ranges::any_of(moved, [&](const Placement& other) {
            return Follows(one, other);
          });
      if (!is_moved) continue;
      if (moved.size() == kMovedMax || !CanMove(one)) return {};
      moved.push_back(one);
    }
    return moved;
  }

  // Whether it can be taken back and, if need be, put back, whatever was placed
  // after it: it is legal there as things are now, nobody was spread by it, and
  // it was not the first of those whom it must be near.
  bool CanMove(const Placement& one) const {
    const ClassKey& key = one.task->class_key;
    const auto is_spread = [&](uint32_t selector) {
      return spread_selectors_.contains(selector);
    };
    const auto is_about_itself = [&](const CountedTerm* term) {
      return IsMeantBy(*one.task, term->selector);
    };
    return !key.gang.has_value() && key.rules->spread.empty() &&
           std::ranges::none_of(*key.meant_by, is_spread) &&
           std::ranges::none_of(TermsOf(*one.task).affinity, is_about_itself) &&
           MayRunOn(key, *state_.FindMachine(one.machine));
  }

  bool Follows(const Placement& one, const Placement& leader) const {
    return std::ranges::any_of(
        TermsOf(*one.task).affinity, [&](const CountedTerm* term) {
          return IsMeantBy(*leader.task, term->selector) &&
                 term->topology->DomainOf(one.machine) ==
                     term->topology->DomainOf(leader.machine);
        });
  }

  bool TryToMove(const Placement& leader, const ClassKey& follower) {
    const std::vector<Placement> moved = FindMoved(leader);
    if (moved.empty()) return false;
    const size_t size = transaction_.size();
    transaction_.Withdraw(moved);
    for (const MachineId machine : MachinesFor(leader, follower)) {
      if (looks_ > kLooksMax) break;
      if (PlaceOn(machine, moved, follower)) return true;
    }
    transaction_.RollBackTo(size);
    return false;
  }

  // Other machines for a leader, where one task of the follower could follow
  // it, the cheapest first.
  std::vector<MachineId> MachinesFor(const Placement& leader,
                                     const ClassKey& follower) {
    const ClassKey& key = leader.task->class_key;
    const ClassPeers peers(state_, constraints_, key);
    const ClassPeers peers_of_follower(state_, constraints_, follower);
    const auto& terms = state_.peers().TermsOf(*follower.rules).affinity;
    const bool is_on_same_machine =
        std::ranges::any_of(terms, [](const CountedTerm* term) {
          return term->topology->is_by_machine();
        });
    const Topology& topology = *terms.front()->topology;
    const Resources request = key.request + follower.request;
    std::set<DomainIndex> domains;  // With room for the follower.
    std::vector<std::pair<FlowCost, MachineId>> ranked;
    for (const auto& [id, machine] : state_.machines()) {
      ++looks_;
      const Resources free = machine->Free();
      if (MayRunOn(follower, *machine) && follower.request.FitsIn(free) &&
          (!is_on_same_machine || request.FitsIn(free)) &&
          constraints_.AllowsLoadBesideFit(follower, *machine) &&
          peers_of_follower.AllowsBesideAffinity(*machine)) {
        domains.insert(topology.DomainOf(id));
      } else if (is_on_same_machine) {
        continue;
      }
      if (id != leader.machine && MayRunOn(key, *machine) &&
          constraints_.Allows(key, *machine) && peers.Allows(*machine)) {
        ranked.emplace_back(CostOf(key, peers, *machine), id);
      }
    }
    domains.erase(kNoDomain);
    std::erase_if(ranked, [&](const auto& one) {
      return !domains.contains(topology.DomainOf(one.second));
    });
    std::ranges::sort(ranked);
    if (ranked.size() > kMachinesMax) ranked.resize(kMachinesMax);
    std::vector<MachineId> machines;
    for (const auto& [cost, id] : ranked) machines.push_back(id);
    return machines;
  }

  FlowCost CostOf(const ClassKey& key, const ClassPeers& peers,
                  const Machine& machine) const {
    return LoadArcCost(context_.policies, machine, machine.used) +
           (context_.policies.PreferenceCost(*key.rules, machine) +
            context_.policies.PeerCost(peers.StandingOn(machine))) *
               kPartsPerPoint;
  }

  // The cheapest machine for the class, which must be near others.
  std::optional<MachineId> FindMachineNear(const ClassKey& key) {
    const ClassPeers peers(state_, constraints_, key);
    if (peers.MustWait()) return std::nullopt;
    std::optional<std::pair<FlowCost, MachineId>> best;
    const auto look = [&](const Machine& machine) {
      ++looks_;
      if (!MayRunOn(key, machine) || !constraints_.Allows(key, machine) ||
          !peers.Allows(machine)) {
        return;
      }
      const std::pair rank(CostOf(key, peers, machine), machine.id);
      if (!best.has_value() || rank < *best) best = rank;
    };
    const CountedTerm& term =
        *state_.peers().TermsOf(*key.rules).affinity.front();
    if (peers.IsFirstOfAffinity()) {
      for (const auto& [id, machine] : state_.machines()) look(*machine);
    } else {
      for (const auto& [domain, count] : term.meant.counts()) {
        for (const MachineId id : term.topology->MachinesOf(domain)) {
          look(*state_.FindMachine(id));
        }
      }
    }
    if (!best.has_value()) return std::nullopt;
    return best->second;
  }

  // Places the first of `moved` on the machine, and the others and the follower
  // near it.  Keeps it where less is left waiting.
  bool PlaceOn(MachineId machine, const std::vector<Placement>& moved,
               const ClassKey& follower) {
    const size_t size = transaction_.size();
    const auto place = [&](const Task& task, std::optional<MachineId> where) {
      if (where.has_value()) transaction_.Place(task, *where);
      return where.has_value();
    };
    place(*moved.front().task, machine);
    Cost gain = 0;
    for (size_t i = 1; i < moved.size(); ++i) {
      const Task& task = *moved[i].task;
      if (!place(task, FindMachineNear(task.class_key))) {
        gain -= WaitingCostOf(task);
      }
    }
    std::vector<const Task*> followers;
    const auto& tasks = state_.pending().at(follower);
    for (const auto& [sequence, task] : tasks) {
      if (sequence >= context_.sequence_end) break;
      followers.push_back(task);
    }
    for (const Task* task : followers) {
      if (looks_ > kLooksMax || !place(*task, FindMachineNear(follower))) {
        break;
      }
      gain += WaitingCostOf(*task);
    }
    if (gain <= 0) transaction_.RollBackTo(size);
    return gain > 0;
  }

  const Tier& tier_;
  RoundContext& context_;
  const ConstraintSet& constraints_;
  Eligibility& eligibility_;
  const ClusterState& state_;
  Transaction& transaction_;
  std::vector<Placement> placements_;    // Of the tier, in their order.
  std::set<uint32_t> spread_selectors_;  // By which some of them are spread.
  int64_t looks_ = 0;
};

}  // namespace

void MoveLeaders(const Tier& tier, RoundContext* context,
                 Transaction* transaction) {
  if (context->search_budget <= 0) return;
  context->state.SyncPeers();
  LeaderMover(tier, context, transaction).Run();
}

}  // namespace sluice
