// Networks of policies that charge machines together, against one that draws
// each machine, and each class to all of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/strings.h"
#include "cost/waiting_prices.h"
#include "flow/validate.h"
#include "network/band_network.h"
#include "util/cluster_builder.h"
#include "util/status_matchers.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

constexpr char kPolicies[] = "cpu_memory,domain_spreading";

std::vector<BandClass> ClassesOf(const ClusterState& state) {
  std::vector<BandClass> classes;
  for (const auto& [key, tasks] : state.pending()) {
    BandClass& band_class = classes.emplace_back();
    band_class.key = key;
    for (const auto& [sequence, task] : tasks) {
      band_class.tasks.push_back(task);
    }
  }
  return classes;
}

WaitingPrices PricesOf(const TestScheduler& cluster) {
  return {cluster.policies(), cluster.state().histories(), /*now_ms=*/0};
}

// What a pass sees of a cluster.
struct Racks {
  explicit Racks(TestScheduler* cluster)
      : classes(ClassesOf(cluster->state())),
        aggregates(cluster->state(), "rack"),
        groups(GroupMachines(cluster->state(), cluster->eligibility())),
        group_at(aggregates.GroupsByPlace(groups)),
        network({groups, cluster->policies(), cluster->constraints(), classes,
                 aggregates, group_at},
                &cluster->eligibility(), PricesOf(*cluster)) {}
  const std::vector<BandClass> classes;
  const Aggregates aggregates;
  const std::vector<MachineGroup> groups;
  const std::vector<uint32_t> group_at;
  const BandNetwork network;
};

// The network as it is meant, of no more than forty tasks: with each the cost
// of a rack rises.
class Twin {
 public:
  explicit Twin(const TestScheduler& cluster)
      : policies_(cluster.policies()), racks_(cluster.state(), "rack") {
    const std::vector<BandClass> classes = ClassesOf(cluster.state());
    for (const BandClass& one : classes) {
      const NodeIndex node = problem_.AddNode(std::ssize(one.tasks));
      tasks_ += std::ssize(one.tasks);
      mean_.AddScaled(one.key.request, std::ssize(one.tasks));
      nodes_.push_back(node);
    }
    for (ResourceIndex i = 0; i < mean_.size(); ++i) {
      mean_.Set(i, mean_[i] / std::max<FlowUnits>(tasks_, 1));
    }
    sink_ = problem_.AddNode(-tasks_);
    const WaitingPrices prices = PricesOf(cluster);
    for (size_t i = 0; i < classes.size(); ++i) {
      for (const Task* task : classes[i].tasks) {
        problem_.AddArc(
            nodes_[i], sink_, 1,
            (kPlacementCostMax + prices.Of(*task)) * kPartsPerPoint);
      }
    }
    for (const auto& [id, machine] : cluster.state().machines()) {
      AddMachine(*machine, classes);
    }
  }
  const FlowProblem& problem() const { return problem_; }

 private:
  void AddMachine(const Machine& machine,
                  const std::vector<BandClass>& classes) {
    const NodeIndex node = problem_.AddNode(0);
    Resources largest;
    for (size_t i = 0; i < classes.size(); ++i) {
      const Resources& request = classes[i].key.request;
      const FlowUnits fit = request.TimesIn(machine.Free(), tasks_);
      if (fit == 0) continue;
      largest.MaxWith(request);
      problem_.AddArc(
          nodes_[i], node, fit,
          LoadArcCost(policies_, machine, machine.used + request) -
              LoadArcCost(policies_, machine, machine.used + mean_));
    }
    const FlowUnits slots =
        std::max<FlowUnits>(largest.TimesIn(machine.Free(), tasks_), 1);
    Resources load = machine.used;
    for (FlowUnits slot = 0; slot < slots; ++slot) {
      problem_.AddArc(node, ExitOf(machine), 1,
                      LoadArcCost(policies_, machine, load));
      load += mean_;
    }
  }
  NodeIndex ExitOf(const Machine& machine) {
    const size_t rack = racks_.Of(machine.id);
    if (rack == Aggregates::kNone) return sink_;
    const auto [it, is_new] = exits_.try_emplace(rack);
    if (!is_new) return it->second;
    it->second = problem_.AddNode(0);
    Resources used = racks_[rack].used;
    for (FlowUnits unit = 0; unit < tasks_; ++unit) {
      problem_.AddArc(it->second, sink_, 1,
                      policies_.AggregateCost(used, racks_[rack].capacity) *
                          kPartsPerPoint);
      used += mean_;
    }
    return it->second;
  }

