#include "core/leader_moves.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <utility>
#include <vector>

#include "constraints/class_peers.h"
#include "core/neighborhood.h"
#include "core/neighborhood_search.h"
#include "core/placements.h"
#include "network/band_network.h"
#include "state/peer_table.h"

namespace sluice {
namespace {

// Of the round's budget for searches, for one tier.
constexpr int64_t kLooksMax = 200000;
// What is tried for one class: so many leaders, each with so many tasks of the
// class and so many that are moved with it, on so many machines for each class,
// and so many times a place for one of them is looked for.
constexpr size_t kLeadersMax = 4;
constexpr size_t kTasksMax = 32;
constexpr size_t kMachinesMax = 16;
constexpr int64_t kPlacesMax = 200;

bool IsMeantBy(const Task& task, uint32_t selector) {
  return std::ranges::binary_search(*task.class_key.meant_by, selector);
}

class LeaderMover {
 public:
  LeaderMover(const Tier& tier, RoundContext* context, Transaction* transaction)
      : tier_(tier),
        context_(*context),
        eligibility_(context->FreshEligibility()),
        state_(context->state),
        transaction_(*transaction),
        budget_end_(context->search_budget - kLooksMax) {}

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
      if (MoveFor(key)) FindPlacements();
    }
  }

 private:
  void FindPlacements() {
    placements_ = UndoablePlacements(state_, tier_.priority, tier_.delta_begin);
    spread_selectors_.clear();
    for (const auto& [task, machine] : placements_) {
      for (const CountedTerm* term : TermsOf(task->class_key).spread) {
        spread_selectors_.insert(term->selector);
      }
    }
  }

  const PeerTerms& TermsOf(const ClassKey& key) const {
    return state_.peers().TermsOf(*key.rules);
  }

  // Returns whether it changed where anything runs.
  bool MoveFor(const ClassKey& follower) {
    const uint32_t selector = TermsOf(follower).affinity.front()->selector;
    std::set<std::pair<MachineId, ClassKey>> tried;
    for (const Placement& one : placements_) {
      if (tried.size() == kLeadersMax ||
          context_.search_budget <= budget_end_) {
        break;
      }
      if (IsMeantBy(*one.task, selector) &&
          tried.emplace(one.machine, one.task->class_key).second &&
          TryToMove(one, follower)) {
        return true;
      }
    }
    return false;
  }

  bool TryToMove(const Placement& leader, const ClassKey& follower) {
    const std::vector<Placement> moved = FindMoved(leader);
    if (moved.empty()) return false;
    const size_t size = transaction_.size();
    const int64_t waiting = context_.CountWaiting(follower);
    transaction_.Withdraw(moved);
    const Neighborhood neighborhood = Describe(moved, follower);
    // What is cheaper and leaves as much waiting leaves it to other leaders.
    if (!neighborhood.machines.empty() &&
        PlaceBetter(neighborhood, &context_, &transaction_) &&
        context_.CountWaiting(follower) < waiting) {
      return true;
    }
    transaction_.RollBackTo(size);
    return false;
  }

  // The leader and those that are where they are because of it, in the order of
  // their placement; nothing where they cannot be moved.
  std::vector<Placement> FindMoved(const Placement& leader) {
    std::vector<Placement> moved;
    for (const Placement& one : placements_) {
      const bool is_moved =
          one.task == leader.task ||
          std::ranges::any_of(moved, [&](const Placement& other) {
            return Follows(one, other);
          });
      if (!is_moved) continue;
      if (moved.size() == kTasksMax || !CanMove(one)) return {};
      moved.push_back(one);
    }
    return moved;
  }

  // Whether it can be taken back and, if need be, put back, whatever was placed
  // after it: it is legal there as things are now, nobody was spread by it, and
  // it was not the first of those whom it must be near.
  bool CanMove(const Placement& one) {
    const ClassKey& key = one.task->class_key;
    const auto is_spread = [&](uint32_t selector) {
      return spread_selectors_.contains(selector);
    };
    const auto is_about_itself = [&](const CountedTerm* term) {
      return IsMeantBy(*one.task, term->selector);
    };
    return !key.gang.has_value() && key.rules->spread.empty() &&
           std::ranges::none_of(*key.meant_by, is_spread) &&
           std::ranges::none_of(TermsOf(key).affinity, is_about_itself) &&
           eligibility_.Allows(*key.rules, *state_.FindMachine(one.machine));
  }

