#include "round/packing/running_tasks.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

#include "absl/container/node_hash_map.h"
#include "round/together/gang_victims.h"

namespace sluice {
namespace {

bool IsAnyNegative(const Resources& amounts) {
  for (ResourceIndex i = 0; i < amounts.size(); ++i) {
    if (amounts[i] < 0) return true;
  }
  return false;
}

// Machines that may lose tasks: the emptiest first, or in order of ids.
std::vector<const Machine*> MachinesInOrder(const ClusterState& state,
                                            const PackingPart* part,
                                            bool is_emptiest_first) {
  std::vector<std::pair<int64_t, const Machine*>> order;
  for (const auto& [id, machine] : state.machines()) {
    if (part != nullptr && !part->contains(id)) continue;
    if (!MayLoseTasks(*machine)) continue;
    order.emplace_back(is_emptiest_first ? std::ssize(machine->tasks) : 0,
                       machine.get());
  }
  std::ranges::stable_sort(order, {},
                           &std::pair<int64_t, const Machine*>::first);
  std::vector<const Machine*> machines;
  for (const auto& [share, machine] : order) machines.push_back(machine);
  return machines;
}

}  // namespace

bool MayLoseTasks(const Machine& machine) {
  return machine.IsUsable() && !IsAnyNegative(machine.Free()) &&
         (!machine.is_measured ||
          !IsAnyNegative(machine.allocatable - machine.used));
}

bool MayBeStopped(const Task& task, uint32_t priority,
                  const ClusterState& state) {
  return task.class_key.priority < priority && state.CanPreempt(task) &&
         !state.IsUntold(task.id);
}

bool MayBeStoppedAlone(const Task& task, uint32_t priority,
                       const ClusterState& state) {
  return !task.class_key.gang.has_value() &&
         MayBeStopped(task, priority, state);
}

bool AreApart(const ClassKey& a, const ClassKey& b, const PeerTable& peers) {
  return peers.KeepApart(a, b) || WantSamePort(*a.rules, *b.rules);
}

bool MustAwait(const ClassKey& key, const Machine& machine,
               std::span<const TaskId> victims, const ClusterState& state) {
  return (key.DependsOnPeers() || !key.rules->host_ports.empty()) &&
         std::ranges::any_of(machine.tasks, [&](TaskId id) {
           const Task& task = *state.FindTask(id);
           return (task.is_evicted || std::ranges::count(victims, id) > 0) &&
                  AreApart(key, task.class_key, state.peers());
         });
}

// What the tasks of a class have in common, in the order of the classes.
struct RunningTasks::Found {
  uint32_t priority = 0;
  Resources request = {};
  int64_t price = 0;
  std::vector<size_t> budgets = {};
  std::optional<JobId> gang = {};
  bool concerns_others = false;  // Then these tell it apart, too:
  uint32_t rules = 0;
  SelectorSet selectors = {};
  size_t turn = 0;  // PackingPeers::NoteLeaving().
  bool may_be_stopped = false;
  bool is_in_the_way = false;
  bool is_untold = false;
  // Set for tasks that may move (Movability::ShapeOf).
  std::optional<size_t> shape = {};

  friend std::strong_ordering operator<=>(const Found& a, const Found& b) {
    if (a.priority != b.priority) return b.priority <=> a.priority;
    if (const auto order = a.request <=> b.request; order != 0) return order;
    return std::tie(a.price, a.budgets, a.gang, a.concerns_others, a.rules,
                    a.selectors, a.turn, a.may_be_stopped, a.is_in_the_way,
                    a.is_untold, a.shape) <=>
           std::tie(b.price, b.budgets, b.gang, b.concerns_others, b.rules,
                    b.selectors, b.turn, b.may_be_stopped, b.is_in_the_way,
                    b.is_untold, b.shape);
  }
  friend bool operator==(const Found& a, const Found& b) {
    return (a <=> b) == 0;
  }
  template <class H>
  friend H AbslHashValue(H hash, const Found& found) {
    return H::combine(std::move(hash), found.priority, found.request,
                      found.price, found.gang.value_or(JobId()), found.rules,
                      found.shape);
  }
};

// Looks at one machine after the other, and makes classes of what it found.
class RunningTasks::Collector {
 public:
  Collector(const ClusterState& state, const Scope& scope,
            const PreemptionOptions& options, PackingPeers* peers,
            RunningTasks* to)
      : state_(state),
        scope_(scope),
        options_(options),
        peers_(*peers),
        to_(*to),
        disruptions_(state),
        moves_left_(disruptions_.Allowances()) {
    if (scope_.gangs == nullptr || scope_.priority == 0) return;
    gang_victims_ =
        FindGangVictims(state_, *scope_.gangs, [this](const Task& task) {
          const Machine& machine = *state_.FindMachine(task.machine);
          return MayLoseTasks(machine) &&
                 MayBeStopped(task, scope_.priority, state_) &&
                 (options_.breaks_budgets || IsAllowed(task)) &&
                 !IsNeeded(task);
        });
    for (const auto& [id, gang] : gang_victims_) to_.gangs_[id] = gang.minimum;
    FindStaying();
  }

