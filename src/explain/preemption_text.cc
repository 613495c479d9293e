#include "explain/preemption_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "constraints/class_peers.h"
#include "constraints/constraint_set.h"
#include "constraints/named_machine.h"
#include "constraints/shown_text.h"
#include "round/leaving/broken_rules.h"
#include "round/packing/running_tasks.h"
#include "round/together/disruptions.h"

namespace sluice {
namespace {

// What the task may displace.  A nominated task has its room on another
// machine, so it counts as having none.
class Displacing {
 public:
  Displacing(const Task& task, const Scheduler& scheduler)
      : task_(task),
        state_(scheduler.state()),
        constraints_(scheduler.constraints()),
        options_(scheduler.preemption()),
        peers_(state_, constraints_, task.class_key,
               state_.nominations().Contains(task.id) ? &task : nullptr),
        disruptions_(state_) {}

  std::string Text() {
    AskAllBut(std::nullopt);
    if (machines_ > 0) {
      return StrCat(
          "; ", MachinesText(machines_),
          " have room for it without the less urgent tasks, which the "
          "next round may stop",
          CheapestText());
    }
    if (protected_machines_ > 0) {
      return StrCat("; ", MachinesText(protected_machines_),
                    " have room for it without the less urgent tasks, but "
                    "disruption budgets protect these: ",
                    BudgetsText());
    }
    if (gang_machines_ > 0) {
      return StrCat(
          "; ", MachinesText(gang_machines_),
          " have room for it without the less urgent gangs; such a "
          "gang goes on with its minimum, or is stopped as a whole if "
          "each of its tasks may be");
    }
    if (overfull_machines_ > 0) {
      return StrCat("; no task is stopped on an overcommitted machine, and ",
                    overfull_machines_,
                    overfull_machines_ == 1 ? " machine is" : " machines are");
    }
    if (!is_any_less_urgent_) return "; no less urgent task can be stopped";
    return "; no machine would have room for it even without the less urgent "
           "tasks";
  }

  // Who could be stopped instead of `victim`, whose room the task takes.
  std::string AlternativeText(const Task& victim) {
    AskAllBut(victim.machine);
    const std::string name = ShownText(task_.name);
    if (machines_ == 0) {
      return StrCat(
          "; no other machine could make room for ", name,
          protected_machines_ > 0 ? " within disruption budgets" : "");
    }
    const size_t count = cheapest_.priorities.size();
    const std::string where = NamedMachine(*cheapest_.machine);
    if (count == 0) {
      const bool has_room =
          task_.class_key.request.FitsIn(cheapest_.machine->Free());
      return StrCat("; by now ", where,
                    has_room ? " has room for " : " will have room for ", name,
                    ", too");
    }
    const uint32_t highest = cheapest_.priorities.front();
    return StrCat("; instead, ", TasksText(count), " on ", where,
                  " could be stopped at a cost of ", cheapest_.cost,
                  highest <= victim.class_key.priority
                      ? ""
                      : StrCat(", the most urgent of priority ", highest));
  }

 private:
  void AskAllBut(std::optional<MachineId> left_out) {
    for (const auto& [id, machine] : state_.machines()) {
      if (machine->IsUsable() && id != left_out) Ask(*machine);
    }
  }

  static std::string TasksText(size_t count) {
    return StrCat(count, count == 1 ? " task" : " tasks");
  }

  static std::string MachinesText(int64_t count) {
    return StrCat(count, count == 1 ? " machine would" : " machines would");
  }

  // What has to be stopped on a machine.
  struct Price {
    // Priorities of what is stopped, descending.  The price with the lower
    // entry at the first difference is lower.
    std::vector<uint32_t> priorities = {};
    int64_t cost = 0;
    const Machine* machine = nullptr;

    bool IsLessThan(const Price& other) const {
      return std::tie(priorities, cost) <
             std::tie(other.priorities, other.cost);
    }
  };

  // What tasks free once they are gone.
  struct Gone {
    Resources requests;
    std::vector<HostPort> ports;

