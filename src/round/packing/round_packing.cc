#include "round/packing/round_packing.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "network/eligibility.h"
#include "packing/kept_classes.h"
#include "packing/pack.h"
#include "round/context/placements.h"
#include "round/packing/cost_of_placed.h"
#include "round/packing/former_placements.h"
#include "round/packing/packing_peers.h"
#include "round/packing/packing_rows.h"
#include "round/packing/plan_costs.h"
#include "round/packing/right_of_way.h"
#include "round/packing/running_classes.h"
#include "round/packing/shared_ports.h"
#include "round/packing/stop_levels.h"

namespace sluice {
namespace {

// Pairs of kinds or groups of machines and classes: this many take some 50 ms.
constexpr size_t kKindClassPairsMax = 10'000'000;
// With more classes, some of which have terms about others, a large cluster is
// packed better without these: the relaxation takes 100 ms then.
constexpr size_t kClassesWithTermsMax = 45;
constexpr size_t kMachinesOfTermsMax = 400;
// Each level makes a relaxation larger.  Less urgent tasks are placed
// afterwards, tier by tier.
constexpr size_t kLevelsMax = 12;

// What all tasks would be charged, each on its cheapest machines.
int64_t LeastCostOf(const PackingProblem& problem) {
  int64_t cost = 0;
  for (size_t c = 0; c < problem.classes.size(); ++c) {
    int64_t least = kNotAllowed;
    for (const PackingGroup& group : problem.groups) {
      least = std::min(least, problem.costs[group.kind][c]);
    }
    if (least != kNotAllowed) cost += least * problem.classes[c].count();
  }
  return cost;
}

class Describer {
 public:
  // Makes the round's levels if there are none yet.
  Describer(PackingScope scope, const std::vector<Placement>& placements,
            const KnownPlan& known, bool heeds_terms, const PackingPart* part,
            RoundContext* context)
      : scope_(scope),
        heeds_terms_(heeds_terms),
        levels_(scope == PackingScope::kPreempting ? own_levels_
                                                   : context->levels),
        context_(*context),
        state_(context->state),
        constraints_(context->constraints),
        eligibility_(&context->eligibility()),
        participants_(scope, placements, heeds_terms, context),
        peers_(participants_.peers()),
        known_(known),
        part_(part),
        stop_levels_(context->options.preemption.breaks_budgets) {
    packing_.is_part = part != nullptr;
    packing_.leaves_out = packing_.is_part;
    packing_.lone = participants_.lone();
    packing_.turn_priority = participants_.turn_priority();
    packing_.has_turns = participants_.has_turns();
    for (const Placement& one : placements) {
      const ClassKey& key = one.task->class_key;
      if (IsInScope(key) && !peers_.IsTakenAlone(key)) {
        placements_.push_back({one, nullptr});
      }
    }
  }

  // Counts placements as free again, and their tasks as ones to place.
  void FreePlaced() {
    for (auto& [one, of_class] : placements_) {
      const ClassKey& key = one.task->class_key;
      packing_.placed.push_back(one.task->id);
      Freed& freed = freed_[one.machine];
      freed.request += key.request;
      const auto& ports = key.rules->host_ports;
      freed.ports.insert(freed.ports.end(), ports.begin(), ports.end());
      peers_.NoteFreed(key, one.machine);
      Steps& steps = StepsOf(key);
      const bool must_stay =
          key.gang.has_value() && !participants_.gangs().contains(*key.gang);
      ++steps.counts[WaitingCostOf(*one.task, must_stay)];
      steps.is_any_placed = true;
      of_class = &steps;
    }
  }

