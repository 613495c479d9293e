#include "core/gang_search.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "constraints/class_peers.h"
#include "core/placements.h"

namespace sluice {
namespace {

class Search {
 public:
  Search(const ConstraintSet& constraints, int64_t now_ms, ClusterState* state,
         int64_t* budget)
      : constraints_(constraints),
        now_ms_(now_ms),
        state_(state),
        budget_(budget) {}

  void AddTasks(const ClassKey& key, uint64_t sequence_end) {
    const auto it = state_->pending().find(key);
    if (it == state_->pending().end()) return;
    for (const auto& [sequence, task] : it->second) {
      if (sequence >= sequence_end) break;
      tasks_.push_back(task);
    }
  }
  // Those last that wait for others, and the largest first: they have the least
  // choice.
  void Sort() {
    const auto waits = [this](const Task* task) {
      return !task->class_key.rules->affinity.empty() &&
             ClassPeers(*state_, constraints_, task->class_key).MustWait();
    };
    std::ranges::stable_sort(tasks_, [](const Task* a, const Task* b) {
      return b->class_key.request < a->class_key.request;
    });
    std::ranges::stable_partition(
        tasks_, [&](const Task* task) { return !waits(task); });
    FindMachines();
  }

  // Whether `missing` of the tasks from `next` on found a place.
  bool Place(size_t next, int64_t missing) {
    if (missing <= 0) return true;
    if (std::ssize(tasks_) - static_cast<int64_t>(next) < missing) return false;
    const Task& task = *tasks_[next];
    for (const MachineId machine : MachinesFor(next)) {
      if (*budget_ <= 0) return false;
      state_->Place(task.id, machine, now_ms_);
      placed_.push_back(task.id);
      if (Place(next + 1, missing - 1)) return true;
      placed_.pop_back();
      state_->Withdraw(task.id);
    }
    // Without it, and then without those that are just the same.
    size_t other = next + 1;
    while (other < tasks_.size() &&
           tasks_[other]->class_key == task.class_key) {
      ++other;
    }
    return Place(other, missing);
  }

  std::vector<TaskId> TakePlaced() { return std::move(placed_); }

 private:
  // Those that take a task of the gang now; later none but these does.
  void FindMachines() {
    const ClassKey* former = nullptr;
    for (const Task* task : tasks_) {
      const ClassKey& key = task->class_key;
      if (former != nullptr && *former == key) continue;
      former = &key;
      *budget_ -= std::ssize(state_->machines());
      for (const auto& [id, machine] : state_->machines()) {
        if (machine->IsUsable() && constraints_.Allows(key, *machine)) {
          machines_.insert(id);
        }
      }
    }
  }

  std::vector<MachineId> MachinesFor(size_t next) {
    const bool follows =
        !placed_.empty() && placed_.back() == tasks_[next - 1]->id;
    int64_t looks = 0;
    std::vector<MachineId> machines = PlacesFor(
        *tasks_[next],
        {.machines = machines_, .twin = follows ? tasks_[next - 1] : nullptr},
        constraints_, *state_, &looks);
    *budget_ -= looks;
    return machines;
  }

  const ConstraintSet& constraints_;
  const int64_t now_ms_;
  ClusterState* state_;
  int64_t* budget_;
  std::vector<const Task*> tasks_;
  std::set<MachineId> machines_;
  std::vector<TaskId> placed_;
};

}  // namespace

std::vector<TaskId> SearchForGang(const Gangs::Waiting& gang,
                                  uint64_t sequence_end,
                                  const ConstraintSet& constraints,
                                  int64_t now_ms, ClusterState* state,
                                  int64_t* budget) {
  Search search(constraints, now_ms, state, budget);
  for (const ClassKey& key : gang.classes) search.AddTasks(key, sequence_end);
  search.Sort();
  search.Place(0, gang.minimum);
  return search.TakePlaced();
}

}  // namespace sluice
