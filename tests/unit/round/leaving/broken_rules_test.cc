// Rules that must hold as long as a task runs.

#include "round/leaving/broken_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "explain/preemption_text.h"
#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class BrokenRulesTest : public testing::Test {
 protected:
  BrokenRulesTest() { Label("m", {{"disk", "ssd"}, {"zone", "z"}}); }
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  // The machine has these labels from now on.
  void Label(const std::string& uuid, const LabelPairs& labels) {
    const MachineOptions machine = {.cpu = 1000, .labels = labels};
    if (cluster_.state().FindMachine(uuid) == nullptr) {
      cluster_.Apply(Added(uuid, machine));
    } else {
      cluster_.Apply(Updated(uuid, machine));
    }
  }
  // A task that runs on m.
  void Run(uint64_t uid, const std::string& app, PlacementRules rules = {}) {
    TaskOptions task = {.cpu = 100, .labels = {{"app", app}}, .rules = rules};
    cluster_.Apply(Submitted(uid, task, PeerOptions()));
    ASSERT_THAT(Reply(), ElementsAre(StrCat("PLACE ", uid, " on m")));
  }
  std::vector<std::string> Reply() { return cluster_.Reply(++now_ms_); }

  TestScheduler cluster_;
  int64_t now_ms_ = 0;
};

TEST_F(BrokenRulesTest, OfALabelThatIsGone) {
  PlacementRules rules;
  rules.selectors = {LabelIn("disk", {"ssd"})};
  Run(1, "lax", rules);
  rules.keeps_node_rules = true;
  Run(2, "strict", rules);
  Label("m", {{"disk", "hdd"}});
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 2 on m"));
  cluster_.mutable_state().SyncPeers();
  EXPECT_THAT(LeavingText(cluster_.TaskOf(2), cluster_.scheduler()),
              HasSubstr("since its requirements no longer hold there: "
                        "lacks the label disk=ssd"));
  EXPECT_THAT(Reply(), IsEmpty()) << "once";
}

TEST_F(BrokenRulesTest, OfATaintThatIsRequired) {
  MachineOptions machine = {.cpu = 1000};
  machine.taints = {{"dedicated", "ml", TaintEffect::kNoSchedule}};
  cluster_.Apply(Updated("m", machine));
  PlacementRules rules;
  rules.required_taints = {{.key = "dedicated"}};
  rules.tolerations = {{.key = "dedicated", .op = TolerationOperator::kExists}};
  rules.keeps_node_rules = true;
  Run(1, "ml", rules);
  machine.taints.push_back({"other", "", TaintEffect::kNoSchedule});
  cluster_.Apply(Updated("m", machine));
  EXPECT_THAT(Reply(), IsEmpty()) << "a taint keeps newcomers off alone";
  machine.taints.clear();
  cluster_.Apply(Updated("m", machine));
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m"));
}

TEST_F(BrokenRulesTest, OfCompanyThatIsGone) {
  Run(1, "db");
  PlacementRules rules;
  rules.affinity = {{App("db"), "zone"}};
  Run(2, "lax", rules);
  rules.keeps_peer_rules = true;
  Run(3, "strict", rules);
  cluster_.Apply(Completed(1));
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 3 on m"));
}

TEST_F(BrokenRulesTest, OfOneThatItKeepsAwayFrom) {
  Run(1, "calm");
  PlacementRules rules;
  rules.anti_affinity = {{App("noisy"), "zone"}};
  rules.keeps_peer_rules = true;
  Run(2, "strict", rules);
  TaskOptions noisy = {.cpu = 100, .labels = {{"app", "noisy"}}};
  cluster_.Apply(UpdateTask{{1}, Submitted(1, noisy, PeerOptions()).spec});
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 2 on m"));
}

// Who takes its place is not told to leave because it is not gone yet.
TEST_F(BrokenRulesTest, OfNobodyThatLeaves) {
  PlacementRules rules;
  rules.anti_affinity = {{App("one"), ""}};
  rules.keeps_peer_rules = true;
  Run(1, "one", rules);
  rules.replaces = TaskUid{1};
  TaskOptions newcomer = {
      .cpu = 100, .labels = {{"app", "one"}}, .rules = rules};
  cluster_.Apply(Submitted(2, newcomer, PeerOptions()));
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m", "PLACE 2 on m"));
  EXPECT_THAT(Reply(), IsEmpty());
}

// What another requires is for that one to say.
TEST_F(BrokenRulesTest, OfNobodyElse) {
  PlacementRules rules;
  rules.anti_affinity = {{App("noisy"), "zone"}};
  Run(1, "shy", rules);
  PlacementRules keeping;
  keeping.keeps_peer_rules = true;
  Run(2, "calm", keeping);
  TaskOptions noisy = {
      .cpu = 100, .labels = {{"app", "noisy"}}, .rules = keeping};
  cluster_.Apply(UpdateTask{{2}, Submitted(2, noisy, PeerOptions()).spec});
  EXPECT_THAT(Reply(), IsEmpty());
}

TEST_F(BrokenRulesTest, OfNobodyByItself) {
  PlacementRules rules;
  rules.affinity = {{App("own"), "zone"}};
  rules.keeps_node_rules = rules.keeps_peer_rules = true;
  Run(1, "own", rules);
  EXPECT_THAT(Reply(), IsEmpty()) << "it may be the first of its own";
}

// Then it goes where they hold.
TEST_F(BrokenRulesTest, OfATaskThatNobodyKnowsOf) {
  PlacementRules rules;
  rules.selectors = {LabelIn("disk", {"ssd"})};
  rules.keeps_node_rules = true;
  cluster_.Apply(Submitted(1, {.cpu = 100, .rules = rules}));
  cluster_.Round();
  Label("m", {{"disk", "hdd"}});
  Label("n", {{"disk", "ssd"}});
  EXPECT_THAT(Reply(), ElementsAre("PLACE 1 on n"));
}

}  // namespace
}  // namespace sluice
