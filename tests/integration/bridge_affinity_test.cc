// Which node a pod gets by its affinity and anti-affinity to pods, and which
// pods get a node by their gang: the bridge's own end-to-end cases 16 to 27, by
// their numbers, its two cases of gangs, and what they leave out.
//
// The nodes that must not be taken come first, or run less than the others:
// they win where nothing is said.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "integration/bridge_cases.h"

namespace sluice {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::Each;
using testing::Not;
using testing::UnorderedElementsAre;

constexpr char kHost[] = "kubernetes.io/hostname";

// The contract has the messages twice, for affinity and for anti-affinity.
// The bridge sends `matchLabels` always, and always empty.
template <class Term>
Term PodTerm(const std::vector<RequirementFields>& requirements,
             const std::string& topology_key) {
  Term term;
  term.mutable_labelselector()->mutable_matchlabels();
  for (const RequirementFields& fields : requirements) {
    auto* requirement = term.mutable_labelselector()->add_matchexpressions();
    requirement->set_key(fields.key);
    requirement->set_operator_(fields.op);
    for (const std::string& value : fields.values) {
      requirement->add_values(value);
    }
  }
  term.set_topologykey(topology_key);
  return term;
}

std::vector<RequirementFields> Security(const std::string& value) {
  return {{"security", "In", {value}}};
}

// `Affinity` is PodAffinity or PodAntiAffinity.
template <class Affinity>
Affinity Required(const std::vector<RequirementFields>& requirements,
                  const std::string& topology_key = kHost) {
  Affinity affinity;
  auto* term = affinity.add_requiredduringschedulingignoredduringexecution();
  *term = PodTerm<std::decay_t<decltype(*term)>>(requirements, topology_key);
  return affinity;
}
template <class Affinity>
Affinity Preferred(const std::vector<RequirementFields>& requirements,
                   int weight = 100) {
  Affinity affinity;
  auto* weighted =
      affinity.add_preferredduringschedulingignoredduringexecution();
  weighted->set_weight(weight);
  auto* term = weighted->mutable_podaffinityterm();
  *term = PodTerm<std::decay_t<decltype(*term)>>(requirements, kHost);
  return affinity;
}

firmament::PodAffinity Near(const std::string& security) {
  return Required<firmament::PodAffinity>(Security(security));
}
firmament::PodAffinity RatherNear(const std::string& security) {
  return Preferred<firmament::PodAffinity>(Security(security));
}
firmament::PodAntiAffinity AwayFrom(const std::string& security) {
  return Required<firmament::PodAntiAffinity>(Security(security));
}
firmament::PodAntiAffinity RatherAwayFrom(const std::string& security) {
  return Preferred<firmament::PodAntiAffinity>(Security(security));
}

class BridgeAffinity : public BridgeCases {
 protected:
  BridgeAffinity() {
    for (const char* name : {"n1", "n2", "n3"}) {
      AddNode(name, {.labels = {{kHost, name}}});
    }
  }