  // All tasks are fetched before any is looked at, since memory access takes
  // most of the time.
  void LookAt(std::span<const Machine* const> machines) {
    tasks_.clear();
    for (const Machine* machine : machines) {
      for (const TaskId id : machine->tasks) {
        tasks_.push_back(state_.FindTask(id));
        __builtin_prefetch(&tasks_.back()->state);
        __builtin_prefetch(&tasks_.back()->class_key);
        __builtin_prefetch(&tasks_.back()->class_key.gang);
      }
    }
    std::span<const Task* const> left = tasks_;
    for (const Machine* machine : machines) {
      LookAt(*machine, left.first(machine->tasks.size()));
      left = left.subspan(machine->tasks.size());
    }
  }

  void MakeClasses() {
    to_.left_alone_.budgets = std::ssize(exhausted_);
    std::vector<Classes::value_type*> in_order;
    for (auto& entry : classes_) in_order.push_back(&entry);
    std::ranges::sort(in_order, {}, [](const auto* entry) -> const Found& {
      return entry->first;
    });
    for (auto* entry : in_order) {
      auto& [found, of_class] = *entry;
      of_class.index = to_.classes_.size();
      to_.AddClass(found, *of_class.any, unit_, options_);
      to_.classes_.back().keeps_from_domains |=
          found.concerns_others && peers_.IsCounted(of_class.any->class_key);
      to_.classes_.back().is_protected =
          disruptions_.Allowed(found.budgets) == 0;
    }
    for (size_t i = 0; i < members_.size();) {
      const MachineId machine = members_[i].task->machine;
      auto& tasks = to_.machines_[to_.index_of_.at(machine)].tasks;
      for (; i < members_.size() && members_[i].task->machine == machine; ++i) {
        tasks.emplace_back(members_[i].of_class->index, members_[i].task->id);
      }
      std::ranges::stable_sort(tasks, {}, &std::pair<size_t, TaskId>::first);
    }
    to_.allowances_ = disruptions_.Allowances();
  }

 private:
  struct OfClass {
    size_t index = 0;           // Once it is known.
    const Task* any = nullptr;  // One of its tasks.
  };
  using Classes = absl::node_hash_map<Found, OfClass>;
  struct Member {
    const Task* task;
    const OfClass* of_class;
  };

  // Among equals, the one that was disturbed the least often goes first, then
  // the one that was placed last.
  static std::tuple<int32_t, int64_t, uint64_t> TurnOf(const Task& task) {
    return {-task.disturbances, task.placed_ms, task.sequence};
  }

  void LookAt(const Machine& machine, std::span<const Task* const> tasks) {
    const size_t first = members_.size();
    OnMachine here;
    bool is_any = false;
    FindInTheWay(machine, tasks);
    for (const Task* task : tasks) is_any |= LookAt(*task, &here);
    if (!is_any) return;
    std::ranges::sort(members_.begin() + static_cast<ptrdiff_t>(first),
                      members_.end(), std::ranges::greater(),
                      [](const Member& one) { return TurnOf(*one.task); });
    // Some of the room of leavers is reserved for others.
    if (machine.KeepsRoom()) here.room -= machine.awaited;
    to_.index_of_[machine.id] = to_.machines_.size();
    to_.machines_.push_back(std::move(here));
  }

