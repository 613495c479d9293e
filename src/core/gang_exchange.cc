#include "core/gang_exchange.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/int128.h"
#include "core/gang_search.h"
#include "core/placements.h"
#include "cost/waiting_cost.h"
#include "network/machine_groups.h"

namespace sluice {
namespace {

// Looks that it takes as long as to take a placement back and make it again.
constexpr int64_t kLooksPerUndo = 20;

// What is taken back together: a task on its own, or a whole gang.
struct Unit {
  std::vector<Placement> tasks;
  Cost price = 0;
  bool is_taken_back = false;
};

class GangExchange {
 public:
  GangExchange(const Gangs::Waiting& gang, uint64_t sequence_end,
               const ConstraintSet& constraints, Eligibility* eligibility,
               int64_t now_ms, ClusterState* state, int64_t* budget)
      : gang_(gang),
        sequence_end_(sequence_end),
        constraints_(constraints),
        eligibility_(eligibility),
        now_ms_(now_ms),
        state_(state),
        budget_(budget) {}

  GangExchangeOutcome Run(uint64_t delta_begin) {
    FindUnits(delta_begin);
    if (units_.empty()) return {};
    int64_t fitting = CountFittingNow();
    const std::vector<Candidate> machines = MachinesByPrice();
    GangExchangeOutcome outcome;
    for (size_t next = 0; next < machines.size() && *budget_ > 0;) {
      // As many as it takes, and twice as many where that fails: what is taken
      // back for nothing is put back.
      const size_t end = std::max<size_t>(2 * next, 1);
      while (next < machines.size() &&
             (next < end || fitting < gang_.minimum)) {
        fitting += machines[next].more;
        TakeBackFrom(machines[next++].id);
      }
      if (fitting < gang_.minimum) break;
      outcome.has_searched = true;
      // One that fails leaves something to the others.
      int64_t budget = *budget_ / 2;
      *budget_ -= budget;
      outcome.placed = SearchForGang(gang_, sequence_end_, constraints_,
                                     now_ms_, state_, &budget);
      *budget_ += budget;
      if (!outcome.placed.empty()) break;
    }
    Cost gain = 0;
    for (const TaskId id : outcome.placed) gain += Price(*state_->FindTask(id));
    if (!outcome.placed.empty()) outcome.given_up = PutBack(&gain);
    if (gain > 0) return outcome;
    Undo(outcome.placed);
    outcome.placed.clear();
    outcome.given_up = 0;
    return outcome;
  }

 private:
  Cost Price(const Task& task) const {
    return WaitingCost(now_ms_ - task.submitted_ms);
  }

