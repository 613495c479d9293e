#include "core/tier_search.h"

#include <algorithm>
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

// Of tasks and machines that take them.
constexpr int64_t kPairsMax = 256;
// Machines that are looked at for a task: some 50 ms.
constexpr int64_t kLooksMax = 200000;

class Search {
 public:
  Search(const PolicySet& policies, const ConstraintSet& constraints,
         int64_t now_ms, ClusterState* state)
      : policies_(policies),
        constraints_(constraints),
        now_ms_(now_ms),
        state_(state) {}

  // Adds the tasks that wait, where some machine takes them.  Returns whether
  // they are few enough.
  bool AddWaiting(uint32_t priority, uint64_t sequence_end) {
    const auto& pending = state_->pending();
    for (auto it = pending.lower_bound(ClassKey{priority, {}});
         it != pending.end() && it->first.priority == priority; ++it) {
      const int64_t machines = CountTaking(it->first);
      if (machines == 0) continue;
      for (const auto& [sequence, task] : it->second) {
        if (sequence >= sequence_end) break;
        tasks_.push_back(task);
        pairs_ += machines;
        if (pairs_ > kPairsMax) return false;
      }
      if (looks_ > kLooksMax) return false;
    }
    return true;
  }

  // Looks for placements that leave less waiting than those of
  // `placed_before`.
  void Run(const std::set<TaskId>& placed_before, const Gangs& gangs) {
    looks_ = 0;
    Sort();
    FindGangs(placed_before, gangs);
    for (const Task* task : tasks_) {
      if (!placed_before.contains(task->id)) best_cost_ += WaitingCostOf(*task);
    }
    Decide(0, 0);
  }

  // In an order in which each is legal; empty where there are none.
  const std::vector<Placement>& best() const { return best_; }

 private:
  struct Gang {
    int64_t minimum = 0;
    bool must_run = false;
    int64_t placed = 0;
    int64_t left = 0;                                            // Undecided.
    int64_t submitted_ms = std::numeric_limits<int64_t>::max();  // The oldest.
    bool was_placed = false;

    bool MayStillBe() const {
      return placed + left >= minimum || (placed == 0 && !must_run);
    }
  };

  // What was healed stays, and what was started does where a younger gang
  // waits, whatever the price.
  void FindGangs(const std::set<TaskId>& placed_before, const Gangs& gangs) {
    for (const Task* task : tasks_) {
      const bool was_placed = placed_before.contains(task->id);
      const bool is_closed = gangs.IsClosed(task->class_key);
      if (!task->class_key.gang.has_value() || (!is_closed && !was_placed)) {
        continue;
      }
      Gang& gang = gangs_[task->job];
      if (is_closed) {
        gang.minimum = gangs.MinimumFor(task->class_key);
      } else {
        ++gang.minimum;
        gang.must_run = true;
      }
      ++gang.left;
      gang.submitted_ms = std::min(gang.submitted_ms, task->submitted_ms);
      gang.was_placed = gang.was_placed || was_placed;
    }
    int64_t youngest_ms = 0;
    for (const auto& [job, gang] : gangs_) {
      if (gang.was_placed) continue;
      youngest_ms = std::max(youngest_ms, gang.submitted_ms);
    }
    for (auto& [job, gang] : gangs_) {
      if (gang.was_placed && gang.submitted_ms < youngest_ms) {
        gang.must_run = true;
      }
    }
  }

  Cost WaitingCostOf(const Task& task) const {
    return WaitingCost(now_ms_ - task.submitted_ms);
  }

  int64_t CountTaking(const ClassKey& key) {
    int64_t count = 0;
    for (const auto& [id, machine] : state_->machines()) {
      ++looks_;
      if (!machine->IsUsable() || !constraints_.Allows(key, *machine)) continue;
      machines_.insert(id);
      ++count;
    }
    return count;
  }

  // Those last that wait for others, and the largest first: they have the least
  // choice.
  void Sort() {
    const auto waits = [this](const Task* task) {
      return !task->class_key.rules->affinity.empty() &&
             ClassPeers(*state_, constraints_, task->class_key).MustWait();
    };
    std::ranges::stable_sort(tasks_, [](const Task* a, const Task* b) {
      return std::tie(b->class_key.request, a->class_key, a->submitted_ms) <
             std::tie(a->class_key.request, b->class_key, b->submitted_ms);
    });
    std::ranges::stable_partition(
        tasks_, [&](const Task* task) { return !waits(task); });
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
    const ClassKey& key = tasks_[next]->class_key;
    // Of tasks that are just the same it does not matter which goes where,
    // unless the order does.
    MachineId first{};
    if (next > 0 && !placed_.empty() && !key.rules->HasPeerTerms() &&
        tasks_[next - 1]->class_key == key &&
        placed_.back().task == tasks_[next - 1]) {
      first = placed_.back().machine;
    }
    const ClassPeers peers(*state_, constraints_, key);
    std::vector<std::pair<FlowCost, MachineId>> ranked;
    for (const MachineId id : machines_) {
      ++looks_;
      const Machine& machine = *state_->FindMachine(id);
      if (id < first || !constraints_.Allows(key, machine) ||
          !peers.Allows(machine)) {
        continue;
      }
      ranked.emplace_back(
          policies_.PreferenceCost(*key.rules, machine) * kPartsPerPoint +
              LoadArcCost(policies_, machine, machine.used),
          id);
    }
    std::ranges::sort(ranked);
    std::vector<MachineId> machines;
    for (const auto& [rank, id] : ranked) machines.push_back(id);
    return machines;
  }

  const PolicySet& policies_;
  const ConstraintSet& constraints_;
  const int64_t now_ms_;
  ClusterState* state_;
  std::vector<const Task*> tasks_;
  std::set<MachineId> machines_;  // That take any.
  int64_t pairs_ = 0;
  std::map<JobId, Gang> gangs_;
  std::vector<Placement> placed_;
  std::vector<Placement> best_;
  Cost best_cost_ = 0;
  int64_t looks_ = 0;
};

}  // namespace

TierSearchOutcome SearchTier(uint32_t priority, uint64_t delta_begin,
                             uint64_t sequence_end, const Gangs& gangs,
                             const PolicySet& policies,
                             const ConstraintSet& constraints, int64_t now_ms,
                             ClusterState* state) {
  // In the order of their placement, and where they are.
  const std::vector<Placement> former =
      UndoablePlacements(*state, priority, delta_begin);
  if (former.empty() || std::ssize(former) > kPairsMax) return {};
  std::set<TaskId> placed_before;
  for (const auto& [task, machine] : former) {
    placed_before.insert(task->id);
    state->Withdraw(task->id);
  }
  Search search(policies, constraints, now_ms, state);
  if (search.AddWaiting(priority, sequence_end)) {
    search.Run(placed_before, gangs);
  }
  const auto& best = search.best().empty() ? former : search.best();
  TierSearchOutcome outcome;
  for (const auto& [task, machine] : best) {
    state->Place(task->id, machine, now_ms);
    if (!placed_before.contains(task->id)) outcome.placed.push_back(task->id);
  }
  for (const auto& [task, machine] : former) {
    if (task->state != TaskState::kRunning) ++outcome.given_up;
  }
  return outcome;
}

}  // namespace sluice
