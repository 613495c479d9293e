// Whoever the rules would let in, once what is less urgent is gone, is let in,
// whatever else waits or runs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::SizeIs;

PlacementRules AwayFrom(const std::string& app, const std::string& topology) {
  return {.anti_affinity = {{App(app), topology}}};
}

class PreemptionReachTest : public testing::Test {
 protected:
  // Without a zone where that is "".
  void Machine(const std::string& uuid, int64_t cpu, const std::string& zone) {
    LabelPairs labels = {{"host", uuid}};
    if (!zone.empty()) labels.emplace_back("zone", zone);
    cluster_.Apply(Added(uuid, {.cpu = cpu, .labels = labels}));
  }
  // Tasks of an app are one job.
  void Submit(uint64_t uid, const std::string& app, uint32_t priority,
              const PlacementRules& rules = {}, const Gang& gang = {}) {
    cluster_.Apply(Submitted(uid,
                             {.cpu = 1000,
                              .priority = priority,
                              .job = "job-" + app,
                              .labels = {{"app", app}},
                              .rules = rules},
                             {.gang = gang}));
  }
  std::vector<std::string> Reply() {
    std::vector<std::string> texts = cluster_.Reply(++now_ms_);
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
    return texts;
  }
  // What is told by the first of a few rounds that tells anything.
  std::vector<std::string> ReplyInTheEnd() {
    std::vector<std::string> texts;
    for (int i = 0; i < 4 && texts.empty(); ++i) {
      now_ms_ += 10'000;
      texts = Reply();
    }
    return texts;
  }

  TestScheduler cluster_{{.preemption = {.mode = Preemption::kPriority}}};
  int64_t now_ms_ = 0;
};

TEST_F(PreemptionReachTest, StopsWhomALessUrgentTaskMustBeNear) {
  Machine("m", 1000, "z");
  PlacementRules rules;
  rules.affinity = {{App("low"), "host"}};
  Submit(1, "low", 2, rules);
  Submit(2, "low", 2, rules);
  ASSERT_THAT(Reply(), SizeIs(1));
  Submit(3, "high", 9);
  EXPECT_THAT(ReplyInTheEnd(),
              ElementsAre(AnyOf("PREEMPT 1 on m", "PREEMPT 2 on m")));
}

TEST_F(PreemptionReachTest, StopsForAGangThatKeepsAwayFromNobody) {
  Machine("a", 1000, "z");
  Machine("b", 1000, "z");
  Submit(1, "low", 2);
  ASSERT_THAT(Reply(), SizeIs(1));
  for (const uint64_t uid : {2, 3}) {
    Submit(uid, "high", 9, AwayFrom("none", "zone"), {.minimum = 2});
  }
  EXPECT_THAT(ReplyInTheEnd(),
              ElementsAre(AnyOf("PREEMPT 1 on a", "PREEMPT 1 on b")));
}

TEST_F(PreemptionReachTest, StopsForAnotherTaskOfAGangThatHasStarted) {
  Machine("a", 1000, "a");
  Machine("b", 1000, "b");
  Submit(1, "low", 2);
  ASSERT_THAT(Reply(), SizeIs(1));
  PlacementRules rules;
  rules.spread = {Spread(App("none"), "zone")};
  for (const uint64_t uid : {2, 3}) {
    Submit(uid, "high", 9, rules, {.minimum = 1});
  }
  ASSERT_THAT(Reply(), SizeIs(1)) << "beside the less urgent task";
  EXPECT_THAT(ReplyInTheEnd(),
              ElementsAre(AnyOf("PREEMPT 1 on a", "PREEMPT 1 on b")));
}

TEST_F(PreemptionReachTest, StopsWhoKeepsATaskOffByHostAndByZone) {
  Machine("a", 1000, "z");
  PlacementRules rules = AwayFrom("high", "host");
  rules.anti_affinity.push_back({App("high"), "zone"});
  Submit(1, "low", 2, rules);
  ASSERT_THAT(Reply(), SizeIs(1));
  Machine("b", 500, "z");
  Submit(2, "high", 9);
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 1 on a"));
}

TEST_F(PreemptionReachTest, StopsOnAMachineThatIsInNoZone) {
  cluster_.Apply(Added("m", {.cpu = 2000}));
  Submit(1, "high", 9, AwayFrom("high", "zone"));
  ASSERT_THAT(Reply(), SizeIs(1));
  Submit(2, "low", 2);
  ASSERT_THAT(Reply(), SizeIs(1));
  Submit(3, "high", 9, AwayFrom("high", "zone"));
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 2 on m"));
}

}  // namespace
}  // namespace sluice
