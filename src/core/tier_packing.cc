#include "core/tier_packing.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "core/placements.h"
#include "network/eligibility.h"

namespace sluice {
namespace {

// How much dearer a task of a gang that has started is to leave waiting.
constexpr int64_t kMustStay = 1000;
// Each makes fillings harder to find.  Where there are more, what the flow
// places is refused, and placed elsewhere.
constexpr size_t kSharedPortsMax = 32;
// Of kinds or groups of machines and classes: so many take some 50 ms.
constexpr size_t kPairsMax = 10'000'000;

class TierDescriber {
 public:
  TierDescriber(TierScope scope, RoundContext* context)
      : scope_(scope),
        context_(*context),
        state_(context->state),
        constraints_(context->constraints),
        eligibility_(&context->eligibility()) {}

  void AddPlaced(const std::vector<Placement>& placements) {
    for (const Placement& one : placements) {
      if (IsInScope(one.task->class_key)) placements_.push_back({one, nullptr});
    }
  }

  // Takes what was placed for free again, and its tasks for ones to place.
  void FreePlaced() {
    for (auto& [one, of_class] : placements_) {
      const ClassKey& key = one.task->class_key;
      tier_.placed.push_back(one.task->id);
      Freed& freed = freed_[one.machine];
      freed.request += key.request;
      const auto& ports = key.rules->host_ports;
      freed.ports.insert(freed.ports.end(), ports.begin(), ports.end());
      Steps& steps = StepsOf(key);
      const bool must_stay =
          key.gang.has_value() && scope_ == TierScope::kMovable;
      ++steps.counts[context_.WaitingCostOf(*one.task) *
                     (must_stay ? kMustStay : 1)];
      steps.is_any_placed = true;
      of_class = &steps;
    }
  }

  void AddWaiting(const Tier& tier) {
    tier.VisitWaiting(state_, [&](const ClassKey& key, const auto&) {
      const bool is_closed =
          scope_ == TierScope::kMovable && context_.gangs.IsClosed(key);
      if (is_closed) tier_.leaves_out = true;
      if (is_closed || !IsInScope(key)) return true;
      for (const Task* task : context_.WaitingTasks(key)) {
        const Cost cost = context_.WaitingCostOf(*task);
        ++StepsOf(key).counts[cost];
        tier_.now.waiting.Add(0, cost);
      }
      return true;
    });
  }

  TierPacking Describe() {
    FindCostOfPlaced();
    if (!IsAsGoodAsCanBe()) {
      FreePlaced();
      DropClassesWithoutKind();
      if (!IsAsGoodAsCanBe()) DescribeProblem();
    }
    return std::move(tier_);
  }

 private:
  struct Steps {
    std::map<Cost, int64_t> counts;  // How many cost that to leave waiting.
    bool is_any_placed = false;
    size_t task_class = 0;  // Its index, once that is known.
  };
  struct Freed {
    Resources request;
    std::vector<HostPort> ports;
  };

  bool IsInScope(const ClassKey& key) {
    if (key.DependsOnPeers()) tier_.leaves_out = scope_ == TierScope::kMovable;
    return !key.DependsOnPeers() || scope_ == TierScope::kAll;
  }

  Steps& StepsOf(const ClassKey& key) {
    // Tasks of a class come together.
    if (last_ != steps_.end() && last_->first == key) return last_->second;
    last_ = steps_.try_emplace(key).first;
    return last_->second;
  }

  // What is placed, and the same where it likes best of all kinds of machines.
  void FindCostOfPlaced() {
    for (const auto& [one, steps] : placements_) {
      tier_.now.placed += PreferenceOf(*one.task, one.machine);
      is_any_misplaced_ = is_any_misplaced_ || last_kinds_.empty();
      if (!last_kinds_.empty()) tier_.least.placed += last_least_;
    }
  }

  // Whether nothing that waits could be placed, as far as that is known, and
  // all that is placed is where it likes best: nearly always, and found out
  // without a look at each machine for each class.
  bool IsAsGoodAsCanBe() const {
    return !is_any_misplaced_ && tier_.now.waiting <= tier_.least.waiting &&
           tier_.now.placed <= tier_.least.placed;
  }

