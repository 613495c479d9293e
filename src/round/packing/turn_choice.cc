#include "round/packing/turn_choice.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "constraints/topology_spread.h"
#include "round/context/work_budget.h"
#include "round/packing/running_tasks.h"
#include "round/passes/tier_demand.h"
#include "round/together/disruptions.h"
#include "round/together/domain_conflicts.h"
#include "round/together/gang_victims.h"
#include "round/together/lone_newcomer.h"

namespace sluice {
namespace {

class Choice {
 public:
  Choice(RoundContext* context, PackingPeers* peers)
      : state_(context->state),
        constraints_(context->constraints),
        gangs_(context->gangs),
        options_(context->options.preemption),
        number_(context->stats->number),
        peers_(*peers),
        work_(Piece::kTurns, &context->budget) {}

  std::vector<PackingTurn> FindAll() {
    const bool are_others = state_.pending().size() > 1;
    const std::vector<const ClassKey*> lone = FindLone();
    std::vector<PackingTurn> all;
    bool needs_rest = false;
    for (const ClassKey* key : lone) {
      all.push_back({.is_any = true, .key = *key, .gang = {}});
      // A packing of all may place more of a heeded class.
      const bool are_several = state_.pending().at(*key).size() > 1;
      needs_rest = needs_rest || (peers_.IsHeeded(*key) && are_several) ||
                   (are_others && !key->rules->affinity.empty());
    }
    const PackingTurn rest = {.is_any = true, .key = {}, .gang = {}};
    if (needs_rest) all.push_back(rest);
    for (const auto& [job, found] : found_gangs_) {
      if (!found.needs_turn || found.is_meek || found.tasks < found.minimum) {
        continue;
      }
      all.push_back({.is_any = true, .key = {}, .gang = job});
      if (are_others) all.push_back(rest);
    }
    return all;
  }

 private:
  struct FoundGang {
    int64_t tasks = 0;
    int64_t minimum = 0;
    bool is_meek = false;
    bool needs_turn = false;
  };

  // The classes that have a turn, in their order.  Notes the gangs.
  std::vector<const ClassKey*> FindLone() {
    std::vector<std::pair<size_t, const ClassKey*>> found;
    const auto& pending = state_.pending();
    auto it = pending.begin();
    size_t position = pending.empty() ? 0 : number_ % pending.size();
    std::advance(it, position);
    for (size_t left = pending.size(); left > 0; --left) {
      const auto& [key, tasks] = *it;
      if (MustStartAsAWhole(key)) {
        if (gangs_.MayBeUndone(key)) NoteGang(key, std::ssize(tasks));
      } else if (!key.rules->never_preempts &&
                 (!peers_.IsHeeded(key) || IsStuck(key))) {
        found.emplace_back(position, &key);
      }
      ++position;
      if (++it == pending.end()) {
        it = pending.begin();
        position = 0;
      }
    }
    std::ranges::sort(found);
    const auto keys = std::views::values(found);
    return {keys.begin(), keys.end()};
  }

  void NoteGang(const ClassKey& key, int64_t tasks) {
    FoundGang& found = found_gangs_[*key.gang];
    found.tasks += tasks;
    found.minimum = std::max(found.minimum, gangs_.MinimumFor(key));
    found.is_meek = found.is_meek || key.rules->never_preempts;
    found.needs_turn =
        found.needs_turn || !peers_.IsHeeded(key) || IsKeptOutByOthers(key);
  }

  // True if one of its tasks alone is of no use.
  bool MustStartAsAWhole(const ClassKey& key) const {
    if (!key.gang.has_value()) return false;
    return gangs_.IsHealing(key) ||
           ((gangs_.IsClosed(key) || gangs_.MayBeUndone(key)) &&
            gangs_.MinimumFor(key) > 1);
  }

  // True if tasks that may be stopped for it keep the class out of a domain,
  // and a packing heeds that only in its gang's turn.
  bool IsKeptOutByOthers(const ClassKey& key) {
    return key.rules->affinity.empty() && HasWideRules(key) &&
           !peers_.HeedsWhatRuns(key) &&
           !FindWideLeavers(key, /*count_max=*/1).empty();
  }

