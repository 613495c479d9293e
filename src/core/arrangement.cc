#include "core/arrangement.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "constraints/class_peers.h"
#include "core/placements.h"
#include "core/transaction.h"

namespace sluice {
namespace {

// Some 20 to 50 ms.
constexpr int64_t kLooksMax = kLooksPerStep;
// For one task: machines of a kind, those with the lowest load first, and tasks
// to exchange it for.
constexpr int kMachinesPerKindMax = 64;
constexpr int64_t kPartnersMax = 64;
// Through all tasks that wish something.
constexpr int kTurnsMax = 4;

constexpr Cost kForbidden = std::numeric_limits<Cost>::max();

// What is wished of a place, in the order in which it counts.
struct Liking {
  Cost wishes = 0;    // Preference and peer costs.
  Cost siblings = 0;  // Sibling costs.

  Liking operator+(const Liking& other) const {
    return {wishes + other.wishes, siblings + other.siblings};
  }
  friend auto operator<=>(const Liking&, const Liking&) = default;
};

// How many tasks of a job run on a machine.  Looked up where it is asked for:
// most jobs have no two tasks on any machine that a round uses.
class Siblings {
 public:
  explicit Siblings(const ClusterState& state) : state_(state) {}

  // All of its tasks are known, and none of them counted yet.
  void AddNew(JobId job) { new_.insert(job); }

  int64_t Count(JobId job, MachineId machine, int64_t* looks) {
    const auto [it, is_new] = counts_.try_emplace({job, machine}, 0);
    if (!is_new || new_.contains(job)) return it->second;
    const Machine& host = *state_.FindMachine(machine);
    *looks += std::ssize(host.tasks);
    it->second = std::ranges::count_if(host.tasks, [&](TaskId id) {
      const Task& task = *state_.FindTask(id);
      return task.job == job && !task.is_evicted;
    });
    return it->second;
  }
  void Add(JobId job, MachineId machine, int64_t count) {
    const auto it = counts_.find({job, machine});
    if (it != counts_.end()) {
      it->second += count;
    } else if (new_.contains(job)) {
      counts_[{job, machine}] = count;
    }
  }

 private:
  const ClusterState& state_;
  absl::flat_hash_set<JobId> new_;
  absl::flat_hash_map<std::pair<JobId, MachineId>, int64_t> counts_;
};

// Machines by kind, those with the lowest load cost first.
class ByLoad {
 public:
  ByLoad(const RoundContext& context, const Eligibility& eligibility)
      : policies_(context.policies),
        eligibility_(eligibility),
        of_kind_(static_cast<size_t>(eligibility.kind_count())) {
    for (const auto& [id, machine] : context.state.machines()) {
      if (machine->IsUsable()) Add(*machine);
    }
  }

  using Machines = std::set<std::pair<Cost, MachineId>>;
  const Machines& OfKind(size_t kind) const { return of_kind_[kind]; }

  // Its load has changed.
  void Update(const Machine& machine) {
    const auto it = cost_.find(machine.id);
    if (it == cost_.end()) return;
    of_kind_[KindOf(machine)].erase({it->second, machine.id});
    Add(machine);
  }

 private:
  size_t KindOf(const Machine& machine) const {
    return static_cast<size_t>(eligibility_.KindOf(machine));
  }
  void Add(const Machine& machine) {
    const Cost cost = policies_.LoadCost(machine, machine.used);
    cost_[machine.id] = cost;
    of_kind_[KindOf(machine)].insert({cost, machine.id});
  }

  const PolicySet& policies_;
  const Eligibility& eligibility_;
  std::vector<Machines> of_kind_;
  absl::flat_hash_map<MachineId, Cost> cost_;
};

class Arranger {
 public:
  explicit Arranger(RoundContext* context)
      : context_(*context),
        state_(context->state),
        policies_(context->policies),
        eligibility_(context->FreshEligibility()),
        siblings_(context->state),
        transaction_(context->now_ms, &context->state) {}