    void Add(const Task& task) {
      requests += task.class_key.request;
      const std::vector<HostPort>& of_task = task.class_key.rules->host_ports;
      ports.insert(ports.end(), of_task.begin(), of_task.end());
    }
  };

  void Ask(const Machine& machine) {
    // A round does not know what room the end of a task would leave there.
    if (!machine.used.FitsIn(machine.Offered())) {
      ++overfull_machines_;
      return;
    }
    Gone all;
    Gone unprotected;
    Gone with_gangs;
    std::vector<const Task*> stoppable;
    std::map<size_t, int64_t> taken;  // Of budgets.
    std::set<size_t> protecting;
    // Some of the room of leavers is reserved for others.
    if (machine.KeepsRoom()) {
      all.requests -= machine.awaited;
      unprotected.requests -= machine.awaited;
      with_gangs.requests -= machine.awaited;
    }
    for (const TaskId id : machine.tasks) {
      const Task& other = *state_.FindTask(id);
      if (other.is_evicted) {
        all.Add(other);
        unprotected.Add(other);
        with_gangs.Add(other);
        continue;
      }
      if (!MayBeStopped(other, task_.class_key.priority, state_)) continue;
      is_any_less_urgent_ = true;
      with_gangs.Add(other);
      if (other.class_key.gang.has_value()) continue;
      all.Add(other);
      const std::vector<size_t>& budgets = disruptions_.BudgetsOf(other);
      bool is_protected = disruptions_.Allowed(budgets) == 0;
      for (const size_t b : budgets) {
        if (++taken[b] <= disruptions_.standings()[b].allowed &&
            !is_protected) {
          continue;
        }
        is_protected = true;
        protecting.insert(b);
      }
      if (!is_protected || options_.breaks_budgets) {
        unprotected.Add(other);
        stoppable.push_back(&other);
      }
    }
    if (!WouldFit(machine, all)) {
      if (WouldFit(machine, with_gangs)) ++gang_machines_;
      return;
    }
    if (WouldFit(machine, unprotected)) {
      ++machines_;
      const Price price =
          PriceOf(machine, std::move(stoppable), unprotected.requests);
      if (machines_ == 1 || price.IsLessThan(cheapest_)) cheapest_ = price;
      return;
    }
    ++protected_machines_;
    budgets_.merge(protecting);
  }

  // Lets each task stay that can, the most urgent first, then those that cost
  // the most.  `gone`: the room of all of them, and of what leaves anyway.
  Price PriceOf(const Machine& machine, std::vector<const Task*> stoppable,
                Resources gone) const {
    const ClassKey& key = task_.class_key;
    std::ranges::sort(stoppable, {}, [this](const Task* one) {
      return std::tuple(-int64_t{one->class_key.priority},
                        -StopCost(*one, options_), one->placed_ms,
                        one->sequence);
    });
    Price price = {.machine = &machine};
    for (const Task* one : stoppable) {
      Resources without = gone - one->class_key.request;
      if (key.request.FitsIn(machine.Free() + without) &&
          !AreApart(key, one->class_key, state_.peers())) {
        gone = std::move(without);
        continue;
      }
      price.priorities.push_back(one->class_key.priority);
      price.cost += StopCost(*one, options_);
    }
    return price;
  }

  std::string CheapestText() const {
    const size_t count = cheapest_.priorities.size();
    const std::string where = StrCat(" on ", NamedMachine(*cheapest_.machine));
    // The tasks that leave already suffice.
    if (count == 0) {
      return StrCat(":", where, " the tasks told to leave suffice");
    }
    return StrCat(": ", TasksText(count), where, ", at a cost of ",
                  cheapest_.cost);
  }

  bool WouldFit(const Machine& machine, const Gone& gone) const {
    const ClassKey& key = task_.class_key;
    if (!key.request.FitsIn(machine.Free() + gone.requests)) return false;
    Machine after = machine;
    after.used -= gone.requests;
    after.ReleasePorts(gone.ports);
    return constraints_.Allows(key, after) && IsAllowedByPeers(machine);
  }

