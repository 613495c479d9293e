#include "round/reservations.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/int128.h"
#include "constraints/class_peers.h"
#include "round/context/work_budget.h"

namespace sluice {
namespace {

constexpr int64_t kMillion = 1'000'000;

bool MayHaveOne(const ClassKey& key) {
  const PlacementRules& rules = *key.rules;
  return !key.gang.has_value() && rules.affinity.empty() &&
         rules.anti_affinity.empty() &&
         std::ranges::none_of(rules.spread, &SpreadConstraint::is_required);
}

// True if enough of the gang's tasks wait for it to start.
bool MayStart(JobId gang, const ClusterState& state) {
  const Job& job = *state.FindJob(gang);
  return job.HasStarted() || job.gang.minimum == Gang::kAllTasks ||
         job.gang.minimum == Gang::kEveryMachine ||
         static_cast<uint64_t>(job.pending_count) >= job.gang.minimum;
}

}  // namespace

std::optional<int64_t> Reservations::MissingOn(const Machine& machine,
                                               const Task& task) const {
  const ClassKey& key = task.class_key;
  if (!machine.IsUsable() ||
      !constraints_.AllowsAspect(MachineAspect::kLabels, key, machine) ||
      !constraints_.AllowsAspect(MachineAspect::kTaints, key, machine)) {
    return std::nullopt;
  }
  // An empty machine offers what it has: no task there uses less than it asked
  // for.
  Resources left = machine.allocatable;
  for (const auto& [name, request] : machine.foreign_pods) left -= request;
  if (!key.request.FitsIn(left)) return std::nullopt;
  const Resources free = machine.Offered() - machine.used;
  int64_t sum = 0;
  for (ResourceIndex i = 0; i < key.request.size(); ++i) {
    const int64_t missing = key.request[i] - std::max<int64_t>(free[i], 0);
    if (key.request[i] <= 0 || missing <= 0) continue;
    sum += static_cast<int64_t>(static_cast<Int128>(missing) * kMillion /
                                machine.allocatable[i]) +
           1;
  }
  return sum;
}

bool Reservations::MustYield(const Machine& machine, const Task& task) const {
  for (const auto& [key, tasks] : state_.pending()) {
    if (key.priority <= task.class_key.priority) return false;
    if (!MissingOn(machine, *tasks.begin()->second).has_value()) continue;
    if (MayHaveOne(key)) return true;
    if (key.gang.has_value()
            ? MayStart(*key.gang, state_)
            : ClassPeers(state_, constraints_, key).Allows(machine)) {
      return true;
    }
  }
  return false;
}

void Reservations::Review(int64_t now_ms) {
  if (reserved_.empty()) return;
  state_.SyncPeers();
  for (auto it = reserved_.begin(); it != reserved_.end();) {
    const TaskId id = it->first;
    Reserved& reserved = it->second;
    const Task* task = state_.FindTask(id);
    const auto nominated = state_.nominations().machines().find(id);
    const bool is_reserved = state_.nominations().IsReservation(id);
    if (task == nullptr || !task->IsUnscheduled() ||
        (!is_reserved && reserved.machine.has_value())) {
      it = reserved_.erase(it);
      continue;
    }
    ++it;
    if (!is_reserved) continue;
    const Machine& machine = *state_.FindMachine(nominated->second);
    const std::optional<int64_t> missing = MissingOn(machine, *task);
    if (missing.has_value() && *missing < reserved.missing_ppm) {
      reserved.since_ms = now_ms;
      reserved.missing_ppm = *missing;
    }
    const bool is_in_vain = now_ms - reserved.since_ms >= options_.after_ms;
    if (is_in_vain) reserved.tried.insert(machine.id);
    if (!missing.has_value() || is_in_vain || machine.leaving_count > 0 ||
        machine.nominated.size() > 1 || !machine.successions.empty() ||
        MustYield(machine, *task)) {
      state_.EndNomination(id);
      reserved.machine.reset();
    }
  }
}

std::optional<MachineId> Reservations::FindMachine(
    const Task& task, const std::set<MachineId>& but) const {
  std::optional<MachineId> best;
  std::optional<int64_t> least;
  for (const auto& [id, machine] : state_.machines()) {
    if (machine->KeepsRoom() || machine->leaving_count > 0 ||
        but.contains(id)) {
      continue;
    }
    const std::optional<int64_t> missing = MissingOn(*machine, task);
    if (!missing.has_value() || (least.has_value() && *missing >= *least)) {
      continue;
    }
    // Something other than room is in its way, such as a host port.
    if (*missing == 0 && !constraints_.Allows(task.class_key, *machine)) {
      continue;
    }
    least = missing;
    best = id;
  }
  return best;
}

std::vector<const Task*> Reservations::FindDue(int64_t now_ms) const {
  std::vector<const Task*> due;
  for (const auto& [key, tasks] : state_.pending()) {
    if (!MayHaveOne(key)) continue;
    for (const auto& [sequence, task] : tasks) {
      if (now_ms - task->submitted_ms < options_.after_ms) break;
      due.push_back(task);
    }
  }
  if (due.empty()) return due;
  if (preempts_) {
    // A preempting round makes room for what waits, not for what has room
    // reserved.
    uint32_t lowest = std::numeric_limits<uint32_t>::max();
    for (const auto& [id, task] : state_.tasks()) {
      if (task->state != TaskState::kRunning) continue;
      lowest = std::min(lowest, task->class_key.priority);
    }
    std::erase_if(due, [lowest](const Task* task) {
      return task->class_key.priority > lowest &&
             !task->class_key.rules->never_preempts;
    });
  }
  std::ranges::stable_sort(due, [](const Task* a, const Task* b) {
    return std::pair(b->class_key.priority, a->submitted_ms) <
           std::pair(a->class_key.priority, b->submitted_ms);
  });
  return due;
}

void Reservations::Make(int64_t now_ms) {
  if (options_.after_ms == 0) return;
  const std::vector<const Task*> due = FindDue(now_ms);
  if (due.empty()) return;
  state_.SyncPeers();
  const auto machines = static_cast<int64_t>(state_.machines().size());
  int64_t left =
      std::max<int64_t>(machines * options_.machines_percent / 100, 1);
  for (const auto& [id, reserved] : reserved_) {
    if (state_.nominations().IsReservation(id)) --left;
  }
  Allowance work(Piece::kReservations, /*budget=*/nullptr);
  std::set<ClassKey> in_vain;  // No machine can be reserved for these.
  for (const Task* task : due) {
    if (left <= 0 || work.IsExceeded()) break;
    if (in_vain.contains(task->class_key)) continue;
    work.Spend(machines);
    Reserved& reserved = reserved_[task->id];
    std::optional<MachineId> machine = FindMachine(*task, reserved.tried);
    if (!machine.has_value() && !reserved.tried.empty()) {
      reserved.tried.clear();
      work.Spend(machines);
      machine = FindMachine(*task, reserved.tried);
    }
    const Machine* found =
        machine.has_value() ? state_.FindMachine(*machine) : nullptr;
    const int64_t missing =
        found == nullptr ? 0 : MissingOn(*found, *task).value_or(0);
    // If nothing is missing, the next round places it, unless rules about other
    // tasks are in the way.
    if (missing == 0 || MustYield(*found, *task)) {
      if (found == nullptr) in_vain.insert(task->class_key);
      if (reserved.tried.empty()) reserved_.erase(task->id);
      continue;
    }
    reserved.machine = machine;
    reserved.since_ms = now_ms;
    reserved.missing_ppm = missing;
    state_.Reserve(task->id, *machine);
    --left;
  }
}

}  // namespace sluice