  int64_t Run() {
    FindPlacements();
    const std::vector<size_t> crowded = FindCrowded();
    const std::vector<size_t> wishing = FindWishing();
    int64_t moved = 0;
    if (!crowded.empty() || !wishing.empty()) {
      FindBinding();
      FindWaiting();
      // Exchanges take many looks, and moves may make them needless.
      looks_kept_ = crowded.empty() ? 0 : looks_left_ / 3;
      for (const bool may_exchange : {false, true}) {
        may_exchange_ = may_exchange;
        for (int turn = 0; turn < kTurnsMax; ++turn) {
          const int64_t before = moved;
          for (const size_t i : wishing) moved += MoveToBetter(i) ? 1 : 0;
          if (moved == before) break;
        }
      }
      looks_kept_ = 0;
      for (const size_t i : crowded) moved += MoveApart(i) ? 1 : 0;
      moved += Relieve();
    }
    context_.looks += kLooksMax - looks_left_;
    context_.Keep(&transaction_);
    return moved;
  }

 private:
  // What the rules of a task, and those of others about it, say of places.
  struct View {
    std::vector<Cost> preference;  // By kind; or kForbidden.
    // Those that are allowed, the best first.
    std::vector<std::pair<Cost, size_t>> kinds;
    std::unique_ptr<ClassPeers> peers;
    // Machines that it may use and likes the same, whoever runs there.
    std::vector<std::vector<const Machine*>> parts;
    bool is_movable = false;
  };

  // Those that are still legal where they are, as far as that is sure: commands
  // may have come since they were placed.
  void FindPlacements() {
    placements_ =
        UndoablePlacements(state_, std::nullopt, context_.delta_begin);
    looks_left_ -= std::ssize(placements_) / 8;
    if (!context_.has_changed) return;
    std::erase_if(placements_, [this](const Placement& one) {
      const ClassKey& key = one.task->class_key;
      return key.DependsOnPeers() ||
             !eligibility_.Allows(*key.rules, *state_.FindMachine(one.machine));
    });
  }

  // Those that share a machine with others of their job.
  std::vector<size_t> FindCrowded() {
    std::vector<size_t> crowded;
    if (!policies_.ChargesSiblings()) return crowded;
    std::vector<std::tuple<JobId, MachineId, size_t>> order;
    order.reserve(placements_.size());
    for (size_t i = 0; i < placements_.size(); ++i) {
      order.emplace_back(placements_[i].task->job, placements_[i].machine, i);
    }
    std::ranges::sort(order);
    for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      const JobId job = std::get<JobId>(order[begin]);
      bool has_pair = false;
      while (end < order.size() && std::get<JobId>(order[end]) == job) {
        has_pair = has_pair ||
                   (end > begin && std::get<MachineId>(order[end]) ==
                                       std::get<MachineId>(order[end - 1]));
        ++end;
      }
      const int64_t running = state_.FindJob(job)->running_count;
      const bool is_new = running == static_cast<int64_t>(end - begin);
      if (running < 2 || (is_new && !has_pair)) continue;
      const auto of_job = std::span(order).subspan(begin, end - begin);
      if (is_new) {
        siblings_.AddNew(job);
        for (const auto& [_, machine, i] : of_job) {
          siblings_.Add(job, machine, 1);
        }
      }
      for (const auto& [_, machine, i] : of_job) {
        if (IsSpent()) break;
        if (CountSiblings(job, machine) > 1) crowded.push_back(i);
      }
    }
    return crowded;
  }

  // Those with a wish, or that others with one are worth something to.
  std::vector<size_t> FindWishing() const {
    std::vector<size_t> wishing;
    absl::flat_hash_map<std::pair<const PlacementRules*, const SelectorSet*>,
                        bool>
        known;
    for (size_t i = 0; i < placements_.size(); ++i) {
      const ClassKey& key = placements_[i].task->class_key;
      if (!key.DependsOnPeers()) continue;
      const auto [it, is_new] =
          known.try_emplace({key.rules, key.meant_by}, false);
      if (is_new) it->second = HasWishes(key);
      if (it->second) wishing.push_back(i);
    }
    return wishing;
  }

  bool HasWishes(const ClassKey& key) const {
    const auto is_wish = [](const SpreadConstraint& spread) {
      return !spread.is_required;
    };
    const auto is_wished_by_others = [this](uint32_t selector) {
      return std::ranges::any_of(state_.peers().TermsAbout(selector),
                                 [](const CountedTerm* term) {
                                   return !term->worth.counts().empty();
                                 });
    };
    return !key.rules->preferred_peers.empty() ||
           std::ranges::any_of(key.rules->spread, is_wish) ||
           std::ranges::any_of(*key.meant_by, is_wished_by_others);
  }

