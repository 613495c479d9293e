#include "round/stages/spare.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_set.h"
#include "constraints/class_peers.h"
#include "round/context/placements.h"
#include "round/context/transaction.h"
#include "round/packing/right_of_way.h"
#include "round/packing/running_tasks.h"
#include "round/together/promised_spreads.h"

namespace sluice {
namespace {

class Spare {
 public:
  Spare(NewcomersInTheWay newcomers, RoundContext* context)
      : context_(*context),
        state_(context->state),
        may_lose_room_(newcomers != NewcomersInTheWay::kStay),
        may_take_back_(newcomers == NewcomersInTheWay::kTakeBack) {}

  // Returns the victims that stay.
  std::set<TaskId> Run(std::span<const TaskId> victims) {
    std::set<TaskId> spared;
    const std::vector<Party> parties = FindParties(victims);
    if (parties.empty()) return spared;
    state_.SyncPeers();
    FindServed();
    for (const Party& party : parties) {
      if (!LeaveRoom(party) || !PutBack(party)) continue;
      if (party.size() == 1) MakeYield(*party.front());
      for (const Task* task : party) spared.insert(task->id);
    }
    return spared;
  }

 private:
  using Party = std::vector<const Task*>;

  // The room of most victims is needed, so that is checked first.
  std::vector<Party> FindParties(std::span<const TaskId> victims) const {
    std::vector<const Task*> found;
    const Task* needed = nullptr;  // The last one whose room is.
    for (const TaskId id : victims) {
      const Task* task = state_.FindTask(id);
      if (task == nullptr || !task->is_evicted) continue;
      const ClassKey& key = task->class_key;
      if (!key.gang.has_value()) {
        // Victims of a machine come one after the other, and are often alike.
        if (needed != nullptr && needed->machine == task->machine &&
            needed->class_key.priority == key.priority &&
            needed->class_key.request == key.request) {
          continue;
        }
        if (!CanBeHeldBeside(*task)) {
          needed = task;
          continue;
        }
        if (!LeavesPorts(*task)) continue;
      }
      found.push_back(task);
    }
    std::ranges::sort(found, [](const Task* a, const Task* b) {
      return std::pair(b->class_key.priority, a->sequence) <
             std::pair(a->class_key.priority, b->sequence);
    });
    std::vector<Party> parties;
    std::map<JobId, size_t> party_of;
    for (const Task* task : found) {
      const std::optional<JobId>& gang = task->class_key.gang;
      if (gang.has_value()) {
        const auto [it, is_new] = party_of.try_emplace(*gang, parties.size());
        if (!is_new) {
          parties[it->second].push_back(task);
          continue;
        }
      }
      parties.push_back({task});
    }
    return parties;
  }

  // True if tasks with reserved room on the machine still have it beside the
  // task, except newcomers that are to wait rather than have it stopped.
  bool CanBeHeldBeside(const Task& task) const {
    const Machine& machine = *state_.FindMachine(task.machine);
    Resources staying = task.class_key.request;
    for (const Task* newcomer : FindYielding(task)) {
      staying -= newcomer->class_key.request;
    }
    return state_.nominations().CanBeHeldBy(machine, staying);
  }
  // The least urgent first.
  std::vector<const Task*> FindYielding(const Task& victim) const {
    std::vector<const Task*> yielding;
    if (!may_lose_room_) return yielding;
    for (const TaskId id : state_.FindMachine(victim.machine)->nominated) {
      const Task* task = state_.FindTask(id);
      if (task->class_key.priority <= victim.class_key.priority &&
          !task->class_key.gang.has_value() &&
          !state_.nominations().IsFinal(id)) {
        yielding.push_back(task);
      }
    }
    std::ranges::sort(yielding, [](const Task* a, const Task* b) {
      return std::pair(a->class_key.priority, b->sequence) <
             std::pair(b->class_key.priority, a->sequence);
    });
    return yielding;
  }
  // Makes newcomers yield until the others have their room beside the task,
  // which stays.
  void MakeYield(const Task& spared) {
    const Machine& machine = *state_.FindMachine(spared.machine);
    for (const Task* newcomer : FindYielding(spared)) {
      if (state_.nominations().CanBeHeldBy(machine)) return;
      std::erase_if(served_, [newcomer](const Placement& one) {
        return one.task == newcomer;
      });
      state_.EndNomination(newcomer->id);
    }
  }
  // The same for host ports and for parts of the machine.
  bool LeavesPorts(const Task& task) const {
    const PlacementRules& rules = *task.class_key.rules;
    if (!rules.ComeOneByOne()) return true;
    const Machine& machine = *state_.FindMachine(task.machine);
    return std::ranges::none_of(machine.nominated, [&](TaskId id) {
      const PlacementRules& others = *state_.FindTask(id)->class_key.rules;
      return WantSamePort(others, rules) ||
             (others.DemandsParts() && rules.DemandsParts());
    });
  }

