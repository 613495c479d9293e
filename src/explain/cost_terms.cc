#include "explain/cost_terms.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "constraints/class_peers.h"
#include "constraints/constraint_set.h"
#include "cost/speed_prices.h"
#include "network/aggregates.h"

namespace sluice {
namespace {

class Asker {
 public:
  Asker(const Task& task, const Scheduler& scheduler)
      : task_(task),
        state_(scheduler.state()),
        policies_(scheduler.policies()),
        constraints_(scheduler.constraints()),
        speeds_(policies_, state_.histories()),
        aggregates_(policies_.AggregateLabel().empty()
                        ? Aggregates()
                        : Aggregates(state_, policies_.AggregateLabel())),
        peers_(state_, constraints_, task.class_key, &task) {}

  bool MayBeOn(const Machine& machine) const {
    return machine.IsUsable() &&
           constraints_.Allows(task_.class_key, machine) &&
           peers_.Allows(machine);
  }

  PolicySet::Circumstances On(const Machine& machine) const {
    PolicySet::Circumstances there{
        .machine = machine,
        .rules = *task_.class_key.rules,
        .used = machine.used,
        .standing = peers_.StandingOn(machine),
        .siblings = 0,
        .speed = speeds_.Find(*task_.class_key.rules, machine)};
    if (machine.id == task_.machine) there.used -= task_.class_key.request;
    const size_t aggregate = aggregates_.Of(machine.id);
    if (aggregate != Aggregates::kNone) {
      there.used_together = aggregates_[aggregate].used;
      there.offered_together = aggregates_[aggregate].capacity;
      if (aggregates_.Of(task_.machine) == aggregate) {
        there.used_together -= task_.class_key.request;
      }
    }
    for (const TaskId id : machine.tasks) {
      if (id == task_.id) continue;
      if (state_.FindTask(id)->job == task_.job) ++there.siblings;
    }
    return there;
  }

  // Lower is better: preferences and peers count before siblings, and these
  // before load.
  std::tuple<Cost, Cost, Cost> RankOn(const Machine& machine) const {
    const PolicySet::Circumstances there = On(machine);
    return {policies_.PreferenceCost(there.rules, machine) +
                speeds_.Of(there.rules, machine) +
                policies_.PeerCost(there.standing),
            policies_.SiblingCost(there.siblings),
            policies_.LoadCost(machine, there.used) +
                policies_.AggregateCost(there.used_together,
                                        there.offered_together)};
  }

 private:
  const Task& task_;
  const ClusterState& state_;
  const PolicySet& policies_;
  const ConstraintSet& constraints_;
  const SpeedPrices speeds_;
  const Aggregates aggregates_;
  const ClassPeers peers_;
};

}  // namespace

std::vector<CostTerms> FindCostTerms(const Task& task,
                                     const Scheduler& scheduler) {
  std::vector<CostTerms> found;
  if (task.state != TaskState::kRunning) return found;
  const ClusterState& state = scheduler.state();
  const PolicySet& policies = scheduler.policies();
  const Asker asker(task, scheduler);
  const Machine& own = *state.FindMachine(task.machine);
  found.push_back({own.id, policies.TermsOf(asker.On(own))});
  const Machine* next = nullptr;
  std::optional<std::tuple<Cost, Cost, Cost>> least;
  for (const auto& [id, machine] : state.machines()) {
    if (id == own.id || !asker.MayBeOn(*machine)) continue;
    const std::tuple<Cost, Cost, Cost> rank = asker.RankOn(*machine);
    if (least.has_value() && rank >= *least) continue;
    least = rank;
    next = machine.get();
  }
  if (next != nullptr) {
    found.push_back({next->id, policies.TermsOf(asker.On(*next))});
  }
  return found;
}

}  // namespace sluice
