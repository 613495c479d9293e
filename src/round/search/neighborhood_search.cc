#include "round/search/neighborhood_search.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "constraints/class_peers.h"
#include "network/band_network.h"
#include "round/context/placements.h"
#include "round/context/work_budget.h"
#include "state/peer_table.h"

namespace sluice {
namespace {

class Search {
 public:
  Search(const Neighborhood& neighborhood, RoundContext* context,
         Transaction* transaction)
      : neighborhood_(neighborhood),
        tasks_(neighborhood.tasks),
        machines_(neighborhood.machines),
        context_(*context),
        policies_(context->policies),
        state_(context->state),
        transaction_(*transaction),
        work_(Piece::kNeighborhoodSearch, Effort::kSearches, &context->budget) {
  }

  bool Run() {
    FindGangs();
    FindWorths();
    FindRests();
    best_price_ = PriceOfFormer();
    Explore();
    for (const auto& [task, machine] : best_) {
      transaction_.Place(*task, machine);
    }
    return has_found_;
  }

 private:
  // Waiting costs count first, then costs of what is placed.
  struct Price {
    Cost waiting = 0;
    FlowCost placed = 0;

    friend auto operator<=>(const Price&, const Price&) = default;
  };
  // Bounds over the tasks from one on.
  struct Rest {
    Resources request;            // By resource, the least of any.
    Cost waiting = 0;             // The least of any.
    FlowCost preferences = 0;     // Of all at their best places.
    FlowCost preference_max = 0;  // Of the dearest one there.
    FlowCost gains = 0;           // At most, of all from peers.
  };
  struct Gang {
    Neighborhood::Gang terms;
    int64_t placed = 0;
    int64_t undecided = 0;

    bool MayStillRun() const { return placed + undecided >= terms.minimum; }
    bool MayStillBe() const {
      return MayStillRun() || (placed == 0 && !terms.must_run);
    }
  };
  struct Place {
    FlowCost cost = 0;
    MachineId machine;

    friend auto operator<=>(const Place&, const Place&) = default;
  };
  // One task's turn.
  struct Choice {
    size_t index = 0;  // Of the task.
    Price price;       // Of those before it.
    Gang* gang = nullptr;
    std::vector<Place> places;  // As far as they were looked up.
    size_t next_place = 0;
    bool has_all_places = false;
    bool is_placed = false;
    int64_t left_out = 0;  // It, and the equal tasks after it.
  };

  void FindGangs() {
    for (const auto& [job, terms] : neighborhood_.gangs) {
      gangs_[job].terms = terms;
    }
    for (const Task* task : tasks_) {
      if (Gang* gang = GangOf(*task)) ++gang->undecided;
    }
  }

  Gang* GangOf(const Task& task) {
    if (!task.class_key.gang.has_value()) return nullptr;
    const auto it = gangs_.find(*task.class_key.gang);
    return it == gangs_.end() ? nullptr : &it->second;
  }

  // What peers can be worth to each task if those before it are placed.
  void FindWorths() {
    std::map<ClassKey, std::pair<int64_t, int64_t>> standing;
    for (size_t i = 0; i < tasks_.size(); ++i) {
      const ClassKey& key = tasks_[i]->class_key;
      worth_max_.push_back(0);
      if (!key.DependsOnPeers()) continue;
      const auto [it, is_new] = standing.try_emplace(key);
      if (is_new) {
        const ClassPeers peers(state_, context_.constraints, key);
        it->second = {peers.worth_min(), peers.worth_max()};
        work_.Spend(std::ssize(state_.machines()));
      }
      auto [least, most] = it->second;
      const auto add = [&](const ClassKey& meant,
                           std::span<const WeightedTerm> terms) {
        for (const auto& [term, weight] : terms) {
          if (!IsMeantBy(*term, meant)) {
            continue;
          }
          (weight > 0 ? most : least) += weight;
        }
      };
      const PeerTable& peers = state_.peers();
      for (size_t j = 0; j < i; ++j) {
        const ClassKey& other = tasks_[j]->class_key;
        add(other, peers.TermsOf(*key.rules).preferred);
        add(key, peers.TermsOf(*other.rules).given);
      }
      work_.Spend(static_cast<int64_t>(i));
      worth_max_.back() = most;
      worth_range_ = std::max(worth_range_, most - least);
    }
  }

  // What the task is charged on the machine as things are; `peers` is null if
  // it does not depend on any.
  FlowCost CostOn(const Machine& machine, size_t index,
                  const ClassPeers* peers) const {
    FlowCost cost = PreferenceCost(*tasks_[index], machine) +
                    LoadArcCost(policies_, machine, machine.used);
    if (peers != nullptr) {
      cost += PeerCost(worth_max_[index] - peers->WorthOn(machine.id),
                       peers->CrowdingOn(machine.id)) -
              GainFrom(index);
    }
    return cost;
  }

