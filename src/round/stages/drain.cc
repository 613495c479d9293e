#include "round/stages/drain.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "round/leaving/draining.h"

namespace sluice {
namespace {

class Drain {
 public:
  explicit Drain(RoundContext* context)
      : context_(*context),
        state_(context->state),
        draining_(context->state, context->constraints) {}

  void Empty(const Machine& machine) {
    std::set<ClassKey> misfits;  // Those with no place from here.
    for (const Task* task : draining_.TasksToMove(machine)) {
      const std::optional<DrainHold> hold = draining_.HoldOf(*task);
      if (hold.has_value()) {
        if (!IsForGood(*hold)) ++context_.stats->undrained;
        continue;
      }
      if (work_ > kWorkPerStep || misfits.contains(task->class_key) ||
          !Move(*task)) {
        misfits.insert(task->class_key);
        ++context_.stats->undrained;
      }
    }
  }

 private:
  bool Move(const Task& task) {
    const int64_t work = std::ssize(state_.machines());
    work_ += work;
    context_.budget.Note(work);
    const Machine* target = FindTarget(task);
    if (target == nullptr) return false;
    draining_.NoteMove(task);
    state_.Migrate(task.id, target->id);
    ++context_.stats->moved;
    return true;
  }

  // The cheapest machine, then the one with the most room.
  const Machine* FindTarget(const Task& task) {
    const ClassKey& key = task.class_key;
    const PlacementRules* rules = key.rules;
    Eligibility& eligibility = context_.eligibility();
    const std::span<const Eligibility::Kind> kinds =
        eligibility.KindsFor(*rules);
    return draining_.FindTarget(
        task, [&](const Machine& machine) -> Draining::Rank {
          const auto kind = std::ranges::lower_bound(
              kinds, eligibility.KindOf(machine), {}, &Eligibility::Kind::id);
          if (kind == kinds.end() || kind->id != eligibility.KindOf(machine)) {
            return std::nullopt;
          }
          const Resources used =
              machine.Offered() - machine.Free() + key.request;
          return std::pair(kind->preference,
                           context_.policies.LoadCost(machine, used));
        });
  }

  RoundContext& context_;
  ClusterState& state_;
  Draining draining_;
  int64_t work_ = 0;
};

}  // namespace

void DrainMachines(RoundContext* context) {
  ClusterState& state = context->state;
  std::vector<const Machine*> machines;
  for (const MachineId id : state.draining()) {
    const Machine& machine = *state.FindMachine(id);
    if (machine.is_present && !machine.tasks.empty()) {
      machines.push_back(&machine);
    }
  }
  if (machines.empty()) return;
  state.SyncPeers();
  Drain drain(context);
  // Tasks on one machine that find no place must not keep the others from their
  // turn.
  const auto first =
      static_cast<ptrdiff_t>(context->stats->number % machines.size());
  std::ranges::rotate(machines, machines.begin() + first);
  for (const Machine* machine : machines) drain.Empty(*machine);
}

}  // namespace sluice