  const PolicySet& policies_;
  const Aggregates racks_;
  FlowProblem problem_;
  NodeIndex sink_ = 0;
  FlowUnits tasks_ = 0;
  Resources mean_;
  std::vector<NodeIndex> nodes_;  // Of classes.
  std::map<size_t, NodeIndex> exits_;
};

// Racks of machines of which some are alike, and some in use.
void Fill(Rng* rng, TestScheduler* cluster) {
  const int64_t racks = rng->Between(1, 5);
  const int64_t machines = rng->Between(racks, 24);
  const int64_t sizes = rng->Between(1, 3);
  for (int64_t i = 0; i < machines; ++i) {
    const int64_t rack = rng->Between(0, racks);
    cluster->Apply(Added(
        StrCat("m", i),
        {
            .cpu = 4000 * rng->Between(1, sizes),
            .memory = 16000,
            .labels = rack == racks ? LabelPairs()
                                    : LabelPairs({{"rack", StrCat(rack)}}),
        }));
  }
  uint64_t uid = 0;
  const auto submit = [&](int64_t tasks, int64_t classes) {
    for (int64_t i = 0; i < tasks; ++i) {
      const int64_t of_class = rng->Between(1, classes);
      cluster->Apply(Submitted(++uid, {.cpu = 300 * of_class,
                                       .memory = 2000 / of_class,
                                       .job = StrCat("j", rng->Below(3))}));
    }
  };
  submit(rng->Between(0, 10), 3);
  cluster->Round();
  submit(rng->Between(1, 40), rng->Between(1, 4));
}

TEST(BandNetworkOfRacks, CostsWhatAllMachinesAndAllArcsWould) {
  int64_t placed = 0;
  int64_t arcs = 0;
  int64_t arcs_of_twins = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Rng rng(seed);
    TestScheduler cluster({}, kPolicies);
    Fill(&rng, &cluster);
    const Racks racks(&cluster);
    const FlowProblem& problem = racks.network.problem();
    ASSERT_THAT(ValidateProblem(problem), IsOk());
    const Twin twin(cluster);
    const FlowSolution solution = cluster.SolveFlow(problem);
    ASSERT_EQ(solution.outcome, SolveOutcome::kOptimal);
    ASSERT_EQ(solution.objective, cluster.SolveFlow(twin.problem()).objective);
    arcs += problem.arc_count();
    arcs_of_twins += twin.problem().arc_count();
    for (const Proposal& proposal : racks.network.Decode(solution)) {
      // Place() ends the test where the task does not fit.
      cluster.mutable_state().Place(proposal.task, proposal.machine, 0);
      ++placed;
    }
  }
  EXPECT_GT(placed, 4000);
  EXPECT_LT(arcs, arcs_of_twins / 4);
}