  // True if the task that takes part alone must be near such tasks.
  bool IsNeeded(const Task& task) const {
    return peers_.lone() != nullptr && peers_.lone()->Needs(task.class_key);
  }

  // One of the tasks it must be near stays in each domain.  If none stays
  // anyway, it is the most urgent one that does not keep it out; which of
  // equals varies from turn to turn.
  void FindStaying() {
    const LoneNewcomer* lone = peers_.lone();
    if (lone == nullptr || lone->key().rules->affinity.empty()) return;
    for (const CountedTerm* term :
         state_.peers().TermsOf(*lone->key().rules).affinity) {
      for (const auto& [domain, count] : term->meant.counts()) {
        std::vector<const Task*> tasks;
        for (const MachineId machine : term->topology->MachinesOf(domain)) {
          for (const TaskId id : state_.FindMachine(machine)->tasks) {
            const Task* task = state_.FindTask(id);
            if (!task->is_evicted && IsMeantBy(*term, task->class_key)) {
              tasks.push_back(task);
            }
          }
        }
        if (!tasks.empty()) KeepOneOf(std::move(tasks), *term->topology);
      }
    }
  }

  void KeepOneOf(std::vector<const Task*> tasks, const Topology& topology) {
    const auto stays = std::ranges::find_if(tasks, [this](const Task* task) {
      return !MayBeStoppedAlone(*task, scope_.priority, state_) ||
             !(options_.breaks_budgets || IsAllowed(*task));
    });
    if (stays != tasks.end()) {
      staying_.insert((*stays)->id);
      return;
    }
    const auto others =
        std::ranges::stable_partition(tasks, [&](const Task* task) {
          return !peers_.lone()->IsKeptOutBy(task->class_key, topology);
        });
    if (others.begin() != tasks.begin()) {
      tasks.erase(others.begin(), tasks.end());
    }
    const auto priority_of = [](const Task* task) {
      return task->class_key.priority;
    };
    const uint32_t highest =
        std::ranges::max(tasks | std::views::transform(priority_of));
    const auto end = std::ranges::stable_partition(
        tasks, [&](const Task* task) { return priority_of(task) == highest; });
    const auto count = static_cast<uint64_t>(end.begin() - tasks.begin());
    staying_.insert(tasks[scope_.cycle % count]->id);
  }

  // Finds which of these tasks on the machine must leave before the task that
  // takes part alone goes there: the least urgent that may leave, then the
  // cheapest.
  void FindInTheWay(const Machine& machine,
                    std::span<const Task* const> tasks) {
    in_the_way_.clear();
    const LoneNewcomer* lone = peers_.lone();
    if (lone == nullptr || lone->MayBeOn(machine)) return;
    const uint32_t priority = std::min(scope_.priority, lone->key().priority);
    std::vector<const Task*> leavers;
    for (const Task* task : tasks) {
      if (staying_.contains(task->id)) continue;
      const bool may_be_stopped =
          GoesWithGang(*task) ||
          (MayBeStoppedAlone(*task, priority, state_) &&
           (options_.breaks_budgets || IsAllowed(*task)));
      if (task->is_evicted || may_be_stopped) leavers.push_back(task);
    }
    std::ranges::sort(leavers, std::ranges::less(), [this](const Task* task) {
      const auto [disturbances, placed_ms, sequence] = TurnOf(*task);
      return std::tuple(task->is_evicted, IsAllowed(*task),
                        -int64_t{task->class_key.priority},
                        -StopCost(*task, options_), disturbances, placed_ms,
                        sequence);
    });
    for (const Task* task :
         peers_.OpenToLone(machine, leavers, gang_victims_)) {
      if (!task->is_evicted) in_the_way_.push_back(task);
    }
  }

  // True if it belongs to a gang that may be stopped for the task that takes
  // part alone.
  bool GoesWithGang(const Task& task) const {
    return task.class_key.gang.has_value() &&
           to_.gangs_.contains(*task.class_key.gang) &&
           task.class_key.priority < peers_.lone()->key().priority;
  }

