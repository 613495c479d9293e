#include "core/tier_search.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "constraints/class_peers.h"
#include "core/placements.h"
#include "cost/waiting_cost.h"
#include "network/band_network.h"
#include "state/peer_table.h"

namespace sluice {
namespace {

// Of tasks and machines that may take them.
constexpr int64_t kPairsMax = 256;
// Machines, and slots there, that are looked at for one tier, of the round's
// budget.
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
    if (!FindFormer(delta_begin) || !FindTasks(sequence_end)) return {};
    for (const auto& [task, machine] : former_) {
      was_on_[task->id] = machine;
      state_->Withdraw(task->id);
    }
    FindGangs(gangs);
    Sort();
    FindRests();
    weighs_placements_ = !AreTasksDrawnToPeers();
    best_price_ = PriceOfFormer();
    Decide(0, {});
    return PlaceBest();
  }

  int64_t looks() const { return looks_; }

 private:
  using CountedTerms = absl::flat_hash_set<const CountedTerm*>;

  // Of what waits first, and among equals of what is placed.
  struct Price {
    Cost waiting = 0;
    FlowCost placed = 0;

    friend auto operator<=>(const Price&, const Price&) = default;
  };
  // The tasks from one on.
  struct Rest {
    Resources request;            // Of each resource the least of any.
    Cost waiting = 0;             // The least of any.
    FlowCost preferences = 0;     // Of all where they like best, and ...
    FlowCost preference_max = 0;  // ... of the one that is charged most there.
  };
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

  // What the flow charges for the task on the machine while that has `used`.
  FlowCost CostOf(const Task& task, const Machine& machine,
                  const Resources& used) const {
    return policies_.PreferenceCost(*task.class_key.rules, machine) *
               kPartsPerPoint +
           LoadArcCost(policies_, machine, used);
  }

  // Returns whether there are any, few enough, and no other deltas.
  bool FindFormer(uint64_t delta_begin) {
    int64_t deltas = 0;
    for (auto it = state_->outbox().lower_bound(delta_begin);
         it != state_->outbox().end(); ++it) {
      if (++deltas > kPairsMax) return false;
    }
    former_ = UndoablePlacements(*state_, priority_, delta_begin);
    return deltas > 0 && std::ssize(former_) == deltas;
  }

