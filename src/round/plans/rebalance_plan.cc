#include "round/plans/rebalance_plan.h"

#include <iterator>
#include <optional>

#include "packing/pack.h"
#include "round/context/rebalance_timer.h"
#include "round/packing/packing_part.h"
#include "round/packing/round_packing.h"
#include "round/packing/running_tasks.h"
#include "round/plans/yielded_room.h"

namespace sluice {

RebalancePlan PlanRebalance(const RoundContext::Subject& subject,
                            const RoundOptions& options, int64_t now_ms) {
  RebalanceTimer is_due;
  if (subject.rebalance_timer != nullptr) {
    is_due = subject.rebalance_timer->Due();
  }
  RoundContext::Subject of_plan = subject;
  of_plan.rebalance_timer = &is_due;
  RoundContext context(of_plan, options, now_ms);
  RoundStats stats;
  context.stats = &stats;
  RebalancePlan plan;
  std::optional<PackingPart> part;
  if (options.preemption.mode == Preemption::kFull &&
      IsPackedInParts(context.state, options.preemption.moves)) {
    part = ChoosePart(options.preemption.moves, is_due.turn(), context.state,
                      context.policies, context.eligibility());
    plan.machines_in_part = std::ssize(*part);
  }
  const RoundPacking packing =
      DescribeRound(PackingScope::kPreempting, &context, {},
                    part.has_value() ? &*part : nullptr);
  plan.is_too_large = packing.is_too_large;
  if (packing.now <= packing.least || packing.problem.groups.empty()) {
    return plan;
  }
  // As the round does.
  PackingEffort effort = {.work_max =
                              context.budget.Left(Effort::kImprovements)};
  effort.is_thorough = packing.MayStop();
  const PackingSolution solution = Pack(packing.problem, effort);
  PackingCost cost = solution.cost;
  cost.waiting.Add(packing.misfits);
  if (packing.now <= cost) return plan;
  PreemptingPlan preempting(packing, &context);
  YieldedRoom nobody({}, {}, &context);
  plan.decided =
      preempting.Decide(preempting.Split(solution.patterns, &nobody));
  for (const TaskId id : plan.decided.stopped) {
    plan.stop_costs.push_back(
        StopCost(*context.state.FindTask(id), options.preemption));
  }
  return plan;
}

}  // namespace sluice
