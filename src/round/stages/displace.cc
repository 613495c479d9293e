#include "round/stages/displace.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "round/context/known_plan.h"
#include "round/context/work_budget.h"
#include "round/packing/running_tasks.h"
#include "round/packing/stoppable_tasks.h"
#include "round/plans/displacement.h"
#include "round/plans/gang_displacement.h"
#include "round/plans/preempting_plan.h"

namespace sluice {
namespace {

// As long as rounds place something, packings may find more, and decide on
// tasks together.  In a busy cluster that never ends, so tasks wait no longer
// than this.
constexpr int64_t kPatienceMs = 60'000;

class Displace {
 public:
  explicit Displace(RoundContext* context)
      : context_(*context),
        state_(context->state),
        cycle_(static_cast<size_t>(context->agenda.turn->cycle)),
        work_(Piece::kDisplacements, &context->budget) {}

  // Returns true if a task was stopped.
  bool Run() {
    FindAll();
    if (all_.empty()) return false;
    state_.SyncPeers();
    for (size_t i = 0; i < all_.size(); ++i) {
      const auto& [key, is_gang] = all_[(cycle_ + i) % all_.size()];
      if (is_gang ? ServeGang(*key) : Serve(*key)) return true;
      // If some remain, another one is the first next time.
      if (work_.IsSpent()) break;
    }
    return false;
  }

 private:
  struct Waiting {
    const ClassKey* key = nullptr;  // Its most urgent class if a gang.
    bool is_gang = false;           // True if it is treated as a whole.
  };

  // Finds waiting classes more urgent than some running task.  If no rule is
  // about other tasks, a packing already knows everything.
  void FindAll() {
    std::set<JobId> gangs;
    for (const auto& [key, tasks] : state_.pending()) {
      if (!key.DependsOnPeers() || key.rules->never_preempts ||
          !IsInTime(tasks)) {
        continue;
      }
      const bool is_gang = MustComeAsAWhole(key);
      if (is_gang && !gangs.insert(*key.gang).second) continue;
      all_.push_back({&key, is_gang});
    }
    if (all_.empty()) return;
    const std::optional<uint32_t> lowest = LowestRunning();
    std::erase_if(all_, [&lowest](const Waiting& one) {
      return !lowest.has_value() || one.key->priority <= *lowest;
    });
  }

  bool IsInTime(const ClusterState::PendingTasks& tasks) const {
    const auto& [sequence, oldest] = *tasks.begin();
    return sequence < context_.sequence_end &&
           (context_.stats->placed == 0 ||
            context_.now_ms - oldest->submitted_ms >= kPatienceMs);
  }

  bool MustComeAsAWhole(const ClassKey& key) const {
    return key.gang.has_value() &&
           (context_.gangs.IsHealing(key) || context_.gangs.MayBeUndone(key));
  }

  std::optional<uint32_t> LowestRunning() {
    std::optional<uint32_t> lowest;
    work_.Spend(std::ssize(state_.tasks()));
    for (const auto& [id, task] : state_.tasks()) {
      if (task->state != TaskState::kRunning || task->is_evicted) continue;
      const uint32_t priority = task->class_key.priority;
      lowest = std::min(lowest.value_or(priority), priority);
    }
    return lowest;
  }

  // Returns true if a task is stopped for one of the class.
  bool Serve(const ClassKey& key) {
    work_.Spend(std::ssize(state_.tasks()));
    StoppableTasks stoppable(state_, context_.gangs,
                             context_.options.preemption, key.priority);
    DisplacementSearch search(
        {state_, context_.constraints, context_.eligibility(), stoppable}, key,
        &work_);
    const auto found =
        search.FindCheapest([](MachineId) { return true; }, cycle_);
    // A task that has a place once those told to leave have left waits for them
    // like any other.
    if (!found.has_value() || found->victims.empty()) return false;
    const Task* task = context_.WaitingTasks(key, 1).front();
    CarryOut(found->victims, {{task, found->machine}});
    return true;
  }

