#include "round/stages/displace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "round/context/round_context.h"
#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;

class DisplaceForLessTest : public ::testing::Test {
 protected:
  DisplaceForLessTest() {
    cluster_.Apply(Added("m", {.cpu = 1000, .labels = {{"zone", "a"}}}));
    cluster_.Apply(Added("n", {.cpu = 1000, .labels = {{"zone", "b"}}}));
  }
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  void Run(uint64_t uid, const std::string& machine, const TaskOptions& task) {
    cluster_.Apply(Submitted(uid, task, PeerOptions()));
    ClusterState& state = cluster_.mutable_state();
    state.SyncPeers();
    state.Place({uid}, state.FindMachine(machine)->id, 0);
    cluster_.Deliver();
  }
  // A round has stopped this one for task 9, which is to come to the machine of
  // it.  Returns those that have to leave then.
  std::vector<uint64_t> Stop(uint64_t victim) {
    ClusterState& state = cluster_.mutable_state();
    TaskOptions urgent = {.cpu = 1000, .priority = 9};
    urgent.labels = {{"app", "urgent"}};
    urgent.rules.anti_affinity = {{App("urgent"), "zone"}};
    cluster_.Apply(Submitted(9, urgent, PeerOptions()));
    cluster_.eligibility();  // Learns its rules.
    RoundContext context({state, cluster_.policies(), cluster_.constraints(),
                          cluster_.scheduler().eligibility()},
                         {.preemption = {.mode = Preemption::kPriority}}, 0);
    RoundStats stats;
    context.stats = &stats;
    state.Preempt({victim});
    context.agenda.known.victims.push_back({victim});
    ++stats.preempted;
    state.Nominate({9}, state.FindTask({victim})->machine);
    DisplaceForLess(&context);
    std::vector<uint64_t> leaving;
    for (const auto& [id, task] : state.tasks()) {
      if (task->is_evicted) leaving.push_back(id.value);
    }
    EXPECT_EQ(stats.preempted, std::ssize(leaving));
    EXPECT_EQ(context.agenda.known.victims.size(), leaving.size());
    EXPECT_TRUE(state.nominations().Contains({9}));
    return leaving;
  }

  TestScheduler cluster_;
};

TEST_F(DisplaceForLessTest, StopsAnyNumberThatIsLessUrgentInstead) {
  Run(1, "m", {.cpu = 1000, .priority = 5});
  TaskOptions shy = {.cpu = 500};
  shy.rules.anti_affinity = {{App("urgent"), "zone"}};
  Run(2, "n", shy);
  Run(3, "n", shy);
  EXPECT_THAT(Stop(1), ElementsAre(2, 3));
  EXPECT_EQ(cluster_.state().nominations().machines().at({9}),
            cluster_.state().FindMachine("n")->id);
}

TEST_F(DisplaceForLessTest, StopsWhomTheRoundChoseWhereThatIsLeast) {
  Run(1, "m", {.cpu = 1000});
  Run(2, "n", {.cpu = 500});
  Run(3, "n", {.cpu = 500});
  EXPECT_THAT(Stop(1), ElementsAre(1));
  EXPECT_EQ(cluster_.state().nominations().machines().at({9}),
            cluster_.state().FindMachine("m")->id);
}

}  // namespace
}  // namespace sluice