  // Tasks that it could displace do not keep it away.
  bool IsAllowedByPeers(const Machine& machine) const {
    const ClassKey& key = task_.class_key;
    if (peers_.Allows(machine)) return true;
    bool is_any_in_the_way = false;
    for (const TaskId id : machine.tasks) {
      const Task& other = *state_.FindTask(id);
      if (!state_.peers().KeepApart(key, other.class_key)) continue;
      if (!other.is_evicted &&
          !MayBeStoppedAlone(other, key.priority, state_)) {
        return false;
      }
      is_any_in_the_way = true;
    }
    return is_any_in_the_way;
  }

  std::string BudgetsText() const {
    const std::vector<size_t> budgets(budgets_.begin(), budgets_.end());
    return JoinShown(std::span(budgets), ", ", [this](size_t b) {
      const Disruptions::Standing& one = disruptions_.standings()[b];
      if (one.available - one.needed > one.allowed) {
        return StrCat(ShownText(one.name), " lets ", one.allowed, " go");
      }
      return StrCat(ShownText(one.name), " needs ", one.needed,
                    " available tasks and has ", one.available);
    });
  }

  const Task& task_;
  const ClusterState& state_;
  const ConstraintSet& constraints_;
  const PreemptionOptions& options_;
  const ClassPeers peers_;
  Disruptions disruptions_;
  bool is_any_less_urgent_ = false;
  // Machines that would have room, within budgets and otherwise.
  int64_t machines_ = 0;
  Price cheapest_;  // Of these.
  int64_t protected_machines_ = 0;
  int64_t gang_machines_ = 0;  // A task of a gang must leave there.
  int64_t overfull_machines_ = 0;
  std::set<size_t> budgets_;  // Those that forbid that.
};

// Where the task was told to move, while room is reserved there for its
// successor; null if nowhere.
const Machine* TargetOf(const Task& task, const ClusterState& state) {
  for (const auto& [sequence, one] : state.nominations().successions().all()) {
    if (one.predecessor == task.id && one.machine.has_value() &&
        one.predecessor_sequence == task.sequence) {
      return state.FindMachine(*one.machine);
    }
  }
  return nullptr;
}

// Why its stop costs more than that of others.
std::string OwnCostText(const Task& task) {
  std::string text;
  if (task.preemption_cost > 0) {
    text = StrCat(", with a preemption_cost of ", task.preemption_cost,
                  " of its own");
  }
  if (task.disturbances > 0) {
    text += StrCat(", and it was stopped or moved ", task.disturbances,
                   task.disturbances == 1 ? " time" : " times", " before");
  }
  return text;
}

// The most urgent task nominated on the machine; null if there is none.
const Task* MostUrgentOn(MachineId machine, const ClusterState& state) {
  const Task* highest = nullptr;
  for (const TaskId id : state.FindMachine(machine)->nominated) {
    const Task* one = state.FindTask(id);
    if (highest == nullptr ||
        highest->class_key.priority < one->class_key.priority) {
      highest = one;
    }
  }
  return highest;
}

// The task for which this one makes room on its machine; where it is stopped,
// that task is more urgent.  Null if there is none.
const Task* StoppedFor(const Task& task, const ClusterState& state) {
  const Task* highest = MostUrgentOn(task.machine, state);
  const bool may_be = highest != nullptr &&
                      (highest->class_key.priority > task.class_key.priority ||
                       TargetOf(task, state) != nullptr);
  return may_be ? highest : nullptr;
}

// The most urgent task that is nominated on another machine, in a domain that a
// rule does not let it share with this task; and the key of that domain.
std::pair<const Task*, std::string> KeptOutBy(const Task& task,
                                              const ClusterState& state) {
  std::pair<const Task*, std::string> highest = {nullptr, ""};
  for (const auto& [id, machine] : state.nominations().machines()) {
    const Task* one = state.FindTask(id);
    const uint32_t least = highest.first == nullptr
                               ? task.class_key.priority
                               : highest.first->class_key.priority;
    if (machine == task.machine || one->class_key.priority <= least) continue;
    state.peers().KeepApart(
        one->class_key, task.class_key, [&](const CountedTerm& term) {
          const DomainIndex domain = term.topology->DomainOf(machine);
          const bool is_shared =
              domain != kNoDomain &&
              domain == term.topology->DomainOf(task.machine);
          if (is_shared) highest = {one, term.topology->key()};
          return is_shared;
        });
  }
  return highest;
}

// Why the nominated task may not come to its machine as long as the other one
// runs elsewhere, by a rule of its own other than anti-affinity; empty if it
// may.
std::string CountedText(const Task& nominated, MachineId there,
                        const Task& task, const ClusterState& state) {
  const PeerTerms& terms = state.peers().TermsOf(*nominated.class_key.rules);
  const auto is_shared = [&](const CountedTerm* term) {
    const DomainIndex domain = term->topology->DomainOf(there);
    return domain != kNoDomain &&
           domain == term->topology->DomainOf(task.machine);
  };
  for (const CountedTerm* term : terms.affinity) {
    if (!IsMeantBy(*term, task.class_key) || is_shared(term)) continue;
    return ", as the first of the tasks that it has to be near";
  }
  for (size_t i = 0; i < terms.spread.size(); ++i) {
    const CountedTerm* term = terms.spread[i];
    if (!nominated.class_key.rules->spread[i].is_required ||
        !IsMeantBy(*term, task.class_key) || !is_shared(term)) {
      continue;
    }
    return StrCat(": it is spread over each '", term->topology->key(),
                  "', where this one counts");
  }
  return "";
}

// " to let web-1 of priority 9 onto machine 'm', as ...", for the most urgent
// task that waits for this one to leave another machine; empty if there is
// none.
std::string CountedForText(const Task& task, const ClusterState& state) {
  const Task* highest = nullptr;
  std::string text;
  for (const auto& [id, machine] : state.nominations().machines()) {
    const Task* one = state.FindTask(id);
    const uint32_t least = highest == nullptr ? task.class_key.priority
                                              : highest->class_key.priority;
    if (machine == task.machine || one->class_key.priority <= least) continue;
    const std::string why = CountedText(*one, machine, task, state);
    if (why.empty()) continue;
    highest = one;
    text = StrCat(" to let ", ShownText(one->name), " of priority ",
                  one->class_key.priority, " onto ",
                  NamedMachine(*state.FindMachine(machine)), why);
  }
  return text;
}

// The tasks that were told to move to the machine, where room is reserved for
// their successors, in that order.  They may have ended by now.
std::vector<const Task*> MovingTo(MachineId machine,
                                  const ClusterState& state) {
  std::vector<const Task*> moving;
  for (const auto& [sequence, one] : state.nominations().successions().all()) {
    if (one.machine != machine) continue;
    const Task* task = state.FindTask(one.predecessor);
    if (task != nullptr && task->sequence == one.predecessor_sequence) {
      moving.push_back(task);
    }
  }
  return moving;
}

// A task more urgent than `priority` that is to come to this machine, or to one
// that tasks leave to come here, and so on; null if there is none.
const Task* EndOfChain(MachineId machine, uint32_t priority,
                       const ClusterState& state, std::set<MachineId>* seen) {
  if (!seen->insert(machine).second) return nullptr;
  const Task* highest = MostUrgentOn(machine, state);
  if (highest != nullptr && highest->class_key.priority > priority) {
    return highest;
  }
  for (const Task* moving : MovingTo(machine, state)) {
    if (moving->state != TaskState::kRunning) continue;
    const Task* end = EndOfChain(moving->machine, priority, state, seen);
    if (end != nullptr) return end;
  }
  return nullptr;
}

std::string ForText(const Task& task) {
  return StrCat(" to make room for ", ShownText(task.name), " of priority ",
                task.class_key.priority);
}

// " to make room for web-1 of priority 1000", or for one that moves there to
// make room elsewhere; empty if for none.
std::string StoppedForText(const Task& task, const ClusterState& state) {
  if (const Task* highest = StoppedFor(task, state)) {
    const size_t count = state.FindMachine(task.machine)->nominated.size();
    return ForText(*highest) +
           (count > 1 ? StrCat(" and ", count - 1, " more") : "");
  }
  if (const auto [one, key] = KeptOutBy(task, state); one != nullptr) {
    return StrCat(" to let ", ShownText(one->name), " of priority ",
                  one->class_key.priority, " onto ",
                  NamedMachine(*state.FindMachine(
                      state.nominations().machines().find(one->id)->second)),
                  ": the rules let them share no '", key, "'");
  }
  const std::vector<const Task*> moving = MovingTo(task.machine, state);
  if (moving.empty()) return CountedForText(task, state);
  std::set<MachineId> seen = {task.machine};
  const Task* of = moving.front();
  const Task* end = nullptr;
  for (const Task* one : moving) {
    if (end != nullptr || one->state != TaskState::kRunning) continue;
    end = EndOfChain(one->machine, task.class_key.priority, state, &seen);
    if (end != nullptr) of = one;
  }
  return StrCat(" to make room for the successor of ", ShownText(of->name),
                ", which moves here", end == nullptr ? "" : ForText(*end));
}

// A task of the same gang on another machine that makes room there; null if
// there is none.
const Task* MateWhoMakesRoom(const Task& task, const ClusterState& state) {
  if (!task.class_key.gang.has_value()) return nullptr;
  for (const auto& [id, other] : state.tasks()) {
    if (other->class_key.gang == task.class_key.gang && other->is_evicted &&
        other->state == TaskState::kRunning &&
        StoppedFor(*other, state) != nullptr) {
      return other.get();
    }
  }
  return nullptr;
}

}  // namespace

std::string MayStopText(const Task& task, const Scheduler& scheduler) {
  if (scheduler.preemption().mode == Preemption::kOff ||
      scheduler.state().nominations().Contains(task.id)) {
    return "";
  }
  if (task.class_key.rules->never_preempts) {
    return "; nobody is stopped for it: its preemption policy is NEVER";
  }
  return Displacing(task, scheduler).Text();
}

std::string LeavingText(const Task& task, const Scheduler& scheduler) {
  if (!task.is_evicted) return "";
  const ClusterState& state = scheduler.state();
  const PreemptionOptions& options = scheduler.preemption();
  const int64_t stop_cost = StopCost(task, options);
  const std::string own = OwnCostText(task);
  if (const Machine* target = TargetOf(task, state)) {
    return StrCat(", and was told to move to ", NamedMachine(*target),
                  ", where room is kept for its successor",
                  StoppedForText(task, state), "; its move costs ",
                  MoveCost(stop_cost, options), own);
  }
  const std::string stopped_for = StoppedForText(task, state);
  if (stopped_for.empty()) {
    const Task* mate = MateWhoMakesRoom(task, state);
    if (mate == nullptr) {
      const std::string broken =
          BrokenRulesText(task, state, scheduler.constraints());
      return StrCat(", and was told to leave it",
                    broken.empty() ? ""
                                   : ", since its requirements no longer hold "
                                     "there: ",
                    broken);
    }
    return StrCat(", and was told to leave it with its gang, of which ",
                  ShownText(mate->name), " leaves ",
                  NamedMachine(*state.FindMachine(mate->machine)),
                  StoppedForText(*mate, state), "; its stop costs ", stop_cost,
                  own);
  }
  const Task* highest = StoppedFor(task, state);
  return StrCat(", and was told to leave it", stopped_for, "; its stop costs ",
                stop_cost, own,
                highest == nullptr
                    ? ""
                    : Displacing(*highest, scheduler).AlternativeText(task));
}

}  // namespace sluice