  void AddWaiting() {
    for (const auto& [key, tasks] : state_.pending()) {
      const bool is_closed = scope_ != PackingScope::kAll &&
                             context_.gangs.IsClosed(key) &&
                             !participants_.gangs().contains(*key.gang);
      if (is_closed || !IsDecidedOn(key)) packing_.leaves_out = true;
      if (is_closed || !IsInScope(key)) continue;
      const bool is_alone = peers_.IsTakenAlone(key);
      packing_.leaves_out |= is_alone;
      for (const Task* task :
           context_.WaitingTasks(key, is_alone ? 1 : tasks.size())) {
        const Cost cost = WaitingCostOf(*task);
        Steps& steps = StepsOf(key);
        ++steps.counts[cost];
        steps.has_waiting = true;
        waiting_[key.priority] += cost;
        packing_.now.waiting.Add(0, cost);
      }
    }
  }

  RoundPacking Describe() {
    FindCostOfPlaced();
    if (MustRebalance() || !IsAsGoodAsCanBe()) {
      FreePlaced();
      if (scope_ == PackingScope::kPreempting) FindRunning();
      DropClassesWithoutKind();
      if (MustRebalance() || !IsAsGoodAsCanBe()) DescribeProblem();
    }
    if (levels_.has_value()) SplitByLevel();
    packing_.levels = levels_;
    return std::move(packing_);
  }

  // True if terms between tasks make the problem too large to pack with care.
  bool is_overtaxed() const { return is_overtaxed_; }

 private:
  using Kind = Eligibility::Kind;
  struct Steps {
    std::map<Cost, int64_t> counts;  // How many have this waiting cost.
    bool has_waiting = false;
    bool is_any_placed = false;
    size_t task_class = 0;  // Its index, once that is known.
  };
  struct Freed {
    Resources request;
    std::vector<HostPort> ports;
  };

  bool MayMove() const {
    return scope_ == PackingScope::kPreempting &&
           context_.options.preemption.mode == Preemption::kFull &&
           (packing_.is_part ||
            !IsPackedInParts(state_, context_.options.preemption.moves)) &&
           !context_.agenda.is_without_moves() &&
           context_.MovesLeft().in_round > 0;
  }

  // If true, running tasks may cost less than they do, whatever waits.
  bool MustRebalance() const { return context_.must_rebalance && MayMove(); }

  bool TakesPart(const Machine& machine) const {
    return machine.IsUsable() &&
           (part_ == nullptr || part_->contains(machine.id));
  }

  // Tasks that may be stopped for the most urgent waiting task, or that may
  // move.
  void FindRunning() {
    const uint32_t highest =
        waiting_.empty() || packing_.is_part ? 0 : waiting_.rbegin()->first;
    std::optional<Movability> movability;
    packing_.may_move =
        (context_.must_rebalance || !waiting_.empty()) && MayMove();
    if (packing_.may_move) {
      movability.emplace(state_, constraints_,
                         context_.options.preemption.moves, context_.now_ms,
                         eligibility_);
    }
    if (heeds_terms_ && !packing_.is_part) {
      packing_.untold = FindWhoMayYield(packing_.placed, &context_);
    }
    packing_.running = RunningTasks(
        state_,
        {highest, part_, movability.has_value() ? &*movability : nullptr,
         part_ == nullptr ? &context_.gangs : nullptr,
         context_.agenda.budgeted_moves(),
         context_.agenda.turn.value_or(PackingTurn()).cycle, &packing_.untold},
        context_.options.preemption, &peers_);
    const RunningTasks::Protected& left_alone = packing_.running.left_alone();
    context_.stats->left_alone = left_alone.tasks;
    context_.stats->exhausted_budgets = left_alone.budgets;
  }

  // What the machine has free once all that may go are gone.
  Resources FreeOn(const Machine& machine) const {
    Resources free = machine.Free();
    const auto freed = freed_.find(machine.id);
    if (freed != freed_.end()) free += freed->second.request;
    const Resources* room = packing_.running.FindRoomOn(machine.id);
    if (room == nullptr) return free;
    // Reclaimed room goes with the tasks that it is reclaimed from.
    if (machine.is_measured) {
      Resources reclaimed = machine.reclaimed;
      reclaimed.MaxWith({});
      free -= reclaimed;
    }
    return free += *room;
  }

