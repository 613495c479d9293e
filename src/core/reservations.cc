#include "core/reservations.h"

#include <algorithm>
#include <vector>

#include "base/int128.h"

namespace sluice {
namespace {

constexpr int64_t kMillion = 1'000'000;
// In machines looked at; the tasks beyond that have their turn next round.
constexpr int64_t kLooksMax = 1'000'000;

bool MayHaveOne(const ClassKey& key) {
  const PlacementRules& rules = *key.rules;
  return !key.gang.has_value() && rules.affinity.empty() &&
         rules.anti_affinity.empty() &&
         std::ranges::none_of(rules.spread, &SpreadConstraint::is_required);
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
  const Resources offered = machine.Offered();
  Resources foreign;
  for (const auto& [name, request] : machine.foreign_pods) foreign += request;
  if (!key.request.FitsIn(offered - foreign)) return std::nullopt;
  const Resources free = offered - machine.used;
  int64_t most = 0;
  for (ResourceIndex i = 0; i < key.request.size(); ++i) {
    const int64_t missing = key.request[i] - std::max<int64_t>(free[i], 0);
    if (key.request[i] <= 0 || missing <= 0) continue;
    most = std::max(most, static_cast<int64_t>(static_cast<Int128>(missing) *
                                               kMillion / offered[i]));
  }
  return most;
}

bool Reservations::MustYield(const Machine& machine, const Task& task) const {
  for (const auto& [key, tasks] : state_.pending()) {
    if (key.priority <= task.class_key.priority) return false;
    if (MissingOn(machine, *tasks.begin()->second).has_value()) return true;
  }
  return false;
}

void Reservations::Review(int64_t now_ms) {
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
    least = missing;
    best = id;
  }
  return best;
}

void Reservations::Make(int64_t now_ms) {
  if (options_.after_ms == 0) return;
  // The most urgent first, and of a class the oldest.
  std::vector<const Task*> due;
  for (const auto& [key, tasks] : state_.pending()) {
    if (!MayHaveOne(key)) continue;
    for (const auto& [sequence, task] : tasks) {
      if (now_ms - task->submitted_ms < options_.after_ms) break;
      due.push_back(task);
    }
  }
  std::ranges::stable_sort(due, [](const Task* a, const Task* b) {
    return std::pair(b->class_key.priority, a->submitted_ms) <
           std::pair(a->class_key.priority, b->submitted_ms);
  });
  const auto machines = static_cast<int64_t>(state_.machines().size());
  int64_t left =
      std::max<int64_t>(machines * options_.machines_percent / 100, 1);
  for (const auto& [id, reserved] : reserved_) {
    if (state_.nominations().IsReservation(id)) --left;
  }
  int64_t looks_left = kLooksMax;
  for (const Task* task : due) {
    if (left <= 0 || looks_left < 0) break;
    looks_left -= machines;
    Reserved& reserved = reserved_[task->id];
    std::optional<MachineId> machine = FindMachine(*task, reserved.tried);
    if (!machine.has_value() && !reserved.tried.empty()) {
      reserved.tried.clear();
      machine = FindMachine(*task, reserved.tried);
    }
    const Machine* found =
        machine.has_value() ? state_.FindMachine(*machine) : nullptr;
    const int64_t missing =
        found == nullptr ? 0 : MissingOn(*found, *task).value_or(0);
    // Where nothing is missing the next round places it, unless rules about
    // others are in the way.
    if (missing == 0 || MustYield(*found, *task)) {
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
