#include "core/running_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

#include "unit/state/state_fixture.h"
#include "util/peer_builder.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class RunningTasksTest : public StateTest {
 protected:
  RunningTasksTest() { Do(Added("m", {.cpu = 1000})); }

  void RunTask(uint64_t uid, const TaskOptions& options,
               const PeerOptions& peers = {}) {
    Do(Submitted(uid, options, peers));
    state_.Place({uid}, MachineOf("m").id, static_cast<int64_t>(uid));
    DeliverAll();
  }
  RunningTasks Find(uint32_t priority,
                    const std::set<const PlacementRules*>& rules = {}) {
    state_.SyncPeers();
    return {state_, priority, rules, {}};
  }
  MachineId m() const { return MachineOf("m").id; }
};

TEST_F(RunningTasksTest, AreOneClassForEachPriorityAndRequest) {
  RunTask(1, {.cpu = 100, .priority = 1});
  RunTask(2, {.cpu = 100, .priority = 3});
  RunTask(3, {.cpu = 100, .priority = 1, .job = "another"});
  RunTask(4, {.cpu = 200, .priority = 1});
  RunTask(5, {.cpu = 100, .priority = 5});
  const RunningTasks running = Find(5);
  ASSERT_THAT(running.classes(), SizeIs(3));
  EXPECT_EQ(running.classes()[0].priority, 3u);
  EXPECT_EQ(running.classes()[1].priority, 1u);
  EXPECT_THAT(running.CountOn(m()),
              ElementsAre(Pair(0, 1), Pair(1, 2), Pair(2, 1)));
  EXPECT_EQ((*running.FindRoomOn(m()))[kCpu], 500);
  EXPECT_THAT(running.TasksOn(m(), 1), ElementsAre(TaskId{3}, TaskId{1}))
      << "the one that was placed last first";
}

TEST_F(RunningTasksTest, CountsTheRoomOfWhatLeavesAlready) {
  RunTask(1, {.cpu = 100, .priority = 9});
  state_.Preempt({1});
  const RunningTasks running = Find(5);
  EXPECT_TRUE(running.empty());
  EXPECT_EQ((*running.FindRoomOn(m()))[kCpu], 100);
}

TEST_F(RunningTasksTest, LeavesAloneWhatCannotBeStoppedByItself) {
  RunTask(1, {.cpu = 100, .job = "gang"}, {.gang = {.minimum = 1}});
  PlacementRules port;
  port.host_ports = {{.port = 80}};
  RunTask(2, {.cpu = 100, .rules = port});
  Do(Submitted(3, {.cpu = 100}));
  Place(3, "m");
  EXPECT_TRUE(Find(5).empty()) << "nobody knows yet of the last one";
  DeliverAll();
  EXPECT_THAT(Find(5).classes(), SizeIs(1));
}

TEST_F(RunningTasksTest, LeavesAloneWhomOthersMustBeNear) {
  RunTask(1, {.cpu = 100, .labels = {{"app", "db"}}});
  RunTask(2, {.cpu = 100, .labels = {{"app", "web"}}});
  PlacementRules near;
  near.affinity = {{App("db"), "zone"}};
  Do(Submitted(3, {.cpu = 100, .priority = 9, .rules = near}));
  const RunningTasks running = Find(5, {TaskOf(3).class_key.rules});
  EXPECT_THAT(running.TasksOn(m(), 0), ElementsAre(TaskId{2}));
}

TEST_F(RunningTasksTest, LeavesAloneAMachineThatIsSmallerThanItsLoad) {
  RunTask(1, {.cpu = 800});
  Do(Updated("m", MachineOptions{.cpu = 500}));
  EXPECT_TRUE(Find(5).empty());
  EXPECT_THAT(Find(5).CountOn(m()), IsEmpty());
}

}  // namespace
}  // namespace sluice