  // Whom tasks that were placed must be near or are counted with.  What ran
  // before stands where it does because of others.
  void FindBinding() {
    const PeerTable& peers = state_.peers();
    for (auto it = state_.outbox().lower_bound(context_.delta_begin);
         it != state_.outbox().end(); ++it) {
      const Task* task = state_.FindTask(it->second.task);
      if (task == nullptr || !task->class_key.rules->HasPeerTerms()) continue;
      const PlacementRules& rules = *task->class_key.rules;
      const PeerTerms& terms = peers.TermsOf(rules);
      for (const CountedTerm* term : terms.affinity) {
        binding_.insert(term->selector);
      }
      for (size_t i = 0; i < terms.spread.size(); ++i) {
        if (!rules.spread[i].is_required) continue;
        binding_.insert(terms.spread[i]->selector);
      }
    }
  }

  // The priorities of what waits and may fit somewhere.
  void FindWaiting() {
    if (state_.pending().empty()) return;
    std::vector<Resources> most(static_cast<size_t>(eligibility_.kind_count()));
    looks_left_ -= std::ssize(state_.machines());
    for (const auto& [id, machine] : state_.machines()) {
      if (!machine->IsUsable()) continue;
      most[static_cast<size_t>(eligibility_.KindOf(*machine))].MaxWith(
          machine->allocatable);
    }
    for (const auto& [key, tasks] : state_.pending()) {
      if (waiting_.contains(key.priority) || context_.CountWaiting(key) == 0) {
        continue;
      }
      const auto kinds = eligibility_.KindsFor(*key.rules);
      looks_left_ -= std::ssize(kinds);
      if (std::ranges::any_of(kinds, [&](const Eligibility::Kind& kind) {
            return key.request.FitsIn(most[static_cast<size_t>(kind.id)]);
          })) {
        waiting_.insert(key.priority);
      }
    }
  }

  // Clients hear of what moves last.  So it must be legal after all else, and
  // all else without it.
  bool MayMove(const ClassKey& key) const {
    const auto is_required = [](const SpreadConstraint& spread) {
      return spread.is_required;
    };
    return key.rules->affinity.empty() &&
           std::ranges::none_of(key.rules->spread, is_required) &&
           std::ranges::none_of(*key.meant_by, [this](uint32_t selector) {
             return binding_.contains(selector);
           });
  }

  View& ViewOf(const ClassKey& key) {
    std::unique_ptr<View>& view = views_[{key.rules, key.meant_by}];
    if (view != nullptr) return *view;
    view = std::make_unique<View>();
    view->is_movable = MayMove(key);
    if (!view->is_movable) return *view;
    view->preference.assign(static_cast<size_t>(eligibility_.kind_count()),
                            kForbidden);
    for (const Eligibility::Kind& kind : eligibility_.KindsFor(*key.rules)) {
      const auto id = static_cast<size_t>(kind.id);
      view->preference[id] = kind.preference;
      view->kinds.emplace_back(kind.preference, id);
    }
    std::ranges::sort(view->kinds);
    looks_left_ -= std::ssize(view->preference);
    if (key.DependsOnPeers()) {
      view->peers =
          std::make_unique<ClassPeers>(state_, context_.constraints, key);
      with_peers_.push_back(view.get());
      looks_left_ -= std::ssize(state_.machines());
    }
    return *view;
  }

  void FindParts(View* view) {
    if (!view->parts.empty()) return;
    std::vector<const Topology*> topologies = view->peers->Topologies();
    std::ranges::sort(topologies);
    const auto [end, last] = std::ranges::unique(topologies);
    topologies.erase(end, last);
    std::map<std::vector<DomainIndex>, size_t> part_of;
    for (const auto& [id, machine] : state_.machines()) {
      const KindId kind = eligibility_.KindOf(*machine);
      looks_left_ -= 1 + std::ssize(topologies);
      if (!machine->IsUsable() ||
          view->preference[static_cast<size_t>(kind)] == kForbidden) {
        continue;
      }
      std::vector<DomainIndex> domains = {kind};
      for (const Topology* topology : topologies) {
        domains.push_back(topology->DomainOf(id));
      }
      const auto [it, is_new] =
          part_of.try_emplace(std::move(domains), view->parts.size());
      if (is_new) view->parts.emplace_back();
      view->parts[it->second].push_back(machine.get());
    }
  }

