// The stages that decide on all tiers as one packing problem, carry that out,
// and measure its quality.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "constraints/class_peers.h"
#include "packing/company.h"
#include "round/context/known_plan.h"
#include "round/context/placements.h"
#include "round/packing/packing_part.h"
#include "round/packing/plan_costs.h"
#include "round/packing/right_of_way.h"
#include "round/packing/round_packing.h"
#include "round/packing/running_classes.h"
#include "round/packing/running_tasks.h"
#include "round/passes/pass.h"
#include "round/passes/tier_demand.h"
#include "round/plans/preempting_plan.h"
#include "round/plans/yielded_room.h"
#include "round/stages/stage.h"
#include "round/together/domain_conflicts.h"

namespace sluice {
namespace {

class Pack : public Stage {
 public:
  explicit Pack(RoundContext* context) : context_(*context) {}

  std::optional<RoundWork> Next() override {
    if (std::exchange(has_asked_, true)) return std::nullopt;
    if (context_.budget.IsSpent(Effort::kImprovements) ||
        context_.budget.IsSpent(Effort::kPasses)) {
      known_.nominated = std::exchange(context_.agenda.known.nominated, {});
      return std::nullopt;
    }
    Describe();
    if (packing_.now <= packing_.least && !packing_.leaves_out &&
        !is_preempting_) {
      result_.appraisal = {packing_.now, packing_.now,
                           context_.state.version()};
    }
    if (packing_.now <= packing_.least || packing_.problem.groups.empty()) {
      return std::nullopt;
    }
    ++context_.stats->packings;
    // Some of the work is left for the next packing.
    PackingEffort effort = {
        .work_max = context_.budget.Left(Effort::kImprovements),
        .seed = context_.stats->number,
        .wants_bound = !is_preempting_};
    if (context_.agenda.must_go_on()) {
      effort.work_max /= 2;
    } else if (packing_.may_move) {
      // It may plan more moves than are allowed.
      effort.work_max -= effort.work_max / 4;
    }
    effort.is_thorough = packing_.MayStop();
    if (packing_.is_part) {
      effort.work_max =
          std::min(effort.work_max, WorkBudget::LimitOf(Piece::kPackingOfPart));
    } else {
      effort.nearby_max = context_.budget.nearby();
      // The part before it has taken its share.
      if (AreParts()) {
        effort.work_max =
            std::min(effort.work_max,
                     SearchPace::WorkTogether(context_.budget.nearby()));
      }
    }
    return PackingWork{packing_.problem, effort};
  }

  void Finish(const RoundAnswer& answer) override {
    const auto& solution = std::get<PackingSolution>(answer);
    context_.budget.Spend(Effort::kImprovements, solution.work);
    PackingCost cost = solution.cost;
    cost.waiting.Add(packing_.misfits);
    if (packing_.MayStop()) {
      context_.stats->stop_gap = GapOfStops(packing_, solution);
    }
    // Stops are no part of a round's cost.
    if (!packing_.leaves_out && !packing_.has_placed_below && !is_preempting_) {
      PackingCost bound = solution.bound;
      bound.waiting.Add(packing_.misfits);
      result_.appraisal = {cost, bound};
    }
    // Less urgent tasks are placed anew, and perhaps worse.
    const bool is_better = packing_.has_placed_below
                               ? cost.waiting < packing_.now.waiting
                               : cost < packing_.now;
    if (!is_better || solution.patterns.empty()) return;
    std::vector<int64_t> placed = CountPlaced(solution.patterns, packing_);
    if (!known_.victims.empty() &&
        CostOfRest(placed_, packing_) < CostOfRest(placed, packing_)) {
      return;
    }
    TakeBackWhoYields(solution.patterns, context_.state, &packing_);
    PreemptingPlan preempting(packing_, &context_);
    MachinePatterns patterns = PatternsFor(solution, &preempting);
    const auto giving_way = FindWhoGivesWay(packing_, patterns, &context_);
    if (!giving_way.has_value()) return;
    PackingPlan& plan = result_.plan.emplace();
    plan.patterns = std::move(patterns);
    plan.classes = packing_.classes;
    plan.is_complete = !packing_.leaves_out && !packing_.has_placed_below;
    FindMovedGangs();
    FindTiers(solution);
    context_.Withdraw(packing_.placed);
    context_.Withdraw(*giving_way);
    if (is_preempting_) {
      CarryOut(&preempting);
      has_plan_ = true;
      known_ = {};
      placed_ = std::move(placed);
    }
    plan.version = context_.state.version();
  }

