#include "network/band_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/rng.h"
#include "base/strings.h"
#include "cost/waiting_prices.h"
#include "flow/validate.h"
#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/status_matchers.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::_;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

constexpr int64_t kMinuteMs = 60000;
constexpr FlowCost kPlacementParts = kPlacementCostMax * kPartsPerPoint;
constexpr FlowCost kAgeParts = kWaitingCostBase * kPartsPerPoint;
constexpr FlowCost kWaitingParts = kPlacementParts + kAgeParts;

BandNetwork DrawNetwork(const std::vector<BandClass>& classes, int64_t now_ms,
                        TestScheduler* cluster) {
  Eligibility& eligibility = cluster->eligibility();
  return BandNetwork(
      {GroupMachines(cluster->state(), eligibility), cluster->policies(),
       cluster->constraints(), classes, Aggregates(),
       /*group_at=*/{}},
      &eligibility,
      WaitingPrices(cluster->policies(), cluster->state().histories(), now_ms));
}

// Nodes are the classes, the sink, the groups of machines, the jobs; arcs are
// for each group those of its classes and its ladder, then for each job those
// of its classes and its own.
class BandNetworkTest : public testing::Test {
 protected:
  std::vector<BandClass> Classes() const {
    std::vector<BandClass> classes;
    for (const auto& [key, tasks] : cluster_.state().pending()) {
      BandClass& band_class = classes.emplace_back();
      band_class.key = key;
      for (const auto& [sequence, task] : tasks) {
        band_class.tasks.push_back(task);
      }
    }
    return classes;
  }
  BandNetwork Draw(int64_t now_ms = 0) { return Draw(Classes(), now_ms); }
  BandNetwork Draw(const std::vector<BandClass>& classes, int64_t now_ms) {
    return DrawNetwork(classes, now_ms, &cluster_);
  }
  FlowCost LoadCost(std::string_view uuid, const Resources& used) const {
    return LoadArcCost(cluster_.policies(), *cluster_.state().FindMachine(uuid),
                       used);
  }
  static std::vector<FlowUnits> Supplies(const FlowProblem& problem) {
    std::vector<FlowUnits> supplies;
    for (NodeIndex node = 0; node < problem.node_count(); ++node) {
      supplies.push_back(problem.supply(node));
    }
    return supplies;
  }
  // The costs of an arc's units, one by one.
  static std::vector<FlowCost> UnitCosts(const FlowProblem& problem,
                                         ArcIndex arc) {
    std::vector<FlowCost> costs;
    for (const CostSegment& segment : problem.segments(arc)) {
      costs.insert(costs.end(), static_cast<size_t>(segment.width),
                   segment.cost);
    }
    return costs;
  }
  static std::pair<NodeIndex, NodeIndex> Ends(const FlowProblem& problem,
                                              ArcIndex arc) {
    return {problem.arc(arc).tail, problem.arc(arc).head};
  }

  TestScheduler cluster_;
};

TEST_F(BandNetworkTest, DrawsOneClassArcByArc) {
  ClusterBuilder()
      .Machine("m", {.cpu = 4000, .memory = 8000})
      .Tasks(1, 3, {.cpu = 1000, .memory = 500})
      .ApplyTo(&cluster_);
  const BandNetwork network = Draw();
  const FlowProblem& problem = network.problem();
  EXPECT_TRUE(network.has_machines());
  EXPECT_THAT(ValidateProblem(problem), IsOk());
  EXPECT_THAT(Supplies(problem), ElementsAre(3, -3, 0, 0));
  ASSERT_EQ(problem.arc_count(), 4);

  EXPECT_EQ(Ends(problem, 0), std::pair(0, 2));  // Class to machine.
  EXPECT_THAT(UnitCosts(problem, 0), ElementsAre(0, 0, 0));
  // Machine to sink: the policy's ladder, exactly.
  EXPECT_EQ(Ends(problem, 1), std::pair(2, 1));
  EXPECT_THAT(UnitCosts(problem, 1),
              ElementsAre(LoadCost("m", Resources()),
                          LoadCost("m", Resources(1000, 500, 0, 1)),
                          LoadCost("m", Resources(2000, 1000, 0, 2))));
  EXPECT_EQ(Ends(problem, 2), std::pair(0, 3));  // Class to unscheduled.
  EXPECT_THAT(UnitCosts(problem, 2),
              ElementsAre(kWaitingParts, kWaitingParts, kWaitingParts));
  EXPECT_EQ(Ends(problem, 3), std::pair(3, 1));  // Unscheduled to sink.
  EXPECT_THAT(UnitCosts(problem, 3), ElementsAre(0, 0, 0));
}