  Cost WaitingCostOf(const Task& task, bool must_stay = false) const {
    return scope_ == PackingScope::kAll ? context_.WaitingCostOf(task)
                                        : context_.UrgencyOf(task, must_stay);
  }

  bool IsInScope(const ClassKey& key) {
    const bool is_included = participants_.Include(key);
    packing_.leaves_out |= !is_included;
    return is_included;
  }

  // Everything is, until there are levels.
  bool IsDecidedOn(const ClassKey& key) const {
    return !levels_.has_value() || levels_->LevelOf(key.priority).has_value();
  }

  Steps& StepsOf(const ClassKey& key) {
    // Tasks of a class come in sequence.
    if (last_ != steps_.end() && last_->first == key) return last_->second;
    last_ = steps_.try_emplace(key).first;
    return last_->second;
  }

  void FindCostOfPlaced() {
    CostOfPlaced cost(context_);
    for (const auto& [one, steps] : placements_) {
      if (IsDecidedOn(one.task->class_key)) cost.Add(one);
    }
    packing_.now.placed += cost.now();
    packing_.least.placed += cost.least();
    is_any_misplaced_ |= cost.is_any_misplaced();
  }

  // True if no waiting task could be placed, as far as is known, and every
  // placed one is where it likes best.  That is so nearly always, and is found
  // out without looking at each machine for each class.
  bool IsAsGoodAsCanBe() const {
    return !is_any_misplaced_ &&
           packing_.now.waiting <= packing_.least.waiting &&
           packing_.now.placed <= packing_.least.placed;
  }

  // Drops classes for which no kind of machines that they may use has enough
  // free in total, even over several machines.
  void DropClassesWithoutKind() {
    std::vector<Resources> most(
        static_cast<size_t>(eligibility_->kind_count()));
    for (const auto& [id, machine] : state_.machines()) {
      if (!TakesPart(*machine)) continue;
      const Resources free = FreeOn(*machine);
      most[static_cast<size_t>(eligibility_->KindOf(*machine))].MaxWith(free);
    }
    std::erase_if(steps_, [&](const auto& entry) {
      const auto& [key, steps] = entry;
      if (steps.is_any_placed ||
          std::ranges::any_of(
              eligibility_->KindsFor(*key.rules), [&](const Kind& kind) {
                return key.request.FitsIn(most[static_cast<size_t>(kind.id)]);
              })) {
        return false;
      }
      for (const auto& [cost, count] : steps.counts) {
        packing_.misfits.Add(0, cost * count);
        misfits_[key.priority] += cost * count;
      }
      return true;
    });
    packing_.least.waiting = packing_.misfits;
  }

  // Counts its classes as a packing tells them apart: regardless of gangs.
  size_t CountShapes() const {
    std::set<std::tuple<Resources, const PlacementRules*, const SelectorSet*>>
        shapes;
    for (const auto& [key, steps] : steps_) {
      shapes.insert({key.request, key.rules, key.meant_by});
    }
    return shapes.size();
  }

  void DescribeProblem() {
    const auto kinds = static_cast<size_t>(eligibility_->kind_count());
    const size_t classes = steps_.size() + packing_.running.classes().size();
    packing_.is_too_large = kinds * classes > kKindClassPairsMax;
    if (packing_.is_too_large) return;
    is_overtaxed_ = heeds_terms_ && steps_.size() > kClassesWithTermsMax &&
                    state_.machines().size() > kMachinesOfTermsMax &&
                    CountShapes() > kClassesWithTermsMax &&
                    std::ranges::any_of(steps_ | std::views::keys,
                                        [this](const ClassKey& key) {
                                          return !peers_.IsFree(key);
                                        });
    if (is_overtaxed_) return;
    FindDimensions();
    FindRows();
    FindGroups();
    is_overtaxed_ = peers_.is_exhausted() ||
                    (peers_.TellsMachinesApart() &&
                     packing_.problem.groups.size() > kPackingGroupsMax);
    packing_.is_too_large = std::max(packing_.problem.groups.size(),
                                     packing_.problem.costs.size()) *
                                classes >
                            kKindClassPairsMax;
    if (packing_.is_too_large) {
      packing_.problem = {};
      return;
    }
    DropMisfits();
    FindCosts();
    AddFormer();
  }