  // Whether something waits that is more urgent than one of these, and not than
  // the other: what is less urgent must not keep it out of room.
  bool IsAnyBetween(uint32_t less_urgent, uint32_t more_urgent) const {
    const auto it = waiting_.upper_bound(less_urgent);
    return it != waiting_.end() && *it <= more_urgent;
  }

  // Whether something that waits might fit where the task was if what is less
  // urgent were not there.
  bool MakesWay(const Placement& one) {
    if (waiting_.empty()) return false;
    const uint32_t priority = one.task->class_key.priority;
    const Machine& machine = *state_.FindMachine(one.machine);
    looks_left_ -= std::ssize(machine.tasks);
    uint32_t least = priority;
    for (const TaskId id : machine.tasks) {
      least = std::min(least, state_.FindTask(id)->class_key.priority);
    }
    return IsAnyBetween(least, priority);
  }

  bool IsSpent() const { return looks_left_ <= looks_kept_; }

  int64_t CountSiblings(JobId job, MachineId machine) {
    int64_t looks = 1;
    const int64_t count = siblings_.Count(job, machine, &looks);
    looks_left_ -= looks;
    return count;
  }

  void Withdraw(const Placement& one) {
    transaction_.Withdraw(std::span(&one, 1));
    NoteChange(*one.task, one.machine, -1);
  }
  void Place(const Task& task, MachineId machine) {
    transaction_.Place(task, machine);
    NoteChange(task, machine, 1);
  }
  void NoteChange(const Task& task, MachineId machine, int64_t count) {
    looks_left_ -= kLooksPerPlacement / 2 + std::ssize(with_peers_);
    for (View* view : with_peers_) {
      view->peers->Note(task.class_key, machine, count);
    }
    siblings_.Add(task.job, machine, count);
    if (by_load_.has_value()) by_load_->Update(*state_.FindMachine(machine));
  }

  // Whether the task, which is withdrawn, may go there.
  bool MayGo(const Task& task, const View& view, const Machine& machine) const {
    const ClassKey& key = task.class_key;
    // What waits may have that room first.
    if (vacated_.contains(machine.id) &&
        waiting_.upper_bound(key.priority) != waiting_.end()) {
      return false;
    }
    return machine.IsUsable() &&
           view.preference[static_cast<size_t>(eligibility_.KindOf(machine))] !=
               kForbidden &&
           key.request.FitsIn(machine.Free()) &&
           context_.constraints.Allows(key, machine) &&
           (view.peers == nullptr || view.peers->Allows(machine));
  }

  static int64_t WorthOn(const View& view, const Machine& machine) {
    return view.peers == nullptr ? 0 : view.peers->WorthOn(machine.id);
  }

  // What the task, which is withdrawn, would be charged there, where it costs
  // nothing to be worth `worth`.
  Liking LikingOf(const Task& task, const View& view, const Machine& machine,
                  int64_t worth) {
    --looks_left_;
    Liking liking;
    liking.wishes =
        view.preference[static_cast<size_t>(eligibility_.KindOf(machine))];
    if (view.peers != nullptr) {
      const ClassPeers& peers = *view.peers;
      const int64_t missed = worth - peers.WorthOn(machine.id);
      const int64_t range = peers.worth_max() - peers.worth_min();
      liking.wishes +=
          policies_.PeerCost({.missed_weight = std::max<int64_t>(missed, 0),
                              .missed_weight_max = range,
                              .crowding = peers.CrowdingOn(machine.id)}) -
          policies_.PeerCost({.missed_weight = std::max<int64_t>(-missed, 0),
                              .missed_weight_max = range});
    }
    liking.siblings =
        policies_.SiblingCost(CountSiblings(task.job, machine.id));
    return liking;
  }