  // Finds newcomers whose rules about other tasks a spared victim could break,
  // and the leaving tasks that such rules may select.
  void FindServed() {
    const auto add = [this](const Placement& one) {
      if (one.task->class_key.DependsOnPeers()) served_.push_back(one);
    };
    for (const Placement& one : context_.FreshPlacements()) add(one);
    for (const auto& [id, machine] : state_.nominations().machines()) {
      add({state_.FindTask(id), machine});
    }
    if (served_.empty()) return;
    for (const auto& [id, machine] : state_.machines()) {
      // Tasks on a departed machine may never leave.
      if (machine->leaving_count == 0 || !machine->IsSound()) continue;
      for (const TaskId one : machine->tasks) {
        const Task* task = state_.FindTask(one);
        if (task->is_evicted && task->class_key.DependsOnPeers()) {
          leavers_.push_back(task);
        }
      }
    }
  }

  // The same for all of them together.
  bool LeaveRoom(const Party& party) const {
    if (!std::ranges::all_of(party, [this](const Task* task) {
          return CanBeHeldBeside(*task) && LeavesPorts(*task);
        })) {
      return false;
    }
    if (party.size() == 1) return true;
    std::map<MachineId, Resources> staying;
    for (const Task* task : party) {
      staying[task->machine] += task->class_key.request;
    }
    return std::ranges::all_of(staying, [this](const auto& entry) {
      return state_.nominations().CanBeHeldBy(*state_.FindMachine(entry.first),
                                              entry.second);
    });
  }

  // Puts the party back, unless that shuts a task out, or leaves too few of a
  // gang.
  bool PutBack(const Party& party) {
    std::vector<TaskId> spared;
    for (const Task* task : party) {
      if (state_.Spare(task->id)) spared.push_back(task->id);
    }
    if (spared.size() == party.size() && AreEnough(party) &&
        (!DependOnPeers(party) || LetAllBe(party))) {
      return true;
    }
    for (const TaskId id : spared) state_.Preempt(id);
    return false;
  }

  // Others of the gang may have been told to leave before this round.
  bool AreEnough(const Party& party) const {
    const ClassKey& key = party.front()->class_key;
    return !key.gang.has_value() || state_.FindJob(*key.gang)->running_count >=
                                        context_.gangs.MinimumFor(key);
  }

  // Newcomers that prevent this wait, if they may.
  bool LetAllBe(const Party& party) {
    Transaction taking_back(context_.now_ms, &state_);
    std::vector<Placement> taken;
    while (true) {
      const auto shut_out = FindShutOut(party, taken);
      if (shut_out == served_.end()) break;
      const Placement* newcomer = FindNewcomer(party, *shut_out, taken);
      if (newcomer == nullptr) return false;
      taken.push_back(*newcomer);
      taking_back.Withdraw({newcomer, 1});
    }
    for (const Placement& one : taken) {
      std::erase_if(served_, [&one](const Placement& other) {
        return other.task == one.task;
      });
      newcomers_->erase(one.task->id);
    }
    context_.Keep(&taking_back);
    return true;
  }

  // The first task, of those that have come or are to come, that may not be
  // there beside these and without those taken back, once all that still must
  // leave have left.
  std::vector<Placement>::const_iterator FindShutOut(
      const Party& party, std::span<const Placement> taken) {
    state_.SyncPeers();
    std::vector<const Task*> leavers;
    std::ranges::copy_if(leavers_, std::back_inserter(leavers),
                         &Task::is_evicted);
    return std::ranges::find_if(served_, [&](const Placement& one) {
      if (IsOneOf(*one.task, taken)) return false;
      context_.budget.Spend(Effort::kVictims, std::ssize(party));
      if (context_.budget.Left(Effort::kVictims) < 0) return true;
      // Without those taken back, an emptiest domain may have sunk.
      return (!taken.empty() || Concerns(party, one)) && !MayBe(one, leavers);
    });
  }

  // The least urgent newcomer, no more urgent than these, that may be what
  // shuts the task out, or that is the task itself; null if there is none.
  const Placement* FindNewcomer(const Party& party, const Placement& shut_out,
                                std::span<const Placement> taken) {
    if (!may_take_back_ || context_.budget.Left(Effort::kVictims) < 0)
      return nullptr;
    if (!newcomers_.has_value()) newcomers_ = FindWhoMayYield({}, &context_);
    const auto rank = [](const Task& task) {
      return std::pair(-int64_t{task.class_key.priority}, task.sequence);
    };
    const Placement* least = nullptr;
    context_.budget.Spend(Effort::kVictims, std::ssize(served_));
    for (const Placement& one : served_) {
      const Task& task = *one.task;
      if (!newcomers_->contains(task.id) || IsOneOf(task, taken) ||
          context_.nominated_before.contains(task.id) ||
          task.class_key.priority > LowestOf(party) ||
          (one.task != shut_out.task && !Concerns({one.task}, shut_out))) {
        continue;
      }
      if (least == nullptr || rank(*least->task) < rank(task)) least = &one;
    }
    return least;
  }

