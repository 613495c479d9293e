#include "round/search/neighborhood.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "constraints/class_peers.h"
#include "round/context/placements.h"
#include "round/context/work_budget.h"

namespace sluice {
namespace {

// The maximum of pairs of tasks and machines that may take them.
constexpr int64_t kTaskMachinePairsMax = 256;

// Largest first, then those with terms of their own: they have the least
// choice.  Tasks that wait for others come last.  Within a class, the most
// urgent come first: a search that leaves one out leaves out the rest of its
// class.
void SortByChoice(RoundContext* context, std::vector<const Task*>* tasks) {
  std::ranges::stable_sort(*tasks, {}, &Task::submitted_ms);
  if (context->prices.HeedKinds()) context->prices.Sort(tasks);
  std::ranges::stable_sort(*tasks, [](const Task* a, const Task* b) {
    const ClassKey& key_a = a->class_key;
    const ClassKey& key_b = b->class_key;
    const bool is_free_a = !key_a.rules->HasPeerTerms();
    const bool is_free_b = !key_b.rules->HasPeerTerms();
    return std::tie(key_b.request, is_free_a, key_a) <
           std::tie(key_a.request, is_free_b, key_b);
  });
  std::map<ClassKey, bool> must_wait;
  std::ranges::stable_partition(*tasks, [&](const Task* task) {
    const ClassKey& key = task->class_key;
    if (key.rules->affinity.empty()) return true;
    const auto [it, is_new] = must_wait.try_emplace(key, false);
    if (is_new && !context->budget.IsSpent(Effort::kSearches)) {
      context->budget.Spend(Effort::kSearches,
                            std::ssize(context->state.machines()));
      it->second =
          ClassPeers(context->state, context->constraints, key).MustWait();
    }
    return !it->second;
  });
}

class TierNeighborhood {
 public:
  TierNeighborhood(const Tier& tier, RoundContext* context)
      : tier_(tier),
        context_(*context),
        state_(context->state),
        eligibility_(context->eligibility()),
        work_(Piece::kNeighborhood, Effort::kSearches, &context->budget) {}

  std::optional<Neighborhood> TakeBack(Transaction* transaction) {
    if (!FindPlaced() || !MayGain() || !FindTasks()) return std::nullopt;
    transaction->Withdraw(placed_);
    for (const auto& [task, machine] : placed_) {
      result_.taken_back[task->id] = machine;
    }
    FindGangs();
    SortByChoice(&context_, &result_.tasks);
    return std::move(result_);
  }

 private:
  // Returns true if they are few enough and there are no other deltas.
  bool FindPlaced() {
    int64_t deltas = 0;
    for (auto it = state_.outbox().lower_bound(tier_.delta_begin);
         it != state_.outbox().end(); ++it) {
      if (++deltas > kTaskMachinePairsMax) return false;
    }
    placed_ = UndoablePlacements(state_, tier_.priority, tier_.delta_begin);
    return std::ssize(placed_) == deltas &&
           // It may be no better if a minimum was not looked at.
           std::ranges::none_of(placed_, [](const Placement& one) {
             return !one.task->class_key.rules->minimums.empty();
           });
  }

  // True if the search may gain anything, judged without looking at machines.
  bool MayGain() const {
    bool is_any = std::ranges::any_of(placed_, [](const Placement& one) {
      return one.task->class_key.IsBound();
    });
    tier_.VisitWaiting(state_, [&](const ClassKey& key, const auto& tasks) {
      // If nothing was placed, a single task that fits would have been.  But
      // tasks of a gang may have been in each other's way.
      const bool may_fit = !placed_.empty() || key.gang.has_value();
      is_any =
          is_any || (may_fit && tasks.begin()->first < context_.sequence_end);
      return !is_any;
    });
    return is_any;
  }