// The names of the classes that wait.
std::vector<uint64_t> Names(TestScheduler* cluster) {
  cluster->mutable_state().SyncPeers();
  std::vector<BandClass> classes;
  for (const auto& [key, tasks] : cluster->state().pending()) {
    classes.push_back({.key = key, .tasks = {tasks.begin()->second}});
  }
  const BandNetwork network = DrawNetwork(classes, 0, cluster);
  std::vector<uint64_t> names;
  for (size_t i = 0; i < classes.size(); ++i) {
    names.push_back(network.problem().name(static_cast<NodeIndex>(i)));
  }
  return names;
}

// A task that the other means.
void ApplyPair(const std::string& app, TestScheduler* cluster) {
  cluster->Apply(
      Submitted(1, {.cpu = 1000, .labels = {{"app", app}}}, PeerOptions()));
  cluster->Apply(Submitted(
      2, {.cpu = 2000, .rules = {.anti_affinity = {{App(app), "zone"}}}},
      PeerOptions()));
}

// Another process keeps what they say elsewhere.
TEST(ClassNamesOfNetworks, FollowFromTheCommandsAlone) {
  TestScheduler one;
  TestScheduler other;
  for (TestScheduler* cluster : {&one, &other}) {
    ApplyPair("web", cluster);
    EXPECT_EQ(Names(cluster).size(), 2u);
  }
  EXPECT_EQ(Names(&one), Names(&other));
}

// Else a class gets the prices of another, which lay at the same address.
TEST(ClassNamesOfNetworks, AreNotThoseOfClassesThatAreNoMore) {
  TestScheduler cluster;
  std::set<uint64_t> seen;
  constexpr size_t kLives = 100;
  for (size_t i = 0; i < kLives; ++i) {
    ApplyPair(StrCat("app-", i), &cluster);
    const std::vector<uint64_t> names = Names(&cluster);
    seen.insert(names.begin(), names.end());
    cluster.Apply(Removed(1));
    cluster.Apply(Removed(2));
    cluster.mutable_state().CollectRules();
  }
  EXPECT_THAT(seen, SizeIs(2 * kLives));
}

// So that what one pass found out about a class is of use to the next.
TEST_F(BandNetworkTest, NamesEachClassTheSameInEveryPass) {
  ClusterBuilder()
      .Machine("m", {.cpu = 4000, .memory = 8000})
      .Task(1, {.cpu = 1000})
      .Task(2, {.cpu = 2000})
      .ApplyTo(&cluster_);
  const auto names = [this] {
    std::vector<uint64_t> of_classes;
    const BandNetwork network = Draw();
    for (NodeIndex node = 0; network.problem().supply(node) > 0; ++node) {
      of_classes.push_back(network.problem().name(node));
    }
    return of_classes;
  };
  const std::vector<uint64_t> first = names();
  ASSERT_THAT(first, SizeIs(2));
  EXPECT_NE(first[0], first[1]);
  EXPECT_NE(first[0], 0U);
  ClusterBuilder()
      .Machine("n", {.cpu = 100000})
      .Tasks(3, 3, {.cpu = 1000})
      .ApplyTo(&cluster_);
  EXPECT_EQ(names(), first);
}