  void FindUnits(uint64_t delta_begin) {
    std::map<JobId, Unit> gangs;
    for (const Placement& one : UndoablePlacements(
             *state_, gang_.classes.front().priority, delta_begin)) {
      --*budget_;
      const ClassKey& key = one.task->class_key;
      // Only what is still legal where it is.
      if (!key.meant_by->empty() || key.rules->HasPeerTerms() ||
          !MayRunOn(key, *state_->FindMachine(one.machine))) {
        continue;
      }
      Unit& unit =
          key.gang.has_value() ? gangs[*key.gang] : units_.emplace_back();
      unit.tasks.push_back(one);
      unit.price += Price(*one.task);
    }
    for (auto& [job, unit] : gangs) {
      const bool is_all =
          state_->FindJob(job)->running_count == std::ssize(unit.tasks);
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

  bool MayRunOn(const ClassKey& key, const Machine& machine) const {
    return std::ranges::binary_search(eligibility_->KindsFor(*key.rules),
                                      eligibility_->KindOf(machine), {},
                                      &Eligibility::Kind::id);
  }

  // How many tasks of the gang fit, at most.
  int64_t CountFitting(const Machine& machine, const Resources& free) const {
    int64_t count = 0;
    for (const ClassKey& key : gang_.classes) {
      if (!MayRunOn(key, machine)) continue;
      count = std::max(count, TimesIn(free, key, gang_.minimum));
    }
    return count;
  }

  int64_t CountFittingNow() {
    *budget_ -= std::ssize(state_->machines());
    int64_t fitting = 0;
    for (const auto& [id, machine] : state_->machines()) {
      if (!machine->IsUsable()) continue;
      fitting += CountFitting(*machine, machine->Free());
    }
    return fitting;
  }

  // A machine on which `more` tasks of the gang would fit.
  struct Candidate {
    Int128 price = 0;  // For each of them.
    MachineId id;
    int64_t more = 0;
  };

  std::vector<Candidate> MachinesByPrice() {
    *budget_ -= std::ssize(units_on_);
    std::vector<Candidate> candidates;
    for (const auto& [id, units] : units_on_) {
      const Machine& machine = *state_->FindMachine(id);
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
      if (more > 0) candidates.push_back({price / more, id, more});
    }
    std::ranges::stable_sort(candidates, {}, &Candidate::price);
    return candidates;
  }

  void TakeBackFrom(MachineId machine) {
    for (const size_t i : units_on_[machine]) {
      Unit& unit = units_[i];
      if (std::exchange(unit.is_taken_back, true)) continue;
      for (const auto& [task, on] : unit.tasks) {
        state_->Withdraw(task->id);
        touched_.insert(on);
        *budget_ -= kLooksPerUndo;
      }
    }
  }

  // Puts back what fits, the dearest first and of these the smallest.  Returns
  // how many tasks it did not, and takes their price off `gain`.
  int64_t PutBack(Cost* gain) {
    std::vector<const Unit*> units;
    for (const Unit& unit : units_) {
      if (unit.is_taken_back) units.push_back(&unit);
    }
    std::ranges::stable_sort(units, [](const Unit* a, const Unit* b) {
      if (a->price != b->price) return a->price > b->price;
      return a->tasks.front().task->class_key.request <
             b->tasks.front().task->class_key.request;
    });
    int64_t given_up = 0;
    for (const Unit* unit : units) {
      std::vector<TaskId> back;
      for (const auto& [task, on] : unit->tasks) {
        if (PutBackTask(*task, on)) back.push_back(task->id);
      }
      if (back.size() == unit->tasks.size()) continue;
      for (const TaskId id : back) state_->Withdraw(id);
      *gain -= unit->price;
      given_up += std::ssize(unit->tasks);
    }
    return given_up;
  }

  // Where it was, or else on another machine that something was taken from.
  bool PutBackTask(const Task& task, MachineId former) {
    const auto put_on = [&](MachineId id) {
      --*budget_;
      if (!constraints_.Allows(task.class_key, *state_->FindMachine(id))) {
        return false;
      }
      state_->Place(task.id, id, now_ms_);
      return true;
    };
    return put_on(former) ||
           (*budget_ > 0 && std::ranges::any_of(touched_, put_on));
  }

  void Undo(const std::vector<TaskId>& placed) {
    for (const TaskId id : placed) state_->Withdraw(id);
    for (const Unit& unit : units_) {
      if (!unit.is_taken_back) continue;
      for (const auto& [task, on] : unit.tasks) {
        if (task->state == TaskState::kRunning) state_->Withdraw(task->id);
      }
    }
    for (const Unit& unit : units_) {
      if (!unit.is_taken_back) continue;
      for (const auto& [task, on] : unit.tasks) {
        state_->Place(task->id, on, now_ms_);
      }
    }
  }

  const Gangs::Waiting& gang_;
  const uint64_t sequence_end_;
  const ConstraintSet& constraints_;
  Eligibility* eligibility_;
  const int64_t now_ms_;
  ClusterState* state_;
  int64_t* budget_;
  std::vector<Unit> units_;
  std::map<MachineId, std::set<size_t>> units_on_;
  std::set<MachineId> touched_;
};

}  // namespace

GangExchangeOutcome ExchangeForGang(const Gangs::Waiting& gang,
                                    uint64_t delta_begin, uint64_t sequence_end,
                                    const ConstraintSet& constraints,
                                    Eligibility* eligibility, int64_t now_ms,
                                    ClusterState* state, int64_t* budget) {
  return GangExchange(gang, sequence_end, constraints, eligibility, now_ms,
                      state, budget)
      .Run(delta_begin);
}

}  // namespace sluice