  // Tasks that were placed and tasks that wait, without those that fit nowhere.
  // Returns true if they are few enough, and a waiting one may fit or a placed
  // one may be where it is because of others.
  bool FindTasks() {
    for (const auto& [task, machine] : placed_) {
      freed_[machine] += task->class_key.request;
    }
    int64_t pairs = 0;
    for (const auto& [task, machine] : placed_) {
      pairs += CountTaking(task->class_key);
      if (IsTooLarge(pairs)) return false;
      result_.tasks.push_back(task);
    }
    tier_.VisitWaiting(state_, [&](const ClassKey& key, const auto& tasks) {
      const int64_t machines = CountTaking(key);
      for (const auto& [sequence, task] : tasks) {
        if (machines == 0 || sequence >= context_.sequence_end) break;
        pairs += machines;
        if (IsTooLarge(pairs)) break;
        result_.tasks.push_back(task);
      }
      return !IsTooLarge(pairs);
    });
    if (IsTooLarge(pairs) || result_.machines.empty()) return false;
    return result_.tasks.size() > placed_.size() ||
           std::ranges::any_of(result_.tasks, [](const Task* task) {
             return task->class_key.IsBound();
           });
  }

  bool IsTooLarge(int64_t pairs) const {
    return pairs > kTaskMachinePairsMax || work_.IsExceeded();
  }

  // On how many machines the class fits once all is taken back.  Stops counting
  // when there would be too many pairs.
  int64_t CountTaking(const ClassKey& key) {
    const auto [it, is_new] = taking_.try_emplace(key, 0);
    if (!is_new) return it->second;
    for (const auto& [id, machine] : state_.machines()) {
      if (it->second > kTaskMachinePairsMax) break;
      work_.Spend(1);
      if (!eligibility_.Allows(*key.rules, *machine)) continue;
      Resources free = machine->Free();
      if (const auto more = freed_.find(id); more != freed_.end()) {
        free += more->second;
      }
      if (!key.request.FitsIn(free)) continue;
      result_.machines.insert(id);
      ++it->second;
    }
    return it->second;
  }

  // Call it once all is taken back: then gangs without other running tasks are
  // closed.
  void FindGangs() {
    struct Age {
      int64_t submitted_ms = std::numeric_limits<int64_t>::max();
      bool was_placed = false;
    };
    std::map<JobId, Age> ages;
    for (const Task* task : result_.tasks) {
      const ClassKey& key = task->class_key;
      if (!key.gang.has_value()) continue;
      const bool was_placed = result_.taken_back.contains(task->id);
      if (context_.gangs.IsClosed(key)) {
        Neighborhood::Gang& gang = result_.gangs[*key.gang];
        gang.minimum = std::max(gang.minimum, context_.gangs.MinimumFor(key));
        Age& age = ages[*key.gang];
        age.submitted_ms = std::min(age.submitted_ms, task->submitted_ms);
        age.was_placed = age.was_placed || was_placed;
      } else if (state_.FindJob(*key.gang)->running_count > 0) {
        Neighborhood::Gang& gang = result_.gangs[*key.gang];
        gang.minimum += was_placed ? 1 : 0;
        gang.must_run = true;
      }
    }
    int64_t youngest_ms = 0;
    for (const auto& [job, age] : ages) {
      if (age.was_placed) continue;
      youngest_ms = std::max(youngest_ms, age.submitted_ms);
    }
    for (const auto& [job, age] : ages) {
      if (age.was_placed && age.submitted_ms < youngest_ms) {
        result_.gangs[job].must_run = true;
      }
    }
  }

  const Tier& tier_;
  RoundContext& context_;
  const ClusterState& state_;
  Eligibility& eligibility_;
  std::vector<Placement> placed_;  // In their order.
  std::map<MachineId, Resources> freed_;
  std::map<ClassKey, int64_t> taking_;  // Machines that may take the class.
  Allowance work_;
  Neighborhood result_;
};

}  // namespace

std::optional<Neighborhood> TakeBackTier(const Tier& tier,
                                         RoundContext* context,
                                         Transaction* transaction) {
  context->state.SyncPeers();
  return TierNeighborhood(tier, context).TakeBack(transaction);
}

}  // namespace sluice