  StageResult End() override {
    if (packing_.may_move && context_.rebalance_timer != nullptr) {
      context_.rebalance_timer->Note(context_.now_ms, context_.state.version());
    }
    if (is_preempting_ && !packing_.is_part) {
      result_.has_looked_at_all = !packing_.has_turns && !AreParts();
      context_.stats->held_back = CountHeldBack(placed_, packing_);
    }
    // Nothing better than the known plan was found.
    StopSpared();
    for (const auto& [id, machine_id] : known_.nominated) {
      const bool depends = known_.depending.contains(id);
      const bool is_final = depends || context_.final_before.contains(id);
      if (KeepRoomAgain(id, machine_id, is_final, &context_.state) && depends) {
        context_.agenda.known.depending.insert(id);
      }
    }
    for (const auto& [id, machine_id] : left_out_) {
      // What is planned is placed first.
      if (has_plan_) {
        result_.left_out.emplace_back(id, machine_id);
      } else {
        KeepRoomAgain(id, machine_id, context_.final_before.contains(id),
                      &context_.state);
      }
    }
    return std::move(result_);
  }

 private:
  // Tasks that wait for others to leave are decided on with the rest.
  void Describe() {
    is_preempting_ =
        context_.options.preemption.mode != Preemption::kOff &&
        ((context_.has_news && IsAnyWaiting()) || context_.must_rebalance) &&
        !MustPackMeekFirst();
    if (!is_preempting_) {
      packing_ = DescribeRound(PackingScope::kMovable, &context_);
      return;
    }
    // The report is about what waits without any stops.
    result_.voids_appraisal = true;
    result_.appraisal.reset();
    if (context_.agenda.IsForPart(AreParts())) {
      const PackingPart part = ChoosePart(
          context_.options.preemption.moves, context_.rebalance_timer->turn(),
          context_.state, context_.policies, context_.eligibility());
      context_.budget.Note(std::ssize(context_.state.machines()));
      packing_ = DescribeRound(PackingScope::kPreempting, &context_, {}, &part);
      return;
    }
    known_ = std::exchange(context_.agenda.known, {});
    UndoKnown();
    packing_ = DescribeRound(PackingScope::kPreempting, &context_, known_);
    if (KeepWhatIsLeftOut()) {
      packing_ = DescribeRound(PackingScope::kPreempting, &context_, known_);
    }
    if (!packing_.is_too_large) {
      placed_ = CountPlaced(known_, packing_, context_.state);
      return;
    }
    is_preempting_ = false;
    StopSpared();
    packing_ = DescribeRound(PackingScope::kMovable, &context_);
  }

  // True if there is a task for which others might leave.
  bool IsAnyWaiting() const {
    return !context_.state.pending().empty() ||
           !context_.state.nominations().machines().empty() ||
           !context_.agenda.known.nominated.empty();
  }

  // True if tasks may move only in parts of the machines.
  bool AreParts() const {
    return context_.options.preemption.mode == Preemption::kFull &&
           context_.rebalance_timer != nullptr &&
           IsPackedInParts(context_.state, context_.options.preemption.moves) &&
           (context_.must_rebalance || !context_.state.pending().empty());
  }

  // The result of a part is final: no later packing looks at moves.
  void CarryOut(PreemptingPlan* plan) {
    KnownPlan before;
    if (packing_.is_part) before = std::exchange(context_.agenda.known, {});
    PreemptingPlan::CarryOut(plan->Decide(result_.plan->patterns), &context_);
    if (packing_.is_part) context_.agenda.known = std::move(before);
  }