TEST_F(BandNetworkTest, StartsTheLadderAtTheLoadThatIsThere) {
  ClusterBuilder()
      .Machine("m", {.cpu = 4000, .memory = 8000})
      .Task(1, {.cpu = 2000, .memory = 1000})
      .ApplyTo(&cluster_);
  cluster_.Round();
  cluster_.Apply(Submitted(2, {.cpu = 1000}));
  EXPECT_THAT(UnitCosts(Draw().problem(), 1),
              ElementsAre(LoadCost("m", Resources(2000, 1000, 0, 1))));
}

TEST_F(BandNetworkTest, OffersAsManySlotsAsTheLargestRequestFits) {
  ClusterBuilder()
      .Machine("m", {.cpu = 4100, .memory = 100})
      .Tasks(1, 9, {.cpu = 700})
      .Tasks(11, 9, {.cpu = 1000})
      .ApplyTo(&cluster_);
  const BandNetwork network = Draw();
  const FlowProblem& problem = network.problem();
  EXPECT_EQ(problem.arc(0).capacity(), 5) << "4100 / 700";
  EXPECT_EQ(problem.arc(1).capacity(), 4) << "4100 / 1000";
  EXPECT_EQ(problem.arc(2).capacity(), 4);
}

// Each asks for little of what the other asks for much.
TEST_F(BandNetworkTest, OffersSlotsThatHoldEitherClass) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000, .memory = 1000})
      .Tasks(1, 9, {.cpu = 400, .memory = 100})
      .Tasks(11, 9, {.cpu = 100, .memory = 300})
      .ApplyTo(&cluster_);
  EXPECT_EQ(Draw().problem().arc(2).capacity(), 2);
}

TEST_F(BandNetworkTest, OffersNoMoreSlotsThanThereAreTasks) {
  ClusterBuilder().Machine("m", {}).Tasks(1, 3).ApplyTo(&cluster_);
  const BandNetwork network = Draw();
  EXPECT_EQ(network.problem().arc(0).capacity(), 3);
  EXPECT_EQ(network.problem().arc(1).capacity(), 3);
}

TEST_F(BandNetworkTest, ChargesWhatATaskWeighsMoreThanTheMean) {
  ClusterBuilder()
      .Machine("m", {.cpu = 10000, .memory = 10000})
      .Tasks(1, 1, {.cpu = 1000})
      .Tasks(2, 1, {.cpu = 3000})
      .ApplyTo(&cluster_);
  const BandNetwork network = Draw();
  const FlowCost mean = LoadCost("m", Resources(2000, 0, 0, 1));
  EXPECT_THAT(UnitCosts(network.problem(), 0),
              ElementsAre(LoadCost("m", Resources(1000, 0, 0, 1)) - mean));
  EXPECT_THAT(UnitCosts(network.problem(), 1),
              ElementsAre(LoadCost("m", Resources(3000, 0, 0, 1)) - mean));
  EXPECT_THAT(UnitCosts(network.problem(), 2),
              ElementsAre(LoadCost("m", Resources()), mean));
}

TEST_F(BandNetworkTest, BreaksTiesByTheNumberOfTasks) {
  ClusterBuilder()
      .Machine("m", {.cpu = 8000, .memory = 8000})
      .Machine("large", {.pods = 1000})
      .ApplyTo(&cluster_);
  const FlowCost empty = LoadCost("m", Resources());
  EXPECT_EQ(LoadCost("m", Resources(1, 1, 0, 1)), empty + 1);
  EXPECT_EQ(LoadCost("m", Resources(0, 0, 0, 110)), empty + 110);
  EXPECT_EQ(LoadCost("large", Resources(0, 0, 0, 1000)),
            LoadCost("large", Resources()) + kPartsPerPoint - 1);
  // Never as much as a point of any policy.
  EXPECT_GT(LoadCost("m", Resources(16, 16, 0, 0)),
            LoadCost("m", Resources(0, 0, 0, 110)));
}

