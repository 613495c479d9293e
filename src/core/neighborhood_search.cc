#include "core/neighborhood_search.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "core/placements.h"
#include "network/band_network.h"
#include "state/peer_table.h"

namespace sluice {
namespace {

// Of a search for whatever is better: it leaves too much waiting, once more.
constexpr int64_t kDeadEndsMax = 10;

class Search {
 public:
  Search(const Neighborhood& neighborhood, RoundContext* context,
         Transaction* transaction)
      : neighborhood_(neighborhood),
        tasks_(neighborhood.tasks),
        machines_(neighborhood.machines),
        is_first_enough_(neighborhood.aim == Neighborhood::Aim::kBetter),
        looks_max_(std::min(neighborhood.looks_max, context->search_budget)),
        context_(*context),
        policies_(context->policies),
        state_(context->state),
        transaction_(*transaction) {}

  bool Run() {
    FindGangs();
    if (!is_first_enough_) {
      weighs_placements_ = !AreTasksDrawnToPeers();
      FindRests();
    }
    best_price_ = PriceOfFormer();
    Explore();
    context_.search_budget -= looks_;
    for (const auto& [task, machine] : best_) {
      transaction_.Place(*task, machine);
    }
    return has_found_;
  }

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
    MachineId next_machine{};  // The first that was not looked at.
    bool has_all_places = false;
    bool is_placed = false;
    int64_t left_out = 0;  // It, and those after it that are just the same.
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
    const auto it = gangs_.find(task.job);
    return it == gangs_.end() ? nullptr : &it->second;
  }

  // Whether what some task is charged may depend on where others are, beyond
  // the load that they are.  The search does not count that.
  bool AreTasksDrawnToPeers() const {
    const PeerTable& peers = state_.peers();
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
    const PeerTable& peers = state_.peers();
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
                                                 *state_.FindMachine(id)) *
                            kPartsPerPoint);
      }
      looks_ += std::ssize(machines_);
      Rest& rest = rests_[i];
      rest = {task.class_key.request, context_.WaitingCostOf(task), preference,
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
    if (next == tasks_.size() || is_first_enough_) return price;
    const Rest& rest = rests_[next];
    const auto count = static_cast<int64_t>(tasks_.size() - next);
    std::vector<int64_t> rooms;
    for (const MachineId id : machines_) {
      rooms.push_back(
          rest.request.TimesIn(state_.FindMachine(id)->Free(), count));
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
      const Machine& machine = *state_.FindMachine(id);
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
      const auto it = neighborhood_.taken_back.find(task->id);
      if (it == neighborhood_.taken_back.end()) {
        price.waiting += context_.WaitingCostOf(*task);
      } else if (weighs_placements_) {
        const Machine& machine = *state_.FindMachine(it->second);
        Resources& load =
            used.try_emplace(machine.id, machine.used).first->second;
        price.placed += PlaceCost(policies_, task->class_key, machine, load);
        load += task->class_key.request;
      }
    }
    return price;
  }

  // There may be too many choices at once to call for each of them.
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

  bool IsOver() const {
    return looks_ > looks_max_ ||
           (is_first_enough_ && (has_found_ || dead_ends_ > kDeadEndsMax));
  }

  // Goes on to the task at `index`, where those before it have this price.
  void Enter(size_t index, const Price& price) {
    if (IsOver()) return;
    if (LeastFrom(index, price) >= best_price_) {
      ++dead_ends_;
      return;
    }
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
    choice.has_all_places = choice.gang != nullptr &&
                            (!choice.gang->MayStillRun() ||
                             choice.gang->placed == choice.gang->terms.most);
    const auto former = FindFormerPlace(*tasks_[index]);
    if (former.has_value() && !choice.has_all_places &&
        context_.constraints.Allows(tasks_[index]->class_key,
                                    *state_.FindMachine(*former))) {
      choice.places.push_back({0, *former});
    }
  }

  // What was tried last.
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
          {choice->price.waiting,
           choice->price.placed + (weighs_placements_ ? cost : 0)});
  }

  // Goes on without it, and without those that are just the same.
  void LeaveOut(Choice* choice) {
    const ClassKey& key = tasks_[choice->index]->class_key;
    size_t next = choice->index;
    Price price = choice->price;
    while (next < tasks_.size() && tasks_[next]->class_key == key) {
      price.waiting += context_.WaitingCostOf(*tasks_[next++]);
    }
    choice->left_out = static_cast<int64_t>(next - choice->index);
    Gang* gang = choice->gang;
    if (gang != nullptr) gang->undecided -= choice->left_out;
    if (gang == nullptr || gang->MayStillBe()) Enter(next, price);
  }

  // Looks up where else the task may go.  Returns whether there is anything.
  bool FindPlaces(Choice* choice) {
    if (choice->has_all_places) return false;
    const Task& task = *tasks_[choice->index];
    PlaceQuery query = {.machines = machines_, .first = choice->next_machine};
    const bool follows =
        !placed_.empty() && placed_.back().task == tasks_[choice->index - 1];
    if (follows && !FindFormerPlace(task).has_value()) {
      query.twin = placed_.back().task;
    }
    if (is_first_enough_ && !task.class_key.DependsOnPeers()) {
      query.count_max = 1;
    }
    const std::vector<MachineId> machines =
        PlacesFor(task, query, context_.constraints, state_, &looks_);
    choice->has_all_places = machines.size() < query.count_max;
    for (const MachineId id : machines) {
      const Machine& machine = *state_.FindMachine(id);
      const FlowCost cost =
          is_first_enough_
              ? 0
              : PlaceCost(policies_, task.class_key, machine, machine.used);
      choice->places.push_back({cost, id});
      choice->next_machine = {id.value + 1};
    }
    if (!is_first_enough_) std::ranges::sort(choice->places);
    return !machines.empty();
  }

  // Where a task was that is better left there if there is no reason to move
  // it.
  std::optional<MachineId> FindFormerPlace(const Task& task) const {
    const auto it = neighborhood_.taken_back.find(task.id);
    if (!is_first_enough_ || it == neighborhood_.taken_back.end() ||
        task.class_key.DependsOnPeers()) {
      return std::nullopt;
    }
    return it->second;
  }

  const Neighborhood& neighborhood_;
  const std::vector<const Task*>& tasks_;
  const std::set<MachineId>& machines_;
  const bool is_first_enough_;
  const int64_t looks_max_;
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
  std::vector<Rest> rests_;         // By first task.
  bool weighs_placements_ = false;  // Else their price is 0.
  int64_t looks_ = 0;
  int64_t dead_ends_ = 0;
};

}  // namespace

bool PlaceBetter(const Neighborhood& neighborhood, RoundContext* context,
                 Transaction* transaction) {
  return Search(neighborhood, context, transaction).Run();
}

}  // namespace sluice
