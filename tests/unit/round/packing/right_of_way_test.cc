#include "round/packing/right_of_way.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/rules_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

class RightOfWayTest : public ::testing::Test {
 protected:
  RightOfWayTest() {
    fond_.preferred_peers = {{10, {TasksOfJob("liked"), "zone"}}};
    ClusterBuilder().Machine("m", {.cpu = 1000}).ApplyTo(&cluster_);
  }
  void Place(uint64_t uid) {
    cluster_.eligibility();  // Learns the rules of what waits.
    cluster_.mutable_state().Place(TaskId(uid), Id(), 0);
  }
  MachineId Id() { return cluster_.state().FindMachine("m")->id; }
  // Where all of the tasks are to be placed anew, and none by the patterns.
  std::optional<std::vector<TaskId>> Find(
      const std::vector<uint64_t>& uids, const MachinePatterns& patterns = {}) {
    cluster_.eligibility();
    cluster_.mutable_state().SyncPeers();
    RoundContext context(
        {cluster_.mutable_state(), cluster_.policies(), cluster_.constraints(),
         cluster_.scheduler().eligibility()},
        {}, 0);
    context.delta_begin = 0;  // All that is placed is of this round.
    RoundStats stats;
    context.stats = &stats;
    context.eligibility();
    RoundPacking packing;
    packing.leaves_out = true;
    for (const uint64_t uid : uids) {
      const Task& task = cluster_.TaskOf(uid);
      packing.classes.push_back(task.class_key);
      packing.problem.classes.emplace_back().waiting = {{1, 1}};
      if (task.machine == Id()) packing.placed.push_back(task.id);
    }
    return FindWhoGivesWay(packing, patterns, &context);
  }

  PlacementRules fond_;  // Which no packing heeds.
  TestScheduler cluster_;
};

TEST_F(RightOfWayTest, HasWhatIsLessUrgent) {
  ClusterBuilder()
      .Task(1, {.cpu = 600, .rules = fond_})
      .Task(2, {.cpu = 300, .priority = 1, .rules = fond_})
      .Task(3, {.cpu = 500, .priority = 1})
      .ApplyTo(&cluster_);
  Place(1);
  Place(2);
  EXPECT_THAT(Find({3}), Optional(ElementsAre(TaskId(1))));
  EXPECT_THAT(Find({}), Optional(IsEmpty())) << "nothing waits by the plan";
}

TEST_F(RightOfWayTest, IsNotToBeHadWhereOthersCountOnATask) {
  PlacementRules near;
  near.affinity = {{TasksOfJob("hub"), "zone"}};
  ClusterBuilder()
      .Task(1, {.cpu = 400, .job = "hub", .rules = fond_})
      .Task(2, {.cpu = 500, .priority = 1})
      .Task(3, {.cpu = 600, .priority = 2})
      .Task(4, {.cpu = 600})
      .Task(5, {.cpu = 100, .rules = near})
      .ApplyTo(&cluster_);
  Place(1);
  EXPECT_THAT(Find({2}), Optional(IsEmpty())) << "it fits beside the task";
  MachinePatterns patterns;
  patterns.of_machine[Id()] = 1;
  patterns.patterns = {{{cluster_.TaskOf(3).class_key, 1}}};
  EXPECT_THAT(Find({2, 3}, patterns), Optional(IsEmpty()))
      << "it would not fit if the task were gone";
  patterns.patterns = {{{cluster_.TaskOf(4).class_key, 1}}};
  EXPECT_THAT(Find({2, 4}, patterns), Optional(IsEmpty()))
      << "the less urgent one gives way";
  cluster_.Apply(Submitted(6, {.cpu = 700, .priority = 1}));
  EXPECT_EQ(Find({6}), std::nullopt);
}

}  // namespace
}  // namespace sluice
