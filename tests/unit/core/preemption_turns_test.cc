// A class or a gang whose rules a packing does not heed has its turn, in which
// what is less urgent makes way for it, too.

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

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr uint32_t kLow = 2;
constexpr uint32_t kHigh = 9;

PlacementRules AwayFrom(const std::string& app) {
  return {.anti_affinity = {{App(app), "zone"}}};
}
PlacementRules Near(const std::string& app) {
  return {.affinity = {{App(app), "zone"}}};
}

class PreemptionTurnsTest : public testing::Test {
 protected:
  void Machine(const std::string& uuid, int64_t cpu,
               const std::string& zone = "z") {
    cluster_.Apply(
        Added(uuid, {.cpu = cpu, .labels = {{"host", uuid}, {"zone", zone}}}));
  }
  // Tasks of an app are one job.
  void Submit(uint64_t uid, const std::string& app, uint32_t priority,
              int64_t cpu = 1000, const PlacementRules& rules = {},
              uint64_t gang = 0) {
    cluster_.Apply(Submitted(uid,
                             {.cpu = cpu,
                              .priority = priority,
                              .job = "job-" + app,
                              .labels = {{"app", app}},
                              .rules = rules},
                             {.gang = {.minimum = gang}}));
  }
  // It runs, and its client knows.
  void Run(uint64_t uid, const std::string& app, uint32_t priority,
           int64_t cpu = 1000, const PlacementRules& rules = {}) {
    Submit(uid, app, priority, cpu, rules);
    ASSERT_FALSE(Reply().empty());
  }
  // Nobody can place it.
  void SubmitHopeless(uint64_t uid, const std::string& app, uint32_t priority,
                      PlacementRules rules = {}) {
    rules.selectors = {LabelIn("no", {"where"})};
    Submit(uid, app, priority, 100, rules);
  }
  std::vector<std::string> Reply() {
    std::vector<std::string> texts = cluster_.Reply(++now_ms_);
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
    return texts;
  }
  // What is told by the first of some rounds that tells anything.
  std::vector<std::string> ReplyInTheEnd() {
    std::vector<std::string> texts;
    for (int i = 0; i < 6 && texts.empty(); ++i) {
      now_ms_ += 10'000;
      texts = Reply();
    }
    return texts;
  }
  // Once those are gone who were told to leave.
  std::vector<std::string> ReplyWithout(const std::vector<uint64_t>& uids) {
    for (const uint64_t uid : uids) cluster_.Apply(Removed(uid));
    return ReplyInTheEnd();
  }

  TestScheduler cluster_{{.preemption = {.mode = Preemption::kPriority}}};
  int64_t now_ms_ = 0;
};

TEST_F(PreemptionTurnsTest, AGangStopsWhoseZoneItAvoids) {
  Machine("a", 1500);
  Machine("b", 1000);
  Run(1, "low", kLow, 500);
  for (const uint64_t uid : {2, 3}) {
    Submit(uid, "gang", kHigh, 1000, AwayFrom("low"), 2);
  }
  const std::string where = cluster_.MachineOf(1);
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 1 on " + where));
  EXPECT_THAT(ReplyWithout({1}),
              UnorderedElementsAre(testing::StartsWith("PLACE 2"),
                                   testing::StartsWith("PLACE 3")));
}

TEST_F(PreemptionTurnsTest, AGangStopsWhoAvoidsItsZone) {
  Machine("a", 1500);
  Machine("b", 1000);
  Run(1, "low", kLow, 500, AwayFrom("gang"));
  for (const uint64_t uid : {2, 3}) Submit(uid, "gang", kHigh, 1000, {}, 2);
  const std::string where = cluster_.MachineOf(1);
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 1 on " + where));
}

// The zone of one that is in the way, rather than that of two.
TEST_F(PreemptionTurnsTest, AGangStopsAsFewAsCanBeOfThoseThatAvoidItsZones) {
  for (const std::string zone : {"y", "z"}) {
    Machine("a" + zone, 2000, zone);
    Machine("b" + zone, 1000, zone);
  }
  const auto on = [](const std::string& host) {
    PlacementRules rules = AwayFrom("gang");
    rules.selectors = {LabelIn("host", {host})};
    return rules;
  };
  Run(1, "low", kLow, 100, on("ay"));
  Run(2, "low", kLow, 100, on("by"));
  Run(3, "low", kLow, 100, on("az"));
  for (const uint64_t uid : {4, 5, 6}) Submit(uid, "gang", kHigh, 900, {}, 3);
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 3 on az"));
}

TEST_F(PreemptionTurnsTest, AGangOfOneStopsWhoseZoneItAvoids) {
  Machine("a", 1000);
  Run(1, "low", kLow, 500);
  Submit(2, "gang", kHigh, 1000, AwayFrom("low"), 1);
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 1 on a"));
}

TEST_F(PreemptionTurnsTest, AGangStopsOthersWhateverHopelessTaskItAvoids) {
  Machine("a", 1000);
  Machine("b", 1000);
  Run(1, "low", kLow);
  Run(2, "low", kLow);
  SubmitHopeless(3, "hopeless", kLow);
  for (const uint64_t uid : {4, 5}) {
    Submit(uid, "gang", kHigh, 1000, AwayFrom("hopeless"), 2);
  }
  EXPECT_THAT(ReplyInTheEnd(),
              UnorderedElementsAre(testing::StartsWith("PREEMPT 1"),
                                   testing::StartsWith("PREEMPT 2")));
}