  // To where fewer of its job are, and everything else is no worse.
  bool MoveApart(size_t index) {
    const Placement one = placements_[index];
    const int64_t count = CountSiblings(one.task->job, one.machine);
    if (IsSpent() || count < 2) return false;
    FindTwins();
    const size_t task_class = class_of_[index];
    const View& view = ViewOf(one.task->class_key);
    if (!view.is_movable) return false;
    const KindId kind = eligibility_.KindOf(*state_.FindMachine(one.machine));
    // From where there were as few another like it could not go apart.
    int64_t& stuck = stuck_[{one.task->job, task_class,
                             view.preference[static_cast<size_t>(kind)]}];
    if (count <= stuck) return false;
    if (ExchangeForTwin(index)) return true;
    if (MakesWay(one)) return false;
    if (!by_load_.has_value()) {
      by_load_.emplace(context_, eligibility_);
      looks_left_ -= 2 * std::ssize(state_.machines());
    }
    // Without peers nothing but its count changes where it is taken away.
    if (view.peers != nullptr) Withdraw(one);
    const MachineId place =
        FindPlace(one, view, std::numeric_limits<Cost>::min());
    const bool has_moved = place != one.machine;
    if (view.peers == nullptr && has_moved) Withdraw(one);
    if (view.peers != nullptr || has_moved) Place(*one.task, place);
    if (has_moved) {
      SetMachine(index, place);
      vacated_.insert(one.machine);
      laden_.insert(place);
    } else if (!IsSpent()) {
      stuck = count;
    }
    return has_moved;
  }

  // Tasks of one class can stand in for each other, and nobody but their jobs
  // would see a difference.
  void FindTwins() {
    if (!twins_.empty()) return;
    looks_left_ -= std::ssize(placements_);
    std::map<ClassKey, size_t> classes;
    const ClassKey* last = nullptr;
    for (size_t i = 0; i < placements_.size(); ++i) {
      const ClassKey& key = placements_[i].task->class_key;
      size_t task_class = i > 0 ? class_of_.back() : 0;
      if (last == nullptr || key != *last) {
        task_class = classes.try_emplace(key, twins_.size()).first->second;
      }
      last = &key;
      if (task_class == twins_.size()) twins_.emplace_back();
      twins_[task_class].push_back(i);
      class_of_.push_back(task_class);
    }
  }

  bool ExchangeForTwin(size_t index) {
    const Placement one = placements_[index];
    const JobId job = one.task->job;
    const std::vector<size_t>& twins = twins_[class_of_[index]];
    const auto cost = [&](JobId whose, MachineId machine, int64_t more) {
      return policies_.SiblingCost(CountSiblings(whose, machine) + more);
    };
    int64_t partners_left = kPartnersMax;
    // Each begins elsewhere, or all would try the same.
    const auto begin = std::ranges::upper_bound(twins, index) - twins.begin();
    for (int64_t i = 0; i < std::ssize(twins); ++i) {
      const size_t other =
          twins[static_cast<size_t>((begin + i) % std::ssize(twins))];
      const Placement twin = placements_[other];
      const JobId its_job = twin.task->job;
      --looks_left_;
      if (IsSpent()) break;
      if (its_job == job || twin.machine == one.machine) continue;
      if (partners_left-- == 0) break;
      if (cost(job, twin.machine, 0) + cost(its_job, one.machine, 0) >=
          cost(job, one.machine, -1) + cost(its_job, twin.machine, -1)) {
        continue;
      }
      Withdraw(one);
      Withdraw(twin);
      Place(*one.task, twin.machine);
      Place(*twin.task, one.machine);
      SetMachine(index, twin.machine);
      SetMachine(other, one.machine);
      return true;
    }
    return false;
  }

  // Tasks went where their job has fewer, whatever the load there.  Others that
  // may as well be elsewhere make up for it.
  int64_t Relieve() {
    int64_t moved = 0;
    if (!laden_.empty()) FindWhoIsWhere();
    for (const MachineId id : laden_) {
      const std::set<size_t> there = placed_on_[id];
      for (const size_t i : there) {
        if (IsSpent()) return moved;
        const Placement one = placements_[i];
        const View& view = ViewOf(one.task->class_key);
        if (!view.is_movable || view.peers != nullptr || MakesWay(one))
          continue;
        // What stays keeps its turn among the deltas.
        const Machine& home = *state_.FindMachine(id);
        Resources others = home.used;
        others -= one.task->class_key.request;
        const MachineId place =
            FindPlace(one, view, policies_.LoadCost(home, others));
        if (place == id) continue;
        Withdraw(one);
        Place(*one.task, place);
        SetMachine(i, place);
        vacated_.insert(id);
        ++moved;
      }
    }
    return moved;
  }