  void FindDimensions() {
    // A resource that no task to be placed asks for limits nobody.
    Resources most;
    for (const auto& [key, steps] : steps_) most.MaxWith(key.request);
    for (const RunningTasks::Class& running : packing_.running.classes()) {
      if (running.move_cost.has_value()) most.MaxWith(running.key.request);
    }
    for (ResourceIndex i = 0; i < most.size(); ++i) {
      if (most[i] > 0) dimensions_.push_back(i);
    }
    for (auto& [key, steps] : steps_) {
      steps.task_class = packing_.classes.size();
      packing_.classes.push_back(key);
      PackingClass& one = packing_.problem.classes.emplace_back();
      for (const ResourceIndex i : dimensions_) {
        one.request.push_back(key.request[i]);
      }
      for (const auto& [cost, count] : steps.counts) {
        one.waiting.push_back({count, cost});
      }
      if (key.rules->ComeOneByOne()) one.per_machine_max = 1;
      asks_for_more_.push_back(constraints_.AsksForMoreThanFit(key));
      asks_for_more_at_all_ = asks_for_more_at_all_ || asks_for_more_.back();
    }
    packing_.problem.gangs =
        PackingGangsOf(packing_.classes, participants_.gangs());
    shared_ports_ = AddSharedPorts(packing_.classes, &packing_.problem);
    peers_.Relate(packing_.classes, &packing_.problem);
    AddRunning();
  }

  // Adds running tasks as classes after the others; their counts follow once it
  // is known which machines take part.
  void AddRunning() {
    std::vector<ClassKey> keys;
    for (const RunningTasks::Class& running : packing_.running.classes()) {
      keys.push_back(running.key);
      packing_.running_classes.push_back(packing_.running_classes.size());
      PackingClass& one = packing_.problem.classes.emplace_back();
      for (const ResourceIndex i : dimensions_) {
        one.request.push_back(running.key.request[i]);
      }
      one.request.resize(dimensions_.size() + shared_ports_, 0);
      one.runs = true;
      one.move_cost = running.move_cost.value_or(kNotAllowed);
      asks_for_more_.push_back(false);
    }
    peers_.RelateRunning(packing_.classes, keys, packing_.running.InTheWay(),
                         &packing_.problem);
    peers_.CapRunning(
        [this](MachineId machine, TaskId task) {
          std::optional<size_t> c = packing_.running.ClassOf(machine, task);
          if (c.has_value()) *c += packing_.classes.size();
          return c;
        },
        &packing_.problem);
    AddRunningGangs(packing_.running, packing_.classes.size(),
                    &packing_.problem);
  }

  // What each kind of machines costs each class; equal kinds share a row.
  void FindRows() {
    // Running tasks that may not move are charged nothing.
    std::vector<const PlacementRules*> rules;
    for (const ClassKey& key : packing_.classes) rules.push_back(key.rules);
    for (const RunningTasks::Class& running : packing_.running.classes()) {
      rules.push_back(running.move_cost.has_value() ? running.key.rules
                                                    : nullptr);
    }
    std::vector<int64_t> none;
    for (const PlacementRules* one : rules) {
      none.push_back(one == nullptr ? 0 : kNotAllowed);
    }
    std::vector<std::vector<int64_t>> rows(
        static_cast<size_t>(eligibility_->kind_count()), none);
    for (size_t c = 0; c < rules.size(); ++c) {
      if (rules[c] == nullptr) continue;
      for (const Kind& kind : eligibility_->KindsFor(*rules[c])) {
        rows[static_cast<size_t>(kind.id)][c] = kind.preference;
      }
    }
    for (const std::vector<int64_t>& row : rows) {
      row_of_kind_.push_back(rows_.Of(row, {}));
    }
  }

