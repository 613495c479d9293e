#include "core/stages/nominated.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "constraints/class_peers.h"
#include "core/domain_conflicts.h"
#include "core/known_plan.h"
#include "core/promised_spreads.h"
#include "core/running_tasks.h"

namespace sluice {
namespace {

// A party is what is placed together: one task, or those of a gang.
class Nominated {
 public:
  explicit Nominated(RoundContext* context)
      : context_(*context), state_(context->state) {}

  // Successors first: what the round decides otherwise is not to take their
  // places away again, or a task would have been stopped for an equal.
  void Serve() {
    FindLeavers();
    Serve(/*successors=*/true);
    context_.delta_begin = state_.counters().next_delta_sequence;
    Serve(/*successors=*/false);
  }

  // The least urgent first: those above may count them.
  void EndVain() {
    std::vector<std::vector<Placement>> parties = FindParties();
    std::ranges::reverse(parties);
    for (const std::vector<Placement>& party : parties) {
      if (!IsInVain(party)) continue;
      End(party);
      spreads_.clear();
    }
  }

 private:
  void FindLeavers() {
    for (const auto& [id, machine] : state_.machines()) {
      // From one that is gone they may never leave.
      if (machine->leaving_count == 0 || !machine->IsSound()) continue;
      for (const TaskId one : machine->tasks) {
        const Task& task = *state_.FindTask(one);
        if (task.is_evicted) leavers_.Add(task.class_key, id);
      }
    }
  }

  void Serve(bool successors) {
    for (const std::vector<Placement>& party : FindParties()) {
      if (state_.nominations().IsSuccessor(party.front().task->id) !=
          successors) {
        continue;
      }
      if (!MayStay(party)) {
        End(party);
      } else if (HasRoom(party)) {
        Place(party);
      } else if (CouldGoElsewhere(party)) {
        End(party);
      }
    }
  }

  // The most urgent first.  Of a gang that nobody knows of yet all that are
  // nominated, at its most urgent task's place.
  std::vector<std::vector<Placement>> FindParties() const {
    std::vector<Placement> all;
    for (const auto& [id, machine] : state_.nominations().machines()) {
      all.push_back({state_.FindTask(id), machine});
    }
    std::ranges::sort(all, [](const Placement& a, const Placement& b) {
      const ClassKey& key_a = a.task->class_key;
      const ClassKey& key_b = b.task->class_key;
      if (key_a.priority != key_b.priority) {
        return key_a.priority > key_b.priority;
      }
      return a.task->sequence < b.task->sequence;
    });
    std::vector<std::vector<Placement>> parties;
    std::map<JobId, size_t> party_of;
    for (const Placement& one : all) {
      const ClassKey& key = one.task->class_key;
      if (!context_.gangs.MayBeUndone(key)) {
        parties.push_back({one});
        continue;
      }
      const auto [it, is_new] = party_of.try_emplace(*key.gang, parties.size());
      if (is_new) parties.emplace_back();
      parties[it->second].push_back(one);
    }
    return parties;
  }

  // Whether it will have room, may still go there, and is enough to start.
  bool MayStay(const std::vector<Placement>& party) const {
    if (context_.gangs.MayBeUndone(party.front().task->class_key)) {
      int64_t minimum = 0;
      for (const Placement& one : party) {
        minimum =
            std::max(minimum, context_.gangs.MinimumFor(one.task->class_key));
      }
      if (std::ssize(party) < minimum) return false;
    }
    return std::ranges::all_of(party, [this](const Placement& one) {
      const Machine& machine = *state_.FindMachine(one.machine);
      const ClassKey& key = one.task->class_key;
      return state_.nominations().CanBeHeldBy(machine) &&
             context_.constraints.AllowsAspect(MachineAspect::kLabels, key,
                                               machine) &&
             context_.constraints.AllowsAspect(MachineAspect::kTaints, key,
                                               machine);
    });
  }

  bool HasRoom(const std::vector<Placement>& party) const {
    std::map<MachineId, Resources> requests;
    for (const Placement& one : party) {
      requests[one.machine] += one.task->class_key.request;
    }
    return std::ranges::all_of(
               requests,
               [this](const auto& entry) {
                 const Machine& machine = *state_.FindMachine(entry.first);
                 return entry.second.FitsIn(machine.Offered() - machine.used);
               }) &&
           std::ranges::none_of(party, [this](const Placement& one) {
             const ClassKey& key = one.task->class_key;
             return MustAwait(key, *state_.FindMachine(one.machine), {},
                              state_) ||
                    leavers_.HighestAgainst(key, one.machine).has_value() ||
                    MustAwaitCompany(key, one.machine);
           });
  }

  // Whether it is to be the first of those that it must be near, and these have
  // not left yet.
  bool MustAwaitCompany(const ClassKey& key, MachineId machine) const {
    return !key.rules->affinity.empty() &&
           ClassPeers(state_, context_.constraints, key)
               .WaitsToBeFirstOn(machine);
  }

  void End(const std::vector<Placement>& party) {
    for (const Placement& one : party) state_.EndNomination(one.task->id);
  }