  // Those that no kind of machines that they may use has so much free for, be
  // it on several machines.
  void DropClassesWithoutKind() {
    std::vector<Resources> most(
        static_cast<size_t>(eligibility_->kind_count()));
    for (const auto& [id, machine] : state_.machines()) {
      if (!machine->IsUsable()) continue;
      Resources free = machine->Free();
      const auto freed = freed_.find(id);
      if (freed != freed_.end()) free += freed->second.request;
      most[static_cast<size_t>(eligibility_->KindOf(*machine))].MaxWith(free);
    }
    std::erase_if(steps_, [&](const auto& entry) {
      const auto& [key, steps] = entry;
      if (steps.is_any_placed ||
          std::ranges::any_of(eligibility_->KindsFor(*key.rules),
                              [&](const Eligibility::Kind& kind) {
                                return key.request.FitsIn(
                                    most[static_cast<size_t>(kind.id)]);
                              })) {
        return false;
      }
      for (const auto& [cost, count] : steps.counts) {
        tier_.misfits.Add(0, cost * count);
      }
      return true;
    });
    tier_.least.waiting = tier_.misfits;
  }

  void DescribeProblem() {
    const auto kinds = static_cast<size_t>(eligibility_->kind_count());
    tier_.is_too_large = kinds * steps_.size() > kPairsMax;
    if (tier_.is_too_large) return;
    FindDimensions();
    FindRows();
    FindGroups();
    tier_.is_too_large =
        tier_.problem.groups.size() * steps_.size() > kPairsMax;
    if (tier_.is_too_large) {
      tier_.problem = {};
      return;
    }
    DropMisfits();
    FindLeast();
    AddFormer();
  }

  void FindDimensions() {
    ResourceIndex size = 0;
    for (const auto& [key, steps] : steps_) {
      size = std::max(size, key.request.size());
    }
    for (ResourceIndex i = 0; i < size; ++i) {
      if (std::ranges::any_of(steps_, [i](const auto& entry) {
            return entry.first.request[i] > 0;
          })) {
        dimensions_.push_back(i);
      }
    }
    for (auto& [key, steps] : steps_) {
      steps.task_class = tier_.classes.size();
      tier_.classes.push_back(key);
      PackingClass& one = tier_.problem.classes.emplace_back();
      for (const ResourceIndex i : dimensions_) {
        one.request.push_back(key.request[i]);
      }
      for (const auto& [cost, count] : steps.counts) {
        one.waiting.push_back({count, cost});
      }
      if (!key.rules->host_ports.empty()) one.per_machine_max = 1;
      asks_for_more_.push_back(constraints_.AsksForMoreThanFit(key));
      asks_for_more_at_all_ = asks_for_more_at_all_ || asks_for_more_.back();
    }
    AddSharedPorts();
  }

  // A host port that several classes listen on is as a resource of which each
  // machine has one: whether it is free is a matter of the rows.
  void AddSharedPorts() {
    std::map<std::pair<std::string, int32_t>,
             std::map<std::string, std::set<size_t>>>
        listeners;  // By address, then class.
    for (size_t c = 0; c < tier_.classes.size(); ++c) {
      for (const HostPort& port : tier_.classes[c].rules->host_ports) {
        listeners[{port.protocol, port.port}]
                 [port.IsOnAllAddresses() ? "" : port.address]
                     .insert(c);
      }
    }
    for (auto& [port, by_address] : listeners) {
      const std::set<size_t> everywhere = by_address[""];
      if (by_address.size() > 1) by_address.erase("");
      for (auto& [address, classes] : by_address) {
        classes.insert(everywhere.begin(), everywhere.end());
        if (classes.size() < 2 || shared_ports_ == kSharedPortsMax) continue;
        ++shared_ports_;
        for (size_t c = 0; c < tier_.classes.size(); ++c) {
          tier_.problem.classes[c].request.push_back(classes.contains(c));
        }
      }
    }
  }

  // What each kind of machines costs each class; kinds that cost all the same
  // share a row.
  void FindRows() {
    const size_t classes = tier_.classes.size();
    std::vector<std::vector<int64_t>> rows(
        static_cast<size_t>(eligibility_->kind_count()),
        std::vector<int64_t>(classes, kNotAllowed));
    for (size_t c = 0; c < classes; ++c) {
      for (const Eligibility::Kind& kind :
           eligibility_->KindsFor(*tier_.classes[c].rules)) {
        rows[static_cast<size_t>(kind.id)][c] = kind.preference;
      }
    }
    for (std::vector<int64_t>& row : rows) row_of_kind_.push_back(RowOf(row));
  }