// On a machine that is short of memory cpu evens the load out: it gets cheaper.
TEST_F(BandNetworkTest, SortsALadderThatFalls) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000, .memory = 1000})
      .Tasks(1, 3, {.cpu = 100})
      .ApplyTo(&cluster_);
  cluster_.Apply(ForeignPod("big/ns", "m", {{"memory", 4000}}));
  ASSERT_GT(LoadCost("m", Resources(0, 4000, 0, 1)),
            LoadCost("m", Resources(100, 4000, 0, 2)));
  EXPECT_THAT(UnitCosts(Draw().problem(), 1),
              ElementsAre(LoadCost("m", Resources(200, 4000, 0, 3)),
                          LoadCost("m", Resources(100, 4000, 0, 2)),
                          LoadCost("m", Resources(0, 4000, 0, 1))));
}

// Of four machines that are alike the first is filled, then the second.
TEST(BandNetworkOfFallingCosts, FillsOneMachineAfterTheOther) {
  TestScheduler cluster(RoundOptions(), "bin_packing");
  ClusterBuilder()
      .Machine("a", {.cpu = 300, .memory = 300})
      .Machine("b", {.cpu = 300, .memory = 300})
      .Machine("c", {.cpu = 300, .memory = 300})
      .Tasks(1, 5, {.cpu = 100, .memory = 100})
      .ApplyTo(&cluster);
  cluster.Round();
  std::map<std::string, int> counts;
  for (uint64_t uid = 1; uid <= 5; ++uid) ++counts[cluster.MachineOf(uid)];
  EXPECT_THAT(counts, ElementsAre(Pair("a", 3), Pair("b", 2)));
}

TEST_F(BandNetworkTest, LetsEachTaskWaitAtThePriceOfItsAge) {
  cluster_.Apply(Added("m", {}), 0);
  cluster_.Apply(Submitted(1, {.job = "a"}), 0);
  cluster_.Apply(Submitted(2, {.job = "b"}), kMinuteMs);
  cluster_.Apply(Submitted(3, {.job = "a"}), 2 * kMinuteMs);
  cluster_.Apply(Submitted(4, {.cpu = 1, .job = "b"}), 2 * kMinuteMs);
  const BandNetwork network = Draw(2 * kMinuteMs);
  const FlowProblem& problem = network.problem();
  // Two classes, sink, machine (none for the class that does not fit), jobs.
  EXPECT_THAT(Supplies(problem), ElementsAre(3, 1, -4, 0, 0, 0));
  ASSERT_EQ(problem.arc_count(), 7);
  EXPECT_EQ(Ends(problem, 2), std::pair(0, 4));  // Job a: the youngest first.
  EXPECT_THAT(UnitCosts(problem, 2),
              ElementsAre(kWaitingParts, kPlacementParts + 3 * kAgeParts));
  EXPECT_EQ(problem.arc(3).capacity(), 2);
  EXPECT_EQ(Ends(problem, 4), std::pair(0, 5));  // Job b, first class.
  EXPECT_THAT(UnitCosts(problem, 4),
              ElementsAre(kPlacementParts + 2 * kAgeParts));
  EXPECT_EQ(Ends(problem, 5), std::pair(1, 5));  // Job b, second class.
  EXPECT_THAT(UnitCosts(problem, 5), ElementsAre(kWaitingParts));
  EXPECT_EQ(Ends(problem, 6), std::pair(5, 2));
  EXPECT_EQ(problem.arc(6).capacity(), 2);
}

TEST_F(BandNetworkTest, DrawsOnlyMachinesThatTakeSomething) {
  ClusterBuilder()
      .Machine("too-small", {.cpu = 99})
      .Machine("quarantined", {.cpu = 1000, .quarantine_reason = "no"})
      .Machine("gone", {.cpu = 1000})
      .Machine("good", {.cpu = 100})
      .Task(1, {.cpu = 100})
      .ApplyTo(&cluster_);
  cluster_.Apply(Removed("gone"));
  const BandNetwork network = Draw();
  EXPECT_THAT(Supplies(network.problem()), ElementsAre(1, -1, 0, 0));
  cluster_.Apply(Removed("good"));
  const BandNetwork none = Draw();
  EXPECT_FALSE(none.has_machines());
  EXPECT_THAT(ValidateProblem(none.problem()), IsOk());
}