  // Counts tasks that wait for others to leave as waiting, and the victims that
  // no client knows of yet as still running.
  void UndoKnown() {
    std::erase_if(known_.victims, [this](TaskId victim) {
      return !context_.state.Spare(victim);
    });
    context_.stats->preempted -= std::ssize(known_.victims);
    std::erase_if(known_.moves, [this](const auto& move) {
      return !context_.state.Spare(move.first);
    });
    context_.NoteMoved(-std::ssize(known_.moves));
    const Nominations& nominations = context_.state.nominations();
    const auto& nominated = nominations.machines();
    const std::set<TaskId> overtaken = FindOvertaken();
    for (const auto& [id, machine] : nominated) {
      // Those that depend on moves of this round are no more final than these
      // moves.
      const bool is_final = nominations.IsFinal(id) &&
                            !known_.depending.contains(id) &&
                            !overtaken.contains(id);
      if (!is_final && IsInTime(id)) known_.nominated.emplace_back(id, machine);
    }
    for (const auto& [id, machine] : known_.nominated) {
      if (nominated.contains(id)) context_.state.EndNomination(id);
    }
  }

  // Of the tasks for which others were moved, those whose room is enough for a
  // more urgent waiting task, with the rest of their gangs.  They wait, rather
  // than have others stopped for it.
  std::set<TaskId> FindOvertaken() const {
    const Nominations& nominations = context_.state.nominations();
    std::vector<TaskId> may_yield;
    for (const auto& [id, machine] : nominations.machines()) {
      if (nominations.IsFinal(id) && MayYield(id)) may_yield.push_back(id);
    }
    std::set<TaskId> overtaken;
    std::set<JobId> gangs;
    for (const TaskId id : may_yield) {
      const ClassKey& key = context_.state.FindTask(id)->class_key;
      if (!IsRoomForMoreUrgent(key.priority, nominations.machines().at(id))) {
        continue;
      }
      overtaken.insert(id);
      if (key.gang.has_value()) gangs.insert(*key.gang);
    }
    for (const TaskId id : may_yield) {
      if (IsOfOne(id, gangs)) overtaken.insert(id);
    }
    return overtaken;
  }

  // True if its room may go to a more urgent task.  A successor was there
  // before, and a task with a reserved machine was promised it.
  bool MayYield(TaskId id) const {
    const Nominations& nominations = context_.state.nominations();
    return !nominations.IsSuccessor(id) && !nominations.IsReservation(id);
  }

  // True if a waiting task could use what is reserved there, or free.
  bool IsRoomForMoreUrgent(uint32_t priority, MachineId id) const {
    const Machine& machine = *context_.state.FindMachine(id);
    const Resources room =
        RoomOfAllOn(id) + context_.state.nominations().LeavingFrom(machine);
    const auto& pending = context_.state.pending();
    const auto more_urgent = std::ranges::subrange(
        pending.begin(), pending.lower_bound(ClassKey{priority, {}}));
    return std::ranges::any_of(more_urgent, [&](const auto& entry) {
      const ClassKey& key = entry.first;
      context_.budget.Note(1);
      return key.request.FitsIn(room) && MayBeOn(key, machine);
    });
  }

  // True regardless of room and of other tasks there.
  bool MayBeOn(const ClassKey& key, const Machine& machine) const {
    return context_.constraints.AllowsAspect(MachineAspect::kLabels, key,
                                             machine) &&
           context_.constraints.AllowsAspect(MachineAspect::kTaints, key,
                                             machine);
  }

  // Reserves room from before the round again for tasks whose class takes no
  // part this time, or not there: against a less urgent class that has its
  // turn, and at the end if the room is still there.  Returns true if there are
  // any of the former.
  bool KeepWhatIsLeftOut() {
    if (packing_.classes.empty()) return false;
    const uint32_t highest =
        packing_.turn_priority.value_or(packing_.classes.front().priority);
    const std::set<TaskId> left_out = FindLeftOut();
    bool is_any_kept = false;
    std::erase_if(known_.nominated, [&](const auto& one) {
      const auto& [id, machine] = one;
      if (!left_out.contains(id)) return false;
      if (context_.state.FindTask(id)->class_key.priority < highest ||
          !KeepRoomAgain(id, machine, context_.final_before.contains(id),
                         &context_.state)) {
        left_out_.push_back(one);
        return true;
      }
      is_any_kept = true;
      return true;
    });
    return is_any_kept;
  }