  // For a task that is withdrawn, or does not depend on peers; where it was if
  // nothing is liked better, or as well at a load cost below `load_end`.
  MachineId FindPlace(const Placement& one, const View& view, Cost load_end) {
    const Machine& home = *state_.FindMachine(one.machine);
    const int64_t worth = WorthOn(view, home);
    Liking here = LikingOf(*one.task, view, home, worth);
    if (one.task->machine == home.id) {
      here.siblings =
          policies_.SiblingCost(CountSiblings(one.task->job, home.id) - 1);
    }
    std::pair<Liking, Cost> best(here, load_end);
    MachineId place = home.id;
    for (const auto& [preference, kind] : view.kinds) {
      // Peers may be worth more than a preference.
      if (view.peers == nullptr && preference > best.first.wishes) break;
      int machines_left = kMachinesPerKindMax;
      for (const auto& [load, id] : by_load_->OfKind(kind)) {
        if (machines_left-- == 0 || IsSpent()) break;
        if (id == home.id) continue;
        const Machine& machine = *state_.FindMachine(id);
        const std::pair there(LikingOf(*one.task, view, machine, worth), load);
        if (there >= best || !MayGo(*one.task, view, machine)) continue;
        best = there;
        place = id;
        // No other of the kind is liked better.
        if (there.first.siblings == 0 && view.peers == nullptr) break;
      }
    }
    return place;
  }

  // To where it is liked best, be it in the place of another.
  bool MoveToBetter(size_t index) {
    const Placement one = placements_[index];
    if (IsSpent()) return false;
    View& view = ViewOf(one.task->class_key);
    if (!view.is_movable || MakesWay(one)) return false;
    FindParts(&view);
    const Machine& home = *state_.FindMachine(one.machine);
    // Most are where they like best, which is seen without a move: a task makes
    // its own place look worse, unless it would like to be near its own kind.
    if (one.task->class_key.rules->preferred_peers.empty() &&
        !IsAnyBetter(one, view)) {
      return false;
    }
    Withdraw(one);
    const int64_t worth = WorthOn(view, home);
    const Liking here = LikingOf(*one.task, view, home, worth);
    std::vector<std::pair<Cost, size_t>> better;  // Wishes and part.
    for (size_t part = 0; part < view.parts.size(); ++part) {
      const Cost wishes =
          LikingOf(*one.task, view, *view.parts[part].front(), worth).wishes;
      if (wishes < here.wishes) better.emplace_back(wishes, part);
    }
    std::ranges::sort(better);
    MachineId place = home.id;
    for (const auto& [wishes, part] : better) {
      place = FindPlaceIn(view.parts[part], one, view);
      if (place != home.id) break;
    }
    Place(*one.task, place);
    SetMachine(index, place);
    if (place != home.id) vacated_.insert(home.id);
    if (place != home.id || !may_exchange_) return place != home.id;
    for (const auto& [wishes, part] : better) {
      if (ExchangeOnto(index, view.parts[part])) return true;
    }
    return false;
  }

  bool IsAnyBetter(const Placement& one, const View& view) {
    const Machine& home = *state_.FindMachine(one.machine);
    const int64_t worth = WorthOn(view, home);
    const Cost here = LikingOf(*one.task, view, home, worth).wishes;
    return std::ranges::any_of(view.parts, [&](const auto& part) {
      return LikingOf(*one.task, view, *part.front(), worth).wishes < here;
    });
  }

  // Of these machines the one with the fewest of its job, and of such the one
  // with the least load; where it was if it may go to none.
  MachineId FindPlaceIn(std::span<const Machine* const> machines,
                        const Placement& one, const View& view) {
    std::optional<std::pair<int64_t, Cost>> best;
    MachineId place = one.machine;
    for (const Machine* machine : machines) {
      --looks_left_;
      if (!MayGo(*one.task, view, *machine)) continue;
      const std::pair there(CountSiblings(one.task->job, machine->id),
                            policies_.LoadCost(*machine, machine->used));
      if (best.has_value() && there >= *best) continue;
      best = there;
      place = machine->id;
    }
    return place;
  }

  void FindWhoIsWhere() {
    if (!placed_on_.empty()) return;
    for (size_t i = 0; i < placements_.size(); ++i) {
      placed_on_[placements_[i].machine].insert(i);
    }
    looks_left_ -= std::ssize(placements_);
  }