  // True if its budgets allow it to be stopped.
  bool IsAllowed(const Task& task) {
    return disruptions_.Allowed(disruptions_.BudgetsOf(task)) > 0;
  }

  // Returns true if it may leave, or does.
  bool LookAt(const Task& task, OnMachine* here) {
    const ClassKey& key = task.class_key;
    Found found = {.priority = key.priority,
                   .request = key.request,
                   .price = StopCost(task, options_)};
    if (!key.gang.has_value()) {
      found.may_be_stopped = MayBeStopped(task, scope_.priority, state_);
    } else if (const auto gang = to_.gangs_.find(*key.gang);
               gang != to_.gangs_.end() && !task.is_evicted) {
      found.may_be_stopped = true;
      if (gang->second > 0) found.gang = key.gang;
    }
    FindUntold(task, &found);
    const bool may_move =
        scope_.movability != nullptr && scope_.movability->MayMove(task);
    const bool may_leave =
        (found.may_be_stopped || found.is_untold || may_move) &&
        !staying_.contains(task.id);
    if (!task.is_evicted && !may_leave) return false;
    found.is_in_the_way = std::ranges::count(in_the_way_, &task) > 0;
    if (may_leave && !found.is_untold && !MayLeave(task, may_move, &found)) {
      return false;
    }
    here->room += key.request;
    const std::vector<HostPort>& ports = key.rules->host_ports;
    here->ports.insert(here->ports.end(), ports.begin(), ports.end());
    found.concerns_others = peers_.Concerns(key);
    if (found.concerns_others) found.turn = peers_.NoteLeaving(task);
    if (!may_leave) return true;
    if (!found.is_untold) unit_ = std::gcd(unit_, found.price);
    if (found.concerns_others) {
      found.rules = key.rules->id;
      found.selectors = *key.meant_by;
    }
    OfClass& of_class = classes_[std::move(found)];
    if (of_class.any == nullptr) of_class.any = &task;
    members_.push_back({&task, &of_class});
    return true;
  }

  void FindUntold(const Task& task, Found* found) const {
    if (scope_.untold == nullptr || found->priority >= scope_.priority) return;
    const auto untold = scope_.untold->find(task.id);
    if (untold == scope_.untold->end()) return;
    found->is_untold = true;
    found->price = untold->second;
  }

  // True if budgets allow it to be stopped or moved.  Records that in `found`.
  bool MayLeave(const Task& task, bool may_move, Found* found) {
    found->budgets = disruptions_.BudgetsOf(task);
    const bool is_allowed = disruptions_.Allowed(found->budgets) > 0;
    if (!options_.breaks_budgets && !is_allowed) {
      ++to_.left_alone_.tasks;
      for (const size_t b : found->budgets) {
        if (disruptions_.standings()[b].allowed == 0) exhausted_.insert(b);
      }
      return false;
    }
    if (is_allowed && may_move && !found->is_in_the_way &&
        MayMoveWithin(found->budgets, task.id)) {
      found->shape = scope_.movability->ShapeOf(*task.class_key.rules);
    }
    return found->may_be_stopped || found->shape.has_value();
  }

  bool MayMoveWithin(std::span<const size_t> budgets, TaskId task) {
    if (budgets.empty()) return true;
    switch (scope_.budgeted_moves) {
      case BudgetedMoves::kAll:
        return true;
      case BudgetedMoves::kAsAllowed:
        return disruptions_.Take(std::span(&task, 1), &moves_left_);
      case BudgetedMoves::kNone:
        return false;
    }
    return false;
  }