  // True if rules about several machines keep it away from all machines with
  // room for it, and stops would change that.
  bool IsStuck(const ClassKey& key) {
    if (!HasWideRules(key) || peers_.HeedsWhatRuns(key) || IsInTheWay(key)) {
      return false;
    }
    const LoneNewcomer lone(state_, constraints_, key);
    std::vector<TopologySpread> spreads;
    for (size_t i = 0; i < key.rules->spread.size(); ++i) {
      if (!key.rules->spread[i].is_required) continue;
      spreads.emplace_back(state_, constraints_, key, i);
    }
    bool is_stuck = false;
    std::vector<const Machine*> with_room;
    for (const auto& [id, machine] : state_.machines()) {
      if (!machine->IsUsable() || !IsAllowedByItself(key, *machine)) continue;
      const std::vector<const Task*> leavers = FindLeavers(key, *machine);
      work_.Spend(1 + std::ssize(machine->tasks));
      if (work_.IsExceeded()) return false;
      if (!key.request.FitsIn(RoomWithout(*machine, leavers))) continue;
      // A packing assumes that the tasks that a spread counts stay, and one of
      // those that the class must be near.
      if ((key.rules->affinity.empty() ||
           key.request.FitsIn(
               RoomWithout(*machine, WithoutCompany(lone, leavers)))) &&
          lone.MayBeOnWithout(*machine, KnownApart(key, leavers)) &&
          std::ranges::all_of(spreads, [&](const TopologySpread& spread) {
            return spread.Allows(machine->id);
          })) {
        return false;
      }
      is_stuck = is_stuck ||
                 lone.FindInTheWay(*machine, leavers, GangsOf(key)).has_value();
      with_room.push_back(machine.get());
    }
    return is_stuck || MayBeLetIn(lone, with_room);
  }

  // The leavers, but for the smallest of those that it must be near.
  static std::vector<const Task*> WithoutCompany(
      const LoneNewcomer& lone, std::vector<const Task*> leavers) {
    auto company = leavers.end();
    for (auto it = leavers.begin(); it != leavers.end(); ++it) {
      if (!lone.Needs((*it)->class_key)) continue;
      if (company == leavers.end() ||
          (*it)->class_key.request.FitsIn((*company)->class_key.request)) {
        company = it;
      }
    }
    if (company != leavers.end()) leavers.erase(company);
    return leavers;
  }

  // True if one of the machines lets it in once others leave on other machines.
  bool MayBeLetIn(const LoneNewcomer& lone,
                  const std::vector<const Machine*>& machines) {
    const std::vector<const Task*> all =
        FindWideLeavers(lone.key(), std::numeric_limits<size_t>::max());
    if (all.empty()) return false;
    return std::ranges::any_of(machines, [&](const Machine* machine) {
      work_.Spend(std::ssize(all));
      if (work_.IsExceeded()) return false;
      // Tasks that keep apart from it only on their own machines may stay
      // there.
      std::vector<const Task*> leavers = all;
      std::erase_if(leavers, [&](const Task* task) {
        return task->machine != machine->id &&
               !state_.peers().KeepApart(lone.key(), task->class_key,
                                         [this](const CountedTerm& term) {
                                           return !peers_.IsOfOneMachine(term);
                                         });
      });
      return lone.MayBeOnWithout(*machine, leavers);
    });
  }

  // Tasks that may be stopped for it, or leave, and that keep it from a domain
  // of several machines; at most `count_max`.
  std::vector<const Task*> FindWideLeavers(const ClassKey& key,
                                           size_t count_max) {
    std::vector<const Task*> leavers;
    if (!IsKeptFromDomains(key, state_.peers())) return leavers;
    for (const auto& [id, machine] : state_.machines()) {
      work_.Spend(std::ssize(machine->tasks));
      if (work_.IsExceeded() || leavers.size() >= count_max) break;
      if (!machine->IsUsable()) continue;
      for (const Task* task : FindLeavers(key, *machine)) {
        if (state_.peers().KeepApart(key, task->class_key)) {
          leavers.push_back(task);
        }
      }
    }
    return leavers;
  }

  bool HasWideRules(const ClassKey& key) {
    const PeerTable& table = state_.peers();
    const auto is_wide = [this](const CountedTerm* term) {
      return !peers_.IsOfOneMachine(*term);
    };
    return std::ranges::any_of(key.rules->spread,
                               &SpreadConstraint::is_required) ||
           std::ranges::any_of(table.TermsOf(*key.rules).anti_affinity,
                               is_wide) ||
           std::ranges::any_of(*key.meant_by, [&](uint32_t selector) {
             return std::ranges::any_of(
                 table.TermsAbout(selector), [&](const CountedTerm* term) {
                   return term->keeping_away.total() > 0 && is_wide(term);
                 });
           });
  }

  // True if it would keep more urgent classes or gangs out.
  bool IsInTheWay(const ClassKey& key) {
    const std::vector<uint32_t> selectors = peers_.CountedFor(key);
    if (selectors.empty()) return false;
    work_.Spend(std::ssize(state_.pending()));
    return std::ranges::any_of(state_.pending(), [&](const auto& entry) {
      const ClassKey& other = entry.first;
      if (other == key) return false;
      return std::ranges::any_of(selectors,
                                 [&](uint32_t selector) {
                                   return std::ranges::binary_search(
                                       *other.meant_by, selector);
                                 }) &&
             (other.priority > key.priority || MustStartAsAWhole(other));
    });
  }

  bool IsAllowedByItself(const ClassKey& key, const Machine& machine) const {
    return constraints_.AllowsAspect(MachineAspect::kLabels, key, machine) &&
           constraints_.AllowsAspect(MachineAspect::kTaints, key, machine);
  }

