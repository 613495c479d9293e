// Tasks that run again, round by round: what is placed where a machine failed,
// and how gangs are healed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/explanation.h"
#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

class RunAgainTest : public testing::Test {
 protected:
  RunAgainTest()
      : cluster_(
            {.evicts_on_no_execute = true,
             .requeues = {.from_failed_machines = true, .evicted = true}}) {}
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }

  void FailMachine(std::string_view uuid) {
    RemoveMachine command = Removed(uuid);
    command.has_failed = true;
    EXPECT_EQ(cluster_.Apply(command), Ack::kOk);
  }
  void SubmitGang(uint64_t count, const Gang& gang) {
    for (uint64_t uid = 1; uid <= count; ++uid) {
      cluster_.Apply(Submitted(uid, {.cpu = 100}, {.gang = gang}));
    }
  }
  std::string Explain(uint64_t uid, int64_t now_ms = 0) {
    return cluster_.scheduler().Explain(cluster_.TaskOf(uid), now_ms).summary;
  }

  TestScheduler cluster_;
};

TEST_F(RunAgainTest, WhatAFailedMachineRanIsPlacedElsewhere) {
  cluster_.Apply(Added("m", {.cpu = 200}));
  cluster_.Apply(Submitted(1, {.cpu = 200}));
  ASSERT_THAT(cluster_.Reply(0), ElementsAre("PLACE 1 on m"));
  FailMachine("m");
  EXPECT_THAT(Explain(1), StartsWith("its machine m failed; 0/0 machines"));
  cluster_.Apply(Added("n", {.cpu = 200}));
  EXPECT_THAT(cluster_.Reply(1), ElementsAre("PLACE 1 on n"));
  cluster_.Apply(Added("m", {.cpu = 200}));
  EXPECT_THAT(cluster_.Reply(2), IsEmpty());
}

TEST_F(RunAgainTest, TheOldestGoesFirst) {
  cluster_.Apply(Added("m", {.cpu = 100}), 0);
  cluster_.Apply(Submitted(1, {.cpu = 100}), 0);
  ASSERT_THAT(cluster_.Reply(0), ElementsAre("PLACE 1 on m"));
  cluster_.Apply(Submitted(2, {.cpu = 100}), 1000);
  FailMachine("m");
  cluster_.Apply(Added("n", {.cpu = 100}), 2000);
  EXPECT_THAT(cluster_.Reply(2000), ElementsAre("PLACE 1 on n"));
}

TEST_F(RunAgainTest, AGangThatLostSomeIsHealedBeforeOthersStart) {
  cluster_.Apply(Added("m", {.cpu = 200}));
  cluster_.Apply(Added("n", {.cpu = 200}));
  SubmitGang(4, {.minimum = 4});
  cluster_.Reply(0);
  FailMachine("m");
  cluster_.Apply(Submitted(9, {.cpu = 100, .job = "other"}), 1);
  cluster_.Apply(Added("o", {.cpu = 200}), 1);
  cluster_.Reply(1);
  for (uint64_t uid = 1; uid <= 4; ++uid) {
    EXPECT_NE(cluster_.MachineOf(uid), "") << uid;
  }
  EXPECT_EQ(cluster_.MachineOf(9), "");
}

TEST_F(RunAgainTest, AGangThatLostAllStartsAsAWhole) {
  cluster_.Apply(Added("m", {.cpu = 400}));
  SubmitGang(4, {.minimum = 4});
  cluster_.Reply(0);
  FailMachine("m");
  cluster_.Apply(Added("n", {.cpu = 300}), 1);
  EXPECT_THAT(cluster_.Reply(1), IsEmpty()) << "three of it have room";
  EXPECT_THAT(Explain(1), HasSubstr("its machine m failed"));
  cluster_.Apply(Added("o", {.cpu = 100}), 2);
  EXPECT_THAT(cluster_.Reply(2), SizeIs(4));
}

TEST_F(RunAgainTest, WhatATaintTookOffIsPlacedElsewhereOnceItHasStopped) {
  cluster_.Apply(Added("m", {.cpu = 100}));
  cluster_.Apply(Submitted(1, {.cpu = 100}));
  ASSERT_THAT(cluster_.Reply(0), ElementsAre("PLACE 1 on m"));
  cluster_.Apply(Updated("m", {.cpu = 100, .taints = {NoExecute("sick")}}));
  cluster_.Apply(Added("n", {.cpu = 100}));
  ASSERT_THAT(cluster_.Reply(1), ElementsAre("PREEMPT 1 on m"));
  EXPECT_THAT(cluster_.Reply(2), IsEmpty()) << "it has not stopped";
  cluster_.Apply(Failed(1), 3);
  EXPECT_THAT(Explain(1), StartsWith("it was told to leave its machine; "));
  EXPECT_THAT(cluster_.Reply(3), ElementsAre("PLACE 1 on n"));
}

TEST_F(RunAgainTest, WhatFailedIsPlacedInARoundAfterItsPause) {
  cluster_.Apply(Added("m", {.cpu = 100}));
  SubmitTask submit = Submitted(1, {.cpu = 100});
  submit.on_failure = {.action = OnFailure::Action::kRequeue};
  cluster_.Apply(submit);
  ASSERT_THAT(cluster_.Reply(0), ElementsAre("PLACE 1 on m"));
  cluster_.Apply(Failed(1), 1000);
  EXPECT_EQ(RunsAgainText(cluster_.TaskOf(1), cluster_.state(), 4500),
            "failed 1 time of at most 3; waits 7 s more");
  EXPECT_THAT(cluster_.Reply(10999), IsEmpty());
  EXPECT_THAT(cluster_.Reply(11000), ElementsAre("PLACE 1 on m"));
  cluster_.Apply(Failed(1), 12000);
  EXPECT_EQ(RunsAgainText(cluster_.TaskOf(1), cluster_.state(), 12000),
            "failed 2 times of at most 3; waits 20 s more");
}

}  // namespace
}  // namespace sluice
