// Which nodes have room for a pod, and which want none: the bridge's own
// end-to-end cases 1 to 5 and 28 to 32, by their numbers, and what they leave
// out.
//
// The nodes that must not be taken come first: they win where nothing is said.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "integration/await.h"
#include "integration/bridge_cases.h"
#include "sluice/base/clock.h"
#include "unit/persist/temporary_directory.h"

namespace sluice {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr uint64_t kGib = uint64_t{1000} << 30;  // In the unit of the wire.

class BridgeCapacity : public BridgeCases {};

TEST_F(BridgeCapacity, Case01BarePod) {
  AddNode("n1");
  const uint64_t pod = CreatePod();
  EXPECT_EQ(NodeOf(pod), "n1");
  DeletePod(pod);
  EXPECT_EQ(client_.Status().used().pods(), 0);
}

TEST_F(BridgeCapacity, Case02DeploymentOfTwo) {
  AddNode("n1");
  AddNode("n2");
  EXPECT_THAT(RunPods(2), Each(Not(kPending)));
}

TEST_F(BridgeCapacity, Case03ReplicaSetOfThree) {
  AddNode("n1");
  AddNode("n2");
  EXPECT_THAT(RunPods(3), Each(Not(kPending)));
}

TEST_F(BridgeCapacity, Case04JobOfTwoAtATime) {
  AddNode("n1");
  const uint64_t first = CreatePod();
  const uint64_t second = CreatePod();
  EXPECT_EQ(NodeOf(first), "n1");
  EXPECT_EQ(NodeOf(second), "n1");
  EXPECT_EQ(client_.Complete(first), firmament::TASK_COMPLETED_OK);
  EXPECT_EQ(client_.Complete(second), firmament::TASK_COMPLETED_OK);
  DeletePod(first);
  DeletePod(second);
  EXPECT_EQ(client_.Status().jobs(), 0);
}

TEST_F(BridgeCapacity, Case05FillersOfEachNodeThenPodsThatFitNowhere) {
  const std::vector<std::string> names = {"n1", "n2", "n3"};
  for (const std::string& name : names) {
    AddNode(name, {.cpu = 4000, .ram = 16 * kGib});
    // What is left of it: 3800m and 15 GiB.
    client_.AddInfo(
        ForeignPodMessage("agent/kube-system", name, 200, int64_t{1} << 30));
  }
  for (const TaskFields& filler :
       {TaskFields{.cpu = 2660}, TaskFields{.ram = 15 * kGib * 7 / 10}}) {
    EXPECT_THAT(RunPods(3, filler), UnorderedElementsAre("n1", "n2", "n3"));
  }
  EXPECT_EQ(RunPod({.cpu = 1900}), kPending);
  EXPECT_EQ(RunPod({.ram = 15 * kGib / 2}), kPending);
  EXPECT_THAT(RunPods(3, {.cpu = 1140, .ram = 15 * kGib * 3 / 10}),
              UnorderedElementsAre("n1", "n2", "n3"))
      << "the rest of each node, exactly";
}

TEST_F(BridgeCapacity, Case32PodsOfAllNodesThenOneMore) {
  AddNode("n1", {.max_pods = 4});
  AddNode("n2", {.max_pods = 7});
  const std::vector<std::string> nodes = RunPods(11);
  EXPECT_THAT(nodes, Contains("n1").Times(4));
  EXPECT_THAT(nodes, Contains("n2").Times(7));
  EXPECT_EQ(RunPod(), kPending);
}

TEST_F(BridgeCapacity, PodsThatWantTheSameHostPortRunOnDifferentNodes) {
  AddNode("n1");
  AddNode("n2");
  const TaskFields fields = {.host_ports = {8080}};
  EXPECT_THAT(RunPods(2, fields), UnorderedElementsAre("n1", "n2"));
  const uint64_t third = CreatePod(fields);
  EXPECT_EQ(NodeOf(third), kPending);
  EXPECT_EQ(client_.Explain(third).summary(),
            "0/2 machines: 2 had the host port 8080/TCP in use");
  EXPECT_NE(RunPod({.host_ports = {8081}}), kPending);
}

TEST_F(BridgeCapacity, AHostPortIsFreeAgainWhenItsPodIsGone) {
  AddNode("n1");
  const uint64_t first = CreatePod({.host_ports = {8080}});
  EXPECT_EQ(NodeOf(first), "n1");
  const uint64_t second = CreatePod({.host_ports = {8080}});
  EXPECT_EQ(NodeOf(second), kPending);
  DeletePod(first);
  EXPECT_EQ(NodeOf(second), "n1");
}

// ---------------------------------------------------------------------------
// Taints

class BridgeTaints : public BridgeCases {};

TEST_F(BridgeTaints, Case28NoScheduleThatIsNotTolerated) {
  AddNode("n1", {.taints = {TaintMessage("dedicated", "user1", "NoSchedule")}});
  AddNode("n2");
  EXPECT_THAT(RunPods(4), Each("n2"));
}

TEST_F(BridgeTaints, Case29NoScheduleWithATolerationOfPreferNoSchedule) {
  AddNode("n1", {.taints = {TaintMessage("foo", "bar", "NoSchedule")}});
  AddNode("n2");
  EXPECT_THAT(RunPods(4, {.tolerations = {TolerationMessage(
                              "foo", "Equal", "bar", "PreferNoSchedule")}}),
              Each("n2"));
}

TEST_F(BridgeTaints, Case30PreferNoScheduleToleratedOnOneNodeOnly) {
  AddNode("n2", {.taints = {TaintMessage("foo", "blah", "PreferNoSchedule")}});
  AddNode("n1", {.taints = {TaintMessage("foo", "bar", "PreferNoSchedule")}});
  EXPECT_THAT(RunPods(4, {.tolerations = {TolerationMessage(
                              "foo", "Equal", "bar", "PreferNoSchedule")}}),
              Each("n1"));
}

TEST_F(BridgeTaints, Case31PreferNoScheduleThatIsNotTolerated) {
  AddNode("n1",
          {.taints = {TaintMessage("cpu-type", "arm64", "PreferNoSchedule")}});
  AddNode("n2", {.max_pods = 4});
  EXPECT_THAT(RunPods(4), Each("n2"));
  EXPECT_EQ(RunPod(), "n1") << "rather than nowhere";
}

TEST_F(BridgeTaints, ATolerationCountsWhateverTheirNumber) {
  AddNode("n1", {.taints = {TaintMessage("dedicated", "ml", "NoSchedule")}});
  EXPECT_EQ(RunPod(), kPending);
  EXPECT_EQ(RunPod({.tolerations = {TolerationMessage("dedicated", "", "ml",
                                                      "NoSchedule")}}),
            "n1");
  const uint64_t pod = CreatePod();
  UpdatePod(pod, {.tolerations = {TolerationMessage("", "Exists", "", "")}});
  UpdatePod(pod, {.tolerations = {TolerationMessage("", "Exists", "", "")}});
  EXPECT_EQ(NodeOf(pod), "n1");
}

TEST_F(BridgeTaints, ATaintThatComesLaterKeepsNewPodsOffAndLeavesWhatRuns) {
  AddNode("n1");
  EXPECT_EQ(RunPod(), "n1");
  for (const char* effect : {"NoSchedule", "NoExecute"}) {
    UpdateNode("n1", {.taints = {TaintMessage("dedicated", "ml", effect)}});
    EXPECT_EQ(RunPod(), kPending) << effect;
    EXPECT_EQ(client_.Status().running_tasks(), 1) << effect;
  }
  UpdateNode("n1", {});
  EXPECT_EQ(RunPod(), "n1");
  EXPECT_EQ(client_.Status().running_tasks(), 4);
}

TEST_F(BridgeTaints, ACordonedNodeTakesPodsAgainWhenItIsUncordoned) {
  AddNode("n1", {.max_pods = 2});
  EXPECT_EQ(RunPod(), "n1");
  RemoveNode("n1");
  const uint64_t waiting = CreatePod();
  EXPECT_EQ(NodeOf(waiting), kPending);
  AddNode("n1", {.max_pods = 2});
  EXPECT_EQ(NodeOf(waiting), "n1");
  EXPECT_EQ(RunPod(), kPending) << "the first pod runs there all the time";
}

TEST_F(BridgeTaints, AnUnschedulableNodeTakesOnlyPodsThatTolerateIt) {
  AddNode("n1", {.unschedulable = true});
  const uint64_t pod = CreatePod();
  EXPECT_EQ(NodeOf(pod), kPending);
  EXPECT_EQ(client_.Explain(pod).summary(),
            "0/1 machines: 1 node(s) were unschedulable");
  EXPECT_EQ(RunPod({.tolerations = {TolerationMessage(
                        "node.kubernetes.io/unschedulable", "Exists", "",
                        "NoSchedule")}}),
            "n1");
  UpdateNode("n1", {});
  EXPECT_EQ(NodeOf(pod), "n1");
}

// The tolerations that every pod has are of NoExecute.
TEST_F(BridgeTaints, ANodeThatIsNotReadyTakesNoPods) {
  AddNode("n1", {.conditions = {{"Ready", "False"}}});
  const uint64_t pod = CreatePod();
  EXPECT_EQ(NodeOf(pod), kPending);
  UpdateNode("n1",
             {.conditions = {{"Ready", "True"}, {"MemoryPressure", "True"}}});
  EXPECT_EQ(NodeOf(pod), kPending);
  UpdateNode("n1",
             {.conditions = {{"Ready", "True"}, {"MemoryPressure", "False"}}});
  EXPECT_EQ(NodeOf(pod), "n1");
}

TEST_F(BridgeTaints, TheTolerationsThatEveryPodHasBearAnUnreachableNode) {
  AddNode("n1", {.taints = {TaintMessage("node.kubernetes.io/unreachable", "",
                                         "NoExecute")}});
  EXPECT_EQ(RunPod(), "n1");
}

// ---------------------------------------------------------------------------
// Eviction, which is on request

// A daemon that evicts, and keeps its state over restarts.
class Evictions : public testing::Test {
 protected:
  Evictions() { Restart(); }