  // Tasks that leave the machine, or may be stopped for it.
  std::vector<const Task*> FindLeavers(const ClassKey& key,
                                       const Machine& machine) {
    std::vector<const Task*> leavers;
    for (const TaskId id : machine.tasks) {
      const Task* task = state_.FindTask(id);
      if (task->is_evicted || MayLeaveFor(key.priority, *task)) {
        leavers.push_back(task);
      }
    }
    return leavers;
  }

  // A task of a gang leaves with all of it, or as long as its gang can go on.
  bool MayLeaveFor(uint32_t priority, const Task& task) {
    if (!task.class_key.gang.has_value()) {
      return MayBeStopped(task, priority, state_) && MayBeDisrupted(task);
    }
    const auto [it, is_new] = gang_victims_.try_emplace(priority);
    if (is_new) work_.Spend(std::ssize(state_.tasks()));
    if (is_new && !work_.IsExceeded()) {
      it->second = FindGangVictims(state_, gangs_, [&](const Task& one) {
        return MayLoseTasks(*state_.FindMachine(one.machine)) &&
               MayBeStopped(one, priority, state_) && MayBeDisrupted(one);
      });
      DropSparedInPart(&it->second);
    }
    return it->second.contains(*task.class_key.gang);
  }

  // Drops gangs that can spare no task if budgets protect some of their tasks.
  void DropSparedInPart(GangVictims* gangs) {
    if (!disruptions_.has_value()) return;
    absl::erase_if(*gangs, [this](const auto& entry) {
      const auto& [minimum, tasks] = entry.second;
      if (std::ssize(tasks) > minimum) return false;
      std::vector<TaskId> ids;
      for (const Task* task : tasks) ids.push_back(task->id);
      std::vector<int64_t> allowances = disruptions_->Allowances();
      return !disruptions_->Take(ids, &allowances);
    });
  }

  // The gangs for which leavers were found.
  const GangVictims& GangsOf(const ClassKey& key) const {
    const auto it = gang_victims_.find(key.priority);
    return it == gang_victims_.end() ? no_gangs_ : it->second;
  }

  bool MayBeDisrupted(const Task& task) {
    if (options_.breaks_budgets) return true;
    if (!disruptions_.has_value()) disruptions_.emplace(state_);
    return disruptions_->Allowed(disruptions_->BudgetsOf(task)) > 0;
  }

  // The room of the largest leavers that budgets allow to be stopped together.
  Resources RoomWithout(const Machine& machine,
                        std::vector<const Task*> leavers) {
    Resources room = machine.Free();
    if (disruptions_.has_value()) {
      std::ranges::stable_sort(leavers, std::greater(), [&](const Task* task) {
        return SizeOf(task->class_key.request, machine.allocatable);
      });
      std::vector<int64_t> allowances = disruptions_->Allowances();
      std::erase_if(leavers, [&](const Task* task) {
        return !task->is_evicted &&
               !disruptions_->Take(std::span(&task->id, 1), &allowances);
      });
    }
    for (const Task* task : leavers) room += task->class_key.request;
    return room;
  }

  // The leavers that a packing knows to keep apart from it, and that are in its
  // way for no other reason.
  std::vector<const Task*> KnownApart(const ClassKey& key,
                                      const std::vector<const Task*>& leavers) {
    std::vector<const Task*> apart;
    const PeerTable& table = state_.peers();
    const auto is_of_one = [this](const CountedTerm& term) {
      return peers_.IsOfOneMachine(term);
    };
    const auto is_wide = [this](const CountedTerm& term) {
      return !peers_.IsOfOneMachine(term);
    };
    for (const Task* task : leavers) {
      if (table.KeepApart(key, task->class_key, is_of_one) &&
          !table.KeepApart(key, task->class_key, is_wide)) {
        apart.push_back(task);
      }
    }
    return apart;
  }

  const ClusterState& state_;
  const ConstraintSet& constraints_;
  const Gangs& gangs_;
  const PreemptionOptions& options_;
  const uint64_t number_;  // Of the round.
  PackingPeers& peers_;
  std::optional<Disruptions> disruptions_;
  std::map<JobId, FoundGang> found_gangs_;
  // By the newcomer's priority.
  std::map<uint32_t, GangVictims> gang_victims_;
  const GangVictims no_gangs_ = {};
  // Beyond it, classes are assumed to find a place: other ones each round,
  // since each round begins with another class.
  Allowance work_;
};

}  // namespace

PackingTurn ChooseTurn(RoundContext* context, PackingPeers* peers) {
  const std::vector<PackingTurn> all = Choice(context, peers).FindAll();
  const uint64_t number = context->stats->number;
  PackingTurn turn = all.empty() ? PackingTurn() : all[number % all.size()];
  const uint64_t turns = std::max<uint64_t>(all.size(), 1);
  turn.cycle = number / turns;
  turn.is_last = number % turns == turns - 1;
  return turn;
}

}  // namespace sluice
