// The reasons of ClassPeers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "constraints/class_peers.h"
#include "unit/constraints/peers_fixture.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;
using testing::SizeIs;

class ClassPeersExplainTest : public PeersTest {
 protected:
  void SetUp() override { AddZones(); }
  // What keeps a task with this "app" from the machine.
  std::vector<std::string> ReasonsFor(const std::string& app,
                                      const PlacementRules& rules,
                                      std::string_view uuid) {
    const ClassPeers peers(state_, constraints_, ClassOf(app, rules));
    std::vector<Reason> reasons;
    peers.Explain(MachineOf(uuid), /*names_tasks=*/true, &reasons);
    EXPECT_EQ(reasons.empty(), peers.Allows(MachineOf(uuid)));
    std::vector<std::string> texts;
    for (const Reason& reason : reasons) {
      texts.push_back(
          StrCat(reason.code, " | ", reason.text, " | ", reason.lacks));
    }
    return texts;
  }
};

TEST_F(ClassPeersExplainTest, ExplainsWhatEachTermForbids) {
  RunOn("a1", "web");
  RunOn("b1", "shy", AwayFrom({{App("cat"), "zone"}, {App("dog"), ""}}));
  RunOn("x1", "stray");  // In no zone.
  const struct {
    const char* app;
    PlacementRules rules;
    const char* machine;
    const char* reason;
  } rows[] = {
      {"me", Near({kWebInZone}), "b1",
       "pod_affinity | node(s) didn't match pod affinity rules (app=web of "
       "namespace ns in the same zone) | lacks a running task that this one "
       "has "
       "to be near"},
      {"me", Near({kDbInZone}), "b1",
       "pod_affinity | node(s) didn't match pod affinity rules (app=db of "
       "namespace ns in the same zone) | lacks a running task that this one "
       "has "
       "to be near: none runs in any zone"},
      {"me", Near({{App("stray"), "zone"}}), "b1",
       "pod_affinity | node(s) didn't match pod affinity rules (app=stray of "
       "namespace ns in the same zone) | lacks a running task that this one "
       "has "
       "to be near: none runs in any zone"},
      {"me", Near({kWebInZone}), "x1",
       "pod_affinity_label | node(s) didn't match pod affinity rules (missing "
       "required label) | lacks the label zone"},
      {"me", Near({kWebInZone, {App("shy"), ""}}), "b1",
       "pod_affinity | node(s) didn't match pod affinity rules (app=shy of "
       "namespace ns and app=web of namespace ns on the same machine) | lacks "
       "a "
       "running task that this one has to be near: none runs anywhere"},
      {"me", AwayFrom({kWebInZone}), "a2",
       "pod_anti_affinity | node(s) didn't match pod anti-affinity rules "
       "(app=web of namespace ns in the same zone) | a task that this one "
       "keeps "
       "away from runs in zone=a: 1 task-1"},
      {"me", AwayFrom({{TasksOfJob("jo*"), ""}}), "a1",
       "pod_anti_affinity | node(s) didn't match pod anti-affinity rules (job "
       "jo* on the same machine) | a task that this one keeps away from runs "
       "in "
       "it: 1 task-1"},
      {"cat",
       {},
       "b1",
       "existing_pods_anti_affinity | node(s) didn't satisfy existing pods' "
       "anti-affinity rules (app=cat of namespace ns in the same zone) | a "
       "task "
       "that keeps away from this one runs in zone=b: 2 task-2"},
      {"dog",
       {},
       "b1",
       "existing_pods_anti_affinity | node(s) didn't satisfy existing pods' "
       "anti-affinity rules (app=dog of namespace ns on the same machine) | a "
       "task that keeps away from this one runs in it: 2 task-2"},
      {"web", SpreadOut(Spread(App("web"), "zone")), "a2",
       "topology_spread | node(s) didn't match pod topology spread constraints "
       "(app=web of namespace ns over zone with maxSkew 1) | would have 2 of "
       "the "
       "tasks in zone=a, and the emptiest domain has 0"},
      {"web", SpreadOut(Spread(App("web"), "zone", 5)), "x1",
       "topology_spread_label | node(s) didn't match pod topology spread "
       "constraints (missing required label) | lacks the label zone"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(ReasonsFor(row.app, row.rules, row.machine),
                ElementsAre(row.reason));
  }
}

TEST_F(ClassPeersExplainTest, NamesATaskOfAFeedByItsIdThere) {
  const FeedId feed = state_.OpenFeed("shop");
  state_.Apply(feed, SnapshotBegan(), 0);
  state_.Apply(feed, MachineStated{MachineSpecOf("n", {})}, 0);
  state_.Apply(feed,
               TaskStated{.id = "pod-1",
                          .job_uuid = "job",
                          .job_name = "job",
                          .gang = {},
                          .spec = TaskSpecOf(0, {.name = "web-1"}),
                          .machine_uuid = "n"},
               0);
  state_.Apply(feed, SnapshotEnded(), 0);
  const std::vector<std::string> reasons =
      ReasonsFor("me", AwayFrom({{TasksOfJob("jo*"), ""}}), "n");
  ASSERT_THAT(reasons, SizeIs(1));
  EXPECT_THAT(reasons[0], EndsWith(" runs in it: pod-1 web-1"));
}

TEST_F(ClassPeersExplainTest, ExplainsEverythingThatForbidsAMachine) {
  RunOn("a1", "shy", AwayFrom({{App("web"), "zone"}}));
  RunOn("a1", "web");
  PlacementRules rules = Near({kDbInZone});
  rules.anti_affinity = {kWebInZone};
  rules.spread = {Spread(App("web"), "zone")};
  std::vector<std::string> codes;
  for (const std::string& reason : ReasonsFor("web", rules, "a2")) {
    codes.push_back(reason.substr(0, reason.find(' ')));
  }
  EXPECT_THAT(codes,
              ElementsAre("pod_affinity", "pod_anti_affinity",
                          "existing_pods_anti_affinity", "topology_spread"));
  EXPECT_THAT(ReasonsFor("me", {}, "a2"), IsEmpty());
}

TEST_F(ClassPeersExplainTest, SaysThatATaskIsToComeWhereRoomIsKeptForIt) {
  state_.Nominate({Submit("web")}, IdOf("a1"));
  EXPECT_THAT(ReasonsFor("me", AwayFrom({kWebInZone}), "a2"),
              ElementsAre("pod_anti_affinity | node(s) didn't match pod "
                          "anti-affinity rules (app=web of namespace ns in "
                          "the same zone) | a task that this one keeps away "
                          "from is to come to zone=a"));
}

}  // namespace
}  // namespace sluice