  // Runs a pod with the label on this node.
  void RunOn(const std::string& node, const std::string& security,
             TaskFields fields = {}) {
    if (!security.empty()) fields.labels = {{"security", security}};
    fields.node_selector = {{kHost, node}};
    EXPECT_EQ(RunPod(fields), node);
  }
  // Makes these nodes the last to be taken.
  void Crowd(const std::vector<std::string>& nodes) {
    for (const std::string& node : nodes) {
      for (int i = 0; i < 3; ++i) RunOn(node, "");
    }
  }
};

TEST_F(BridgeAffinity, Case16RequiredAffinity) {
  RunOn("n3", "S1");
  EXPECT_EQ(RunPod({.pod_affinity = Near("S1")}), "n3");
}

TEST_F(BridgeAffinity, Case17RequiredAntiAffinity) {
  RunOn("n1", "S1");
  EXPECT_THAT(RunPods(4, {.pod_anti_affinity = AwayFrom("S1")}),
              Each(AnyOf("n2", "n3")));
}

TEST_F(BridgeAffinity, Case18PreferredAffinity) {
  RunOn("n3", "S1");
  EXPECT_EQ(RunPod({.pod_affinity = RatherNear("S1")}), "n3");
}

TEST_F(BridgeAffinity, Case19PreferredAntiAffinity) {
  Crowd({"n2", "n3"});
  RunOn("n1", "S1");
  EXPECT_THAT(RunPod({.pod_anti_affinity = RatherAwayFrom("S1")}),
              AnyOf("n2", "n3"));
}

TEST_F(BridgeAffinity, Case20RequiredAndPreferredAffinity) {
  RunOn("n3", "S1");
  RunOn("n2", "S2");
  firmament::PodAffinity affinity = Near("S1");
  affinity.MergeFrom(RatherNear("S2"));
  EXPECT_EQ(RunPod({.pod_affinity = affinity}), "n3");
}

TEST_F(BridgeAffinity, Case21RequiredAndPreferredAntiAffinity) {
  Crowd({"n3"});
  RunOn("n1", "S1");
  RunOn("n2", "S2");
  firmament::PodAntiAffinity anti_affinity = AwayFrom("S1");
  anti_affinity.MergeFrom(RatherAwayFrom("S2"));
  EXPECT_EQ(RunPod({.pod_anti_affinity = anti_affinity}), "n3");
}

TEST_F(BridgeAffinity, Case22RequiredAffinityAndPreferredAntiAffinity) {
  RunOn("n3", "S1");
  RunOn("n3", "S2");
  EXPECT_EQ(RunPod({.pod_affinity = Near("S1"),
                    .pod_anti_affinity = RatherAwayFrom("S2")}),
            "n3");
}

TEST_F(BridgeAffinity, Case23RequiredAntiAffinityAndPreferredAffinity) {
  RunOn("n1", "S1");
  RunOn("n3", "S2");
  EXPECT_EQ(RunPod({.pod_affinity = RatherNear("S2"),
                    .pod_anti_affinity = AwayFrom("S1")}),
            "n3");
}

TEST_F(BridgeAffinity, Case23WhereBothRunOnOneNode) {
  Crowd({"n2", "n3"});
  RunOn("n1", "S1");
  RunOn("n1", "S2");
  EXPECT_THAT(RunPod({.pod_affinity = RatherNear("S2"),
                      .pod_anti_affinity = AwayFrom("S1")}),
              AnyOf("n2", "n3"));
}

TEST_F(BridgeAffinity, Case24RequiredAntiAffinityOfARunningPod) {
  RunOn("n1", "", {.pod_anti_affinity = AwayFrom("S1")});
  EXPECT_THAT(RunPods(4, {.labels = {{"security", "S1"}}}),
              Each(AnyOf("n2", "n3")));
}

TEST_F(BridgeAffinity, Case25RequiredAffinityOfARunningPod) {
  RunOn("n3", "S1");
  RunOn("n3", "", {.pod_affinity = Near("S1")});
  EXPECT_EQ(RunPod({.labels = {{"security", "S1"}}}), "n3");
}

TEST_F(BridgeAffinity, Case26PreferredAffinityOfARunningPod) {
  RunOn("n3", "", {.pod_affinity = RatherNear("S1")});
  EXPECT_EQ(RunPod({.labels = {{"security", "S1"}}}), "n3");
}

TEST_F(BridgeAffinity, Case27PreferredAntiAffinityOfARunningPod) {
  Crowd({"n2", "n3"});
  RunOn("n1", "", {.pod_anti_affinity = RatherAwayFrom("S1")});
  EXPECT_THAT(RunPod({.labels = {{"security", "S1"}}}), AnyOf("n2", "n3"));
}

// ---------------------------------------------------------------------------
// What the cases leave out

TEST_F(BridgeAffinity, AffinityWaitsForAPodThatMatches) {
  RunOn("n2", "S2");
  const uint64_t pod = CreatePod({.pod_affinity = Near("S1")});
  EXPECT_EQ(NodeOf(pod), kPending);
  RunOn("n3", "S1");
  EXPECT_EQ(NodeOf(pod), "n3");
}

TEST_F(BridgeAffinity, AntiAffinityWaitsForAPodToLeave) {
  std::vector<uint64_t> pods;
  for (int i = 0; i < 4; ++i) {
    pods.push_back(CreatePod(
        {.labels = {{"security", "S1"}}, .pod_anti_affinity = AwayFrom("S1")}));
  }
  std::vector<std::string> nodes;
  for (const uint64_t pod : pods) nodes.push_back(NodeOf(pod));
  EXPECT_THAT(nodes, UnorderedElementsAre("n1", "n2", "n3", kPending));
  for (size_t i = 0; i < pods.size(); ++i) {
    if (nodes[i] == kPending) continue;
    DeletePod(pods[i]);
    break;
  }
  size_t running = 0;
  for (const uint64_t pod : bridge_.pods()) running += NodeOf(pod) != kPending;
  EXPECT_EQ(running, 3);
}

TEST_F(BridgeAffinity, PodsThatWantEachOtherStartTogether) {
  const std::vector<std::string> nodes =
      RunPods(6, {.labels = {{"security", "S1"}}, .pod_affinity = Near("S1")});
  EXPECT_THAT(nodes, Each(nodes[0]));
  EXPECT_NE(nodes[0], kPending);
}

TEST_F(BridgeAffinity, TheTopologyIsTheLabel) {
  AddNode("n4", {.labels = {{"zone", "a"}}});
  AddNode("n5", {.labels = {{"zone", "a"}}});
  AddNode("n6", {.labels = {{"zone", "b"}}});
  RunPod({.node_selector = {{"zone", "b"}}, .labels = {{"security", "S1"}}});
  const std::vector<RequirementFields> s1 = Security("S1");
  EXPECT_THAT(RunPods(3, {.pod_affinity =
                              Required<firmament::PodAffinity>(s1, "zone")}),
              Each("n6"));
  EXPECT_THAT(
      RunPods(3, {.node_selector = {},
                  .pod_anti_affinity =
                      Required<firmament::PodAntiAffinity>(s1, "zone")}),
      Each(Not(AnyOf("n6", kPending))));
}

// Its labels are lost on the way, so it means all pods of the namespace.
TEST_F(BridgeAffinity, ASelectorOfLabelsAloneMeansTheNamespace) {
  RunOn("n3", "S2");
  EXPECT_EQ(RunPod({.pod_affinity = Required<firmament::PodAffinity>({})}),
            "n3");
}

TEST_F(BridgeAffinity, AnUnknownOperatorInAffinityIsNeverMet) {
  RunOn("n3", "S1");
  EXPECT_EQ(RunPod({.pod_affinity = Required<firmament::PodAffinity>(
                        {{"security", "Near", {"S1"}}})}),
            kPending);
}

// ---------------------------------------------------------------------------
// Gangs

class BridgeGangs : public BridgeCases {
 protected:
  BridgeGangs() {
    for (const char* name : {"n1", "n2", "n3"}) AddNode(name, {.max_pods = 1});
  }
};

TEST_F(BridgeGangs, FourPodsOfWhichThreeAreEnough) {
  EXPECT_THAT(RunPods(4, {.gang_minimum = 3}),
              UnorderedElementsAre("n1", "n2", "n3", kPending));
}

TEST_F(BridgeGangs, FivePodsOfWhichThreeAreTooFew) {
  EXPECT_THAT(RunPods(5, {.gang_minimum = 4}), Each(kPending));
}

TEST_F(BridgeGangs, AGangThatWaitsTakesNothingFromOthers) {
  EXPECT_THAT(RunPods(4, {.gang_minimum = 4}), Each(kPending));
  EXPECT_THAT(RunPods(3), UnorderedElementsAre("n1", "n2", "n3"));
}

TEST_F(BridgeGangs, AGangStartsWhenItFits) {
  std::vector<uint64_t> pods;
  for (int i = 0; i < 4; ++i) {
    pods.push_back(CreatePod({.job = "gang", .gang_minimum = 4}));
  }
  for (const uint64_t pod : pods) EXPECT_EQ(NodeOf(pod), kPending);
  AddNode("n4", {.max_pods = 1});
  std::vector<std::string> nodes;
  for (const uint64_t pod : pods) nodes.push_back(NodeOf(pod));
  EXPECT_THAT(nodes, UnorderedElementsAre("n1", "n2", "n3", "n4"));
}

TEST_F(BridgeGangs, OfTwoGangsThatDoNotFitTogetherOneRuns) {
  std::vector<uint64_t> pods;
  for (int i = 0; i < 2; ++i) {
    for (const char* job : {"one", "two"}) {
      pods.push_back(CreatePod({.job = job, .gang_minimum = 2}));
    }
  }
  std::vector<std::string> nodes;
  for (const uint64_t pod : pods) nodes.push_back(NodeOf(pod));
  EXPECT_THAT(nodes, Contains(kPending).Times(2));
  EXPECT_EQ(nodes[0] == kPending, nodes[2] == kPending);
}

}  // namespace
}  // namespace sluice