  void Restart() {
    client_.reset();
    server_.reset();
    Options options = MiniServer::OptionsFor(ReplyMode::kContract);
    options.data_dir = directory_.path();
    options.evict_on_no_execute = true;
    server_.emplace(options);
    client_.emplace(server_->port());
  }

  // One task, uid 1, on the node "n".
  void PlaceOne(const std::vector<firmament::Toleration>& tolerations = {}) {
    client_->AddNode(NodeMessage("n"));
    client_->Submit(TaskMessage(1, {.tolerations = tolerations}));
    ASSERT_THAT(PlacesOf(client_->Schedule()), ElementsAre(Pair(1, PuOf("n"))));
  }
  static firmament::ResourceTopologyNodeDescriptor Tainted() {
    return NodeMessage("n",
                       {.taints = {TaintMessage("down", "", "NoExecute")}});
  }
  // Those that the next reply tells to leave.  It must say nothing else.
  std::vector<uint64_t> NextEvicted() {
    const firmament::SchedulingDeltas reply = client_->Schedule();
    std::vector<uint64_t> uids;
    for (const firmament::SchedulingDelta& delta : reply.deltas()) {
      EXPECT_EQ(delta.type(), firmament::SchedulingDelta::PREEMPT);
      uids.push_back(delta.task_id());
    }
    return uids;
  }

