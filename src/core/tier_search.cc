#include "core/tier_search.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "constraints/class_peers.h"
#include "core/placements.h"
#include "cost/waiting_cost.h"
#include "network/band_network.h"

namespace sluice {
namespace {

// Of tasks and machines that may take them.
constexpr int64_t kPairsMax = 256;
// Machines that are looked at for one tier, of the round's budget.
constexpr int64_t kLooksMax = 200000;

class Search {
 public:
  Search(uint32_t priority, const PolicySet& policies,
         const ConstraintSet& constraints, Eligibility* eligibility,
         int64_t now_ms, ClusterState* state)
      : priority_(priority),
        policies_(policies),
        constraints_(constraints),
        eligibility_(eligibility),
        now_ms_(now_ms),
        state_(state) {}

  TierSearchOutcome Run(uint64_t delta_begin, uint64_t sequence_end,
                        const Gangs& gangs) {
    former_ = UndoablePlacements(*state_, priority_, delta_begin);
    const auto deltas = std::distance(state_->outbox().lower_bound(delta_begin),
                                      state_->outbox().end());
    if (former_.empty() || std::ssize(former_) != deltas ||
        !FindTasks(sequence_end)) {
      return {};
    }
    for (const auto& [task, machine] : former_) {
      was_placed_.insert(task->id);
      state_->Withdraw(task->id);
    }
    FindGangs(gangs);
    Sort();
    for (const Task* task : tasks_) {
      if (!was_placed_.contains(task->id)) best_cost_ += WaitingCostOf(*task);
    }
    Decide(0, 0);
    return PlaceBest();
  }

  int64_t looks() const { return looks_; }

 private:
  struct Gang {
    int64_t minimum = 0;
    bool must_run = false;
    int64_t placed = 0;
    int64_t left = 0;  // Undecided.

    bool MayStillBe() const {
      return placed + left >= minimum || (placed == 0 && !must_run);
    }
  };

  Cost WaitingCostOf(const Task& task) const {
    return WaitingCost(now_ms_ - task.submitted_ms);
  }

  // Those that were placed and those that wait, but for what fits nowhere.
  // Returns whether one of these may fit, and they are few enough.
  bool FindTasks(uint64_t sequence_end) {
    std::map<MachineId, Resources> freed;
    for (const auto& [task, machine] : former_) {
      freed[machine] += task->class_key.request;
    }
    int64_t pairs = 0;
    for (const auto& [task, machine] : former_) {
      pairs += CountTaking(task->class_key, freed);
      if (pairs > kPairsMax || looks_ > kLooksMax) return false;
      tasks_.push_back(task);
    }
    const auto& pending = state_->pending();
    for (auto it = pending.lower_bound(ClassKey{priority_, {}});
         it != pending.end() && it->first.priority == priority_; ++it) {
      const int64_t machines = CountTaking(it->first, freed);
      for (const auto& [sequence, task] : it->second) {
        if (machines == 0 || sequence >= sequence_end) break;
        pairs += machines;
        if (pairs > kPairsMax) return false;
        tasks_.push_back(task);
      }
      if (looks_ > kLooksMax) return false;
    }
    return tasks_.size() > former_.size();
  }

  // On how many machines the class fits where what is `freed` is free.
  int64_t CountTaking(const ClassKey& key,
                      const std::map<MachineId, Resources>& freed) {
    const auto [it, is_new] = taking_.try_emplace(key, 0);
    if (!is_new) return it->second;
    looks_ += std::ssize(state_->machines());
    const auto& kinds = eligibility_->KindsFor(*key.rules);
    for (const auto& [id, machine] : state_->machines()) {
      if (!machine->IsUsable() ||
          !std::ranges::binary_search(kinds, eligibility_->KindOf(*machine), {},
                                      &Eligibility::Kind::id)) {
        continue;
      }
      const auto more = freed.find(id);
      const Resources free = more == freed.end()
                                 ? machine->Free()
                                 : machine->Free() + more->second;
      if (!key.request.FitsIn(free)) continue;
      machines_.insert(id);
      ++it->second;
    }
    return it->second;
  }

  // What was healed stays, and what was started does where a younger gang
  // waits, whatever the price.
  void FindGangs(const Gangs& gangs) {
    struct Age {
      int64_t submitted_ms = std::numeric_limits<int64_t>::max();
      bool was_placed = false;
    };
    std::map<JobId, Age> ages;
    for (const Task* task : tasks_) {
      const ClassKey& key = task->class_key;
      if (!key.gang.has_value()) continue;
      const bool was_placed = was_placed_.contains(task->id);
      if (gangs.IsClosed(key)) {
        Gang& gang = gangs_[task->job];
        gang.minimum = std::max(gang.minimum, gangs.MinimumFor(key));
        ++gang.left;
        Age& age = ages[task->job];
        age.submitted_ms = std::min(age.submitted_ms, task->submitted_ms);
        age.was_placed = age.was_placed || was_placed;
      } else if (state_->FindJob(task->job)->running_count > 0) {
        Gang& gang = gangs_[task->job];
        gang.minimum += was_placed ? 1 : 0;
        gang.must_run = true;
        ++gang.left;
      }
    }
    int64_t youngest_ms = 0;
    for (const auto& [job, age] : ages) {
      if (age.was_placed) continue;
      youngest_ms = std::max(youngest_ms, age.submitted_ms);
    }
    for (const auto& [job, age] : ages) {
      if (age.was_placed && age.submitted_ms < youngest_ms) {
        gangs_[job].must_run = true;
      }
    }
  }

