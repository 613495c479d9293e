#include "core/exchange.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/int128.h"
#include "cost/waiting_cost.h"
#include "sluice/cost/cost_model.h"

namespace sluice {
namespace {

// Every exchange gains; sweeps over all machines end when one gains nothing.
// The bound only keeps a round's work in proportion to its passes.
constexpr int kSweepsMax = 16;
// Classes looked at over all attempts: the core thread does nothing else
// meanwhile, and this many take it about a tenth of a second.
constexpr int64_t kLooksMax = 10000000;

}  // namespace

Exchange::Exchange(ClusterState* state, const ConstraintSet& constraints,
                   Eligibility* eligibility, uint32_t priority,
                   const std::vector<TaskId>& placed, uint64_t sequence_end,
                   int64_t now_ms)
    : state_(state),
      constraints_(constraints),
      eligibility_(eligibility),
      priority_(priority),
      sequence_end_(sequence_end),
      now_ms_(now_ms) {
  std::set<TaskId> seen;  // A task is placed twice where its machine went away.
  for (const TaskId id : placed) {
    const Task* task = state_->FindTask(id);
    if (task != nullptr && task->state == TaskState::kRunning &&
        task->class_key.priority == priority && !task->class_key.IsBound() &&
        seen.insert(id).second) {
      placed_[task->machine].push_back(id);
    }
  }
  for (const auto& [id, tasks] : placed_) {
    capacity_ += state_->FindMachine(id)->allocatable;
  }
  next_ = placed_.begin();
}

bool Exchange::Step(int64_t looks_max) {
  const int64_t looks_end = outcome_.looks + looks_max;
  LookUpWaiting();  // Commands may have come since the last step.
  while (sweeps_ < kSweepsMax && outcome_.looks < kLooksMax) {
    while (next_ != placed_.end()) {
      const Machine* machine = state_->FindMachine(next_->first);
      if (machine != nullptr && machine->IsUsable() &&
          ExchangeOn(*machine, &next_->second)) {
        has_gained_ = true;  // And perhaps once more on this machine.
      } else {
        ++next_;
      }
      if (outcome_.looks >= looks_end) return false;
    }
    if (!has_gained_) return true;
    has_gained_ = false;
    ++sweeps_;
    next_ = placed_.begin();
    LookUpWaiting();  // Among them what this sweep withdrew.
  }
  return true;
}

void Exchange::LookUpWaiting() {
  classes_.clear();
  eligibility_->Refresh(state_);
  for (const auto& [key, tasks] : state_->pending()) {
    // Whose ports become free, and who waits for whom, is not worth looking
    // after here.
    if (key.priority != priority_ || !key.rules->host_ports.empty() ||
        key.IsBound()) {
      continue;
    }
    WaitingClass waiting;
    waiting.key = key;
    waiting.allowed.resize(static_cast<size_t>(eligibility_->kind_count()));
    for (const Eligibility::Kind& kind : eligibility_->KindsFor(*key.rules)) {
      waiting.allowed[static_cast<size_t>(kind.id)] = true;
    }
    for (const auto& [sequence, task] : tasks) {
      if (sequence >= sequence_end_) break;
      waiting.tasks.push_back(task);
    }
    constexpr int64_t kOne = int64_t{1} << 50;
    for (ResourceIndex i = 0; i < key.request.size(); ++i) {
      if (capacity_[i] <= 0) continue;
      waiting.size += static_cast<Int128>(key.request[i]) * kOne / capacity_[i];
    }
    if (!waiting.tasks.empty()) classes_.push_back(std::move(waiting));
  }
  std::ranges::stable_sort(classes_, {}, &WaitingClass::size);
}

bool Exchange::ExchangeOn(const Machine& machine, std::vector<TaskId>* placed) {
  std::erase_if(*placed, [&](TaskId id) {
    const Task* task = state_->FindTask(id);
    return task == nullptr || task->state != TaskState::kRunning ||
           task->machine != machine.id || !state_->IsUntold(id);
  });
  // Of a class the youngest two: they cost the least to leave waiting.
  std::vector<const Task*> victims;
  for (auto it = placed->rbegin(); it != placed->rend(); ++it) {
    const Task* task = state_->FindTask(*it);
    const auto same =
        std::ranges::count(victims, task->class_key, &Task::class_key);
    if (same < 2) victims.push_back(task);
  }
  for (size_t i = 0; i < victims.size(); ++i) {
    if (TryVictims(machine, {victims[i]}, placed)) return true;
  }
  for (size_t i = 0; i < victims.size(); ++i) {
    for (size_t j = i + 1; j < victims.size(); ++j) {
      if (TryVictims(machine, {victims[i], victims[j]}, placed)) return true;
    }
  }
  return false;
}

bool Exchange::TryVictims(const Machine& machine,
                          const std::vector<const Task*>& victims,
                          std::vector<TaskId>* placed) {
  Resources free = machine.Free();
  Cost gain = 0;
  for (const Task* victim : victims) {
    free += victim->class_key.request;
    gain -= Value(*victim);
  }
  const std::vector<const Task*> chosen =
      Fill(eligibility_->KindOf(machine), free, &gain);
  if (gain <= 0) return false;
  for (const Task* victim : victims) {
    std::erase(*placed, victim->id);
    state_->Withdraw(victim->id);
    ++outcome_.withdrawn;
  }
  for (const Task* task : chosen) {
    if (!constraints_.Allows(task->class_key, machine)) continue;
    state_->Place(task->id, machine.id, now_ms_);
    placed->push_back(task->id);
    ++outcome_.placed;
  }
  Advance();
  return true;
}

Cost Exchange::Value(const Task& task) const {
  return WaitingCost(now_ms_ - task.submitted_ms);
}

std::vector<const Task*> Exchange::Fill(KindId kind, Resources free,
                                        Cost* gain) {
  std::vector<const Task*> chosen;
  outcome_.looks += std::ssize(classes_);
  for (const WaitingClass& waiting : classes_) {
    if (!waiting.allowed[static_cast<size_t>(kind)]) continue;
    const auto available =
        static_cast<int64_t>(waiting.tasks.size() - waiting.next);
    const int64_t count = waiting.key.request.TimesIn(free, available);
    for (int64_t i = 0; i < count; ++i) {
      const Task* task = waiting.tasks[waiting.next + static_cast<size_t>(i)];
      chosen.push_back(task);
      *gain += Value(*task);
    }
    free.AddScaled(waiting.key.request, -count);
  }
  return chosen;
}

void Exchange::Advance() {
  for (WaitingClass& waiting : classes_) {
    while (waiting.next < waiting.tasks.size() &&
           !waiting.tasks[waiting.next]->IsSchedulable()) {
      ++waiting.next;
    }
  }
  std::erase_if(classes_, [](const WaitingClass& waiting) {
    return waiting.next == waiting.tasks.size();
  });
}

}  // namespace sluice