TEST_F(BandNetworkTest, KeepsRoomForWhatIsReservedWithATask) {
  ClusterBuilder()
      .Machine("small", {.cpu = 500})
      .Machines("large", 2, {.cpu = 2900})
      .Tasks(1, 5, {.cpu = 100})
      .ApplyTo(&cluster_);
  std::vector<BandClass> classes = Classes();
  classes[0].reserved = Resources(1000, 0, 0, 2);
  const BandNetwork network = Draw(classes, 0);
  std::map<std::string, int> placed;
  for (const Proposal& one :
       network.Decode(cluster_.SolveFlow(network.problem()))) {
    ++placed[cluster_.state().FindMachine(one.machine)->uuid];
  }
  EXPECT_THAT(placed, ElementsAre(Pair("large0", 2), Pair("large1", 2)));
}

TEST_F(BandNetworkTest, SendsAClassToItsOpenGroupsOnly) {
  ClusterBuilder()
      .Machine("large", {.cpu = 2000})
      .Machine("small", {.cpu = 1000})
      .Task(1, {.cpu = 100, .labels = {{"app", "db"}}})
      .Task(2, {.rules = {.affinity = {{App("db"), ""}}}})
      .ApplyTo(&cluster_);
  cluster_.mutable_state().SyncPeers();
  const ClassKey& key = cluster_.TaskOf(1).class_key;
  const ClassPeers peers(cluster_.state(), cluster_.constraints(), key);
  const BandClass leader = {.key = key,
                            .tasks = {&cluster_.TaskOf(1)},
                            .peers = &peers,
                            .open_groups = {false, true}};
  const BandNetwork network = Draw({leader}, 0);
  const std::vector<Proposal> proposals =
      network.Decode(cluster_.SolveFlow(network.problem()));
  ASSERT_THAT(proposals, SizeIs(1));
  EXPECT_EQ(proposals[0].machine, cluster_.state().FindMachine("small")->id);
}

TEST_F(BandNetworkTest, TakesClassesWithoutTasks) {
  cluster_.Apply(Added("m", {}));
  const std::vector<BandClass> classes(2);
  const BandNetwork network = Draw(classes, 0);
  EXPECT_FALSE(network.has_machines());
  const FlowSolution solution = cluster_.SolveFlow(network.problem());
  EXPECT_THAT(network.Decode(solution), IsEmpty());
}

TEST_F(BandNetworkTest, DrawsMachinesThatAreAlikeAsOne) {
  ClusterBuilder()
      .Machines("m", 3, {.cpu = 2000})
      .Tasks(1, 9, {.cpu = 1000})
      .ApplyTo(&cluster_);
  const BandNetwork network = Draw();
  const FlowProblem& problem = network.problem();
  EXPECT_THAT(Supplies(problem), ElementsAre(9, -9, 0, 0));
  EXPECT_EQ(problem.arc(0).capacity(), 6);
  const FlowCost one = LoadCost("m0", Resources(1000, 0, 0, 1));
  EXPECT_THAT(problem.segments(1),
              ElementsAre(CostSegment{3, LoadCost("m0", Resources())},
                          CostSegment{3, one}));
  std::map<MachineId, int> tasks;
  for (const Proposal& proposal :
       network.Decode(cluster_.SolveFlow(network.problem()))) {
    ++tasks[proposal.machine];
  }
  EXPECT_THAT(tasks, ElementsAre(Pair(_, 2), Pair(_, 2), Pair(_, 2)));
}

