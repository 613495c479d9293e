// Which node a pod gets by its selector and its node affinity: the bridge's own
// end-to-end cases 6 to 15, by their numbers, and what they leave out.
//
// The nodes that must not be taken come first: they win where nothing is said.

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
using testing::HasSubstr;
using testing::UnorderedElementsAre;

// Terms on the labels "gpu" and "drive".
firmament::NodeSelectorTerm Gpu(const std::string& op) {
  return TermMessage({{"gpu", op, {"nvidia", "zotac-nvidia"}}});
}
firmament::NodeSelectorTerm Ssd() {
  return TermMessage({{"drive", "In", {"ssd"}}});
}

// A term on the name of the node.
firmament::NodeSelectorTerm NameTerm(const std::string& op,
                                     const std::string& name) {
  firmament::NodeSelectorTerm term;
  firmament::NodeSelectorRequirement* field = term.add_matchfields();
  field->set_key("metadata.name");
  field->set_operator_(op);
  field->add_values(name);
  return term;
}

class BridgeSelection : public BridgeCases {};

TEST_F(BridgeSelection, Case06NodeSelectorOnNoNode) {
  AddNode("n1");
  AddNode("n2", {.labels = {{"label", "other"}}});
  EXPECT_EQ(RunPod({.node_selector = {{"label", "nonempty"}}}), kPending);
}

TEST_F(BridgeSelection, Case07NodeSelectorOnOneNode) {
  AddNode("n1");
  AddNode("n2");
  AddNode("n3");
  UpdateNode("n2", {.labels = {{"k", "42"}}});
  EXPECT_THAT(RunPods(4, {.node_selector = {{"k", "42"}}}), Each("n2"));
}

TEST_F(BridgeSelection, Case08RequiredAffinityToOneNode) {
  AddNode("n1");
  AddNode("n2", {.labels = {{"gpu", "zotac-nvidia"}}});
  AddNode("n3");
  EXPECT_EQ(RunPod({.required = {Gpu("In")}}), "n2");
}

TEST_F(BridgeSelection, Case09RequiredAffinityToNoNode) {
  AddNode("n1");
  AddNode("n2", {.labels = {{"gpu", "amd"}}});
  EXPECT_EQ(RunPod({.required = {Gpu("In")}}), kPending);
}

TEST_F(BridgeSelection, Case10PreferredAffinityToOneNode) {
  AddNode("n1");
  AddNode("n2", {.labels = {{"drive", "ssd"}}});
  AddNode("n3");
  EXPECT_EQ(RunPod({.preferred = {{10, Ssd()}}}), "n2");
}

TEST_F(BridgeSelection, Case11PreferredAffinityToNoNode) {
  AddNode("n1");
  AddNode("n2");
  EXPECT_NE(RunPod({.preferred = {{10, Ssd()}}}), kPending);
}

TEST_F(BridgeSelection, Case12RequiredAndPreferredAffinity) {
  AddNode("n3", {.labels = {{"drive", "ssd"}}});
  AddNode("n1", {.labels = {{"gpu", "zotac-nvidia"}}});
  AddNode("n2", {.labels = {{"gpu", "nvidia"}, {"drive", "ssd"}}});
  EXPECT_EQ(RunPod({.required = {Gpu("In")}, .preferred = {{10, Ssd()}}}),
            "n2");
}

TEST_F(BridgeSelection, Case13RequiredAffinityWhereNoNodeIsPreferred) {
  AddNode("n3");
  AddNode("n1", {.labels = {{"gpu", "zotac-nvidia"}}});
  AddNode("n2", {.labels = {{"gpu", "nvidia"}, {"drive", "ssd"}}});
  UpdateNode("n2", {.labels = {{"gpu", "nvidia"}}});
  EXPECT_THAT(RunPod({.required = {Gpu("In")}, .preferred = {{10, Ssd()}}}),
              AnyOf("n1", "n2"));
}

TEST_F(BridgeSelection, Case14RequiredAffinityNotInAndPreferredAffinity) {
  AddNode("allowed");
  AddNode("n1", {.labels = {{"gpu", "nvidia"}}});
  AddNode("n2", {.labels = {{"gpu", "zotac-nvidia"}, {"drive", "ssd"}}});
  AddNode("n3", {.labels = {{"drive", "ssd"}}});
  EXPECT_EQ(RunPod({.required = {Gpu("NotIn")}, .preferred = {{10, Ssd()}}}),
            "n3");
}

TEST_F(BridgeSelection, Case15NodeSelectorRequiredAndPreferredAffinity) {
  AddNode("n1", {.labels = {{"gpu", "nvidia"}, {"disktype", "ssd"}}});
  AddNode("n2", {.labels = {{"gpu", "amd"}, {"disktype", "ssd"}}});
  AddNode("n3", {.labels = {{"drive", "ssd"}}});
  EXPECT_EQ(RunPod({.node_selector = {{"disktype", "ssd"}},
                    .required = {Gpu("NotIn")},
                    .preferred = {{10, Ssd()}}}),
            "n2");
}

// ---------------------------------------------------------------------------
// What changes between rounds