  // Those that were placed and those that wait, but for what fits nowhere.
  // Returns whether they are few enough, and one that waits may fit or one that
  // was placed may be where it is because of others.
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
    if (machines_.empty()) return false;
    return tasks_.size() > former_.size() ||
           std::ranges::any_of(tasks_, [](const Task* task) {
             return task->class_key.IsBound();
           });
  }

  // On how many machines the class fits where what is `freed` is free; no more
  // are counted than make too many pairs.
  int64_t CountTaking(const ClassKey& key,
                      const std::map<MachineId, Resources>& freed) {
    const auto [it, is_new] = taking_.try_emplace(key, 0);
    if (!is_new) return it->second;
    const auto& kinds = eligibility_->KindsFor(*key.rules);
    for (const auto& [id, machine] : state_->machines()) {
      if (it->second > kPairsMax) break;
      ++looks_;
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
      const bool was_placed = was_on_.contains(task->id);
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

  // Those last that wait for others, and the largest first, then those with
  // terms of their own: they have the least choice.
  void Sort() {
    std::ranges::stable_sort(tasks_, [](const Task* a, const Task* b) {
      const ClassKey& key_a = a->class_key;
      const ClassKey& key_b = b->class_key;
      const bool is_free_a = !key_a.rules->HasPeerTerms();
      const bool is_free_b = !key_b.rules->HasPeerTerms();
      return std::tie(key_b.request, is_free_a, key_a, a->submitted_ms) <
             std::tie(key_a.request, is_free_b, key_b, b->submitted_ms);
    });
    std::map<ClassKey, bool> must_wait;
    std::ranges::stable_partition(tasks_, [&](const Task* task) {
      const ClassKey& key = task->class_key;
      if (key.rules->affinity.empty()) return true;
      const auto [it, is_new] = must_wait.try_emplace(key, false);
      if (is_new && looks_ <= kLooksMax) {
        looks_ += std::ssize(state_->machines());
        it->second = ClassPeers(*state_, constraints_, key).MustWait();
      }
      return !it->second;
    });
  }

  // Whether what some task is charged may depend on where others are, beyond
  // the load that they are.  The search does not count that.
  bool AreTasksDrawnToPeers() const {
    const PeerTable& peers = state_->peers();
    CountedTerms given;  // What the tasks are worth to those these mean.
    for (const Task* task : tasks_) {
      for (const auto& [term, weight] :
           peers.TermsOf(*task->class_key.rules).given) {
        given.insert(term);
      }
    }
    const ClassKey* former = nullptr;
    return std::ranges::any_of(tasks_, [&](const Task* task) {
      const ClassKey* key = &task->class_key;
      const bool is_known = former != nullptr && *former == *key;
      former = key;
      return !is_known && IsDrawnToPeers(*key, given);
    });
  }

  bool IsDrawnToPeers(const ClassKey& key, const CountedTerms& given) const {
    if (!key.rules->preferred_peers.empty() ||
        !std::ranges::all_of(key.rules->spread,
                             &SpreadConstraint::is_required)) {
      return true;
    }
    const PeerTable& peers = state_->peers();
    const auto& required = peers.TermsOf(*key.rules).affinity;
    for (const uint32_t selector : *key.meant_by) {
      for (const CountedTerm* term : peers.TermsAbout(selector)) {
        if (!term->worth.counts().empty()) return true;
        // Where all that the term means have it, they are in one domain, unless
        // some ran before.
        const bool must_join =
            std::ranges::find(required, term) != required.end();
        if (given.contains(term) && !(must_join && term->meant.total() == 0)) {
          return true;
        }
      }
    }
    return false;
  }

  void FindRests() {
    rests_.resize(tasks_.size());
    for (size_t i = tasks_.size(); i-- > 0;) {
      const Task& task = *tasks_[i];
      FlowCost preference = std::numeric_limits<FlowCost>::max();
      for (const MachineId id : machines_) {
        preference = std::min(
            preference, policies_.PreferenceCost(*task.class_key.rules,
                                                 *state_->FindMachine(id)) *
                            kPartsPerPoint);
      }
      looks_ += std::ssize(machines_);
      Rest& rest = rests_[i];
      rest = {task.class_key.request, WaitingCostOf(task), preference,
              preference};
      if (i + 1 == tasks_.size()) continue;
      const Rest& next = rests_[i + 1];
      for (ResourceIndex r = 0; r < rest.request.size(); ++r) {
        rest.request.Set(r, std::min(rest.request[r], next.request[r]));
      }
      rest.waiting = std::min(rest.waiting, next.waiting);
      rest.preferences += next.preferences;
      rest.preference_max = std::max(rest.preference_max, next.preference_max);
    }
  }

  // What all costs at least where those before `next` have this price.  The
  // others cost what the cheapest slots do, as if no term kept them from
  // anywhere.  Where requests differ each is taken for the smallest, which is
  // the least cost as long as load makes no machine cheaper.
  Price LeastFrom(size_t next, Price price) {
    if (next == tasks_.size()) return price;
    const Rest& rest = rests_[next];
    const auto count = static_cast<int64_t>(tasks_.size() - next);
    std::vector<int64_t> rooms;
    for (const MachineId id : machines_) {
      rooms.push_back(
          rest.request.TimesIn(state_->FindMachine(id)->Free(), count));
    }
    looks_ += std::ssize(rooms);
    const auto room = std::accumulate(rooms.begin(), rooms.end(), int64_t{0});
    const int64_t without = std::max<int64_t>(count - room, 0);
    price.waiting += without * rest.waiting;
    if (price.waiting != best_price_.waiting || !weighs_placements_) {
      return price;
    }
    std::vector<FlowCost> slots;
    auto left = rooms.begin();
    for (const MachineId id : machines_) {
      const Machine& machine = *state_->FindMachine(id);
      Resources used = machine.used;
      for (int64_t i = *left++; i > 0; --i) {
        slots.push_back(LoadArcCost(policies_, machine, used));
        used += rest.request;
      }
    }
    looks_ += std::ssize(slots);
    std::ranges::sort(slots);
    slots.resize(static_cast<size_t>(count - without));
    price.placed = std::accumulate(slots.begin(), slots.end(), price.placed);
    price.placed +=
        std::max<FlowCost>(rest.preferences - without * rest.preference_max, 0);
    return price;
  }

  // As the search counts, one task after the other in its order.  That makes a
  // difference where requests differ.
  Price PriceOfFormer() const {
    Price price;
    std::map<MachineId, Resources> used;
    for (const Task* task : tasks_) {
      const auto it = was_on_.find(task->id);
      if (it == was_on_.end()) {
        price.waiting += WaitingCostOf(*task);
      } else if (weighs_placements_) {
        const Machine& machine = *state_->FindMachine(it->second);
        Resources& load =
            used.try_emplace(machine.id, machine.used).first->second;
        price.placed += CostOf(*task, machine, load);
        load += task->class_key.request;
      }
    }
    return price;
  }

  // Decides on the tasks from `next` on, where those before have this price.
  void Decide(size_t next, Price price) {
    if (looks_ > kLooksMax || LeastFrom(next, price) >= best_price_) return;
    if (next == tasks_.size()) {
      best_price_ = price;
      best_ = placed_;
      return;
    }
    const Task& task = *tasks_[next];
    const auto gang = gangs_.find(task.job);
    if (gang == gangs_.end()) {
      Place(next, price);
    } else if (gang->second.placed + gang->second.left >=
               gang->second.minimum) {
      ++gang->second.placed;
      --gang->second.left;
      Place(next, price);
      --gang->second.placed;
      ++gang->second.left;
    }
    // Without it, and then without those that are just the same.
    size_t other = next;
    while (other < tasks_.size() &&
           tasks_[other]->class_key == task.class_key) {
      price.waiting += WaitingCostOf(*tasks_[other++]);
    }
    const auto count = static_cast<int64_t>(other - next);
    if (gang == gangs_.end()) {
      Decide(other, price);
      return;
    }
    gang->second.left -= count;
    if (gang->second.MayStillBe()) Decide(other, price);
    gang->second.left += count;
  }

  void Place(size_t next, const Price& price) {
    const Task& task = *tasks_[next];
    for (const auto& [cost, machine] : MachinesFor(next)) {
      state_->Place(task.id, machine, now_ms_);
      placed_.push_back({&task, machine});
      Decide(next + 1,
             {price.waiting, price.placed + (weighs_placements_ ? cost : 0)});
      placed_.pop_back();
      state_->Withdraw(task.id);
    }
  }

  // Cheapest first.
  std::vector<std::pair<FlowCost, MachineId>> MachinesFor(size_t next) {
    const Task& task = *tasks_[next];
    const bool follows =
        !placed_.empty() && placed_.back().task == tasks_[next - 1];
    std::vector<std::pair<FlowCost, MachineId>> ranked;
    for (const MachineId id :
         PlacesFor(task, follows ? placed_.back().task : nullptr, machines_,
                   constraints_, *state_, &looks_)) {
      const Machine& machine = *state_->FindMachine(id);
      ranked.emplace_back(CostOf(task, machine, machine.used), id);
    }
    std::ranges::sort(ranked);
    return ranked;
  }

  TierSearchOutcome PlaceBest() {
    TierSearchOutcome outcome;
    for (const auto& [task, machine] : best_.empty() ? former_ : best_) {
      state_->Place(task->id, machine, now_ms_);
      if (!was_on_.contains(task->id)) outcome.placed.push_back(task->id);
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
  std::vector<Placement> former_;       // In their order.
  std::map<TaskId, MachineId> was_on_;  // The same.
  std::vector<const Task*> tasks_;
  std::map<ClassKey, int64_t> taking_;  // Machines that may take the class.
  std::set<MachineId> machines_;        // That may take any.
  std::map<JobId, Gang> gangs_;
  std::vector<Placement> placed_;
  std::vector<Placement> best_;  // In an order in which each is legal.
  Price best_price_;
  std::vector<Rest> rests_;         // By first task.
  bool weighs_placements_ = false;  // Else their price is 0.
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