  PackingRows::Staying StayingOn(MachineId machine) const {
    PackingRows::Staying staying = packing_.running.CountOn(machine);
    for (auto& [c, count] : staying) c += packing_.classes.size();
    return staying;
  }

  void FindGroups() {
    // By free room, row and caps.
    absl::flat_hash_map<
        std::tuple<std::vector<int64_t>, size_t, std::vector<size_t>>, size_t>
        group_of;
    std::vector<int64_t> look;
    for (const auto& [id, machine] : state_.machines()) {
      if (!TakesPart(*machine)) continue;
      if (packing_.problem.costs.size() * packing_.problem.classes.size() >
          kKindClassPairsMax) {
        return;
      }
      const Resources free = FreeOn(*machine);
      size_t row =
          row_of_kind_[static_cast<size_t>(eligibility_->KindOf(*machine))];
      const auto kept_away = peers_.KeptAwayFrom(id);
      const auto company = peers_.AccompaniedOn(id);
      if (!kept_away.empty() || !company.empty()) {
        std::vector<int64_t> costs = packing_.problem.costs[row];
        for (const size_t c : kept_away) costs[c] = kNotAllowed;
        row = rows_.Of(std::move(costs), {company.begin(), company.end()});
      }
      if (asks_for_more_at_all_) {
        std::vector<HostPort> ports;
        const auto freed = freed_.find(id);
        if (freed != freed_.end()) ports = freed->second.ports;
        const auto leaving = packing_.running.PortsOn(id);
        ports.insert(ports.end(), leaving.begin(), leaving.end());
        row = RowBesideLoad(*machine, row, ports);
      }
      PackingRows::Staying staying = StayingOn(id);
      if (!staying.empty()) row = rows_.Beside(row, std::move(staying));
      look.clear();
      for (const ResourceIndex i : dimensions_) {
        look.push_back(std::max<int64_t>(free[i], 0));
      }
      look.insert(look.end(), shared_ports_, 1);
      const std::vector<size_t> caps = peers_.CapsOn(id);
      const auto [it, is_new] = group_of.try_emplace(
          {look, row, caps}, packing_.problem.groups.size());
      if (is_new) {
        packing_.problem.groups.push_back(
            {look, 0, row, std::vector<int64_t>(dimensions_.size(), 0), caps});
        packing_.machines.emplace_back();
      }
      PackingGroup& group = packing_.problem.groups[it->second];
      ++group.machines;
      for (size_t d = 0; d < dimensions_.size(); ++d) {
        group.capacity[d] += machine->allocatable[dimensions_[d]];
      }
      packing_.machines[it->second].push_back(id);
    }
    for (PackingGroup& group : packing_.problem.groups) {
      for (int64_t& amount : group.capacity) amount /= group.machines;
      group.capacity.insert(group.capacity.end(), shared_ports_, 1);
    }
  }

  // The row without the classes that running tasks on the machine keep away.
  size_t RowBesideLoad(const Machine& machine, size_t row,
                       const std::vector<HostPort>& freed_ports) {
    std::vector<int64_t> costs = packing_.problem.costs[row];
    Machine after;
    const Machine* seen = &machine;
    if (!freed_ports.empty()) {
      after = machine;
      after.ReleasePorts(freed_ports);
      seen = &after;
    }
    for (size_t c = 0; c < costs.size(); ++c) {
      if (asks_for_more_[c] && costs[c] != kNotAllowed &&
          !constraints_.AllowsLoadBesideFit(packing_.classes[c], *seen)) {
        costs[c] = kNotAllowed;
      }
    }
    return rows_.Of(std::move(costs), packing_.problem.company[row]);
  }

  bool Fits(size_t task_class, const PackingGroup& group) const {
    if (packing_.problem.costs[group.kind][task_class] == kNotAllowed) {
      return false;
    }
    const std::vector<int64_t>& request =
        packing_.problem.classes[task_class].request;
    for (size_t d = 0; d < request.size(); ++d) {
      if (request[d] > group.free[d]) return false;
    }
    return true;
  }

