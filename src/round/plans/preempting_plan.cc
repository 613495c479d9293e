#include "round/plans/preempting_plan.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <ranges>
#include <tuple>
#include <utility>

#include "absl/functional/function_ref.h"
#include "packing/pattern_rules.h"
#include "round/plans/free_room.h"
#include "round/search/wish_gains.h"
#include "round/together/disruptions.h"
#include "state/machine_parts.h"

namespace sluice {
namespace {

Resources RequestsOf(const std::map<ClassKey, int64_t>& counts) {
  Resources requests;
  for (const auto& [key, count] : counts) {
    requests.AddScaled(key.request, count);
  }
  return requests;
}

// Returns the pattern's index, plus one.
uint32_t Add(std::map<ClassKey, int64_t> pattern, MachinePatterns* patterns) {
  patterns->patterns.push_back(std::move(pattern));
  return static_cast<uint32_t>(patterns->patterns.size());
}

// Takes from `counts`, by descending priority, the tasks that need not wait
// beside those taken and that fit in `free`.
std::map<ClassKey, int64_t> TakeThoseWithRoom(
    Resources free,
    absl::FunctionRef<bool(const ClassKey&, const std::map<ClassKey, int64_t>&)>
        must_await,
    std::map<ClassKey, int64_t>* counts) {
  std::map<ClassKey, int64_t> with_room;
  // A task whose company is less urgent comes after it.
  for (bool has_taken = true; std::exchange(has_taken, false);) {
    for (auto& [key, count] : *counts) {
      if (must_await(key, with_room)) continue;
      const int64_t now = key.request.TimesIn(free, count);
      if (now == 0) continue;
      with_room[key] += now;
      count -= now;
      free.AddScaled(key.request, -now);
      has_taken = true;
    }
  }
  std::erase_if(*counts, [](const auto& entry) { return entry.second == 0; });
  return with_room;
}

}  // namespace

PreemptingPlan::PreemptingPlan(const RoundPacking& packing,
                               RoundContext* context)
    : packing_(packing),
      context_(*context),
      conflicts_(context->state.peers()),
      spreads_(context->state, context->constraints) {
  for (const TaskId id : packing.placed) {
    const Task* task = context_.state.FindTask(id);
    if (task != nullptr && task->state == TaskState::kRunning) {
      placed_[task->machine] += task->class_key.request;
      if (task->class_key.DependsOnPeers()) placed_peers_.push_back(task);
      if (packing.untold.contains(id)) taken_back_.push_back(task);
    }
  }
}

void PreemptingPlan::FindMoves(const std::vector<Pattern>& solution) {
  const PackingProblem& problem = packing_.problem;
  struct Found {
    std::vector<Move> leaving;
    std::vector<std::pair<MachineId, int64_t>> arriving;  // With their cost.
  };
  std::vector<Found> found(packing_.running_classes.size());
  packing_.VisitMachines(solution, [&](MachineId id, const Pattern& pattern) {
    const std::vector<int64_t>& costs =
        problem.costs[problem.groups[pattern.group].kind];
    for (size_t i = 0; i < found.size(); ++i) {
      const size_t c = packing_.classes.size() + i;
      if (!problem.classes[c].MayMove()) continue;
      const std::vector<TaskId> tasks =
          packing_.running.TasksOn(id, packing_.running_classes[i]);
      const int64_t more = CountOf(c, pattern) - std::ssize(tasks);
      for (int64_t k = 0; k < more; ++k) {
        found[i].arriving.emplace_back(id, costs[c]);
      }
      for (int64_t k = 0; k < -more; ++k) {
        found[i].leaving.push_back(
            {tasks[static_cast<size_t>(k)], id, MachineId{}, costs[c]});
      }
    }
  });
  context_.state.SyncPeers();
  WishGains wishes(context_.state, context_.constraints, context_.policies);
  for (size_t i = 0; i < found.size(); ++i) {
    const int64_t cost = problem.classes[packing_.classes.size() + i].move_cost;
    auto& [leaving, arriving] = found[i];
    for (size_t k = 0; k < std::min(leaving.size(), arriving.size()); ++k) {
      Move& move = leaving[k];
      if (!IsStillOn(move.from, move.task)) continue;
      move.to = arriving[k].first;
      move.gain -= arriving[k].second + cost;
      move.gain += wishes.Move(*context_.state.FindTask(move.task), move.to);
      awaited_[move.from].leaving.push_back(moves_.size());
      awaited_[move.to].arriving.push_back(moves_.size());
      moving_.insert(move.task);
      moves_.push_back(move);
    }
  }
}

Resources PreemptingPlan::FreeOn(const Machine& machine) const {
  Resources free = machine.Free();
  const auto placed = placed_.find(machine.id);
  if (placed != placed_.end()) free += placed->second;
  return free;
}

void PreemptingPlan::UseFreeRoom(std::vector<Pattern>* solution) const {
  Allowance work(Piece::kFreeRoom, &context_.budget);
  GiveFreeRoomToUrgent(
      packing_, context_.state, context_.constraints,
      [this](const Machine& machine) { return FreeOn(machine); }, &work,
      solution);
}

MachinePatterns PreemptingPlan::Split(std::vector<Pattern> solution,
                                      YieldedRoom* yielded) {
  UseFreeRoom(&solution);
  FindMoves(solution);
  leaving_gangs_ = FindLeavingGangs(solution);
  FindConflicts(solution);
  FindSpreads(solution);
  MachinePatterns patterns;
  const Pattern* last = nullptr;
  std::map<ClassKey, int64_t> newcomers;  // Of the last pattern.
  std::optional<uint32_t> index;          // Of the pattern of all of these.
  packing_.VisitMachines(solution, [&](MachineId id, const Pattern& pattern) {
    if (last == nullptr || last->tasks != pattern.tasks) {
      last = &pattern;
      index.reset();
      newcomers = NewcomersOf(pattern);
    }
    const Machine* machine = context_.state.FindMachine(id);
    const auto moved = awaited_.find(id);
    const bool has_arriving =
        moved != awaited_.end() && !moved->second.arriving.empty();
    if (machine == nullptr) return;
    const bool is_anybody_to_come = !newcomers.empty() || has_arriving;
    if (!is_anybody_to_come && !MayLeaveForOthers()) return;
    std::vector<TaskId> victims = VictimsOn(id, pattern);
    if (!is_anybody_to_come) {
      StopForOthersOn(id, std::move(victims));
      return;
    }
    const Resources arriving =
        has_arriving ? RequestsOf(moved->second.arriving) : Resources();
    Resources left = RoomBeside(id, FreeOn(*machine), pattern);
    if (yielded->Concerns(id)) {
      left -= yielded->KeepOn(*machine, left - arriving, &newcomers);
      last = nullptr;
      index.reset();
    }
    const Resources free = FreeOn(*machine);
    const auto must_await = [&](const ClassKey& key,
                                const std::map<ClassKey, int64_t>& beside) {
      return MustAwait(key, *machine, victims, context_.state) ||
             MustAwaitOthers(key, *machine, beside);
    };
    if ((sluice::RequestsOf(newcomers) + arriving).FitsIn(free) &&
        std::ranges::none_of(
            newcomers | std::views::keys,
            [&](const ClassKey& key) { return must_await(key, newcomers); })) {
      StopForOthersOn(id, std::move(victims));
      if (newcomers.empty()) return;
      if (!index.has_value()) index = Add(newcomers, &patterns);
      patterns.of_machine[id] = *index;
      return;
    }
    std::map<ClassKey, int64_t> here = newcomers;
    Awaited& awaited = awaited_[id];
    SpareForNoHigher(left, &victims, &here);
    std::map<ClassKey, int64_t> at_once =
        TakeThoseWithRoom(free, must_await, &here);
    awaited.nominees = std::move(here);
    awaited.victims = std::move(victims);
    if (!at_once.empty())
      patterns.of_machine[id] = Add(std::move(at_once), &patterns);
  });
  LeaveOutBrokenGangs(&patterns);
  while (NominateGangs(&patterns) || NominateBeyondSpreads(&patterns)) {
  }
  peers_of_.clear();
  placed_peers_.clear();
  return patterns;
}

std::vector<TaskId> PreemptingPlan::VictimsOn(MachineId machine,
                                              const Pattern& pattern) const {
  std::vector<TaskId> victims;
  for (size_t i = 0; i < packing_.running_classes.size(); ++i) {
    const size_t of_class = packing_.running_classes[i];
    if (!packing_.running.classes()[of_class].may_be_stopped) continue;
    const std::vector<TaskId> tasks =
        packing_.running.TasksOn(machine, of_class);
    const int64_t leaving =
        std::ssize(tasks) - CountOf(packing_.classes.size() + i, pattern);
    for (int64_t k = 0; k < leaving; ++k) {
      const TaskId id = tasks[static_cast<size_t>(k)];
      if (!moving_.contains(id) && IsStillOn(machine, id))
        victims.push_back(id);
    }
  }
  return victims;
}

Resources PreemptingPlan::RequestsOf(const std::vector<size_t>& moves) const {
  Resources requests;
  for (const size_t move : moves) requests += KeyOf(moves_[move]).request;
  return requests;
}

void PreemptingPlan::DropMove(size_t move) {
  const auto [task, from, to, gain] = moves_[move];
  std::erase(awaited_[from].leaving, move);
  std::erase(awaited_[to].arriving, move);
  moving_.erase(task);
}

Resources PreemptingPlan::RoomBeside(MachineId id, Resources free,
                                     const Pattern& pattern) const {
  const Resources* room = packing_.running.FindRoomOn(id);
  if (room != nullptr) free += *room;
  for (const auto& [c, count] : pattern.tasks) {
    if (c < packing_.classes.size()) continue;
    const size_t index = packing_.running_classes[c - packing_.classes.size()];
    free.AddScaled(packing_.running.classes()[index].key.request, -count);
  }
  return free;
}

void PreemptingPlan::SpareForNoHigher(Resources left,
                                      std::vector<TaskId>* victims,
                                      std::map<ClassKey, int64_t>* newcomers) {
  left -= sluice::RequestsOf(*newcomers);
  std::erase_if(*victims, [&](TaskId victim) {
    if (GoesWithGang(victim) || Serves(victim)) return false;
    const ClassKey& of = context_.state.FindTask(victim)->class_key;
    Resources room = left;
    std::map<ClassKey, int64_t> kept = *newcomers;
    for (const auto& [key, count] : *newcomers) {
      if (!AreApart(key, of, context_.state.peers()) &&
          !(IsLone(key) && IsInTheWay(victim))) {
        continue;
      }
      if (key.priority > of.priority) return false;
      room.AddScaled(key.request, count);
      kept.erase(key);
    }
    while (!of.request.FitsIn(room)) {
      if (kept.empty()) return false;
      const auto last = std::prev(kept.end());  // The least urgent.
      if (last->first.priority > of.priority) return false;
      room += last->first.request;
      if (--last->second == 0) kept.erase(last);
    }
    left = room - of.request;
    *newcomers = std::move(kept);
    NoteSpared(victim);
    return true;
  });
}

uint32_t PreemptingPlan::Awaited::Highest() const {
  uint32_t highest = 0;
  for (const Task* task : tasks) {
    highest = std::max(highest, task->class_key.priority);
  }
  return highest;
}

bool PreemptingPlan::IsStillOn(MachineId machine, TaskId id) const {
  const Task* task = context_.state.FindTask(id);
  return task != nullptr && task->state == TaskState::kRunning &&
         task->machine == machine &&
         MayBeStopped(*task, std::numeric_limits<uint32_t>::max(),
                      context_.state);
}

bool PreemptingPlan::NominateGangs(MachinePatterns* patterns) {
  const auto starts = [this](const ClassKey& key) {
    return key.gang.has_value() && context_.gangs.MayBeUndone(key);
  };
  std::set<JobId> gangs;
  for (const auto& [id, awaited] : awaited_) {
    for (const auto& [key, count] : awaited.nominees) {
      if (starts(key)) gangs.insert(*key.gang);
    }
  }
  bool has_moved = false;
  std::map<uint32_t, uint32_t> without;  // Patterns by the ones with gangs.
  for (auto& [id, index] : patterns->of_machine) {
    const std::map<ClassKey, int64_t> holds = patterns->patterns[index - 1];
    std::map<ClassKey, int64_t> left;
    for (const auto& [key, count] : holds) {
      if (!key.gang.has_value() || !gangs.contains(*key.gang)) {
        left[key] = count;
        continue;
      }
      awaited_[id].nominees[key] += count;
      has_moved = true;
    }
    if (left.size() == holds.size()) continue;
    const auto [it, is_new] = without.try_emplace(index);
    if (is_new) {
      patterns->patterns.push_back(std::move(left));
      it->second = static_cast<uint32_t>(patterns->patterns.size());
    }
    index = it->second;
  }
  return has_moved;
}

PreemptingPlan::Decided PreemptingPlan::Decide(
    const MachinePatterns& patterns) {
  FindTasks(patterns);
  context_.state.SyncPeers();
  FindEvicted();
  WatchSpreads();
  FindPlacedAtOnce(patterns);
  FindConflicts();
  FindSpreads();
  KeepToBudgets();
  Decided decided;
  std::set<JobId> gangs;  // For whose tasks others make room.
  for (auto& [id, awaited] : awaited_) {
    decided.stopped.insert(decided.stopped.end(), awaited.victims.begin(),
                           awaited.victims.end());
    for (const Task* task : awaited.tasks) {
      decided.nominated.emplace_back(task->id, id);
      if (awaited.leaving.empty()) continue;
      decided.depending.insert(task->id);
      if (task->class_key.gang.has_value()) {
        gangs.insert(*task->class_key.gang);
      }
    }
  }
  for (const auto& [task, machine] : decided.nominated) {
    const ClassKey& key = context_.state.FindTask(task)->class_key;
    if (key.gang.has_value() && gangs.contains(*key.gang)) {
      decided.depending.insert(task);
    }
  }
  for (const Move& move : moves_) {
    if (moving_.contains(move.task)) decided.moves.push_back(move);
  }
  return decided;
}

void PreemptingPlan::CarryOut(const Decided& decided, RoundContext* context) {
  ClusterState& state = context->state;
  KnownPlan& known = context->agenda.known;
  for (const TaskId task : decided.stopped) {
    if (state.Preempt(task)) known.victims.push_back(task);
  }
  for (const Move& move : decided.moves) {
    state.Migrate(move.task, move.to);
    known.moves.emplace_back(move.task, move.to);
  }
  for (const auto& [task, machine] : decided.nominated) {
    state.Nominate(task, machine,
                   decided.depending.contains(task) ||
                       context->final_before.contains(task));
  }
  context->stats->preempted += std::ssize(decided.stopped);
  known.depending.insert(decided.depending.begin(), decided.depending.end());
  context->NoteMoved(std::ssize(decided.moves));
}

void PreemptingPlan::FindTasks(const MachinePatterns& patterns) {
  // The first tasks of each class are placed at once.
  std::map<ClassKey, int64_t> at_once;
  for (const auto& [id, index] : patterns.of_machine) {
    const std::map<ClassKey, int64_t>& holds = patterns.patterns[index - 1];
    if (awaited_.contains(id)) planned_[id] = sluice::RequestsOf(holds);
    for (const auto& [key, count] : holds) at_once[key] += count;
  }
  std::map<ClassKey, std::vector<const Task*>> waiting;
  for (auto& [id, awaited] : awaited_) {
    for (const auto& [key, count] : awaited.nominees) {
      const auto [it, is_new] = waiting.try_emplace(key);
      std::vector<const Task*>& left = it->second;
      if (is_new) {
        left = context_.WaitingTasks(key);
        const int64_t placed = std::min(at_once[key], std::ssize(left));
        left.erase(left.begin(), left.begin() + placed);
        std::ranges::reverse(left);  // Taken from the end.
      }
      for (int64_t i = 0; i < count && !left.empty(); ++i) {
        awaited.tasks.push_back(left.back());
        left.pop_back();
      }
    }
  }
}

Resources PreemptingPlan::RoomOn(const Machine& machine) const {
  Resources room =
      machine.Free() + context_.state.nominations().LeavingFrom(machine);
  if (machine.KeepsRoom()) room -= machine.awaited;
  const auto planned = planned_.find(machine.id);
  if (planned != planned_.end()) room -= planned->second;
  return room;
}

void PreemptingPlan::Settle() {
  bool is_settled = false;
  while (!std::exchange(is_settled, true)) {
    FindLeavers();
    for (auto& [id, awaited] : awaited_) {
      if (Validate(id, &awaited)) is_settled = false;
    }
    if (DropBrokenGangs()) is_settled = false;
    FindConflicts();
    FindSpreads();
    if (DropBeyondSpreads()) is_settled = false;
    if (SpareTornGangs()) is_settled = false;
    const std::map<MachineId, Served> served = FindServed();
    for (auto& [id, awaited] : awaited_) {
      const uint32_t highest = served.at(id).priority.value_or(0);
      if (SpareNeedless(id, highest, &awaited)) is_settled = false;
    }
    if (SpareGangs(served)) is_settled = false;
    if (DropLosses()) is_settled = false;
  }
}

std::map<MachineId, PreemptingPlan::Served> PreemptingPlan::FindServed() const {
  std::map<MachineId, Served> served;
  for (const auto& [id, awaited] : awaited_) {
    Served& there = served[id];
    if (awaited.tasks.empty()) continue;
    there = {.priority = awaited.Highest(), .gang = GangOf(awaited)};
  }
  // A chain of moves makes room where it begins.
  for (bool has_risen = true; std::exchange(has_risen, false);) {
    for (const Move& move : moves_) {
      if (!moving_.contains(move.task)) continue;
      Served& there = served[move.to];
      if (there >= served[move.from]) continue;
      there = served[move.from];
      has_risen = true;
    }
  }
  return served;
}

bool PreemptingPlan::DropLosses() {
  // Union-find over machines that moves connect, by any of them.
  std::map<MachineId, MachineId> parent;
  const auto root = [&](MachineId id) {
    for (auto it = parent.find(id); it != parent.end(); it = parent.find(id)) {
      id = it->second;
    }
    return id;
  };
  for (const Move& move : moves_) {
    if (!moving_.contains(move.task)) continue;
    const MachineId from = root(move.from);
    const MachineId to = root(move.to);
    if (from != to) parent.emplace(from, to);
  }
  std::map<MachineId, int64_t> gains;  // By root.
  for (const Move& move : moves_) {
    if (moving_.contains(move.task)) gains[root(move.from)] += move.gain;
  }
  for (const auto& [id, awaited] : awaited_) {
    if (!awaited.tasks.empty()) gains.erase(root(id));
  }
  bool has_dropped = false;
  for (size_t i = 0; i < moves_.size(); ++i) {
    if (!moving_.contains(moves_[i].task)) continue;
    const auto gain = gains.find(root(moves_[i].from));
    if (gain == gains.end() || gain->second > 0) continue;
    DropMove(i);
    has_dropped = true;
  }
  return has_dropped;
}

bool PreemptingPlan::Validate(MachineId id, Awaited* awaited) {
  bool has_dropped = ValidateMoves(id, awaited);
  const Machine* machine = context_.state.FindMachine(id);
  std::erase_if(awaited->victims,
                [&](TaskId victim) { return !IsStillOn(id, victim); });
  if (machine == nullptr || !machine->IsUsable()) {
    has_dropped |= !awaited->tasks.empty() || !awaited->victims.empty();
    awaited->tasks.clear();
    awaited->victims.clear();
    return has_dropped;
  }
  Machine after = *machine;
  after.nominated.clear();
  after.successions.clear();
  after.used = after.Offered() - RoomOn(*machine);
  for (const TaskId victim : awaited->victims) {
    after.used -= context_.state.FindTask(victim)->class_key.request;
  }
  for (const TaskId one : machine->tasks) {
    const Task& task = *context_.state.FindTask(one);
    if (task.is_evicted || std::ranges::count(awaited->victims, one) > 0) {
      after.ReleasePorts(task.class_key.rules->host_ports);
      Bind(task.class_key, task.pu, -1, &after);
    }
  }
  const auto add = [&after](const ClassKey& key) {
    after.used += key.request;
    Bind(key, UnitFor(key, after), 1, &after);
  };
  after.used -= RequestsOf(awaited->leaving);
  const std::vector<size_t> arriving = awaited->arriving;
  for (const size_t move : arriving) {
    const ClassKey& key = KeyOf(moves_[move]);
    if (context_.constraints.Allows(key, after)) {
      add(key);
    } else {
      DropMove(move);
      has_dropped = true;
    }
  }
  const auto dropped = std::erase_if(awaited->tasks, [&](const Task* task) {
    if (!context_.constraints.Allows(task->class_key, after) ||
        !IsAllowedByPeers(task->class_key, *machine, awaited->victims)) {
      return true;
    }
    add(task->class_key);
    return false;
  });
  return has_dropped || dropped > 0;
}

// Commands may have come since the packing was described.
bool PreemptingPlan::ValidateMoves(MachineId id, Awaited* awaited) {
  const Machine* machine = context_.state.FindMachine(id);
  const bool is_usable = machine != nullptr && machine->IsUsable();
  std::vector<size_t> void_moves;
  for (const size_t move : awaited->leaving) {
    if (!IsStillOn(id, moves_[move].task)) void_moves.push_back(move);
  }
  if (!is_usable) {
    void_moves.insert(void_moves.end(), awaited->arriving.begin(),
                      awaited->arriving.end());
  }
  for (const size_t move : void_moves) DropMove(move);
  return !void_moves.empty();
}

bool PreemptingPlan::DropBrokenGangs() {
  std::map<JobId, int64_t> missing;
  for (const auto& [id, awaited] : awaited_) {
    for (const auto& [key, count] : awaited.nominees) {
      if (key.gang.has_value()) missing[*key.gang] += count;
    }
    for (const Task* task : awaited.tasks) {
      if (task->class_key.gang.has_value()) --missing[*task->class_key.gang];
    }
  }
  bool has_dropped = false;
  for (auto& [id, awaited] : awaited_) {
    has_dropped |= std::erase_if(awaited.tasks, [&](const Task* task) {
                     return task->class_key.gang.has_value() &&
                            missing[*task->class_key.gang] > 0;
                   }) > 0;
  }
  return has_dropped;
}

std::optional<JobId> PreemptingPlan::GangOf(const Awaited& awaited) {
  for (const Task* task : awaited.tasks) {
    if (task->class_key.gang.has_value()) return task->class_key.gang;
  }
  return std::nullopt;
}

void PreemptingPlan::NoteMovesFor(JobId gang,
                                  const std::map<MachineId, Served>& served,
                                  const MoveBudget::Left& left) {
  int64_t moves = 0;
  for (const auto& [id, awaited] : awaited_) {
    if (served.at(id).gang == gang) moves += std::ssize(awaited.leaving);
  }
  if (moves <= left.in_hour) return;
  context_.agenda.NoteTooManyMoves(gang);
  context_.stats->too_many_moves[gang] = moves;
}

std::vector<MachineId> PreemptingPlan::ByUrgency() const {
  std::vector<std::tuple<int64_t, std::optional<JobId>, int64_t, MachineId>>
      order;
  const std::map<MachineId, Served> served = FindServed();
  for (const auto& [id, awaited] : awaited_) {
    int64_t victim = 0;
    auto [highest, gang] = served.at(id);
    for (const TaskId one : awaited.victims) {
      const Task* task = context_.state.FindTask(one);
      if (task == nullptr) continue;
      const ClassKey& key = task->class_key;
      victim = std::max<int64_t>(victim, key.priority);
      highest = std::max(highest, HighestServedBy(one));  // Elsewhere, too.
    }
    if (highest.has_value()) {
      order.emplace_back(-int64_t{*highest}, gang, victim, id);
      continue;
    }
    int64_t gain = 0;
    for (const size_t move : awaited.leaving) gain += moves_[move].gain;
    order.emplace_back(1, std::nullopt, -gain, id);
  }
  std::ranges::sort(order);
  std::vector<MachineId> machines;
  for (const auto& [newcomer, gang, victim, id] : order) machines.push_back(id);
  return machines;
}

void PreemptingPlan::KeepToBudgets() {
  if (awaited_.empty()) return;
  const std::vector<MachineId> order = ByUrgency();
  Disruptions disruptions(context_.state);
  const MoveBudget::Left moves_max =
      moves_.empty() ? MoveBudget::Left() : context_.MovesLeft();
  bool is_any_exceeded = false;
  bool are_moves_exceeded = false;
  for (bool must_drop = true; must_drop;) {
    must_drop = false;
    Settle();
    const std::map<MachineId, Served> served = FindServed();
    std::vector<int64_t> left = disruptions.Allowances();
    MoveBudget::Left moves_left = moves_max;
    for (const MachineId id : order) {
      Awaited& awaited = awaited_[id];
      std::vector<TaskId> all = awaited.victims;
      for (const size_t move : awaited.leaving) {
        all.push_back(moves_[move].task);
      }
      if (all.empty()) continue;
      const auto& [highest, gang] = served.at(id);
      const int64_t moves = std::ssize(awaited.leaving);
      const bool may_move =
          moves <= (gang.has_value()
                        ? moves_left.in_hour
                        : std::min(moves_left.in_round, moves_left.in_hour));
      const bool is_within = disruptions.Take(all, &left) ||
                             (context_.options.preemption.breaks_budgets &&
                              awaited.leaving.empty());
      if (is_within && may_move) {
        moves_left.in_round -= moves;
        moves_left.in_hour -= moves;
        continue;
      }
      // A task that waits for leavers on another machine waits for room here,
      // too.
      is_any_exceeded |= !is_within && !IsForNothing(awaited);
      are_moves_exceeded |=
          is_within && highest.has_value() && !gang.has_value();
      if (gang.has_value() && !packing_.is_part) {
        NoteMovesFor(*gang, served, moves_max);
      }
      if (!is_within) context_.stats->given_up += std::ssize(all);
      // A task that waits for this machine and others loses all of them.
      const bool is_one_of_several =
          gang.has_value() || (highest.has_value() && awaited.tasks.empty());
      GiveUp(&awaited);
      must_drop = true;
      // The others give back their share.
      if (is_one_of_several) break;
    }
  }
  if (packing_.is_part) return;
  if (is_any_exceeded) context_.agenda.NoteExceeded();
  if (are_moves_exceeded) context_.agenda.NoteMovesExceeded();
}

void PreemptingPlan::GiveUp(Awaited* awaited) {
  awaited->tasks.clear();
  awaited->victims.clear();
  while (!awaited->leaving.empty()) DropMove(awaited->leaving.back());
}

Slack PreemptingPlan::SlackOn(const Machine& machine,
                              const Awaited& awaited) const {
  Resources needed = RequestsOf(awaited.arriving);
  for (const Task* task : awaited.tasks) needed += task->class_key.request;
  Resources room = RoomOn(machine) + RequestsOf(awaited.leaving);
  for (const TaskId victim : awaited.victims) {
    room += context_.state.FindTask(victim)->class_key.request;
  }
  return {context_.state.peers(), awaited.tasks, needed, room};
}

bool PreemptingPlan::SpareNeedless(MachineId id, uint32_t highest,
                                   Awaited* awaited) {
  const Machine* machine = context_.state.FindMachine(id);
  const auto has_to_stay = [this](TaskId one) {
    if (GoesWithGang(one) || Serves(one)) return false;
    NoteSpared(one);
    return true;
  };
  bool has_dropped = false;
  if (awaited->tasks.empty() && awaited->arriving.empty()) {
    has_dropped = std::erase_if(awaited->victims, has_to_stay) > 0;
  }
  if (machine == nullptr ||
      (awaited->victims.empty() && awaited->leaving.empty())) {
    return has_dropped;
  }
  const bool is_lone_there = std::ranges::any_of(
      awaited->tasks,
      [this](const Task* task) { return IsLone(task->class_key); });
  Slack slack = SlackOn(*machine, *awaited);
  // A victim stopped for a more urgent task that is not to come any more may
  // take others' room with it.
  std::vector<TaskId> left = awaited->victims;
  for (const TaskId victim : awaited->victims) {
    if (GoesWithGang(victim) || Serves(victim)) continue;
    const ClassKey& key = context_.state.FindTask(victim)->class_key;
    const auto at = std::ranges::find(left, victim);
    std::vector<TaskId> fewer = left;
    fewer.erase(fewer.begin() + (at - left.begin()));
    if (is_lone_there &&
        !IsAllowedAsAllLeave(*packing_.lone, *machine, fewer)) {
      continue;
    }
    if (!slack.LetStay(key, key.priority < highest)) continue;
    left = std::move(fewer);
    NoteSpared(victim);
  }
  has_dropped |= left.size() < awaited->victims.size();
  awaited->victims = std::move(left);
  const std::vector<size_t> leaving = awaited->leaving;
  for (const size_t move : leaving) {
    if (moves_[move].gain > 0 || !slack.LetStay(KeyOf(moves_[move]), true)) {
      continue;
    }
    DropMove(move);
    has_dropped = true;
  }
  return has_dropped;
}

}  // namespace sluice