TEST_F(BridgeSelection, APendingPodGoesToTheNodeThatGetsTheLabel) {
  AddNode("n1");
  AddNode("n2");
  const uint64_t pod = CreatePod({.node_selector = {{"k", "42"}}});
  EXPECT_EQ(NodeOf(pod), kPending);
  UpdateNode("n2", {.labels = {{"k", "42"}}});
  EXPECT_EQ(NodeOf(pod), "n2");
}

TEST_F(BridgeSelection, APendingPodThatIsUpdatedGoesWhereItThenMay) {
  AddNode("n1");
  AddNode("n2", {.labels = {{"k", "42"}}});
  const uint64_t pod = CreatePod({.node_selector = {{"k", "41"}}});
  EXPECT_EQ(NodeOf(pod), kPending);
  UpdatePod(pod, {.node_selector = {{"k", "42"}}});
  EXPECT_EQ(NodeOf(pod), "n2");
}

TEST_F(BridgeSelection, ALabelThatMovesTakesTheNextPodsWithItAndNoneThatRun) {
  AddNode("n1");
  AddNode("n2", {.labels = {{"drive", "ssd"}}});
  const TaskFields fields = {.required = {Ssd()}};
  EXPECT_EQ(RunPod(fields), "n2");
  UpdateNode("n1", {.labels = {{"drive", "ssd"}}});
  UpdateNode("n2", {});
  EXPECT_THAT(RunPods(3, fields), Each("n1"));
  UpdateNode("n1", {});
  EXPECT_EQ(RunPod(fields), kPending);
  EXPECT_EQ(client_.Status().running_tasks(), 4);
}

TEST_F(BridgeSelection, UpdatesOfARunningPodDoNotMoveIt) {
  AddNode("n1");
  AddNode("n2", {.labels = {{"k", "42"}}});
  const uint64_t pod = CreatePod({.node_selector = {{"k", "42"}}});
  EXPECT_EQ(NodeOf(pod), "n2");
  UpdatePod(pod, {.node_selector = {{"k", "41"}}});
  EXPECT_EQ(RunPod({.node_selector = {{"k", "42"}}}), "n2");
  EXPECT_EQ(client_.Explain(pod).task().machine_uuid(), "n2");
}

// ---------------------------------------------------------------------------
// What weighs how much

TEST_F(BridgeSelection, TheHeavierOfTwoPreferencesIsServedFirst) {
  AddNode("neither");
  AddNode("light", {.max_pods = 25, .labels = {{"drive", "ssd"}}});
  AddNode("heavy", {.max_pods = 25, .labels = {{"gpu", "nvidia"}}});
  const std::vector<std::string> nodes =
      RunPods(40, {.preferred = {{1, Ssd()}, {100, Gpu("In")}}});
  EXPECT_THAT(nodes, Contains("heavy").Times(25));
  EXPECT_THAT(nodes, Contains("light").Times(15));
}

TEST_F(BridgeSelection, APodGoesWhereItIsNotPreferredRatherThanNowhere) {
  AddNode("n1", {.max_pods = 1, .labels = {{"drive", "ssd"}}});
  AddNode("n2");
  EXPECT_THAT(RunPods(2, {.preferred = {{100, Ssd()}}}),
              UnorderedElementsAre("n1", "n2"));
}

// ---------------------------------------------------------------------------
// What the bridge does not send, or cannot mean

TEST_F(BridgeSelection, ATermOnTheNameOfANodeMatchesThatNode) {
  AddNode("uuid-1", {.name = "node-1"});
  AddNode("uuid-2", {.name = "node-2"});
  EXPECT_THAT(RunPods(3, {.required = {NameTerm("In", "node-2")}}),
              Each("uuid-2"));
  EXPECT_THAT(RunPods(3, {.required = {NameTerm("NotIn", "node-2")}}),
              Each("uuid-1"));
  EXPECT_EQ(RunPod({.required = {NameTerm("In", "uuid-1")}}), kPending);
}

TEST_F(BridgeSelection, ATermWithoutConditionsMatchesNoNode) {
  AddNode("n1");
  EXPECT_EQ(RunPod({.required = {TermMessage({})}}), kPending);
}

TEST_F(BridgeSelection, APodWithAnUnknownOperatorStaysPendingAndIsExplained) {
  AddNode("n1", {.labels = {{"gpu", "nvidia"}}});
  AddNode("n2", {.labels = {{"drive", "ssd"}}});
  const uint64_t pod = CreatePod({.required = {Gpu("Near")}});
  EXPECT_EQ(NodeOf(pod), kPending);
  const v1::TaskExplanation explanation = client_.Explain(pod);
  EXPECT_EQ(explanation.feasible_machines(), 0);
  ASSERT_EQ(explanation.reasons_size(), 1);
  EXPECT_EQ(explanation.reasons(0).code(), "node_affinity_mismatch");
  EXPECT_EQ(explanation.reasons(0).machines(), 2);
  EXPECT_THAT(explanation.summary(), HasSubstr("operator 'Near' is unknown"));
  // The other terms of a pod are still good.
  EXPECT_EQ(RunPod({.required = {Gpu("Near"), Ssd()}}), "n2");
}

}  // namespace
}  // namespace sluice