  size_t RowOf(const std::vector<int64_t>& row) {
    const auto [it, is_new] =
        row_index_.try_emplace(row, tier_.problem.costs.size());
    if (is_new) tier_.problem.costs.push_back(row);
    return it->second;
  }

  void FindGroups() {
    absl::flat_hash_map<std::vector<int64_t>, size_t> group_of;
    std::vector<int64_t> look;
    for (const auto& [id, machine] : state_.machines()) {
      if (!machine->IsUsable()) continue;
      Resources free = machine->Free();
      const auto freed = freed_.find(id);
      if (freed != freed_.end()) free += freed->second.request;
      size_t row =
          row_of_kind_[static_cast<size_t>(eligibility_->KindOf(*machine))];
      if (asks_for_more_at_all_) {
        row = RowBesideLoad(
            *machine, row,
            freed == freed_.end() ? nullptr : &freed->second.ports);
      }
      look.clear();
      for (const ResourceIndex i : dimensions_) {
        look.push_back(std::max<int64_t>(free[i], 0));
      }
      look.insert(look.end(), shared_ports_, 1);
      look.push_back(static_cast<int64_t>(row));
      const auto [it, is_new] =
          group_of.try_emplace(look, tier_.problem.groups.size());
      if (is_new) {
        look.pop_back();
        tier_.problem.groups.push_back(
            {look, 0, row, std::vector<int64_t>(dimensions_.size(), 0)});
        tier_.machines.emplace_back();
      }
      PackingGroup& group = tier_.problem.groups[it->second];
      ++group.machines;
      for (size_t d = 0; d < dimensions_.size(); ++d) {
        group.capacity[d] += machine->allocatable[dimensions_[d]];
      }
      tier_.machines[it->second].push_back(id);
    }
    for (PackingGroup& group : tier_.problem.groups) {
      for (int64_t& amount : group.capacity) amount /= group.machines;
      group.capacity.insert(group.capacity.end(), shared_ports_, 1);
    }
  }

  // The row without the classes that what runs on the machine keeps away.
  size_t RowBesideLoad(const Machine& machine, size_t row,
                       const std::vector<HostPort>* freed_ports) {
    std::vector<int64_t> costs = tier_.problem.costs[row];
    Machine after;
    const Machine* seen = &machine;
    if (freed_ports != nullptr && !freed_ports->empty()) {
      after = machine;
      after.ReleasePorts(*freed_ports);
      seen = &after;
    }
    for (size_t c = 0; c < costs.size(); ++c) {
      if (asks_for_more_[c] && costs[c] != kNotAllowed &&
          !constraints_.AllowsLoadBesideFit(tier_.classes[c], *seen)) {
        costs[c] = kNotAllowed;
      }
    }
    return RowOf(costs);
  }

  bool Fits(size_t task_class, const PackingGroup& group) const {
    if (tier_.problem.costs[group.kind][task_class] == kNotAllowed) {
      return false;
    }
    const std::vector<int64_t>& request =
        tier_.problem.classes[task_class].request;
    for (size_t d = 0; d < request.size(); ++d) {
      if (request[d] > group.free[d]) return false;
    }
    return true;
  }

  // Classes that fit nowhere wait whatever is done, and groups that no class
  // fits are of no use.
  void DropMisfits() {
    PackingProblem& problem = tier_.problem;
    std::vector<bool> fits(problem.classes.size(), false);
    size_t groups = 0;
    for (size_t g = 0; g < problem.groups.size(); ++g) {
      bool is_of_use = false;
      for (size_t c = 0; c < fits.size(); ++c) {
        if ((is_of_use && fits[c]) || !Fits(c, problem.groups[g])) continue;
        fits[c] = true;
        is_of_use = true;
      }
      if (!is_of_use) continue;
      std::swap(problem.groups[groups], problem.groups[g]);
      std::swap(tier_.machines[groups], tier_.machines[g]);
      ++groups;
    }
    problem.groups.resize(groups);
    tier_.machines.resize(groups);
    size_t classes = 0;
    index_now_.assign(fits.size(), std::nullopt);
    for (size_t c = 0; c < fits.size(); ++c) {
      if (!fits[c]) {
        for (const WaitingStep& step : problem.classes[c].waiting) {
          tier_.misfits.Add(step.level, step.count * step.cost);
        }
        continue;
      }
      index_now_[c] = classes;
      if (classes != c) {
        std::swap(problem.classes[classes], problem.classes[c]);
        std::swap(tier_.classes[classes], tier_.classes[c]);
        for (std::vector<int64_t>& row : problem.costs) row[classes] = row[c];
      }
      ++classes;
    }
    problem.classes.resize(classes);
    tier_.classes.resize(classes);
    for (std::vector<int64_t>& row : problem.costs) row.resize(classes);
  }

