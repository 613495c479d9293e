#include "round/stages/nominated.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "constraints/class_peers.h"
#include "round/context/known_plan.h"
#include "round/packing/running_tasks.h"
#include "round/together/domain_conflicts.h"
#include "round/together/promised_spreads.h"

namespace sluice {
namespace {

// A party is what is placed together: one task, or those of a gang.
class Nominated {
 public:
  explicit Nominated(RoundContext* context)
      : context_(*context), state_(context->state) {}

  // Successors go first: other decisions of the round must not take away their
  // places again, or a task would have been stopped for an equal one.
  void Serve() {
    FindLeavers();
    Serve(/*successors=*/true);
    context_.delta_begin = state_.counters().next_delta_sequence;
    Serve(/*successors=*/false);
  }

  // The least urgent first: more urgent ones may count them.
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
      // Tasks on a departed machine may never leave.
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

  // The most urgent first.  A gang that no client knows of yet forms one party
  // of all its nominated tasks, at its most urgent task's place.
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

  // True if it will have room, may still go there, and is enough to start.
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

  // True if all tasks that it must be near are leaving and have not left yet,
  // so it would be the first.
  bool MustAwaitCompany(const ClassKey& key, MachineId machine) const {
    return !key.rules->affinity.empty() &&
           ClassPeers(state_, context_.constraints, key)
               .WaitsToBeFirstOn(machine);
  }

  void End(const std::vector<Placement>& party) {
    for (const Placement& one : party) state_.EndNomination(one.task->id);
  }

  // Places all of it, or none: then it waits like any other.
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
        // If a domain must rise first, and a task is to come there, this one
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

  // True if room reserved for a task of the class, or for one that its spreads
  // select, is not free yet: the task that is counted before a domain rises may
  // be the one that shuts it out.
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

  // True for too few of a gang, or for a task that its spreads keep away
  // whichever others come.  A successor has its predecessor's place.
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

  // A gang that could is rare, so it is not searched for.  A successor could go
  // back to its predecessor's place, but that was left for a reason.
  bool CouldGoElsewhere(const std::vector<Placement>& party) {
    const Task& task = *party.front().task;
    const ClassKey& key = task.class_key;
    if (context_.gangs.MayBeUndone(key)) return false;
    // Negative if the clock was set back: then the waiting time is unknown.
    const int64_t waited_ms = context_.now_ms - task.submitted_ms;
    if (state_.nominations().IsSuccessor(task.id) && waited_ms >= 0 &&
        waited_ms < kSuccessorWaitMs) {
      return false;
    }
    const std::vector<const Machine*>& machines = FindRoomFor(key);
    const std::pair id(key, party.front().machine);
    if (machines.empty() || bound_.contains(id)) return false;
    context_.budget.Note(std::ssize(machines));
    std::optional<ClassPeers> peers;
    if (key.DependsOnPeers()) {
      state_.SyncPeers();
      // A task is not in its own way where it has reserved room.
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

  // The machines with room for a task of the class now, regardless of its rules
  // about other tasks.
  const std::vector<const Machine*>& FindRoomFor(const ClassKey& key) {
    const auto [it, is_new] = with_room_.try_emplace(key);
    std::vector<const Machine*>& found = it->second;
    if (!is_new) return found;
    context_.budget.Note(std::ssize(state_.machines()));
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
  // Leavers that keep others out of domains until they are gone.
  DomainConflicts leavers_{state_.peers()};
  std::map<ClassKey, std::vector<const Machine*>> with_room_;
  // By machine, the requests of tasks that gave up their room there.
  std::map<MachineId, Resources> claimed_;
  // Classes without room elsewhere, and where their room is reserved.
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