  bool Follows(const Placement& one, const Placement& leader) const {
    return std::ranges::any_of(
        TermsOf(one.task->class_key).affinity, [&](const CountedTerm* term) {
          return IsMeantBy(*leader.task, term->selector) &&
                 term->topology->DomainOf(one.machine) ==
                     term->topology->DomainOf(leader.machine);
        });
  }

  // The leader, tasks of the follower that wait, and the others that are moved;
  // without machines where the leader can go nowhere with the follower.
  Neighborhood Describe(const std::vector<Placement>& moved,
                        const ClassKey& follower) {
    const Task& leader = *moved.front().task;
    Neighborhood result;
    // Those that are moved wait by now, too.
    result.tasks = context_.WaitingTasks(follower, kTasksMax + moved.size());
    std::erase_if(result.tasks, [&](const Task* task) {
      return std::ranges::find(moved, task, &Placement::task) != moved.end();
    });
    if (result.tasks.size() > kTasksMax) result.tasks.resize(kTasksMax);
    result.tasks.insert(result.tasks.begin(), &leader);
    ClassKey pair = follower;
    if (SharesMachine(follower)) pair.request += leader.class_key.request;
    std::set<Domains> near;
    for (const MachineId id : MachinesFor(pair, follower, {})) {
      near.insert(DomainsOf(follower, id));
    }
    if (near.empty()) return result;
    const auto add = [&](const ClassKey& key, const ClassKey& one) {
      for (const MachineId id :
           MachinesFor(key, one, near) | std::views::take(kMachinesMax)) {
        result.machines.insert(id);
      }
    };
    add(leader.class_key, follower);
    if (result.machines.empty()) return result;
    for (const auto& [task, machine] : moved) {
      if (task != &leader) result.tasks.push_back(task);
      result.taken_back[task->id] = machine;
      result.machines.insert(machine);
    }
    std::set<ClassKey> seen;
    for (const Task* task : result.tasks | std::views::drop(1)) {
      const ClassKey& key = task->class_key;
      if (SharesMachine(key) || !seen.insert(key).second) continue;
      near.clear();
      for (const MachineId id : result.machines) {
        near.insert(DomainsOf(key, id));
      }
      add(key, key);
    }
    result.looks_max = std::min(context_.search_budget - budget_end_,
                                kPlacesMax * std::ssize(state_.machines()));
    return result;
  }

  // One for each term of a follower.
  using Domains = std::vector<DomainIndex>;
  Domains DomainsOf(const ClassKey& follower, MachineId machine) const {
    Domains domains;
    for (const CountedTerm* term : TermsOf(follower).affinity) {
      domains.push_back(term->topology->DomainOf(machine));
    }
    return domains;
  }

  bool SharesMachine(const ClassKey& follower) const {
    return std::ranges::any_of(TermsOf(follower).affinity,
                               &Topology::is_by_machine,
                               &CountedTerm::topology);
  }

  // Those in these domains of the follower, or in any where none is given, that
  // take the class, the cheapest first; the follower itself as if all that it
  // must be near were there.
  std::vector<MachineId> MachinesFor(const ClassKey& key,
                                     const ClassKey& follower,
                                     const std::set<Domains>& near) {
    const ClassPeers peers(state_, context_.constraints, key);
    const bool follows = key.rules == follower.rules;
    std::vector<std::pair<FlowCost, MachineId>> ranked;
    context_.search_budget -= std::ssize(state_.machines());
    for (const auto& [id, machine] : state_.machines()) {
      if (eligibility_.Allows(*key.rules, *machine) &&
          (near.empty() || near.contains(DomainsOf(follower, id))) &&
          context_.constraints.Allows(key, *machine) &&
          (follows ? peers.AllowsBesideAffinity(*machine)
                   : peers.Allows(*machine))) {
        ranked.emplace_back(
            PlaceCost(context_.policies, key, *machine, machine->used), id);
      }
    }
    std::ranges::sort(ranked);
    const auto ids = ranked | std::views::values;
    return {ids.begin(), ids.end()};
  }

  const Tier& tier_;
  RoundContext& context_;
  Eligibility& eligibility_;
  const ClusterState& state_;
  Transaction& transaction_;
  const int64_t budget_end_;             // What is to be left of it.
  std::vector<Placement> placements_;    // Of the tier, in their order.
  std::set<uint32_t> spread_selectors_;  // By which some of them are spread.
};

}  // namespace

void MoveLeaders(const Tier& tier, RoundContext* context,
                 Transaction* transaction) {
  context->state.SyncPeers();
  LeaderMover(tier, context, transaction).Run();
}

}  // namespace sluice