  // For a task on one of these machines.
  bool ExchangeOnto(size_t index, std::span<const Machine* const> machines) {
    FindWhoIsWhere();
    int64_t partners_left = kPartnersMax;
    for (const Machine* machine : machines) {
      const auto there = placed_on_.find(machine->id);
      if (there == placed_on_.end()) continue;
      for (const size_t other : there->second) {
        if (partners_left-- == 0 || IsSpent()) return false;
        if (Exchange(index, other)) return true;
      }
    }
    return false;
  }

  // Each goes where the other is, if both may and that is liked better.
  bool Exchange(size_t a, size_t b) {
    const Placement one = placements_[a];
    const Placement other = placements_[b];
    const View& view = ViewOf(one.task->class_key);
    const View& other_view = ViewOf(other.task->class_key);
    if (!view.is_movable || !other_view.is_movable ||
        !MayFitInPlaceOf(other, one) || !MayFitInPlaceOf(one, other) ||
        MakesWay(other) ||
        IsAnyBetween(one.task->class_key.priority,
                     other.task->class_key.priority) ||
        IsAnyBetween(other.task->class_key.priority,
                     one.task->class_key.priority)) {
      return false;
    }
    const Machine& home = *state_.FindMachine(one.machine);
    const Machine& there = *state_.FindMachine(other.machine);
    // What they are worth to each other counts with the second of them.
    Withdraw(other);
    const int64_t other_worth = WorthOn(other_view, there);
    const Liking other_before =
        LikingOf(*other.task, other_view, there, other_worth);
    Withdraw(one);
    const int64_t worth = WorthOn(view, home);
    const Liking before = other_before + LikingOf(*one.task, view, home, worth);
    if (MayGo(*one.task, view, there) && MayGo(*other.task, other_view, home)) {
      Liking after = LikingOf(*one.task, view, there, worth);
      Place(*one.task, there.id);
      after = after + LikingOf(*other.task, other_view, home, other_worth);
      if (after < before && MayGo(*other.task, other_view, home)) {
        Place(*other.task, home.id);
        SetMachine(a, there.id);
        SetMachine(b, home.id);
        return true;
      }
      Withdraw({one.task, there.id});
    }
    Place(*one.task, home.id);
    Place(*other.task, there.id);
    return false;
  }

  bool MayFitInPlaceOf(const Placement& leaver, const Placement& comer) const {
    Resources free = state_.FindMachine(leaver.machine)->Free();
    free += leaver.task->class_key.request;
    return comer.task->class_key.request.FitsIn(free);
  }

  void SetMachine(size_t index, MachineId machine) {
    Placement& one = placements_[index];
    if (!placed_on_.empty()) {
      placed_on_[one.machine].erase(index);
      placed_on_[machine].insert(index);
    }
    one.machine = machine;
  }

  RoundContext& context_;
  const ClusterState& state_;
  const PolicySet& policies_;
  Eligibility& eligibility_;
  int64_t looks_left_ = kLooksMax;
  int64_t looks_kept_ = 0;  // For what comes later.
  bool may_exchange_ = false;
  Siblings siblings_;
  Transaction transaction_;
  std::vector<Placement> placements_;
  std::set<uint32_t> waiting_;             // Priorities.
  std::set<MachineId> vacated_;            // Where tasks were moved from.
  absl::flat_hash_set<uint32_t> binding_;  // Selectors.
  absl::flat_hash_map<std::pair<const PlacementRules*, const SelectorSet*>,
                      std::unique_ptr<View>>
      views_;
  std::vector<View*> with_peers_;
  std::optional<ByLoad> by_load_;
  // By class, their placements; and the class of each.
  std::vector<std::vector<size_t>> twins_;
  std::vector<size_t> class_of_;
  absl::flat_hash_map<std::tuple<JobId, size_t, Cost>, int64_t> stuck_;
  std::map<MachineId, std::set<size_t>> placed_on_;
  std::set<MachineId> laden_;  // Where tasks went apart.
};

}  // namespace

int64_t Arrange(RoundContext* context) {
  if (context->options.improve_budget <= 0 || context->IsSpent()) return 0;
  context->state.SyncPeers();
  return Arranger(context).Run();
}

}  // namespace sluice