  FlowCost PreferenceCost(const Task& task, const Machine& machine) const {
    return kPartsPerPoint * context_.eligibility().PreferenceCost(
                                *task.class_key.rules, machine);
  }

  FlowCost PeerCost(int64_t missed_weight, int64_t crowding) const {
    return kPartsPerPoint *
           policies_.PeerCost({missed_weight, worth_range_, crowding});
  }

  // The most that peers take off the task's price.
  FlowCost GainFrom(size_t index) const {
    return PeerCost(worth_max_[index], /*crowding=*/0);
  }

  std::optional<ClassPeers> PeersOf(const Task& task) const {
    if (!task.class_key.DependsOnPeers()) return std::nullopt;
    return std::optional<ClassPeers>(std::in_place, state_,
                                     context_.constraints, task.class_key);
  }

  void FindRests() {
    rests_.resize(tasks_.size());
    for (size_t i = tasks_.size(); i-- > 0;) {
      const Task& task = *tasks_[i];
      FlowCost preference = std::numeric_limits<FlowCost>::max();
      for (const MachineId id : machines_) {
        preference =
            std::min(preference, PreferenceCost(task, *state_.FindMachine(id)));
      }
      work_.Spend(std::ssize(machines_));
      Rest& rest = rests_[i];
      rest = {task.class_key.request, context_.UrgencyOf(task), preference,
              preference, GainFrom(i)};
      if (i + 1 == tasks_.size()) continue;
      const Rest& next = rests_[i + 1];
      for (ResourceIndex r = 0; r < rest.request.size(); ++r) {
        rest.request.Set(r, std::min(rest.request[r], next.request[r]));
      }
      rest.waiting = std::min(rest.waiting, next.waiting);
      rest.preferences += next.preferences;
      rest.gains += next.gains;
      rest.preference_max = std::max(rest.preference_max, next.preference_max);
    }
  }

  // The lower bound of the total cost if those before `next` have this price.
  // The others cost what the cheapest slots do, as if no term kept them from
  // anywhere.  If requests differ, each counts as the smallest, which gives the
  // least cost as long as load makes no machine cheaper.
  Price LeastFrom(size_t next, Price price) {
    if (next == tasks_.size()) return price;
    const Rest& rest = rests_[next];
    const auto count = static_cast<int64_t>(tasks_.size() - next);
    std::vector<int64_t> rooms;
    for (const MachineId id : machines_) {
      rooms.push_back(
          rest.request.TimesIn(state_.FindMachine(id)->Free(), count));
    }
    work_.Spend(std::ssize(rooms));
    const auto room = std::accumulate(rooms.begin(), rooms.end(), int64_t{0});
    const int64_t without = std::max<int64_t>(count - room, 0);
    price.waiting += without * rest.waiting;
    if (price.waiting != best_price_.waiting) return price;
    std::vector<FlowCost> slots;
    auto left = rooms.begin();
    for (const MachineId id : machines_) {
      const Machine& machine = *state_.FindMachine(id);
      Resources used = machine.used;
      for (int64_t i = *left++; i > 0; --i) {
        slots.push_back(LoadArcCost(policies_, machine, used));
        used += rest.request;
      }
    }
    work_.Spend(std::ssize(slots));
    std::ranges::sort(slots);
    slots.resize(static_cast<size_t>(count - without));
    price.placed = std::accumulate(slots.begin(), slots.end(), price.placed);
    price.placed +=
        std::max<FlowCost>(rest.preferences - without * rest.preference_max, 0);
    price.placed -= rest.gains;
    return price;
  }

  // Counted as the search does, one task after the other in its order.  That
  // makes a difference if requests differ.
  Price PriceOfFormer() {
    Price price;
    const size_t size = transaction_.size();
    for (size_t i = 0; i < tasks_.size(); ++i) {
      const Task& task = *tasks_[i];
      const auto it = neighborhood_.taken_back.find(task.id);
      if (it == neighborhood_.taken_back.end()) {
        price.waiting += context_.UrgencyOf(task);
      } else {
        const auto peers = PeersOf(task);
        price.placed += CostOn(*state_.FindMachine(it->second), i,
                               peers.has_value() ? &*peers : nullptr);
        transaction_.Place(task, it->second);
      }
    }
    transaction_.RollBackTo(size);
    return price;
  }

  // Uses no recursion: there may be too many choices at once.
  void Explore() {
    Enter(0, {});
    while (!choices_.empty()) {
      Choice& choice = choices_.back();
      Undo(&choice);
      if (IsOver()) {
        choices_.pop_back();
      } else if (choice.next_place < choice.places.size() ||
                 FindPlaces(&choice)) {
        PlaceNext(&choice);
      } else if (choice.left_out == 0) {
        LeaveOut(&choice);
      } else {
        choices_.pop_back();
      }
    }
  }