  // All of it, or none: then it waits as any other.
  void Place(const std::vector<Placement>& party) {
    const bool is_final = state_.nominations().IsFinal(party.front().task->id);
    End(party);
    Transaction transaction(context_.now_ms, &state_);
    state_.SyncPeers();
    for (const auto& [task, id] : party) {
      const Machine& machine = *state_.FindMachine(id);
      if (!context_.constraints.Allows(task->class_key, machine)) return;
      const ClassPeers peers(state_, context_.constraints, task->class_key);
      if (!peers.Allows(machine)) {
        // Where a domain has to rise first, and somebody is to come there, it
        // keeps its room meanwhile.
        if (party.size() == 1 && peers.AllowsBesideSpread(machine) &&
            IsAnyToCome(*task, peers) &&
            KeepRoomAgain(task->id, id, is_final, &state_) &&
            CouldGoElsewhere(party)) {
          End(party);
        }
        return;
      }
      transaction.Place(*task, id);
    }
    context_.Keep(&transaction);
  }

  // Whether room is not free yet that is kept for one of the task's class, or
  // for one that its spreads mean: who is counted before a domain rises may be
  // who shuts it out.
  bool IsAnyToCome(const Task& task, const ClassPeers& peers) const {
    const ClassKey& key = task.class_key;
    return std::ranges::any_of(
        state_.nominations().machines(), [&](const auto& entry) {
          const Task& other = *state_.FindTask(entry.first);
          return (other.class_key == key ||
                  peers.IsSpreadOver(other.class_key)) &&
                 !HasRoom({{&other, entry.second}});
        });
  }

  // Too few of a gang, or one that its spreads keep away whoever else comes.
  // A successor has its predecessor's place.
  bool IsInVain(const std::vector<Placement>& party) {
    const Task& task = *party.front().task;
    const ClassKey& key = task.class_key;
    if (state_.nominations().IsSuccessor(task.id) ||
        state_.nominations().IsReservation(task.id)) {
      return false;
    }
    if (context_.gangs.MayBeUndone(key)) {
      return state_.FindJob(*key.gang)->running_count == 0 && !MayStay(party);
    }
    return !SpreadsOf(key).Allow(party.front().machine);
  }

  const PromisedSpreads& SpreadsOf(const ClassKey& key) {
    const auto known = spreads_.find(key);
    if (known != spreads_.end()) return known->second;
    state_.SyncPeers();
    return spreads_.try_emplace(key, state_, context_.constraints, key)
        .first->second;
  }

  // A gang that could is rare, and not looked for.  A successor could where its
  // predecessor was, which left that for a reason.
  bool CouldGoElsewhere(const std::vector<Placement>& party) {
    const Task& task = *party.front().task;
    const ClassKey& key = task.class_key;
    if (context_.gangs.MayBeUndone(key)) return false;
    // Less than nothing where the clock was set back: then it has waited for
    // who knows how long.
    const int64_t waited_ms = context_.now_ms - task.submitted_ms;
    if (state_.nominations().IsSuccessor(task.id) && waited_ms >= 0 &&
        waited_ms < kSuccessorWaitMs) {
      return false;
    }
    const std::vector<const Machine*>& machines = FindRoomFor(key);
    const std::pair id(key, party.front().machine);
    if (machines.empty() || bound_.contains(id)) return false;
    context_.looks += std::ssize(machines);
    std::optional<ClassPeers> peers;
    if (key.DependsOnPeers()) {
      state_.SyncPeers();
      // A task is not in its own way where it has room kept.
      peers.emplace(state_, context_.constraints, key, &task);
    }
    const auto has_room = [&](const Machine* machine) {
      return key.request.FitsIn(machine->Free() - claimed_[machine->id]) &&
             (!peers.has_value() || peers->Allows(*machine));
    };
    const auto elsewhere = std::ranges::find_if(machines, has_room);
    if (elsewhere == machines.end()) {
      bound_.insert(id);
      return false;
    }
    claimed_[(*elsewhere)->id] += key.request;
    return true;
  }

  // The machines where a task of the class has room at once, whatever its rules
  // about other tasks say.
  const std::vector<const Machine*>& FindRoomFor(const ClassKey& key) {
    const auto [it, is_new] = with_room_.try_emplace(key);
    std::vector<const Machine*>& found = it->second;
    if (!is_new) return found;
    context_.looks += std::ssize(state_.machines());
    for (const auto& [id, machine] : state_.machines()) {
      if (machine->IsUsable() && key.request.FitsIn(machine->Free()) &&
          context_.constraints.Allows(key, *machine)) {
        found.push_back(machine.get());
      }
    }
    return found;
  }

  RoundContext& context_;
  ClusterState& state_;
  // Those that keep others out of domains until they are gone.
  DomainConflicts leavers_{state_.peers()};
  std::map<ClassKey, std::vector<const Machine*>> with_room_;
  // What those ask for that gave up their room for a machine.
  std::map<MachineId, Resources> claimed_;
  // Classes that have room nowhere else, and where they have it kept.
  std::set<std::pair<ClassKey, MachineId>> bound_;
  std::map<ClassKey, PromisedSpreads> spreads_;  // Until a nomination ends.
};

}  // namespace

void EndVainNominations(RoundContext* context) {
  if (context->state.nominations().machines().empty()) return;
  Nominated(context).EndVain();
}

void ServeNominated(RoundContext* context) {
  context->state.EndSuccessions(context->now_ms);
  if (context->state.nominations().machines().empty()) return;
  context->state.SyncPeers();
  Nominated(context).Serve();
}

}  // namespace sluice