  // True if all tasks that it must be near are leaving, so it would be the
  // first. A packing sees no company then, or others that may come instead.
  bool IsToBeFirst(const ClassKey& key) const {
    return !key.rules->affinity.empty() &&
           ClassPeers(context_.state, context_.constraints, key)
               .IsFirstOnceAllLeave();
  }

  // Tasks that had room reserved before the round, and whose class takes no
  // part or may not be there: as far as the packing knows, the leavers still
  // keep it away.  With the rest of their gangs.
  std::set<TaskId> FindLeftOut() const {
    absl::flat_hash_map<MachineId, size_t> kind_on;
    for (size_t g = 0; g < packing_.machines.size(); ++g) {
      for (const MachineId id : packing_.machines[g]) {
        kind_on[id] = packing_.problem.groups[g].kind;
      }
    }
    bool is_lone_known = false;
    const auto takes_part = [&](const ClassKey& key, MachineId machine) {
      const auto c = std::ranges::lower_bound(packing_.classes, key);
      const auto kind = kind_on.find(machine);
      return c != packing_.classes.end() && *c == key &&
             kind != kind_on.end() && !IsToBeFirst(key) &&
             packing_.problem.costs[kind->second][static_cast<size_t>(
                 c - packing_.classes.begin())] != kNotAllowed &&
             // If a class takes part with one task, its others do not take
             // part.
             (packing_.lone != key || !std::exchange(is_lone_known, true));
    };
    const auto may_be_left_out = [this](TaskId id) {
      return context_.state.FindTask(id) != nullptr &&
             context_.nominated_before.contains(id) &&
             !known_.depending.contains(id);
    };
    std::set<TaskId> left_out;
    std::set<JobId> gangs;
    for (const auto& [id, machine] : known_.nominated) {
      if (!may_be_left_out(id)) continue;
      const ClassKey& key = context_.state.FindTask(id)->class_key;
      if (takes_part(key, machine)) continue;
      left_out.insert(id);
      if (context_.gangs.MayBeUndone(key)) gangs.insert(*key.gang);
    }
    for (const auto& [id, machine] : known_.nominated) {
      if (may_be_left_out(id) && IsOfOne(id, gangs)) left_out.insert(id);
    }
    return left_out;
  }

  // Stops victims on machines where a task still waits for that, or is to come.
  void StopSpared() {
    std::set<MachineId> awaited;
    for (const auto& [id, machine] : std::exchange(known_.moves, {})) {
      const Machine* target = context_.state.FindMachine(machine);
      if (!MayLeave(id) || target == nullptr || !target->IsUsable()) continue;
      context_.state.Migrate(id, machine);
      context_.agenda.known.moves.emplace_back(id, machine);
      context_.NoteMoved(1);
      awaited.insert(machine);
    }
    context_.state.SyncPeers();
    DomainConflicts conflicts(context_.state.peers());
    for (const auto& [id, machine] : known_.nominated) {
      const Task* task = context_.state.FindTask(id);
      if (task == nullptr || !task->IsSchedulable()) continue;
      awaited.insert(machine);
      conflicts.Add(task->class_key, machine);
      conflicts.AddSpread(task->class_key, machine);
    }
    const auto is_awaited = [&](TaskId id) {
      if (!MayLeave(id)) return false;
      const Task& task = *context_.state.FindTask(id);
      return awaited.contains(task.machine) ||
             conflicts.HighestAgainst(task.class_key, task.machine) >
                 task.class_key.priority;
    };
    std::set<JobId> gangs;  // Their tasks leave together.
    for (const TaskId id : known_.victims) {
      if (!is_awaited(id)) continue;
      const ClassKey& key = context_.state.FindTask(id)->class_key;
      if (key.gang.has_value()) gangs.insert(*key.gang);
    }
    for (const TaskId id : std::exchange(known_.victims, {})) {
      if (!is_awaited(id) && !(MayLeave(id) && IsOfOne(id, gangs))) continue;
      if (context_.state.Preempt(id)) {
        context_.agenda.known.victims.push_back(id);
      }
      ++context_.stats->preempted;
    }
  }

