#include "core/gang_neighborhoods.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "network/machine_groups.h"

namespace sluice {
namespace {

// Looks that it takes as long as to take a placement back and make it again.
constexpr int64_t kLooksPerUndo = 20;

}  // namespace

Neighborhood GangAlone(const Gangs::Waiting& gang, RoundContext* context) {
  ClusterState& state = context->state;
  state.SyncPeers();
  Neighborhood result;
  result.aim = Neighborhood::Aim::kBetter;
  result.gangs[gang.job] = {
      .minimum = gang.minimum, .most = gang.minimum, .must_run = true};
  for (const ClassKey& key : gang.classes) {
    std::ranges::copy(context->WaitingTasks(key),
                      std::back_inserter(result.tasks));
    context->search_budget -= std::ssize(state.machines());
    for (const auto& [id, machine] : state.machines()) {
      if (machine->IsUsable() && context->constraints.Allows(key, *machine)) {
        result.machines.insert(id);
      }
    }
  }
  SortByChoice(context, &result.tasks);
  return result;
}

GangAmongOthers::GangAmongOthers(const Gangs::Waiting& gang, const Tier& tier,
                                 RoundContext* context,
                                 Transaction* transaction)
    : gang_(gang),
      context_(*context),
      state_(context->state),
      transaction_(*transaction) {
  context_.FreshEligibility();
  context_.state.SyncPeers();
  FindUnits(tier);
  if (!units_.empty()) FindMachines();
}

std::optional<Neighborhood> GangAmongOthers::Next() {
  if (next_machine_ == machines_.size() || context_.search_budget <= 0) {
    return std::nullopt;
  }
  const size_t end = std::max<size_t>(2 * next_machine_, 1);
  while (next_machine_ < machines_.size() &&
         (next_machine_ < end || fitting_ < gang_.minimum)) {
    const Candidate& machine = machines_[next_machine_++];
    fitting_ += machine.more;
    TakeBackFrom(machine.id);
  }
  if (fitting_ < gang_.minimum) return std::nullopt;
  return Describe();
}

void GangAmongOthers::FindUnits(const Tier& tier) {
  std::map<JobId, Unit> gangs;
  for (const Placement& one :
       UndoablePlacements(state_, tier.priority, tier.delta_begin)) {
    --context_.search_budget;
    const ClassKey& key = one.task->class_key;
    // Only what is still legal where it is.
    if (key.DependsOnPeers() ||
        !context_.eligibility().Allows(*key.rules,
                                       *state_.FindMachine(one.machine))) {
      continue;
    }
    Unit& unit =
        key.gang.has_value() ? gangs[*key.gang] : units_.emplace_back();
    unit.tasks.push_back(one);
    unit.price += context_.WaitingCostOf(*one.task);
  }
  for (auto& [job, unit] : gangs) {
    const bool is_all =
        state_.FindJob(job)->running_count == std::ssize(unit.tasks);
    const bool is_older =
        std::ranges::any_of(unit.tasks, [this](const Placement& one) {
          return one.task->submitted_ms < gang_.submitted_ms;
        });
    if (is_all && !is_older) units_.push_back(std::move(unit));
  }
  for (size_t i = 0; i < units_.size(); ++i) {
    for (const auto& [task, machine] : units_[i].tasks) {
      units_on_[machine].insert(i);
    }
  }
}

// How many tasks of the gang fit, at most.
int64_t GangAmongOthers::CountFitting(const Machine& machine,
                                      const Resources& free) const {
  int64_t count = 0;
  for (const ClassKey& key : gang_.classes) {
    if (!context_.eligibility().Allows(*key.rules, machine)) continue;
    count = std::max(count, TimesIn(free, key, gang_.minimum));
  }
  return count;
}

// None where all of them together would not do.
void GangAmongOthers::FindMachines() {
  context_.search_budget -=
      std::ssize(state_.machines()) + std::ssize(units_on_);
  for (const auto& [id, machine] : state_.machines()) {
    fitting_ += CountFitting(*machine, machine->Free());
  }
  int64_t fitting = fitting_;
  for (const auto& [id, units] : units_on_) {
    const Machine& machine = *state_.FindMachine(id);
    Resources free = machine.Free();
    Int128 price = 0;
    for (const size_t i : units) {
      price += units_[i].price;
      for (const auto& [task, on] : units_[i].tasks) {
        if (on == id) free += task->class_key.request;
      }
    }
    const int64_t more =
        CountFitting(machine, free) - CountFitting(machine, machine.Free());
    if (more > 0) machines_.push_back({price / more, id, more});
    fitting += more;
  }
  if (fitting < gang_.minimum) machines_.clear();
  std::ranges::stable_sort(machines_, {}, &Candidate::price);
}

void GangAmongOthers::TakeBackFrom(MachineId machine) {
  for (const size_t i : units_on_[machine]) {
    Unit& unit = units_[i];
    if (std::exchange(unit.is_taken_back, true)) continue;
    transaction_.Withdraw(unit.tasks);
    context_.search_budget -= kLooksPerUndo * std::ssize(unit.tasks);
  }
}

// After the gang what was taken back, the dearest first and of these the
// smallest.
Neighborhood GangAmongOthers::Describe() const {
  Neighborhood result = GangAlone(gang_, &context_);
  // One that fails leaves something to the others.
  result.looks_max = context_.search_budget / 2;
  std::vector<const Unit*> units;
  for (const Unit& unit : units_) {
    if (unit.is_taken_back) units.push_back(&unit);
  }
  std::ranges::stable_sort(units, [](const Unit* a, const Unit* b) {
    const ClassKey& key_a = a->tasks.front().task->class_key;
    const ClassKey& key_b = b->tasks.front().task->class_key;
    return std::tie(b->price, key_a.request, key_a) <
           std::tie(a->price, key_b.request, key_b);
  });
  for (const Unit* unit : units) {
    for (const auto& [task, machine] : unit->tasks) {
      result.tasks.push_back(task);
      result.taken_back[task->id] = machine;
      result.machines.insert(machine);
      if (!task->class_key.gang.has_value()) continue;
      result.gangs[task->job].minimum = std::ssize(unit->tasks);
    }
  }
  return result;
}

}  // namespace sluice