  void FindLeast() {
    tier_.least = {tier_.misfits, 0};
    for (size_t c = 0; c < tier_.classes.size(); ++c) {
      int64_t least = kNotAllowed;
      for (const PackingGroup& group : tier_.problem.groups) {
        least = std::min(least, tier_.problem.costs[group.kind][c]);
      }
      if (least == kNotAllowed) continue;
      tier_.least.placed += least * tier_.problem.classes[c].count();
    }
  }

  // What stands where, machines on which the same does together.
  void AddFormer() {
    absl::flat_hash_map<MachineId, std::map<size_t, int64_t>> holds;
    for (const auto& [one, steps] : placements_) {
      // A misfit is where it may not be any more.
      const std::optional<size_t> task_class = index_now_[steps->task_class];
      if (task_class.has_value()) ++holds[one.machine][*task_class];
    }
    std::map<std::pair<size_t, std::map<size_t, int64_t>>, int64_t> patterns;
    for (size_t g = 0; g < tier_.machines.size(); ++g) {
      for (const MachineId machine : tier_.machines[g]) {
        const auto it = holds.find(machine);
        if (it != holds.end()) ++patterns[{g, it->second}];
      }
    }
    for (const auto& [what, machines] : patterns) {
      tier_.problem.former.push_back(
          {what.first, machines, {what.second.begin(), what.second.end()}});
    }
  }

  Cost PreferenceOf(const Task& task, MachineId machine) {
    const PlacementRules* rules = task.class_key.rules;
    if (rules != last_rules_) {
      last_rules_ = rules;
      last_kinds_ = eligibility_->KindsFor(*rules);
      last_least_ = std::numeric_limits<Cost>::max();
      for (const Eligibility::Kind& kind : last_kinds_) {
        last_least_ = std::min(last_least_, kind.preference);
      }
    }
    const auto kind = std::ranges::lower_bound(
        last_kinds_, eligibility_->KindOf(*state_.FindMachine(machine)), {},
        &Eligibility::Kind::id);
    return kind == last_kinds_.end() ? 0 : kind->preference;
  }

  const TierScope scope_;
  RoundContext& context_;
  const ClusterState& state_;
  const ConstraintSet& constraints_;
  Eligibility* eligibility_;
  TierPacking tier_;
  std::vector<std::pair<Placement, const Steps*>> placements_;
  // Of each class, without the misfits.
  std::vector<std::optional<size_t>> index_now_;
  std::map<ClassKey, Steps> steps_;
  std::map<ClassKey, Steps>::iterator last_ = steps_.end();
  absl::flat_hash_map<MachineId, Freed> freed_;
  std::vector<ResourceIndex> dimensions_;
  size_t shared_ports_ = 0;          // The dimensions after these.
  std::vector<bool> asks_for_more_;  // By class.
  bool asks_for_more_at_all_ = false;
  std::vector<size_t> row_of_kind_;
  std::map<std::vector<int64_t>, size_t> row_index_;
  const PlacementRules* last_rules_ = nullptr;
  std::span<const Eligibility::Kind> last_kinds_;
  Cost last_least_ = 0;  // Of these.
  // Where it may not be by now, or not on any.
  bool is_any_misplaced_ = false;
};

}  // namespace

TierPacking DescribeTier(TierScope scope, const Tier& tier,
                         RoundContext* context) {
  context->FreshEligibility();
  TierDescriber describer(scope, context);
  const std::vector<Placement> placed = UndoablePlacements(
      context->state, tier.priority,
      scope == TierScope::kAll ? context->delta_begin : tier.delta_begin);
  context->looks += kLooksPerPlacement / 2 * std::ssize(placed);
  describer.AddPlaced(placed);
  describer.AddWaiting(tier);
  return describer.Describe();
}

}  // namespace sluice