  // True if running tasks of the class there may have to leave for a task on
  // another machine.
  bool HasForOthers(size_t c, const PackingGroup& group) const {
    const RunningTasks::Class& running =
        packing_.running.classes()[c - packing_.classes.size()];
    return (running.gang.has_value() || running.keeps_from_domains) &&
           packing_.problem.RunningOn(c, group.kind) > 0;
  }

  // Classes that fit nowhere wait in any case, and groups that no class fits
  // are of no use.
  void DropMisfits() {
    PackingProblem& problem = packing_.problem;
    std::vector<bool> fits(problem.classes.size(), false);
    size_t groups = 0;
    for (size_t g = 0; g < problem.groups.size(); ++g) {
      bool is_of_use = false;
      // Running tasks are of no use by themselves, unless they may move, or
      // leave for a task elsewhere.
      for (size_t c = 0; c < problem.classes.size(); ++c) {
        const bool counts = c < packing_.classes.size() ||
                            problem.classes[c].MayMove() ||
                            HasForOthers(c, problem.groups[g]);
        if (!counts || (is_of_use && fits[c])) continue;
        if (!Fits(c, problem.groups[g])) continue;
        fits[c] = true;
        is_of_use = true;
      }
      if (!is_of_use) continue;
      std::swap(problem.groups[groups], problem.groups[g]);
      std::swap(packing_.machines[groups], packing_.machines[g]);
      ++groups;
    }
    problem.groups.resize(groups);
    packing_.machines.resize(groups);
    for (const auto& [key, steps] : steps_) {
      if (fits[steps.task_class]) continue;
      for (const auto& [cost, count] : steps.counts) {
        misfits_[key.priority] += cost * count;
      }
    }
    if (!levels_.has_value()) levels_ = FindLevels(fits);
    CountRunning(&fits);
    KeepClasses(fits);
  }

  // Counts the tasks that run on the remaining machines.  No stop costs less
  // than waiting does: the prices of the relaxation are whole numbers.
  void CountRunning(std::vector<bool>* fits) {
    PackingProblem& problem = packing_.problem;
    for (size_t i = 0; i < packing_.running_classes.size(); ++i) {
      const RunningTasks::Class& running = packing_.running.classes()[i];
      const size_t c = packing_.classes.size() + i;
      int64_t count = 0;
      for (const PackingGroup& group : problem.groups) {
        count += group.machines * problem.RunningOn(c, group.kind);
      }
      (*fits)[c] = count > 0;
      if (count == 0) continue;
      if (!running.may_be_stopped && !running.is_untold) {
        stop_levels_.Fix();
        problem.classes[c].waiting.push_back({count, kWaitingCostBase});
        continue;
      }
      if (!running.is_untold) stop_levels_.Add(running.key.priority, *levels_);
      const int64_t unit = running.is_untold ? 1 : kWaitingCostBase;
      problem.classes[c].waiting.push_back({count, running.price * unit});
    }
    if (AddRunningBudgets(packing_.running, packing_.classes.size(),
                          kWaitingCostBase, &problem)) {
      stop_levels_.Forbid();
    }
    CountRunningInSpreads(&problem);
  }

  std::optional<size_t> LevelOfClass(size_t c) const {
    const size_t keys = packing_.classes.size();
    if (c < keys) return LevelOf(packing_.classes[c].priority);
    const RunningTasks::Class& running = packing_.running.classes()[c - keys];
    if (running.is_untold) {
      const auto level = levels_->LevelOf(running.key.priority);
      return stop_levels_.Shifted(level.value_or(levels_->lowest.size()));
    }
    return running.may_be_stopped
               ? stop_levels_.OfStopped(running.key.priority, *levels_)
               : stop_levels_.OfFixed();
  }
  std::optional<size_t> LevelOf(uint32_t priority) const {
    const std::optional<size_t> level = levels_->LevelOf(priority);
    if (!level.has_value()) return level;
    return stop_levels_.Shifted(*level);
  }