  const ClusterState& state_;
  const Scope& scope_;
  const PreemptionOptions& options_;
  PackingPeers& peers_;
  RunningTasks& to_;
  Disruptions disruptions_;
  std::vector<int64_t> moves_left_;  // By budget.
  GangVictims gang_victims_;
  Classes classes_;
  std::vector<const Task*> tasks_;       // Of the machines looked at.
  std::vector<Member> members_;          // By machine; the first to go first.
  std::vector<const Task*> in_the_way_;  // On the machine looked at.
  // Needed by the task that takes part alone.
  absl::flat_hash_set<TaskId> staying_;
  std::set<size_t> exhausted_;  // Budgets that keep a task out.
  int64_t unit_ = 0;            // Of prices.
};

RunningTasks::RunningTasks(const ClusterState& state, const Scope& scope,
                           const PreemptionOptions& options,
                           PackingPeers* peers) {
  std::vector<const Machine*> machines =
      MachinesInOrder(state, scope.part, scope.movability != nullptr);
  const bool may_any_leave = scope.priority > 0 || scope.movability != nullptr;
  std::erase_if(machines, [&](const Machine* machine) {
    return !may_any_leave && machine->leaving_count == 0;
  });
  Collector collector(state, scope, options, peers, this);
  for (std::span<const Machine* const> left = machines; !left.empty();) {
    constexpr size_t kTogether = 16;
    const size_t count = std::min(left.size(), kTogether);
    collector.LookAt(left.first(count));
    left = left.subspan(count);
  }
  collector.MakeClasses();
}

void RunningTasks::AddClass(const Found& found, const Task& any, int64_t unit,
                            const PreemptionOptions& options) {
  const ClassKey& key = any.class_key;
  Class& made = classes_.emplace_back();
  made.key = {.priority = found.priority, .request = found.request};
  if (found.concerns_others || found.shape.has_value()) {
    made.key.rules = key.rules;
  }
  if (found.concerns_others) made.key.meant_by = key.meant_by;
  made.may_be_stopped = found.may_be_stopped;
  made.is_in_the_way = found.is_in_the_way;
  made.keeps_from_domains = found.turn > 0;
  made.gang = found.gang;
  made.is_untold = found.is_untold;
  made.price = found.is_untold ? found.price : found.price / unit;
  made.budgets = found.budgets;
  if (found.shape.has_value()) {
    made.move_cost = MoveCost(found.price, options);
  }
}

void RunningTasks::TakeBack(const Task& task) {
  const auto it = index_of_.find(task.machine);
  if (it == index_of_.end()) return;
  OnMachine& here = machines_[it->second];
  const auto erased = std::erase_if(
      here.tasks, [&](const auto& entry) { return entry.second == task.id; });
  if (erased > 0) here.room -= task.class_key.request;
}

std::vector<size_t> RunningTasks::InTheWay() const {
  std::vector<size_t> indices;
  for (size_t i = 0; i < classes_.size(); ++i) {
    if (classes_[i].is_in_the_way) indices.push_back(i);
  }
  return indices;
}

const RunningTasks::OnMachine* RunningTasks::Find(MachineId machine) const {
  const auto it = index_of_.find(machine);
  return it == index_of_.end() ? nullptr : &machines_[it->second];
}

const Resources* RunningTasks::FindRoomOn(MachineId machine) const {
  const OnMachine* found = Find(machine);
  return found == nullptr ? nullptr : &found->room;
}

std::span<const HostPort> RunningTasks::PortsOn(MachineId machine) const {
  const OnMachine* found = Find(machine);
  if (found == nullptr) return {};
  return found->ports;
}

std::vector<std::pair<size_t, int64_t>> RunningTasks::CountOn(
    MachineId machine) const {
  std::vector<std::pair<size_t, int64_t>> counts;
  const OnMachine* found = Find(machine);
  if (found == nullptr) return counts;
  for (const auto& [c, task] : found->tasks) {
    if (counts.empty() || counts.back().first != c) counts.emplace_back(c, 0);
    ++counts.back().second;
  }
  return counts;
}

std::optional<size_t> RunningTasks::ClassOf(MachineId machine,
                                            TaskId task) const {
  const OnMachine* found = Find(machine);
  if (found == nullptr) return std::nullopt;
  for (const auto& [c, id] : found->tasks) {
    if (id == task) return c;
  }
  return std::nullopt;
}

std::vector<TaskId> RunningTasks::TasksOn(MachineId machine,
                                          size_t of_class) const {
  std::vector<TaskId> tasks;
  const OnMachine* found = Find(machine);
  if (found == nullptr) return tasks;
  for (const auto& [c, task] : found->tasks) {
    if (c == of_class) tasks.push_back(task);
  }
  return tasks;
}

}  // namespace sluice