  static bool IsOneOf(const Task& task, std::span<const Placement> placements) {
    return std::ranges::any_of(placements, [&task](const Placement& one) {
      return one.task == &task;
    });
  }
  static bool DependOnPeers(const Party& party) {
    return std::ranges::any_of(party, [](const Task* task) {
      return task->class_key.DependsOnPeers();
    });
  }
  static uint32_t LowestOf(const Party& party) {
    return (*std::ranges::min_element(
                party, {},
                [](const Task* task) { return task->class_key.priority; }))
        ->class_key.priority;
  }

  bool MayBe(const Placement& one, std::span<const Task* const> leavers) {
    const ClassKey& key = one.task->class_key;
    // Each spread looks at all machines.
    context_.budget.Spend(
        Effort::kVictims,
        1 + 2 * std::ssize(key.rules->spread) * std::ssize(state_.machines()));
    return ClassPeers(state_, context_.constraints, key, one.task)
               .AllowsBesideSpreadWithout(*state_.FindMachine(one.machine),
                                          leavers) &&
           PromisedSpreads(state_, context_.constraints, key)
               .AllowAll(one.machine);
  }

  // True if one of these, where it runs, could keep that one out.
  bool Concerns(const Party& party, const Placement& one) const {
    const PeerTable& peers = state_.peers();
    const ClassKey& key = one.task->class_key;
    const PeerTerms& terms = peers.TermsOf(*key.rules);
    return std::ranges::any_of(party, [&](const Task* task) {
      const auto is_near = [&](const CountedTerm& term) {
        const DomainIndex domain = term.topology->DomainOf(one.machine);
        return domain != kNoDomain &&
               domain == term.topology->DomainOf(task->machine);
      };
      const auto is_counted = [&](const CountedTerm* term) {
        return IsMeantBy(*term, task->class_key) && is_near(*term);
      };
      // It may be there as the first of those that it must be near.
      const auto is_first = [&](const CountedTerm* term) {
        return IsMeantBy(*term, task->class_key) && !is_near(*term);
      };
      return peers.KeepApart(key, task->class_key, is_near) ||
             std::ranges::any_of(terms.spread, is_counted) ||
             std::ranges::any_of(terms.affinity, is_first);
    });
  }

  RoundContext& context_;
  ClusterState& state_;
  const bool may_lose_room_;
  const bool may_take_back_;
  std::vector<Placement> served_;
  // Those that may be taken back, once they are known.
  std::optional<absl::btree_map<TaskId, Cost>> newcomers_;
  std::vector<const Task*> leavers_;
};

// Returns how many there were.
int64_t EraseAll(const std::set<TaskId>& spared, std::vector<TaskId>* victims) {
  if (spared.empty()) return 0;
  return static_cast<int64_t>(std::erase_if(
      *victims, [&spared](TaskId id) { return spared.contains(id); }));
}

// Removes victims that a client may have been told of, whatever happens.
void KeepUntold(const ClusterState& state, std::vector<TaskId>* victims) {
  absl::flat_hash_set<TaskId> untold;
  for (const auto& [sequence, delta] : state.outbox()) {
    if (delta.type == DeltaType::kPreempt && !delta.may_be_known) {
      untold.insert(delta.task);
    }
  }
  std::erase_if(*victims,
                [&untold](TaskId id) { return !untold.contains(id); });
}

}  // namespace

void SpareNeedless(NewcomersInTheWay newcomers, RoundContext* context) {
  std::vector<TaskId>& victims = context->agenda.known.victims;
  // If nothing has changed, a task that could not stay then cannot stay now.
  const std::array<uint64_t, 3> as_of = {context->state.version(),
                                         context->state.nominations().changes(),
                                         victims.size()};
  if (victims.empty() || context->needed_as_of == as_of) return;
  if (newcomers == NewcomersInTheWay::kTakeBack) context->needed_as_of = as_of;
  const std::set<TaskId> spared = Spare(newcomers, context).Run(victims);
  context->stats->preempted -= EraseAll(spared, &victims);
}

void SpareUntold(RoundContext* context) {
  std::vector<TaskId>* earlier = context->untold_victims;
  if (earlier != nullptr && !earlier->empty()) {
    KeepUntold(context->state, earlier);
  }
  if (earlier == nullptr || earlier->empty()) {
    SpareNeedless(NewcomersInTheWay::kLoseRoom, context);
    if (earlier != nullptr) *earlier = context->agenda.known.victims;
    return;
  }
  // All at once: some of a gang may have been stopped before.
  std::vector<TaskId>& own = context->agenda.known.victims;
  earlier->insert(earlier->end(), own.begin(), own.end());
  const std::set<TaskId> spared =
      Spare(NewcomersInTheWay::kLoseRoom, context).Run(*earlier);
  context->stats->preempted -= EraseAll(spared, &own);
  EraseAll(spared, earlier);
}

}  // namespace sluice