  // A successor that came after the round began is left to the next round.
  bool IsInTime(TaskId id) const {
    return context_.state.FindTask(id)->sequence < context_.sequence_end;
  }

  // REQUIRES: the task is there.
  bool IsOfOne(TaskId id, const std::set<JobId>& gangs) const {
    const ClassKey& key = context_.state.FindTask(id)->class_key;
    return key.gang.has_value() && gangs.contains(*key.gang);
  }

  bool MayLeave(TaskId id) const {
    const Task* task = context_.state.FindTask(id);
    return task != nullptr && task->state == TaskState::kRunning &&
           context_.state.FindMachine(task->machine)->IsUsable() &&
           MayBeStopped(*task, std::numeric_limits<uint32_t>::max(),
                        context_.state);
  }

  // Tasks that displace nobody are placed before any is stopped.  Otherwise
  // they would take what others make room for.  They may take room that is
  // reserved for less urgent tasks, if it is already free and large enough.
  bool MustPackMeekFirst() {
    std::set<ClassKey> meek;
    const auto look_at = [&](const ClassKey& key) {
      if (key.rules->never_preempts) meek.insert(key);
    };
    absl::flat_hash_map<MachineId, Resources> placed;
    for (const auto& [key, tasks] : context_.state.pending()) look_at(key);
    for (const Placement& one : context_.FreshPlacements()) {
      look_at(one.task->class_key);
      placed[one.machine] += one.task->class_key.request;
    }
    if (!context_.agenda.IsForMeek(!meek.empty())) return false;
    auto& yielding = context_.agenda.known.nominated;
    for (const auto& [id, machine] : context_.state.nominations().machines()) {
      if (!MayYield(id) || !IsInTime(id)) continue;
      Resources room = RoomOfAllOn(machine);
      const auto it = placed.find(machine);
      if (it != placed.end()) room += it->second;
      const uint32_t priority = context_.state.FindTask(id)->class_key.priority;
      const Machine& there = *context_.state.FindMachine(machine);
      if (std::ranges::any_of(meek, [&](const ClassKey& key) {
            return key.priority > priority && key.request.FitsIn(room) &&
                   MayBeOn(key, there);
          })) {
        yielding.emplace_back(id, machine);
      }
    }
    for (const auto& [id, machine] : yielding) context_.state.EndNomination(id);
    return true;
  }

  // What is free there, including reserved room.
  Resources RoomOfAllOn(MachineId id) const {
    const Machine* machine = context_.state.FindMachine(id);
    return machine == nullptr ? Resources()
                              : machine->Offered() - machine->used;
  }

  void FindMovedGangs() {
    for (const ClassKey& key : packing_.classes) {  // In descending priority.
      if (!key.gang.has_value() ||
          !result_.plan->tier_of_gang.try_emplace(*key.gang, key.priority)
               .second) {
        continue;
      }
      Gangs::Waiting gang;
      gang.job = *key.gang;
      gang.minimum = context_.gangs.MinimumFor(key);
      if (context_.gangs.MayBeUndone(key) || context_.gangs.IsWhole(gang)) {
        result_.plan->gangs.push_back(gang);
      }
    }
  }

