#include "core/tier_packing.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "cost/waiting_cost.h"

namespace sluice {
namespace {

class TierDescriber {
 public:
  TierDescriber(const ClusterState& state, const ConstraintSet& constraints,
                Eligibility* eligibility, int64_t now_ms)
      : state_(state),
        constraints_(constraints),
        eligibility_(eligibility),
        now_ms_(now_ms) {}

  void AddPlaced(const std::vector<Placement>& placements) {
    for (const Placement& one : placements) {
      if (one.task->class_key.IsBound()) continue;
      tier_.placed.push_back(one.task->id);
      placements_.push_back(one);
      Freed& freed = freed_[one.machine];
      freed.request += one.task->class_key.request;
      const auto& ports = one.task->class_key.rules->host_ports;
      freed.ports.insert(freed.ports.end(), ports.begin(), ports.end());
      ++StepsOf(one.task->class_key)[Waiting(*one.task)];
    }
  }

  void AddWaiting(uint32_t priority, uint64_t sequence_end,
                  const Gangs& gangs) {
    const auto& pending = state_.pending();
    for (auto it = pending.lower_bound(ClassKey{priority, {}});
         it != pending.end() && it->first.priority == priority; ++it) {
      if (it->first.IsBound() || gangs.IsClosed(it->first)) continue;
      Steps* steps = nullptr;
      for (const auto& [sequence, task] : it->second) {
        if (sequence >= sequence_end) break;
        if (steps == nullptr) steps = &StepsOf(it->first);
        const Cost cost = Waiting(*task);
        ++(*steps)[cost];
        tier_.now.waiting += cost;
      }
    }
  }

  TierPacking Describe() {
    FindDimensions();
    FindRows();
    FindGroups();
    DropMisfits();
    AddCosts();
    return std::move(tier_);
  }

 private:
  using Steps =
      std::map<Cost, int64_t>;  // How many cost that to leave waiting.
  struct Freed {
    Resources request;
    std::vector<HostPort> ports;
  };

  Cost Waiting(const Task& task) const {
    return WaitingCost(now_ms_ - task.submitted_ms);
  }

  Steps& StepsOf(const ClassKey& key) {
    // Tasks of a class come together.
    if (last_ != steps_.end() && last_->first == key) return last_->second;
    last_ = steps_.try_emplace(key).first;
    return last_->second;
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
    for (const auto& [key, steps] : steps_) {
      tier_.classes.push_back(key);
      PackingClass& one = tier_.problem.classes.emplace_back();
      for (const ResourceIndex i : dimensions_) {
        one.request.push_back(key.request[i]);
      }
      for (const auto& [cost, count] : steps) {
        one.waiting.push_back({count, cost});
        tier_.tasks += count;
      }
      if (!key.rules->host_ports.empty()) one.per_machine_max = 1;
      asks_for_more_.push_back(constraints_.AsksForMoreThanFit(key));
      asks_for_more_at_all_ = asks_for_more_at_all_ || asks_for_more_.back();
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
      look.push_back(static_cast<int64_t>(row));
      const auto [it, is_new] =
          group_of.try_emplace(look, tier_.problem.groups.size());
      if (is_new) {
        look.pop_back();
        tier_.problem.groups.push_back({look, 0, row});
        tier_.machines.emplace_back();
      }
      ++tier_.problem.groups[it->second].machines;
      tier_.machines[it->second].push_back(id);
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
    for (size_t c = 0; c < fits.size(); ++c) {
      if (!fits[c]) {
        for (const WaitingStep& step : problem.classes[c].waiting) {
          tier_.least.waiting += step.count * step.cost;
          tier_.tasks -= step.count;
        }
        continue;
      }
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

  void AddCosts() {
    for (size_t c = 0; c < tier_.classes.size(); ++c) {
      int64_t least = kNotAllowed;
      for (const PackingGroup& group : tier_.problem.groups) {
        least = std::min(least, tier_.problem.costs[group.kind][c]);
      }
      if (least == kNotAllowed) continue;
      tier_.least.placed += least * tier_.problem.classes[c].count();
    }
    for (const Placement& one : placements_) {
      tier_.now.placed += PreferenceOf(*one.task, one.machine);
    }
  }

  Cost PreferenceOf(const Task& task, MachineId machine) {
    const PlacementRules* rules = task.class_key.rules;
    if (rules != last_rules_) {
      last_rules_ = rules;
      last_kinds_ = eligibility_->KindsFor(*rules);
    }
    const auto kind = std::ranges::lower_bound(
        last_kinds_, eligibility_->KindOf(*state_.FindMachine(machine)), {},
        &Eligibility::Kind::id);
    return kind == last_kinds_.end() ? 0 : kind->preference;
  }

  const ClusterState& state_;
  const ConstraintSet& constraints_;
  Eligibility* eligibility_;
  const int64_t now_ms_;
  TierPacking tier_;
  std::vector<Placement> placements_;
  std::map<ClassKey, Steps> steps_;
  std::map<ClassKey, Steps>::iterator last_ = steps_.end();
  absl::flat_hash_map<MachineId, Freed> freed_;
  std::vector<ResourceIndex> dimensions_;
  std::vector<bool> asks_for_more_;  // By class.
  bool asks_for_more_at_all_ = false;
  std::vector<size_t> row_of_kind_;
  std::map<std::vector<int64_t>, size_t> row_index_;
  const PlacementRules* last_rules_ = nullptr;
  std::span<const Eligibility::Kind> last_kinds_;
};

}  // namespace

TierPacking DescribeTier(const ClusterState& state, uint32_t priority,
                         uint64_t delta_begin, uint64_t sequence_end,
                         const Gangs& gangs, const ConstraintSet& constraints,
                         Eligibility* eligibility, int64_t now_ms) {
  TierDescriber describer(state, constraints, eligibility, now_ms);
  describer.AddPlaced(UndoablePlacements(state, priority, delta_begin));
  describer.AddWaiting(priority, sequence_end, gangs);
  return describer.Describe();
}

}  // namespace sluice
