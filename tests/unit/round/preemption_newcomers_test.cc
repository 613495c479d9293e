// What a round has placed and not told yet costs nothing more urgent its place.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/round/preemption_fixture.h"

namespace sluice {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Newcomers whose rules no packing heeds: each counts others with other rules.
class PreemptionNewcomersTest : public PreemptionFixture {
 protected:
  PreemptionNewcomersTest() {
    spread_.spread = {Spread(App("new"), "zone", 2)};
  }
  void SubmitNew(uint64_t uid, int64_t cpu) {
    Submit(uid, "new", kLow, spread_, {.cpu = cpu});
    // It fits nowhere.
    Submit(uid + 100, "new", kLow, AwayFrom("none"), {.cpu = 99'000});
  }

  PlacementRules spread_;
};

TEST_F(PreemptionNewcomersTest, ARunningTaskStaysRatherThanALessUrgentOne) {
  Machine("m", 1000, "y");
  Machine("small", 50, "z");
  Run(1, "x", kLow + 1, {}, {.cpu = 200});
  Run(2, "y", kLow, {}, {.cpu = 500});
  SubmitNew(3, 100);
  Submit(4, "t", kHigh, {}, {.cpu = 800});
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 2 on m"));
  EXPECT_THAT(ReplyWithout({2}), ElementsAre("PLACE 4 on m"));
  EXPECT_THAT(ReplyWithout({4}), ElementsAre("PLACE 3 on m"));
}

TEST_F(PreemptionNewcomersTest, ARunningTaskStaysRatherThanAnEqualOne) {
  Machine("m", 1000, "y");
  Machine("small", 50, "z");
  Run(1, "x", kLow, {}, {.cpu = 300});
  Run(2, "y", kLow, {}, {.cpu = 300});
  SubmitNew(3, 300);
  Submit(4, "t", kHigh, {}, {.cpu = 700});
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 2 on m"));
  EXPECT_EQ(cluster_.MachineOf(3), "");
}

TEST_F(PreemptionNewcomersTest, ARunningTaskStaysRatherThanOneThatStopsNobody) {
  Machine("m", 1000, "y");
  Machine("small", 50, "z");
  Run(1, "x", kLow, {}, {.cpu = 300});
  Run(2, "x", kLow, {}, {.cpu = 300});
  spread_.never_preempts = true;
  SubmitNew(3, 300);
  Submit(4, "t", kHigh, {}, {.cpu = 700});
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 2 on m"));
  EXPECT_THAT(ReplyWithout({2}), ElementsAre("PLACE 4 on m"));
  EXPECT_THAT(ReplyWithout({4}), ElementsAre("PLACE 3 on m"));
}

// On another machine than the newcomer.
TEST_F(PreemptionNewcomersTest, ARunningTaskStaysWhereverTheNewcomerIs) {
  Machine("m", 1000, "y");
  Run(1, "y", kLow, {}, {.cpu = 500});
  Machine("n", 1000, "y");
  Run(2, "x", kLow + 1);
  SubmitNew(3, 500);
  Submit(4, "t", kHigh);
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m"));
}

// It has room once what is as urgent was placed anew.
TEST_F(PreemptionNewcomersTest, ATaskComesAtOnceWhereTheyKeepItAway) {
  Machine("a", 1000);
  Machine("b", 600);
  Submit(1, "t", kHigh + 1, {}, {.cpu = 400});
  Submit(2, "away", kHigh, AwayFrom("new"));
  Submit(3, "new", kLow, {}, {.cpu = 100});
  EXPECT_THAT(Reply(), UnorderedElementsAre("PLACE 1 on b", "PLACE 2 on a"));
}

TEST_F(PreemptionNewcomersTest, ALessUrgentTaskIsStoppedRather) {
  Machine("m", 1000, "y");
  Machine("small", 50, "z");
  Run(1, "x", kLow - 1, {}, {.cpu = 500});
  SubmitNew(3, 100);
  Submit(4, "t", kHigh, {}, {.cpu = 900});
  EXPECT_THAT(Reply(), UnorderedElementsAre("PREEMPT 1 on m", "PLACE 3 on m"));
}

// What is less urgent and counted, too, may fit into the same zone at once.
TEST_F(PreemptionNewcomersTest, StopsNobodyForWhomANewcomerCouldWait) {
  Machine("m", 3000, "z");
  Machine("o", 1000, "y");
  Run(1, "other", kHigh, On("m"), {.cpu = 500});
  Run(2, "app", kHigh, On("o"));
  for (const uint64_t uid : {3, 4}) {
    Run(uid, "app", kLow, On("m"), {.cpu = 500});
  }
  Machine("n", 500, "z");
  PlacementRules spread;
  spread.spread = {Spread(App("app"), "zone")};
  Submit(5, "app", kHigh, spread, {.cpu = 2000});
  Submit(6, "app", kLow, {}, {.cpu = 500});
  EXPECT_THAT(ReplyInTheEnd(),
              ElementsAre(AnyOf("PREEMPT 3 on m", "PREEMPT 4 on m")));
}

// By the next round it has a place elsewhere.
TEST_F(PreemptionNewcomersTest,
       SparesWhomNobodyWasToldToStopOnceTheyNeedNotGo) {
  Machine("m", 1000);
  Run(1, "low", kLow);
  Submit(2, "high", kHigh);
  for (int i = 0; i < 6 && !cluster_.TaskOf(1).is_evicted; ++i) {
    cluster_.Round(++now_ms_);
  }
  ASSERT_TRUE(cluster_.TaskOf(1).is_evicted);
  Machine("n", 1000);
  EXPECT_THAT(Reply(), ElementsAre("PLACE 2 on n"));
  EXPECT_FALSE(cluster_.TaskOf(1).is_evicted);
}

}  // namespace
}  // namespace sluice
