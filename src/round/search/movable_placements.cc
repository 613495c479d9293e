#include "round/search/movable_placements.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace sluice {

MovablePlacements::MovablePlacements(RoundContext* context, Allowance* work)
    : context_(*context),
      eligibility_(context->eligibility()),
      work_(*work),
      transaction_(context->now_ms, &context->state),
      placements_(context->FreshPlacements()) {
  work_.Spend(std::ssize(placements_) / 8);
  if (!context_.has_changed) return;
  // Commands may have come since they were placed: only those that are surely
  // still legal remain.
  std::erase_if(placements_, [this](const Placement& one) {
    const ClassKey& key = one.task->class_key;
    return key.DependsOnPeers() ||
           !eligibility_.Allows(*key.rules,
                                *context_.state.FindMachine(one.machine));
  });
}

std::vector<size_t> MovablePlacements::FindCrowded() {
  std::vector<size_t> crowded;
  for (size_t i = 0; i < size() && !work_.IsSpent(); ++i) {
    const auto& [task, machine] = placements_[i];
    if (CountSiblings(task->job, machine) > 1) crowded.push_back(i);
  }
  std::ranges::stable_sort(crowded, {}, [this](size_t i) {
    return std::pair(placements_[i].task->job, placements_[i].machine);
  });
  return crowded;
}

std::vector<size_t> MovablePlacements::On(MachineId machine) {
  if (on_.empty()) {
    for (size_t i = 0; i < size(); ++i) {
      on_[placements_[i].machine].push_back(i);
    }
    work_.Spend(std::ssize(placements_));
  }
  const auto it = on_.find(machine);
  if (it == on_.end()) return {};
  return {it->second.begin(), it->second.end()};
}

const MachinesByLoad& MovablePlacements::by_load() {
  if (!by_load_.has_value()) {
    by_load_.emplace(context_.state, context_.policies, eligibility_);
    work_.Spend(2 * std::ssize(context_.state.machines()));
  }
  return *by_load_;
}

void MovablePlacements::Withdraw(size_t index) {
  transaction_.Withdraw(std::span(&placements_[index], 1));
  Note(placements_[index], -1);
}

void MovablePlacements::Place(size_t index, MachineId machine) {
  Placement& one = placements_[index];
  if (!on_.empty() && machine != one.machine) {
    auto& from = on_[one.machine];
    from.erase(std::ranges::find(from, index));
    auto& to = on_[machine];
    to.insert(std::ranges::lower_bound(to, index), index);
  }
  one.machine = machine;
  transaction_.Place(*one.task, machine);
  Note(one, 1);
}

void MovablePlacements::Note(const Placement& one, int64_t count) {
  work_.Spend(kWorkPerPlacement / 2 + std::ssize(peers_));
  for (ClassPeers* peers : peers_) {
    peers->Note(one.task->class_key, one.machine, count);
  }
  if (by_load_.has_value()) {
    by_load_->Update(*context_.state.FindMachine(one.machine));
  }
}

}  // namespace sluice