TEST_F(PreemptionTurnsTest, AGangStopsOthersWhateverHopelessTaskAvoidsIt) {
  Machine("a", 1000);
  Machine("b", 1000);
  Run(1, "low", kLow);
  Run(2, "low", kLow);
  SubmitHopeless(3, "hopeless", kHigh, AwayFrom("gang"));
  for (const uint64_t uid : {4, 5}) Submit(uid, "gang", kHigh, 1000, {}, 2);
  EXPECT_THAT(ReplyInTheEnd(),
              UnorderedElementsAre(testing::StartsWith("PREEMPT 1"),
                                   testing::StartsWith("PREEMPT 2")));
}

// Such a spread says where they may go, and no more.
TEST_F(PreemptionTurnsTest, AGangStopsOthersWhateverItsSpreadCounts) {
  Machine("a", 2000, "y");
  Machine("b", 2000, "z");
  Run(1, "counted", kHigh, 100, {.selectors = {LabelIn("host", {"a"})}});
  Run(2, "counted", kHigh, 100, {.selectors = {LabelIn("host", {"a"})}});
  Run(3, "low", kLow, 500, {.selectors = {LabelIn("host", {"a"})}});
  Run(4, "low", kLow, 500, {.selectors = {LabelIn("host", {"b"})}});
  PlacementRules rules;
  rules.spread = {Spread(App("counted"), "zone")};
  for (const uint64_t uid : {5, 6}) Submit(uid, "gang", kHigh, 1000, rules, 2);
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 4 on b"));
}

TEST_F(PreemptionTurnsTest, ATaskStopsOneOfTwoThatItHasToBeNear) {
  Machine("a", 500);
  Machine("b", 1000);
  Run(1, "low", kLow, 1000);
  Run(2, "low", kLow, 500);
  Submit(3, "high", kHigh, 1000, Near("low"));
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 1 on b"));
  EXPECT_THAT(ReplyWithout({1}), ElementsAre("PLACE 3 on b"));
}

TEST_F(PreemptionTurnsTest, ATaskDoesNotStopTheOnlyOneThatItHasToBeNear) {
  Machine("b", 1000);
  Run(1, "low", kLow, 1000);
  Submit(3, "high", kHigh, 1000, Near("low"));
  EXPECT_THAT(ReplyInTheEnd(), IsEmpty());
}

TEST_F(PreemptionTurnsTest, ATaskThatNeedsOthersDoesNotProtectThemForGood) {
  Machine("a", 1000);
  Machine("b", 500);
  Run(1, "low", kLow, 1000);
  for (const uint32_t priority : {kHigh - 1, kHigh, kHigh + 1}) {
    SubmitHopeless(10 + priority, "near", priority, Near("low"));
  }
  Submit(2, "high", kHigh, 1000);
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 1 on a"));
}

// A machine for both, the task and company that waits, would be better still,
// but nobody is stopped for company that is yet to come.
TEST_F(PreemptionTurnsTest, ATaskGoesToTheCompanyThatThereIs) {
  Machine("a", 3000);
  Machine("b", 4000);
  const auto on = [](const std::string& host) {
    return PlacementRules{.selectors = {LabelIn("host", {host})}};
  };
  Run(1, "low", kLow, 2000, on("a"));
  Run(2, "company", kLow, 1000, on("a"));
  Run(3, "low", kLow, 2000, on("b"));
  Run(4, "low", kLow, 2000, on("b"));
  Submit(5, "company", kLow, 1000);
  PlacementRules near;
  near.affinity = {{App("company"), "host"}};
  Submit(6, "high", kHigh, 1000, near);
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 1 on a"));
}

TEST_F(PreemptionTurnsTest, ATaskStopsWhomItAvoidsInTheZoneOfItsCompany) {
  Machine("a", 1500);
  Run(1, "company", kHigh, 500);
  Run(2, "low", kLow, 500);
  PlacementRules rules = AwayFrom("low");
  rules.affinity = {{App("company"), "host"}};
  Submit(3, "high", kHigh, 500, rules);
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 2 on a"));
}

TEST_F(PreemptionTurnsTest, ATaskStopsAWholeGangThatAvoidsIt) {
  Machine("a", 1000);
  Machine("b", 500);
  for (const uint64_t uid : {1, 2}) {
    PlacementRules rules = AwayFrom("high");
    rules.selectors = {LabelIn("host", {"a"})};
    Submit(uid, "gang", kLow, 500, rules, 2);
  }
  ASSERT_FALSE(Reply().empty());
  PlacementRules first = Near("high");
  first.selectors = {LabelIn("host", {"a"})};
  Submit(3, "high", kHigh, 500, first);
  EXPECT_THAT(ReplyInTheEnd(),
              UnorderedElementsAre("PREEMPT 1 on a", "PREEMPT 2 on a"));
}

}  // namespace
}  // namespace sluice
