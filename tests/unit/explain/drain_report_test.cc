#include "explain/drain_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/strings.h"
#include "util/peer_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Limit = DisruptionBudget::Limit;

class DrainReportTest : public testing::Test {
 protected:
  DrainReportTest() {
    for (const char* uuid : {"a", "b"}) {
      cluster_.Apply(Added(uuid, {.cpu = 1000}));
    }
  }
  static TaskOptions Owned(int64_t cpu) {
    return {.cpu = cpu, .owner = {"ReplicaSet", "r"}};
  }
  void Run(uint64_t uid, TaskOptions options, const PeerOptions& peers = {}) {
    if (options.job == "job") options.job = StrCat("job-", uid);
    cluster_.Apply(Submitted(uid, options, peers));
    cluster_.mutable_state().SyncPeers();
    cluster_.mutable_state().Place({uid}, cluster_.state().FindMachine("a")->id,
                                   0);
    cluster_.Deliver();
  }
  DrainReport Report() {
    return ReportDrain(*cluster_.state().FindMachine("a"),
                       cluster_.scheduler());
  }
  // "2 of a gang", the uids being 2 and others.
  std::vector<std::string> Held() {
    std::vector<std::string> texts;
    for (const DrainReport::Held& held : Report().held) {
      std::string tasks;
      for (const Task* task : held.tasks) tasks += StrCat(task->id.value, " ");
      texts.push_back(tasks + held.text);
    }
    return texts;
  }

  TestScheduler cluster_;
};

TEST_F(DrainReportTest, SaysWhyTasksStayTheCommonestReasonFirst) {
  Run(1, Owned(100), {.gang = {.minimum = 1}});
  Run(2, {.cpu = 100});
  Run(3, {.cpu = 200});
  EXPECT_THAT(Held(),
              ElementsAre("3 2 no owner: nothing would create a replacement",
                          "1 of a gang"));
  EXPECT_EQ(Report().movable, 0);
  EXPECT_EQ(Report().leaving, 0);
}

TEST_F(DrainReportTest, CountsWhatABudgetLetsGo) {
  TaskOptions web = Owned(100);
  web.job = "web";
  web.budget = {.limit = Limit::kMaxUnavailable, .amount = 1};
  for (const uint64_t uid : {1, 2, 3}) Run(uid, web);
  EXPECT_EQ(Report().movable, 1);
  EXPECT_THAT(Held(), ElementsAre("2 3 budget web allows no more now"));
  cluster_.Apply(SetDraining{"a"});
  cluster_.Reply(0);
  EXPECT_EQ(Report().leaving, 1);
  EXPECT_EQ(Report().movable, 0);
  EXPECT_THAT(Held(), ElementsAre("2 3 budget web allows no more now"));
}

TEST_F(DrainReportTest, SaysWhomNoMachineTakes) {
  Run(1, Owned(600));
  EXPECT_EQ(Report().movable, 1);
  EXPECT_THAT(Held(), IsEmpty());
  cluster_.Apply(AddForeignPod{"proxy", "b", {{"cpu", 500}}});
  EXPECT_THAT(Held(), ElementsAre("1 no machine has room"));
  EXPECT_EQ(Report().held[0].hold, DrainHold::kNoMachine);
}

TEST_F(DrainReportTest, CountsRoomOnce) {
  for (const uint64_t uid : {1, 2, 3}) Run(uid, Owned(300));
  cluster_.Apply(AddForeignPod{"proxy", "b", {{"cpu", 300}}});
  EXPECT_EQ(Report().movable, 2);
  EXPECT_THAT(Held(), ElementsAre("3 no machine has room"));
}

TEST_F(DrainReportTest, NamesTasksThatCannotBeTold) {
  cluster_.Apply(Submitted(1, Owned(100)));
  cluster_.mutable_state().Place({1}, cluster_.state().FindMachine("a")->id, 0);
  EXPECT_THAT(Report().held, testing::SizeIs(1));
  EXPECT_EQ(Report().held[0].hold, DrainHold::kNotReached);
  EXPECT_FALSE(IsForGood(DrainHold::kNotReached));
  EXPECT_TRUE(IsForGood(DrainHold::kForeign));
}

}  // namespace
}  // namespace sluice