  // The same for the gang of the class.
  bool ServeGang(const ClassKey& key) {
    const Job& job = *state_.FindJob(*key.gang);
    const bool is_new = context_.gangs.MayBeUndone(key);
    // Some of it is placed, but no client knows yet.
    if (is_new && job.running_count > 0) return false;
    int64_t minimum = 0;
    std::vector<const Task*> tasks;
    for (const auto& [other, waiting] : state_.pending()) {
      if (other.gang != key.gang) continue;
      if (other.rules->never_preempts) return false;
      minimum = std::max(minimum, context_.gangs.MinimumFor(other));
      std::ranges::copy(context_.WaitingTasks(other),
                        std::back_inserter(tasks));
    }
    minimum -= job.running_count;
    if (std::ssize(tasks) < minimum) return false;
    // In the order in which nominated tasks are placed.
    std::ranges::sort(tasks, {}, [](const Task* task) {
      return std::pair(-int64_t{task->class_key.priority}, task->sequence);
    });
    const auto found =
        FindForGang({state_, context_.constraints, context_.eligibility(),
                     context_.gangs, context_.options.preemption},
                    tasks, minimum, cycle_, &work_);
    if (!found.has_value() || found->victims.empty()) return false;
    CarryOut(found->victims, found->coming);
    return true;
  }

  void CarryOut(std::span<const Task* const> victims,
                const std::vector<std::pair<const Task*, MachineId>>& coming) {
    PreemptingPlan::Decided decided;
    for (const Task* task : victims) decided.stopped.push_back(task->id);
    for (const auto& [task, machine] : coming) {
      decided.nominated.emplace_back(task->id, machine);
    }
    PreemptingPlan::CarryOut(decided, &context_);
  }

  RoundContext& context_;
  ClusterState& state_;
  const size_t cycle_;
  std::vector<Waiting> all_;
  Allowance work_;
};

// The only task for which the round stopped others; null if there are several,
// or if its victims must not be looked at by themselves.
const Task* FindOnlyNominee(const RoundContext& context) {
  const Nominations& nominations = context.state.nominations();
  const Task* only = nullptr;
  for (const auto& [id, machine] : nominations.machines()) {
    if (context.nominated_before.contains(id)) continue;
    if (only != nullptr || nominations.IsFinal(id)) return nullptr;
    only = context.state.FindTask(id);
  }
  if (only == nullptr || only->class_key.gang.has_value() ||
      !only->class_key.DependsOnPeers()) {
    return nullptr;
  }
  return only;
}

// Their price if none of them had been told to leave.
StopPrice PriceOf(std::span<const Task* const> victims,
                  StoppableTasks* stoppable) {
  StopPrice price;
  for (const Task* task : victims) {
    if (!stoppable->MayLeave(*task)) continue;
    price.Add(task->class_key.priority, stoppable->CostOf(*task));
  }
  price.beyond_budgets = stoppable->CountBeyondBudgets(victims);
  return price;
}

}  // namespace

void DisplaceForLess(RoundContext* context) {
  ClusterState& state = context->state;
  KnownPlan& known = context->agenda.known;
  if (known.victims.empty() || !known.moves.empty() ||
      context->stats->is_cut_short) {
    return;
  }
  const Task* nominee = FindOnlyNominee(*context);
  if (nominee == nullptr) return;
  std::vector<const Task*> victims;
  for (const TaskId id : known.victims) {
    const Task* task = state.FindTask(id);
    if (task == nullptr || !task->is_evicted ||
        task->class_key.gang.has_value()) {
      return;
    }
    victims.push_back(task);
  }
  MachineId machine = state.nominations().machines().at(nominee->id);
  // As if no task had been stopped yet.
  state.EndNomination(nominee->id);
  bool is_undone = true;
  for (const Task* task : victims) {
    is_undone = state.Spare(task->id) && is_undone;
  }
  if (is_undone) {
    state.SyncPeers();
    Allowance work(Piece::kDisplacements, &context->budget);
    StoppableTasks stoppable(state, context->gangs, context->options.preemption,
                             nominee->class_key.priority);
    DisplacementSearch search(
        {state, context->constraints, context->eligibility(), stoppable},
        nominee->class_key, &work);
    const auto found = search.FindCheapest([](MachineId) { return true; }, 0);
    if (found.has_value() && !found->victims.empty() &&
        found->price < PriceOf(victims, &stoppable)) {
      victims = found->victims;
      machine = found->machine;
    }
  }
  context->stats->preempted -= std::ssize(known.victims);
  known.victims.clear();
  PreemptingPlan::Decided decided;
  for (const Task* task : victims) {
    // One that could not be spared leaves as told.
    if (!task->is_evicted) decided.stopped.push_back(task->id);
  }
  decided.nominated.emplace_back(nominee->id, machine);
  PreemptingPlan::CarryOut(decided, context);
}

bool DisplaceAsLastResort(RoundContext* context) {
  const std::optional<PackingTurn>& turn = context->agenda.turn;
  // A round that stops tasks needs no last resort.
  if (!turn.has_value() || !turn->is_last || context->stats->is_cut_short ||
      context->stats->preempted > 0 || context->state.pending().empty()) {
    return false;
  }
  return Displace(context).Run();
}

}  // namespace sluice