// Machines of different loads, fewer tasks than machines: a class needs arcs to
// its cheapest ones only.
TEST_F(BandNetworkTest, DrawsNoMoreMachinesThanAClassHasUseFor) {
  for (int i = 0; i < 10; ++i) {
    const std::string uuid = StrCat("m", i);
    cluster_.Apply(Added(uuid, {.cpu = 10000, .memory = 10000}));
    cluster_.Apply(ForeignPod(StrCat("pod", i), uuid,
                              {{"cpu", 500 * i}, {"memory", 500 * i}}));
  }
  cluster_.Apply(Submitted(1, {.cpu = 100}));
  cluster_.Apply(Submitted(2, {.cpu = 110}));
  const BandNetwork network = Draw();
  EXPECT_EQ(Supplies(network.problem()).size(), 2u + 1 + 2 + 1);
  for (const Proposal& proposal :
       network.Decode(cluster_.SolveFlow(network.problem()))) {
    EXPECT_LE(proposal.machine, cluster_.state().FindMachine("m1")->id)
        << "the least loaded two";
  }
}

// What waits costs steps of ten seconds, so that the flow does not tell them
// apart.
TEST_F(BandNetworkTest, PlacesTheOldestTasksOfAClassWhateverTheirJobs) {
  cluster_.Apply(Added("m", {.pods = 2}), 0);
  cluster_.Apply(Submitted(1, {.job = "a"}), 3'000);
  cluster_.Apply(Submitted(2, {.job = "b"}), 0);
  cluster_.Apply(Submitted(3, {.job = "a"}), 2'000);
  cluster_.Apply(Submitted(4, {.job = "b"}), 1'000);
  for (const FlowUnits waiting_of_a : {0, 1, 2}) {
    const BandNetwork network = Draw(kMinuteMs);
    FlowSolution solution;
    solution.outcome = SolveOutcome::kOptimal;
    solution.flows = {
        2, 2, waiting_of_a, waiting_of_a, 2 - waiting_of_a, 2 - waiting_of_a};
    ASSERT_EQ(network.problem().arc_count(), 6);
    const std::vector<Proposal> proposals = network.Decode(solution);
    ASSERT_THAT(proposals, SizeIs(2));
    EXPECT_EQ(proposals[0].task, TaskId{2});
    EXPECT_EQ(proposals[1].task, TaskId{4});
  }
}

// To the network both machines are alike.
TEST_F(BandNetworkTest, LetsAnotherMachineOfTheGroupGoFirst) {
  ClusterBuilder()
      .Machines("m", 3, {})
      .Task(9, {.job = "a"})
      .Task(8, {.job = "b"})
      .ApplyTo(&cluster_);
  const BandNetwork network = Draw();
  const FlowSolution solution = cluster_.SolveFlow(network.problem());
  const auto id_of = [&](const char* name) {
    return cluster_.state().FindMachine(name)->id;
  };
  const auto machines_with = [&](BandNetwork::Choose choose) {
    std::vector<MachineId> machines;
    for (const Proposal& one : network.Decode(solution, choose)) {
      machines.push_back(one.machine);
    }
    return machines;
  };
  EXPECT_THAT(machines_with(BandNetwork::ChooseFirst),
              ElementsAre(id_of("m0"), id_of("m1")));
  // What one does not take is left for the next.
  std::vector<std::pair<JobId, std::vector<MachineId>>> asked;
  EXPECT_THAT(
      machines_with([&](JobId job, std::span<const MachineId> machines) {
        asked.emplace_back(job, std::vector(machines.begin(), machines.end()));
        return machines.size() - 1;
      }),
      ElementsAre(id_of("m2"), id_of("m0")));
  EXPECT_THAT(
      asked,
      ElementsAre(
          Pair(cluster_.TaskOf(9).job,
               ElementsAre(id_of("m0"), id_of("m1"), id_of("m2"))),
          Pair(cluster_.TaskOf(8).job, ElementsAre(id_of("m1"), id_of("m0")))));
}

TEST_F(BandNetworkTest, DecodesTheOldestTasksOfEachJobFirst) {
  ClusterBuilder()
      .Machines("m", 2, {})
      .Task(9, {.job = "a"})
      .Task(8, {.job = "b"})
      .Task(7, {.job = "a"})
      .Task(6, {.job = "b"})
      .ApplyTo(&cluster_);
  const BandNetwork network = Draw();
  // One to each machine, one of each job waits.
  FlowSolution solution;
  solution.outcome = SolveOutcome::kOptimal;
  solution.flows = {2, 2, 1, 1, 1, 1};
  ASSERT_EQ(network.problem().arc_count(), 6);
  const std::vector<Proposal> proposals = network.Decode(solution);
  ASSERT_THAT(proposals, SizeIs(2));
  EXPECT_EQ(proposals[0].task, TaskId{9});
  EXPECT_EQ(proposals[0].machine, cluster_.state().FindMachine("m0")->id);
  EXPECT_EQ(proposals[1].task, TaskId{8});
  EXPECT_EQ(proposals[1].machine, cluster_.state().FindMachine("m1")->id);
}

// What the band network is for: no flow of it, however bad, asks for more than
// there is.
class AnyFlow : public BandNetworkTest {
 protected:
  // A flow drawn at random from all that the arcs allow.
  static FlowSolution DrawFlow(const FlowProblem& problem, Rng* rng) {
    FlowSolution solution;
    solution.outcome = SolveOutcome::kOptimal;
    solution.flows.assign(static_cast<size_t>(problem.arc_count()), 0);
    std::map<NodeIndex, std::vector<ArcIndex>> out;
    NodeIndex sink = 0;
    while (problem.supply(sink) >= 0) ++sink;
    for (ArcIndex arc = 0; arc < problem.arc_count(); ++arc) {
      out[problem.arc(arc).tail].push_back(arc);
    }
    const auto has_room = [&](ArcIndex arc) {
      return solution.flows[static_cast<size_t>(arc)] <
             problem.arc(arc).capacity();
    };
    for (NodeIndex node = 0; node < sink; ++node) {
      for (FlowUnits unit = 0; unit < problem.supply(node); ++unit) {
        rng->Shuffle(out[node]);
        for (const ArcIndex first : out[node]) {
          const ArcIndex second = out[problem.arc(first).head].front();
          if (!has_room(first) || !has_room(second)) continue;
          ++solution.flows[static_cast<size_t>(first)];
          ++solution.flows[static_cast<size_t>(second)];
          break;
        }
      }
    }
    return solution;
  }
};

TEST_F(AnyFlow, CanBeCommittedAsItStands) {
  int64_t committed = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Rng rng(seed);
    TestScheduler cluster;
    for (int i = 0; i < 4; ++i) {
      cluster.Apply(Added(StrCat("m", i), {.cpu = rng.Between(0, 2000),
                                           .memory = rng.Between(0, 2000),
                                           .pods = rng.Between(0, 12)}));
    }
    for (uint64_t uid = 1; uid <= 30; ++uid) {
      cluster.Apply(Submitted(uid, {.cpu = rng.Between(0, 4) * 100,
                                    .memory = rng.Between(0, 4) * 100,
                                    .job = StrCat("j", rng.Below(3))}));
    }
    std::vector<BandClass> classes;
    for (const auto& [key, tasks] : cluster.state().pending()) {
      classes.push_back({key, {}});
      for (const auto& [sequence, task] : tasks) {
        classes.back().tasks.push_back(task);
      }
    }
    const BandNetwork network = DrawNetwork(classes, 0, &cluster);
    const FlowSolution flow = DrawFlow(network.problem(), &rng);
    for (const Proposal& proposal : network.Decode(flow)) {
      // Place() ends the test where the task does not fit.
      cluster.mutable_state().Place(proposal.task, proposal.machine, 0);
      ++committed;
    }
  }
  EXPECT_GT(committed, 1000);
}

}  // namespace
}  // namespace sluice