  // Keeps classes that fit, of the levels that are decided on, and sets the
  // level of each.
  void KeepClasses(const std::vector<bool>& fits) {
    PackingProblem& problem = packing_.problem;
    const size_t key_count = packing_.classes.size();
    std::vector<ClassKey> keys;
    std::vector<size_t> running;
    index_now_.assign(fits.size(), std::nullopt);
    for (size_t c = 0; c < fits.size(); ++c) {
      const std::optional<size_t> level =
          fits[c] || c < key_count ? LevelOfClass(c) : std::nullopt;
      packing_.leaves_out |= c < key_count && !level.has_value();
      if (!fits[c] || !level.has_value()) continue;
      index_now_[c] = keys.size() + running.size();
      for (WaitingStep& step : problem.classes[c].waiting) step.level = *level;
      if (c < key_count) {
        keys.push_back(packing_.classes[c]);
        continue;
      }
      running.push_back(packing_.running_classes[c - key_count]);
    }
    for (PackingBudget& budget : problem.budgets) {
      budget.level = stop_levels_.OfForbidden();
    }
    packing_.classes = std::move(keys);
    packing_.running_classes = std::move(running);
    sluice::KeepClasses(index_now_, &problem);
  }

  // Tasks that fit nowhere do not affect what is to be decided.
  PackingLevels FindLevels(const std::vector<bool>& fits) const {
    std::map<uint32_t, bool, std::greater<>> waits;  // By priority.
    for (const auto& [key, steps] : steps_) {
      if (!fits[steps.task_class]) continue;
      bool& has_waiting = waits[key.priority];
      has_waiting = has_waiting || steps.has_waiting;
    }
    for (const RunningTasks::Class& running : packing_.running.classes()) {
      if (running.may_be_stopped || running.is_untold)
        waits.try_emplace(running.key.priority, false);
    }
    return PackingLevels::Of(waits, kLevelsMax, scope_ == PackingScope::kAll);
  }

  LevelCosts ByLevel(const std::map<uint32_t, Cost>& by_priority) const {
    LevelCosts costs;
    for (const auto& [priority, cost] : by_priority) {
      const std::optional<size_t> level = LevelOf(priority);
      if (level.has_value()) costs.Add(*level, cost);
    }
    return costs;
  }

  void SplitByLevel() {
    packing_.now.waiting = ByLevel(waiting_);
    packing_.misfits = ByLevel(misfits_);
    packing_.least.waiting = packing_.misfits;
  }

  // The costs of what is decided on, by level.
  void FindCosts() {
    packing_.now = {};
    SplitByLevel();
    for (const auto& [one, steps] : placements_) {
      packing_.has_placed_below |= !IsDecidedOn(one.task->class_key);
    }
    FindCostOfPlaced();
    packing_.now.placed += CostOfRunning(packing_.problem);
    packing_.least.placed = LeastCostOf(packing_.problem);
  }

  // Adds placements, running tasks, and tasks with reserved room.
  void AddFormer() {
    FormerPlacements former(packing_);
    for (const auto& [one, steps] : placements_) {
      // A misfit is on a machine that no longer allows it.
      const std::optional<size_t> task_class = index_now_[steps->task_class];
      if (task_class.has_value()) former.Add(one.machine, *task_class);
    }
    former.AddWhatRuns();
    for (const auto& [machine, c] :
         ClassesOfVictims(known_, packing_, state_)) {
      former.Remove(machine, c);
    }
    for (const auto& [id, machine] : known_.nominated) {
      const Task* task = state_.FindTask(id);
      if (task == nullptr || !task->IsSchedulable()) continue;
      const ClassKey& key = task->class_key;
      const auto steps = steps_.find(key);
      // Others may depend on those that are not free.
      if (steps == steps_.end() || !peers_.IsFree(key)) continue;
      const std::optional<size_t> c = index_now_[steps->second.task_class];
      if (c.has_value()) former.AddIfThereIsRoom(machine, *c);
    }
    packing_.problem.former = former.Patterns();
  }