  // Those last that wait for others, and the largest first: they have the least
  // choice.
  void Sort() {
    std::ranges::stable_sort(tasks_, [](const Task* a, const Task* b) {
      return std::tie(b->class_key.request, a->class_key, a->submitted_ms) <
             std::tie(a->class_key.request, b->class_key, b->submitted_ms);
    });
    std::ranges::stable_partition(tasks_, [this](const Task* task) {
      if (task->class_key.rules->affinity.empty()) return true;
      looks_ += std::ssize(state_->machines());
      return !ClassPeers(*state_, constraints_, task->class_key).MustWait();
    });
  }

  // Decides on the tasks from `next` on, where what waits costs `cost` by now.
  void Decide(size_t next, Cost cost) {
    if (cost >= best_cost_ || looks_ > kLooksMax) return;
    if (next == tasks_.size()) {
      best_cost_ = cost;
      best_ = placed_;
      return;
    }
    const Task& task = *tasks_[next];
    const auto gang = gangs_.find(task.job);
    if (gang == gangs_.end()) {
      Place(next, cost);
    } else if (gang->second.placed + gang->second.left >=
               gang->second.minimum) {
      ++gang->second.placed;
      --gang->second.left;
      Place(next, cost);
      --gang->second.placed;
      ++gang->second.left;
    }
    // Without it, and then without those that are just the same.
    size_t other = next;
    while (other < tasks_.size() &&
           tasks_[other]->class_key == task.class_key) {
      cost += WaitingCostOf(*tasks_[other++]);
    }
    const auto count = static_cast<int64_t>(other - next);
    if (gang == gangs_.end()) {
      Decide(other, cost);
      return;
    }
    gang->second.left -= count;
    if (gang->second.MayStillBe()) Decide(other, cost);
    gang->second.left += count;
  }

  void Place(size_t next, Cost cost) {
    const Task& task = *tasks_[next];
    for (const MachineId machine : MachinesFor(next)) {
      state_->Place(task.id, machine, now_ms_);
      placed_.push_back({&task, machine});
      Decide(next + 1, cost);
      placed_.pop_back();
      state_->Withdraw(task.id);
    }
  }

  // Cheapest first.
  std::vector<MachineId> MachinesFor(size_t next) {
    const Task& task = *tasks_[next];
    const bool follows =
        !placed_.empty() && placed_.back().task == tasks_[next - 1];
    std::vector<std::pair<FlowCost, MachineId>> ranked;
    for (const MachineId id :
         PlacesFor(task, follows ? placed_.back().task : nullptr, machines_,
                   constraints_, *state_, &looks_)) {
      const Machine& machine = *state_->FindMachine(id);
      ranked.emplace_back(
          policies_.PreferenceCost(*task.class_key.rules, machine) *
                  kPartsPerPoint +
              LoadArcCost(policies_, machine, machine.used),
          id);
    }
    std::ranges::sort(ranked);
    std::vector<MachineId> machines;
    for (const auto& [rank, id] : ranked) machines.push_back(id);
    return machines;
  }

  TierSearchOutcome PlaceBest() {
    TierSearchOutcome outcome;
    for (const auto& [task, machine] : best_.empty() ? former_ : best_) {
      state_->Place(task->id, machine, now_ms_);
      if (!was_placed_.contains(task->id)) outcome.placed.push_back(task->id);
    }
    for (const auto& [task, machine] : former_) {
      if (task->state != TaskState::kRunning) ++outcome.given_up;
    }
    return outcome;
  }

  const uint32_t priority_;
  const PolicySet& policies_;
  const ConstraintSet& constraints_;
  Eligibility* eligibility_;
  const int64_t now_ms_;
  ClusterState* state_;
  std::vector<Placement> former_;  // In their order.
  std::set<TaskId> was_placed_;
  std::vector<const Task*> tasks_;
  std::map<ClassKey, int64_t> taking_;  // Machines that may take the class.
  std::set<MachineId> machines_;        // That may take any.
  std::map<JobId, Gang> gangs_;
  std::vector<Placement> placed_;
  std::vector<Placement> best_;  // In an order in which each is legal.
  Cost best_cost_ = 0;           // Of what waits then.
  int64_t looks_ = 0;
};

}  // namespace

TierSearchOutcome SearchTier(uint32_t priority, uint64_t delta_begin,
                             uint64_t sequence_end, const Gangs& gangs,
                             const PolicySet& policies,
                             const ConstraintSet& constraints,
                             Eligibility* eligibility, int64_t now_ms,
                             ClusterState* state, int64_t* budget) {
  if (*budget <= 0) return {};
  Search search(priority, policies, constraints, eligibility, now_ms, state);
  TierSearchOutcome outcome = search.Run(delta_begin, sequence_end, gangs);
  *budget -= search.looks();
  return outcome;
}

}  // namespace sluice