  const TemporaryDirectory directory_;
  std::optional<MiniServer> server_;
  std::optional<Client> client_;
};

TEST_F(Evictions, APodThatDoesNotTolerateATaintIsToldToLeaveOnce) {
  PlaceOne(DefaultTolerations());
  client_->UpdateNode(Tainted());
  EXPECT_THAT(NextEvicted(), ElementsAre(1));
  EXPECT_THAT(NextEvicted(), IsEmpty());
  client_->UpdateNode(Tainted());
  Restart();
  EXPECT_THAT(NextEvicted(), IsEmpty());
  EXPECT_EQ(client_->Status().used().pods(), 1) << "it is not gone yet";
  EXPECT_EQ(client_->Remove(1), firmament::TASK_REMOVED_OK);
  EXPECT_EQ(client_->Status().used().pods(), 0);
}

TEST_F(Evictions, APodThatToleratesWhatIsNoExecuteStays) {
  PlaceOne({TolerationMessage("down", "Exists", "", "NoExecute")});
  client_->UpdateNode(NodeMessage(
      "n", {.taints = {TaintMessage("down", "", "NoExecute"),
                       TaintMessage("dedicated", "ml", "NoSchedule")}}));
  EXPECT_THAT(NextEvicted(), IsEmpty());
}

TEST_F(Evictions, TheTimeOfATolerationRunsOnOverARestart) {
  constexpr int64_t kSeconds = 6;
  firmament::Toleration toleration =
      TolerationMessage("down", "Exists", "", "NoExecute");
  toleration.set_tolerationseconds(kSeconds);
  PlaceOne({toleration});
  const SystemClock clock;
  const int64_t earliest_ms = clock.NowMs() + kSeconds * 1000;
  client_->UpdateNode(Tainted());
  const int64_t latest_ms = clock.NowMs() + kSeconds * 1000;
  EXPECT_THAT(NextEvicted(), IsEmpty());
  Restart();
  // A bridge that begins anew announces the pod, too.
  EXPECT_EQ(client_->AddNode(Tainted()), firmament::NODE_ALREADY_EXISTS);
  client_->Submit(TaskMessage(1, {.tolerations = {toleration}}));
  EXPECT_THAT(PlacesOf(client_->Schedule()), ElementsAre(Pair(1, PuOf("n"))));
  std::vector<uint64_t> evicted;
  Await(
      [&] {
        const int64_t asked_ms = clock.NowMs();
        evicted = NextEvicted();
        return !evicted.empty() || asked_ms >= latest_ms;
      },
      /*pause_ms=*/50);
  EXPECT_THAT(evicted, ElementsAre(1));
  EXPECT_GE(clock.NowMs(), earliest_ms);
  EXPECT_THAT(NextEvicted(), IsEmpty());
  Restart();
  EXPECT_THAT(NextEvicted(), IsEmpty());
}

}  // namespace
}  // namespace sluice