  const PackingScope scope_;
  const bool heeds_terms_;
  std::optional<PackingLevels> own_levels_;  // If nothing is told of them.
  std::optional<PackingLevels>& levels_;
  RoundContext& context_;
  const ClusterState& state_;
  const ConstraintSet& constraints_;
  Eligibility* eligibility_;
  Participants participants_;
  PackingPeers& peers_;
  const KnownPlan& known_;
  const PackingPart* const part_;  // Null if all machines take part.
  RoundPacking packing_;
  PackingRows rows_{&packing_.problem};
  std::vector<std::pair<Placement, const Steps*>> placements_;
  StopLevels stop_levels_;
  // The waiting cost of tasks, and of those of them that fit nowhere, by
  // priority.
  std::map<uint32_t, Cost> waiting_;
  std::map<uint32_t, Cost> misfits_;
  // The classes without the misfits.
  std::vector<std::optional<size_t>> index_now_;
  std::map<ClassKey, Steps> steps_;
  std::map<ClassKey, Steps>::iterator last_ = steps_.end();
  absl::flat_hash_map<MachineId, Freed> freed_;
  std::vector<ResourceIndex> dimensions_;
  size_t shared_ports_ = 0;          // Index of the first dimension of ports.
  std::vector<bool> asks_for_more_;  // By class.
  bool asks_for_more_at_all_ = false;
  std::vector<size_t> row_of_kind_;
  // On a machine that no longer allows it, or that no machine allows.
  bool is_any_misplaced_ = false;
  bool is_overtaxed_ = false;
};

// The highest priority of the waiting tasks that some machine would have room
// for if nothing ran there; 0 if there are none.
uint32_t HighestWaiting(RoundContext* context) {
  const ClusterState& state = context->state;
  for (const auto& [key, tasks] : state.pending()) {
    const bool may_fit =
        std::ranges::any_of(state.machines(), [&](const auto& entry) {
          const Machine& machine = *entry.second;
          return machine.IsUsable() &&
                 key.request.FitsIn(machine.allocatable) &&
                 context->eligibility().Allows(*key.rules, machine);
        });
    if (may_fit) return key.priority;
  }
  return 0;
}

}  // namespace

RoundPacking DescribeRound(PackingScope scope, RoundContext* context,
                           const KnownPlan& known, const PackingPart* part) {
  if (scope != PackingScope::kPreempting && context->levels.has_value()) {
    context->levels->has_rest = scope == PackingScope::kAll;
  }
  context->state.SyncPeers();
  std::vector<Placement> placed = context->FreshPlacements();
  if (part != nullptr) {
    std::erase_if(placed, [part](const Placement& one) {
      return !part->contains(one.machine);
    });
  }
  // For a bound they may be anywhere.  Otherwise they stay where minimums want
  // them, but not in the way of more urgent tasks.
  if (scope != PackingScope::kAll) {
    std::optional<uint32_t> urgent;
    std::erase_if(placed, [&](const Placement& one) {
      const ClassKey& key = one.task->class_key;
      if (key.rules->minimums.empty()) return false;
      if (!urgent.has_value()) urgent = HighestWaiting(context);
      return key.priority >= *urgent;
    });
  }
  context->budget.Note(kWorkPerPlacement / 2 * std::ssize(placed));
  if (scope != PackingScope::kPreempting && !context->levels.has_value() &&
      context->state.pending().empty()) {
    // Nearly always, everything is where it likes best, whatever its rules are.
    CostOfPlaced cost(*context);
    for (const Placement& one : placed) cost.Add(one);
    if (cost.now() <= cost.least() && !cost.is_any_misplaced()) {
      RoundPacking nothing;
      nothing.now.placed = nothing.least.placed = cost.now();
      return nothing;
    }
  }
  for (const bool heeds_terms : {true, false}) {
    Describer describer(scope, placed, known, heeds_terms, part, context);
    describer.AddWaiting();
    RoundPacking packing = describer.Describe();
    if (!heeds_terms || !describer.is_overtaxed()) return packing;
  }
  return {};
}

}  // namespace sluice