  bool IsOver() const { return work_.IsExceeded(); }

  // Goes on to the task at `index`, given the price of those before it.
  void Enter(size_t index, const Price& price) {
    if (IsOver()) return;
    if (LeastFrom(index, price) >= best_price_) return;
    if (index == tasks_.size()) {
      best_price_ = price;
      best_ = placed_;
      has_found_ = true;
      return;
    }
    Choice& choice = choices_.emplace_back();
    choice.index = index;
    choice.price = price;
    choice.gang = GangOf(*tasks_[index]);
    choice.has_all_places =
        choice.gang != nullptr && !choice.gang->MayStillRun();
  }

  // Undoes what was tried last.
  void Undo(Choice* choice) {
    Gang* gang = choice->gang;
    if (std::exchange(choice->is_placed, false)) {
      transaction_.RollBackTo(transaction_.size() - 1);
      placed_.pop_back();
      if (gang != nullptr) --gang->placed;
      if (gang != nullptr) ++gang->undecided;
    }
    if (choice->left_out > 0 && gang != nullptr) {
      gang->undecided += choice->left_out;
    }
  }

  void PlaceNext(Choice* choice) {
    const Task& task = *tasks_[choice->index];
    const auto [cost, machine] = choice->places[choice->next_place++];
    transaction_.Place(task, machine);
    placed_.push_back({&task, machine});
    choice->is_placed = true;
    if (choice->gang != nullptr) {
      ++choice->gang->placed;
      --choice->gang->undecided;
    }
    Enter(choice->index + 1,
          {choice->price.waiting, choice->price.placed + cost});
  }

  // Goes on without it and the equal tasks after it.
  void LeaveOut(Choice* choice) {
    const ClassKey& key = tasks_[choice->index]->class_key;
    size_t next = choice->index;
    Price price = choice->price;
    while (next < tasks_.size() && tasks_[next]->class_key == key) {
      price.waiting += context_.UrgencyOf(*tasks_[next++]);
    }
    choice->left_out = static_cast<int64_t>(next - choice->index);
    Gang* gang = choice->gang;
    if (gang != nullptr) gang->undecided -= choice->left_out;
    if (gang == nullptr || gang->MayStillBe()) Enter(next, price);
  }

  // Looks up where else the task may go.  Returns false if nowhere.
  bool FindPlaces(Choice* choice) {
    if (choice->has_all_places) return false;
    const Task& task = *tasks_[choice->index];
    const ClassKey& key = task.class_key;
    const auto peers = PeersOf(task);
    if (peers.has_value()) work_.Spend(std::ssize(state_.machines()));
    choice->has_all_places = true;
    for (auto it = machines_.lower_bound(FirstMachineFor(*choice));
         it != machines_.end(); ++it) {
      work_.Spend(1);
      const Machine& machine = *state_.FindMachine(*it);
      if (!context_.constraints.Allows(key, machine) ||
          (peers.has_value() && !peers->Allows(machine))) {
        continue;
      }
      const ClassPeers* const its_peers = peers.has_value() ? &*peers : nullptr;
      choice->places.push_back(
          {CostOn(machine, choice->index, its_peers), machine.id});
    }
    std::ranges::sort(choice->places);
    return choice->next_place < choice->places.size();
  }

  // If the task equals the one before it, their order does not matter, unless
  // the order of tasks does: the search continues from that one's machine.
  MachineId FirstMachineFor(const Choice& choice) const {
    if (placed_.empty() || placed_.back().task != tasks_[choice.index - 1]) {
      return {};
    }
    const Task& task = *tasks_[choice.index];
    const Task& twin = *placed_.back().task;
    const bool are_the_same = twin.class_key == task.class_key &&
                              task.class_key.rules->spread.empty();
    return are_the_same ? twin.machine : MachineId{};
  }

  const Neighborhood& neighborhood_;
  const std::vector<const Task*>& tasks_;
  const std::set<MachineId>& machines_;
  RoundContext& context_;
  const PolicySet& policies_;
  const ClusterState& state_;
  Transaction& transaction_;
  std::map<JobId, Gang> gangs_;
  std::vector<Choice> choices_;
  std::vector<Placement> placed_;
  std::vector<Placement> best_;  // In an order in which each is legal.
  Price best_price_;
  bool has_found_ = false;
  std::vector<Rest> rests_;  // By first task.
  // The most that peers are worth to each task, and by how much that differs.
  std::vector<int64_t> worth_max_;
  int64_t worth_range_ = 0;
  Allowance work_;
};

}  // namespace

bool PlaceBetter(const Neighborhood& neighborhood, RoundContext* context,
                 Transaction* transaction) {
  return Search(neighborhood, context, transaction).Run();
}

}  // namespace sluice
