#include "round/plans/preempting_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "round/packing/round_packing.h"
#include "util/peer_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

// What a packing that was cut short may come to.
class PreemptingPlanTest : public testing::Test {
 protected:
  PreemptingPlanTest()
      : cluster_({.preemption = {.mode = Preemption::kPriority}}) {}

  // Calls decide(plan, patterns).
  template <class Visit>
  void Plan(const std::vector<Pattern>& solution, Visit visit) {
    context_.emplace(
        RoundContext::Subject{cluster_.mutable_state(), cluster_.policies(),
                              cluster_.constraints(),
                              cluster_.scheduler().eligibility()},
        RoundOptions{.preemption = {.mode = Preemption::kPriority}}, 2);
    context_->stats = &stats_;
    const RoundPacking packing =
        DescribeRound(PackingScope::kPreempting, &*context_);
    PreemptingPlan plan(packing, &*context_);
    YieldedRoom yielded({}, packing.placed, &*context_);
    const MachinePatterns patterns = plan.Split(solution, &yielded);
    visit(plan, patterns);
  }

  TestScheduler cluster_;
  RoundStats stats_;
  std::optional<RoundContext> context_;
};

// It stops both of priority 5, one of them for a gang that is less urgent.
TEST_F(PreemptingPlanTest, AGangThatLosesATaskToWhoIsSparedWaitsAsAWhole) {
  cluster_.Apply(Added("m", {.cpu = 2000}));
  for (const uint64_t uid : {1, 2}) {
    cluster_.Apply(Submitted(uid, {.cpu = 500, .priority = 5}));
  }
  cluster_.Reply(1);
  cluster_.Apply(Submitted(3, {.cpu = 1200, .priority = 9, .job = "urgent"}));
  for (const uint64_t uid : {4, 5, 6}) {
    cluster_.Apply(Submitted(uid, {.cpu = 200, .priority = 3, .job = "gang"},
                             {.gang = {.minimum = 3}}));
  }
  Plan({{0, 1, {{0, 1}, {1, 3}}}}, [](PreemptingPlan& plan,
                                      const MachinePatterns& patterns) {
    for (const auto& [machine, index] : patterns.of_machine) {
      EXPECT_THAT(patterns.patterns[index - 1], IsEmpty());
    }
    const PreemptingPlan::Decided decided = plan.Decide(patterns);
    EXPECT_THAT(decided.stopped, SizeIs(1));
    EXPECT_THAT(decided.nominated, ElementsAre(Pair(TaskId{3}, testing::_)));
  });
}

}  // namespace
}  // namespace sluice