  // A task that stands only beside others goes after them, and domains rise
  // only together: less urgent tasks go with more urgent ones.
  void FindTiers(const PackingSolution& solution) {
    PackingPlan& plan = *result_.plan;
    const PackingProblem& problem = packing_.problem;
    std::vector<bool> is_placed(problem.classes.size(), false);
    for (const Pattern& pattern : solution.patterns) {
      for (const auto& [c, count] : pattern.tasks) is_placed[c] = true;
    }
    const std::vector<size_t> depths = CompanyDepths(problem);
    for (size_t c = 0; c < problem.classes.size(); ++c) {
      if (depths[c] > 0) plan.followers[packing_.classes[c]] = depths[c];
    }
    for (bool has_risen = true; has_risen;) {
      has_risen = false;
      for (size_t c = 0; c < problem.classes.size(); ++c) {
        if (!is_placed[c]) continue;
        for (const size_t other : problem.classes[c].company) {
          if (problem.classes[other].runs) continue;
          has_risen |= plan.RaiseTo(plan.TierOf(packing_.classes[c]),
                                    packing_.classes[other]);
        }
      }
      for (const PackingSpread& spread : problem.spreads) {
        uint32_t highest = 0;
        const std::vector<size_t>& classes =
            problem.caps[spread.caps[0]].classes;
        const auto is_newcomer = [this](size_t c) {
          return c < packing_.classes.size();
        };
        for (const size_t c : classes) {
          if (!is_placed[c] || !is_newcomer(c)) continue;
          highest = std::max(highest, plan.TierOf(packing_.classes[c]));
        }
        for (const size_t c : classes) {
          if (!is_newcomer(c)) continue;
          has_risen |= plan.RaiseTo(highest, packing_.classes[c]);
        }
      }
    }
  }

  // Reserved room goes only to more urgent tasks.
  MachinePatterns PatternsFor(const PackingSolution& solution,
                              PreemptingPlan* preempting) {
    // After a packing for tasks that displace nobody, another one follows.
    auto& yielding = context_.agenda.known.nominated;
    MachinePatterns patterns;
    if (is_preempting_) {
      YieldedRoom yielded(left_out_, packing_.placed, &context_);
      patterns = preempting->Split(solution.patterns, &yielded);
      yielded.KeepElsewhere();
    } else {
      patterns = PatternsFor(solution);
      YieldedRoom yielded(FindUnplanned(yielding, patterns), packing_.placed,
                          &context_);
      yielded.KeepBeside(&patterns);
      yielded.KeepElsewhere();
      std::erase_if(yielding, [this](const auto& one) {
        return context_.state.nominations().Contains(one.first);
      });
    }
    return patterns;
  }

  // Those whose class has no task to be placed.
  std::vector<std::pair<TaskId, MachineId>> FindUnplanned(
      std::vector<std::pair<TaskId, MachineId>> tasks,
      const MachinePatterns& patterns) const {
    std::set<ClassKey> planned;
    for (const auto& holds : patterns.patterns) {
      for (const auto& [key, count] : holds) planned.insert(key);
    }
    std::erase_if(tasks, [&](const auto& one) {
      const Task* task = context_.state.FindTask(one.first);
      return task == nullptr || planned.contains(task->class_key);
    });
    return tasks;
  }

  MachinePatterns PatternsFor(const PackingSolution& solution) const {
    MachinePatterns patterns;
    std::vector<size_t> taken(packing_.machines.size(), 0);
    for (const Pattern& pattern : solution.patterns) {
      auto& holds = patterns.patterns.emplace_back();
      const auto index = static_cast<uint32_t>(patterns.patterns.size());
      for (const auto& [c, count] : pattern.tasks) {
        holds[packing_.classes[c]] = count;
      }
      for (int64_t i = 0; i < pattern.machines; ++i) {
        const size_t next = taken[pattern.group]++;
        patterns.of_machine[packing_.machines[pattern.group][next]] = index;
      }
    }
    return patterns;
  }

  RoundContext& context_;
  bool has_asked_ = false;
  bool is_preempting_ = false;
  // What was undone, as long as there is no better plan; and how many of each
  // class are placed by it, or by the better one.
  KnownPlan known_;
  // Those that take part in no plan, and may get their room back at the end.
  std::vector<std::pair<TaskId, MachineId>> left_out_;
  bool has_plan_ = false;  // A better one, to be carried out.
  std::vector<int64_t> placed_;
  RoundPacking packing_;
  StageResult result_;
};

class CarryOut : public Stage {
 public:
  CarryOut(RoundContext* context, const Tier& tier)
      : context_(*context),
        is_alone_(context->plan->version == context->state.version()),
        passes_(context) {
    AddPlanned(tier.priority, tier.priority, context, &passes_);
  }