TEST(BandNetworkOfRacks, DrawsClassesToAlikeMachinesOfManyRacksByOneNode) {
  TestScheduler cluster({}, kPolicies);
  for (int rack = 0; rack < 20; ++rack) {
    ClusterBuilder()
        .Machines(StrCat("r", rack, "-"), 10,
                  {.cpu = 8000, .labels = {{"rack", StrCat(rack)}}})
        .ApplyTo(&cluster);
  }
  for (uint64_t of_class = 0; of_class < 10; ++of_class) {
    ClusterBuilder()
        .Tasks(1 + 10 * of_class, 10,
               {.cpu = 1000 + static_cast<int64_t>(of_class)})
        .ApplyTo(&cluster);
  }
  const Racks racks(&cluster);
  const FlowProblem& problem = racks.network.problem();
  // Ten classes, one arc for twenty racks, and a job.
  EXPECT_EQ(problem.arc_count(), 10 + 1 + 10 + 1);
  // No rack gets more than five of a hundred.
  EXPECT_LT(problem.segment_count(), 200);
  const std::vector<NodeMeaning> meanings = racks.network.Meanings();
  const auto hub = std::ranges::find(meanings, NodeMeaning::Kind::kMachines,
                                     &NodeMeaning::kind);
  ASSERT_NE(hub, meanings.end());
  EXPECT_EQ(hub->machine_count, 100u);

  std::map<size_t, int64_t> in_rack;
  std::map<std::pair<size_t, size_t>, int64_t> of_class_in_rack;
  std::map<MachineId, int64_t> on_machine;
  for (const Proposal& one : racks.network.Decode(cluster.SolveFlow(problem))) {
    const size_t rack = racks.aggregates.Of(one.machine);
    ++in_rack[rack];
    ++of_class_in_rack[{one.class_index, rack}];
    ++on_machine[one.machine];
  }
  ASSERT_EQ(in_rack.size(), 20u);
  for (const auto& [rack, tasks] : in_rack) EXPECT_EQ(tasks, 5);
  // Ten of a class are dealt to as many racks, and none share a machine.
  EXPECT_EQ(of_class_in_rack.size(), 100u);
  EXPECT_EQ(on_machine.size(), 100u);
}

// One that has host ports finds room for one on each machine, whatever else
// fits: it goes to each rack for itself.
TEST(BandNetworkOfRacks, LeavesOutOfTheNodeWhoFitsLessOftenThanOthers) {
  TestScheduler cluster({}, kPolicies);
  for (int rack = 0; rack < 3; ++rack) {
    ClusterBuilder()
        .Machines(StrCat("r", rack, "-"), 2,
                  {.cpu = 8000, .labels = {{"rack", StrCat(rack)}}})
        .ApplyTo(&cluster);
  }
  ClusterBuilder()
      .Tasks(1, 4, {.cpu = 1000})
      .Tasks(5, 4, {.cpu = 1100})
      .Tasks(9, 9, {.cpu = 1200, .rules = {.host_ports = {{.port = 80}}}})
      .ApplyTo(&cluster);
  const Racks racks(&cluster);
  const FlowSolution solution = cluster.SolveFlow(racks.network.problem());
  int64_t with_port = 0;
  for (const Proposal& one : racks.network.Decode(solution)) {
    cluster.mutable_state().Place(one.task, one.machine, 0);
    if (one.task.value >= 9) ++with_port;
  }
  EXPECT_EQ(with_port, 6);
}

// The first six are of one job, the others of another, all of one class.  Taken
// in that order, the first rack would get all of one job.
TEST(BandNetworkOfRacks, MixesJobsSoThatEachRackGetsFewOfAny) {
  TestScheduler cluster({}, kPolicies);
  for (int rack = 0; rack < 2; ++rack) {
    ClusterBuilder()
        .Machines(StrCat("r", rack, "-"), 6,
                  {.cpu = 4000, .labels = {{"rack", StrCat(rack)}}})
        .ApplyTo(&cluster);
  }
  ClusterBuilder()
      .Tasks(1, 6, {.cpu = 500, .job = "a"})
      .Tasks(7, 6, {.cpu = 500, .job = "b"})
      .ApplyTo(&cluster);
  const Racks racks(&cluster);
  const FlowSolution solution = cluster.SolveFlow(racks.network.problem());
  const auto first = [](JobId, std::span<const MachineId>) {
    return size_t{0};
  };
  std::set<TaskId> placed;
  std::map<std::pair<size_t, std::string>, int64_t> of_job_in_rack;
  for (const Proposal& one :
       racks.network.Decode(solution, first, /*mixes_jobs=*/true)) {
    placed.insert(one.task);
    ++of_job_in_rack[{racks.aggregates.Of(one.machine),
                      one.task.value <= 6 ? "a" : "b"}];
  }
  std::set<TaskId> placed_unmixed;
  for (const Proposal& one : racks.network.Decode(solution)) {
    placed_unmixed.insert(one.task);
  }
  EXPECT_EQ(placed.size(), 12u);
  EXPECT_EQ(placed, placed_unmixed);
  ASSERT_EQ(of_job_in_rack.size(), 4u);
  for (const auto& [where, tasks] : of_job_in_rack) EXPECT_EQ(tasks, 3);
}

}  // namespace
}  // namespace sluice