  // What was taken back must be placed again in this round.
  std::optional<RoundWork> Next() override {
    return passes_.Next(/*must_go_on=*/true);
  }

  void Finish(const RoundAnswer& answer) override {
    passes_.Finish(std::get<FlowSolution>(answer));
  }

  // A command meanwhile may have caused part of a gang to be refused.
  StageResult End() override {
    if (is_alone_ && !context_.has_changed) {
      context_.plan->version = context_.state.version();
    }
    // What is taken back may have been company to others.
    while (TakeBackBroken()) {
    }
    return {};
  }

 private:
  // Takes back gangs that are not whole, and tasks that may have had their
  // company.  Returns whether there were any.
  bool TakeBackBroken() {
    std::set<JobId> broken;
    for (const Gangs::Waiting& gang : context_.plan->gangs) {
      if (!context_.gangs.IsWhole(gang)) broken.insert(gang.job);
    }
    if (broken.empty()) return false;
    const std::vector<TaskId> tasks = FindPlaced([&](const Task& task) {
      const std::optional<JobId>& gang = task.class_key.gang;
      return gang.has_value() && broken.contains(*gang);
    });
    if (tasks.empty()) return false;
    context_.Withdraw(tasks);
    context_.Withdraw(FindPlaced([&](const Task& task) {
      return context_.plan->followers.contains(task.class_key);
    }));
    return true;
  }

  // Those of its passes' placements that can be taken back.
  template <class Condition>
  std::vector<TaskId> FindPlaced(Condition condition) const {
    std::vector<TaskId> found;
    for (const TaskId id : passes_.placed()) {
      const Task* task = context_.state.FindTask(id);
      if (task == nullptr || task->state != TaskState::kRunning) continue;
      if (context_.state.IsUntold(id) && condition(*task)) found.push_back(id);
    }
    return found;
  }

  RoundContext& context_;
  const bool is_alone_;  // Only the plan has changed the state.
  Passes passes_;
};

// Drops them if others were placed meanwhile: tasks that the packing left out,
// and gangs.
void DropMachinesWithoutRoom(const std::set<ClassKey>& classes,
                             RoundContext* context) {
  PackingPlan& plan = *context->plan;
  absl::erase_if(plan.patterns.of_machine, [&](const auto& entry) {
    const Machine* machine = context->state.FindMachine(entry.first);
    if (machine == nullptr) return true;
    Resources request;
    for (const auto& [key, count] : plan.patterns.patterns[entry.second - 1]) {
      if (!classes.contains(key)) continue;
      if (!context->constraints.Allows(key, *machine)) return true;
      request.AddScaled(key.request, count);
    }
    return !request.FitsIn(machine->Free());
  });
}

}  // namespace

void AddPlanned(uint32_t highest, uint32_t lowest, RoundContext* context,
                Passes* passes) {
  const PackingPlan& plan = *context->plan;
  std::set<ClassKey> classes;
  for (const ClassKey& key : plan.classes) {
    const uint32_t tier = plan.TierOf(key);
    if (tier <= highest && tier >= lowest) classes.insert(key);
  }
  // If only the plan has changed the state, all of it has room.
  if (plan.version != context->state.version()) {
    DropMachinesWithoutRoom(classes, context);
  }
  std::map<size_t, std::vector<BandMember>> by_depth;
  for (const ClassKey& key : classes) {
    const int64_t count = context->CountWaiting(key);
    if (count == 0) continue;
    by_depth[plan.FollowingDepth(key)].push_back({key, count, 0});
  }
  for (auto& [depth, members] : by_depth) {
    passes->Add({.members = highest == lowest ? std::move(members)
                                              : MergeAlike(std::move(members)),
                 .gangs = {},
                 .patterns = &plan.patterns});
  }
}

std::unique_ptr<Stage> MakePack(RoundContext* context) {
  return std::make_unique<Pack>(context);
}

std::unique_ptr<Stage> MakeCarryOut(RoundContext* context, const Tier& tier) {
  if (!context->plan.has_value()) return nullptr;
  return std::make_unique<CarryOut>(context, tier);
}

}  // namespace sluice
