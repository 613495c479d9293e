#include "network/constructs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "flow/validate.h"
#include "solver/all_or_none.h"
#include "solver/registry.h"
#include "solver/verify.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr int kWaits = -1;
using Assignment = std::vector<int>;   // By task: its machine, or kWaits.
using Flows = std::vector<FlowUnits>;  // By arc.

FlowUnits CountOn(const Assignment& assignment, int machine) {
  return std::ranges::count(assignment, machine);
}

FlowUnits CountPlaced(const Assignment& assignment) {
  return std::ssize(assignment) - CountOn(assignment, kWaits);
}

std::vector<Assignment> AllAssignments(int task_count, int machine_count) {
  std::vector<Assignment> all = {{}};
  for (int task = 0; task < task_count; ++task) {
    std::vector<Assignment> longer;
    for (const Assignment& assignment : all) {
      for (int machine = kWaits; machine < machine_count; ++machine) {
        longer.push_back(assignment);
        longer.back().push_back(machine);
      }
    }
    all = std::move(longer);
  }
  return all;
}

// All whole flows of a problem without cycles, by trying: node by node, arc by
// arc, every share of what there is.  Knows of no solver.
class AllFlows {
 public:
  explicit AllFlows(const FlowProblem& problem)
      : problem_(problem), flows_(static_cast<size_t>(problem.arc_count())) {
    std::vector<int> missing(static_cast<size_t>(problem.node_count()));
    out_.resize(missing.size());
    for (ArcIndex arc = 0; arc < problem.arc_count(); ++arc) {
      out_[Tail(arc)].push_back(arc);
      ++missing[Head(arc)];
    }
    for (NodeIndex node = 0; node < problem.node_count(); ++node) {
      left_.push_back(problem.supply(node));
      if (missing[static_cast<size_t>(node)] == 0) order_.push_back(node);
    }
    for (size_t i = 0; i < order_.size(); ++i) {
      for (const ArcIndex arc : out_[static_cast<size_t>(order_[i])]) {
        if (--missing[Head(arc)] == 0) order_.push_back(problem.arc(arc).head);
      }
    }
    EXPECT_EQ(std::ssize(order_), problem.node_count()) << "a cycle";
    Share(0, 0);
  }

  const std::vector<Flows>& found() const { return found_; }

 private:
  size_t Tail(ArcIndex arc) const {
    return static_cast<size_t>(problem_.arc(arc).tail);
  }
  size_t Head(ArcIndex arc) const {
    return static_cast<size_t>(problem_.arc(arc).head);
  }
  // Deals out what is left at the node at `position` from its arc `next` on,
  // then goes on to the nodes after it.
  void Share(size_t position, size_t next) {
    if (position == order_.size()) {
      found_.push_back(flows_);
      return;
    }
    const auto node = static_cast<size_t>(order_[position]);
    if (next == out_[node].size()) {
      if (left_[node] == 0) Share(position + 1, 0);
      return;
    }
    const ArcIndex arc = out_[node][next];
    const FlowUnits gain = problem_.gain(arc).numerator;
    ASSERT_EQ(problem_.gain(arc).denominator, 1);
    const FlowUnits all = problem_.arc(arc).capacity();
    for (FlowUnits flow = problem_.arc(arc).lower;
         flow <= std::min(all, left_[node]); ++flow) {
      if (problem_.is_all_or_none(arc) && flow != 0 && flow != all) continue;
      flows_[static_cast<size_t>(arc)] = flow;
      left_[node] -= flow;
      left_[Head(arc)] += gain * flow;
      Share(position, next + 1);
      left_[Head(arc)] -= gain * flow;
      left_[node] += flow;
    }
  }

  const FlowProblem& problem_;
  std::vector<std::vector<ArcIndex>> out_;  // By node.
  std::vector<NodeIndex> order_;            // Tails before heads.
  std::vector<FlowUnits> left_;             // By node, still to be dealt out.
  Flows flows_;
  std::vector<Flows> found_;
};

// Tasks of a unit each and machines with slots, at random costs; what is
// between them is for a construct.
struct World {
  World(int task_count, int machine_count, Rng* rng)
      : waiting(problem.AddNode(0)), sink(problem.AddNode(-task_count)) {
    problem.AddArc(waiting, sink, task_count, 0);
    for (int task = 0; task < task_count; ++task) {
      tasks.push_back(problem.AddNode(1));
      wait_costs.push_back(rng->Between(20, 90));
      prices.emplace_back();
    }
    for (int machine = 0; machine < machine_count; ++machine) {
      machines.push_back(problem.AddNode(0));
      std::vector<CostSegment> ladder;
      FlowCost cost = rng->Between(-20, 40);
      for (int64_t slot = rng->Between(0, task_count); slot > 0; --slot) {
        ladder.push_back({.width = 1, .cost = cost});
        cost += rng->Between(0, 30);
      }
      runs.push_back(problem.AddConvexArc(machines.back(), sink, ladder));
      ladders.push_back(std::move(ladder));
    }
  }

  int task_count() const { return static_cast<int>(tasks.size()); }
  int machine_count() const { return static_cast<int>(machines.size()); }

  // Lets each task wait on an arc of its own.
  void AddWaits() {
    for (size_t task = 0; task < tasks.size(); ++task) {
      waits.push_back(
          problem.AddArc(tasks[task], waiting, 1, wait_costs[task]));
    }
  }
  // Ports at random costs, which make the price of each task on each machine.
  std::vector<Port> Sources(Rng* rng) {
    std::vector<Port> ports;
    for (size_t task = 0; task < tasks.size(); ++task) {
      ports.push_back({.node = tasks[task], .cost = rng->Between(-20, 20)});
      prices[task].resize(machines.size(), 0);
      for (FlowCost& price : prices[task]) price += ports.back().cost;
    }
    return ports;
  }
  std::vector<Port> Targets(Rng* rng) {
    std::vector<Port> ports;
    for (size_t machine = 0; machine < machines.size(); ++machine) {
      ports.push_back({.node = machines[machine],
                       .at_most = task_count(),
                       .cost = rng->Between(-20, 20)});
      for (std::vector<FlowCost>& price : prices) {
        price.resize(machines.size(), 0);
        price[machine] += ports.back().cost;
      }
    }
    return ports;
  }

  bool Fits(const Assignment& assignment) const {
    for (int machine = 0; machine < machine_count(); ++machine) {
      if (CountOn(assignment, machine) >
          std::ssize(ladders[static_cast<size_t>(machine)])) {
        return false;
      }
    }
    return true;
  }
  // REQUIRES: it fits.
  FlowCost CostOf(const Assignment& assignment) const {
    FlowCost cost = 0;
    std::vector<size_t> used(machines.size(), 0);
    for (size_t task = 0; task < tasks.size(); ++task) {
      if (assignment[task] == kWaits) {
        cost += wait_costs[task];
        continue;
      }
      const auto machine = static_cast<size_t>(assignment[task]);
      cost += prices[task][machine] + ladders[machine][used[machine]++].cost;
    }
    return cost;
  }

  FlowProblem problem;
  NodeIndex waiting;
  NodeIndex sink;
  std::vector<NodeIndex> tasks;
  std::vector<NodeIndex> machines;
  std::vector<ArcIndex> waits;                    // By task.
  std::vector<ArcIndex> runs;                     // By machine.
  std::vector<FlowCost> wait_costs;               // By task.
  std::vector<std::vector<FlowCost>> prices;      // By task, machine.
  std::vector<std::vector<CostSegment>> ladders;  // By machine.
};

// An arc that says something of where tasks are, and what.
struct Telltale {
  ArcIndex arc = 0;
  std::function<FlowUnits(const Assignment&)> flow;
};

struct Drawn {
  std::function<bool(const Assignment&)> is_intended;
  std::vector<Telltale> telltales;
};

std::vector<Telltale> TellRuns(const World& world) {
  std::vector<Telltale> telltales;
  for (int machine = 0; machine < world.machine_count(); ++machine) {
    telltales.push_back(
        {world.runs[static_cast<size_t>(machine)],
         [machine](const Assignment& a) { return CountOn(a, machine); }});
  }
  return telltales;
}

std::vector<Telltale> TellWaitsAndRuns(const World& world) {
  std::vector<Telltale> telltales = TellRuns(world);
  for (size_t task = 0; task < world.waits.size(); ++task) {
    telltales.push_back({world.waits[task], [task](const Assignment& a) {
                           return a[task] == kWaits ? 1 : 0;
                         }});
  }
  return telltales;
}

FlowBounds RandomBounds(FlowUnits limit, Rng* rng) {
  FlowBounds bounds = {.at_most = rng->Between(0, limit)};
  if (rng->Chance(1, 3)) bounds.at_least = rng->Between(0, bounds.at_most);
  return bounds;
}

bool IsWithin(FlowBounds bounds, FlowUnits flow) {
  return bounds.at_least <= flow && flow <= bounds.at_most;
}

Drawn DrawGate(World* world, Rng* rng) {
  world->AddWaits();
  const FlowBounds through = RandomBounds(world->task_count(), rng);
  const std::vector<Port> sources = world->Sources(rng);
  std::vector<Port> targets = world->Targets(rng);
  std::vector<FlowBounds> each;
  for (Port& port : targets) {
    each.push_back(RandomBounds(3, rng));
    port.at_most = each.back().at_most;
    port.at_least = each.back().at_least;
  }
  AddGate(sources, through, targets, &world->problem);
  return {[=](const Assignment& a) {
            bool is_intended = IsWithin(through, CountPlaced(a));
            for (size_t i = 0; i < each.size(); ++i) {
              is_intended &= IsWithin(each[i], CountOn(a, static_cast<int>(i)));
            }
            return is_intended;
          },
          TellWaitsAndRuns(*world)};
}

// Whether of the first tasks all or none are placed, and so of the others.
bool IsTwoGangs(size_t first_count, const Assignment& assignment) {
  for (size_t i = 0; i < assignment.size(); ++i) {
    const size_t leader = i < first_count ? 0 : first_count;
    if ((assignment[i] == kWaits) != (assignment[leader] == kWaits)) {
      return false;
    }
  }
  return true;
}

Drawn DrawGangs(World* world, Rng* rng) {
  world->AddWaits();
  const std::vector<Port> sources = world->Sources(rng);
  const std::vector<Port> targets = world->Targets(rng);
  const auto first_count = rng->Below(sources.size() + 1);
  const std::span<const Port> all = sources;
  AddGang(all.first(first_count), targets, &world->problem);
  AddGang(all.subspan(first_count), targets, &world->problem);
  return {[=](const Assignment& a) { return IsTwoGangs(first_count, a); },
          TellWaitsAndRuns(*world)};
}

// Of tasks that are alike, but for where they come from.
std::vector<Port> AlikeSources(World* world) {
  world->AddWaits();
  std::vector<Port> sources;
  for (size_t task = 0; task < world->tasks.size(); ++task) {
    world->wait_costs[task] = world->wait_costs[0];
    world->problem.SetArc(world->waits[task], 1, world->wait_costs[0]);
    sources.push_back({.node = world->tasks[task]});
  }
  return sources;
}

bool IsNoneOrAtLeast(FlowUnits minimum, const Assignment& assignment) {
  return CountPlaced(assignment) == 0 || CountPlaced(assignment) >= minimum;
}

Drawn DrawRelaxedGang(World* world, Rng* rng) {
  const FlowUnits all = world->task_count();
  const FlowUnits minimum = rng->Between(1, all);
  const std::vector<Port> sources = AlikeSources(world);
  std::vector<Port> targets = world->Targets(rng);
  targets.push_back({.node = world->waiting,
                     .at_most = all - minimum,
                     .cost = world->wait_costs[0]});
  AddGang(sources, targets, &world->problem);
  return {[=](const Assignment& a) { return IsNoneOrAtLeast(minimum, a); },
          TellRuns(*world)};
}

// Of tasks with machines, prices and waiting costs of their own.
Drawn DrawGangOfUnlikeTasks(World* world, Rng* rng) {
  world->AddWaits();
  const FlowUnits all = world->task_count();
  const FlowUnits minimum = rng->Between(1, all);
  std::vector<Port> sources;
  std::vector<Port> targets;
  std::vector<Telltale> telltales;
  std::set<std::pair<int, int>> eligible;
  for (int task = 0; task < all; ++task) {
    const auto i = static_cast<size_t>(task);
    const FlowCost wait_cost = world->wait_costs[i];
    const NodeIndex own = world->problem.AddNode(0);
    sources.push_back({.node = world->tasks[i], .cost = wait_cost});
    targets.push_back({.node = own, .cost = -wait_cost});
    for (int machine = 0; machine < world->machine_count(); ++machine) {
      world->prices[i].push_back(rng->Between(-20, 20));
      if (rng->Chance(1, 3)) continue;
      eligible.emplace(task, machine);
      telltales.push_back(
          {world->problem.AddArc(own,
                                 world->machines[static_cast<size_t>(machine)],
                                 1, world->prices[i].back()),
           [=](const Assignment& a) { return a[i] == machine ? 1 : 0; }});
    }
  }
  targets.push_back({.node = world->waiting, .at_most = all - minimum});
  AddGang(sources, targets, &world->problem);
  return {[=](const Assignment& a) {
            bool is_intended = IsNoneOrAtLeast(minimum, a);
            for (int task = 0; task < all; ++task) {
              const int machine = a[static_cast<size_t>(task)];
              is_intended &=
                  machine == kWaits || eligible.contains({task, machine});
            }
            return is_intended;
          },
          telltales};
}

Drawn DrawColocation(World* world, Rng* rng) {
  world->AddWaits();
  const FlowUnits all = world->task_count();
  const std::vector<Port> sources = world->Sources(rng);
  std::vector<Port> targets = world->Targets(rng);
  std::vector<bool> is_wide;
  for (Port& port : targets) {
    port.at_most = all + rng->Between(-1, 1);
    is_wide.push_back(port.at_most >= all);
  }
  AddColocation(sources, targets, &world->problem);
  return {[=](const Assignment& a) {
            return CountOn(a, a[0]) == all &&
                   (a[0] == kWaits || is_wide[static_cast<size_t>(a[0])]);
          },
          TellWaitsAndRuns(*world)};
}

struct Construct {
  std::string name;
  Drawn (*draw)(World* world, Rng* rng);
};

class ConstructTest : public testing::TestWithParam<Construct> {};

World RandomWorld(Rng* rng) {
  const auto task_count = static_cast<int>(rng->Between(1, 4));
  const auto machine_count = static_cast<int>(rng->Between(1, 4));
  return World(task_count, machine_count, rng);
}

TEST_P(ConstructTest, HasAFlowForWhatIsIntendedAndForNothingElse) {
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    World world = RandomWorld(&rng);
    const Drawn drawn = GetParam().draw(&world, &rng);
    std::set<Flows> wanted;
    for (const Assignment& assignment :
         AllAssignments(world.task_count(), world.machine_count())) {
      if (!world.Fits(assignment) || !drawn.is_intended(assignment)) continue;
      Flows told;
      for (const Telltale& telltale : drawn.telltales) {
        told.push_back(telltale.flow(assignment));
      }
      wanted.insert(told);
    }
    std::set<Flows> found;
    const AllFlows all_flows(world.problem);
    for (const Flows& flows : all_flows.found()) {
      Flows told;
      for (const Telltale& telltale : drawn.telltales) {
        told.push_back(flows[static_cast<size_t>(telltale.arc)]);
      }
      found.insert(told);
    }
    ASSERT_EQ(found, wanted);
  }
}

// The least cost of a flow, or none.
std::optional<FlowCost> Optimum(const FlowProblem& problem, Solver& solver) {
  const auto result = SolveAllOrNone(problem, solver);
  if (!result.has_flow()) {
    EXPECT_EQ(result.outcome, SolveOutcome::kInfeasible) << result.error;
    return std::nullopt;
  }
  EXPECT_THAT(VerifySolution(FixAllOrNone(problem, result.solution.flows),
                             result.solution),
              IsOk());
  return result.solution.objective;
}

TEST_P(ConstructTest, IsAsCheapAsTheCheapestThatIsIntended) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    World world = RandomWorld(&rng);
    const Drawn drawn = GetParam().draw(&world, &rng);
    std::optional<FlowCost> cheapest;
    for (const Assignment& assignment :
         AllAssignments(world.task_count(), world.machine_count())) {
      if (!world.Fits(assignment) || !drawn.is_intended(assignment)) continue;
      const FlowCost cost = world.CostOf(assignment);
      cheapest = std::min(cost, cheapest.value_or(cost));
    }
    for (const SolverEntry& entry : Solvers()) {
      ASSERT_EQ(Optimum(world.problem, *entry.make()), cheapest) << entry.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ConstructTest,
    testing::Values(Construct{"Gate", DrawGate}, Construct{"Gangs", DrawGangs},
                    Construct{"RelaxedGang", DrawRelaxedGang},
                    Construct{"GangOfUnlikeTasks", DrawGangOfUnlikeTasks},
                    Construct{"Colocation", DrawColocation}),
    [](const auto& instance) { return instance.param.name; });

// Classes of so many tasks, which wait at 100 each, and machines that cost
// nothing.
struct Plain {
  Plain(const std::vector<FlowUnits>& task_counts,
        const std::vector<FlowUnits>& slots) {
    const FlowUnits all =
        std::accumulate(task_counts.begin(), task_counts.end(), FlowUnits{0});
    waiting = problem.AddNode(0);
    sink = problem.AddNode(-all);
    problem.AddArc(waiting, sink, all, 0);
    for (const FlowUnits count : task_counts) {
      sources.push_back({.node = problem.AddNode(count), .at_most = count});
    }
    for (const FlowUnits count : slots) {
      targets.push_back({.node = problem.AddNode(0), .at_most = count});
      runs.push_back(problem.AddArc(targets.back().node, sink, count, 0));
    }
  }
  void AddWaits() {
    for (const Port& source : sources) {
      problem.AddArc(source.node, waiting, source.at_most, 100);
    }
  }
  FlowSolution Solve() const {
    return MakeSolver("network_simplex")->Solve(problem);
  }

  FlowProblem problem;
  NodeIndex waiting = 0;
  NodeIndex sink = 0;
  std::vector<Port> sources;
  std::vector<Port> targets;
  std::vector<ArcIndex> runs;
};

Flows FlowsOn(const std::vector<ArcIndex>& arcs, const Flows& flows) {
  Flows result;
  for (const ArcIndex arc : arcs) {
    result.push_back(flows[static_cast<size_t>(arc)]);
  }
  return result;
}

TEST(Constructs, GateNamesWhatItDrew) {
  Plain plain({1, 1}, {1, 1, 1});
  const Gate gate = AddGate(plain.sources, {.at_most = 2, .at_least = 1},
                            plain.targets, &plain.problem);
  ASSERT_EQ(gate.in.size(), 2u);
  ASSERT_EQ(gate.out.size(), 3u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(plain.problem.arc(gate.in[i]).tail, plain.sources[i].node);
    EXPECT_EQ(plain.problem.arc(gate.in[i]).head, gate.gather);
  }
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(plain.problem.arc(gate.out[i]).tail, gate.place);
    EXPECT_EQ(plain.problem.arc(gate.out[i]).head, plain.targets[i].node);
  }
  EXPECT_EQ(plain.problem.arc(gate.through).tail, gate.gather);
  EXPECT_EQ(plain.problem.arc(gate.through).head, gate.place);
  EXPECT_EQ(plain.problem.arc(gate.through).lower, 1);
}

TEST(Constructs, ReplacesOneByTheOther) {
  // The one that runs may stay for 1, the newcomer waits for no less than 100.
  Plain plain({1, 1}, {2});
  plain.AddWaits();
  plain.sources[0].cost = 1;
  const Gate gate = AddGate(plain.sources, {.at_most = 1, .at_least = 1},
                            plain.targets, &plain.problem);
  EXPECT_THAT(FlowsOn(gate.in, plain.Solve().flows), ElementsAre(0, 1));
}

TEST(Constructs, SoftensALimitByAConvexCost) {
  Plain plain({1, 1, 1}, {3, 3});
  plain.AddWaits();
  const Gate gate =
      AddGate(plain.sources, {.at_most = 3}, plain.targets, &plain.problem);
  const CostSegment ladder[] = {{1, 0}, {2, 10}};
  for (const ArcIndex arc : gate.out) plain.problem.SetConvexArc(arc, ladder);
  EXPECT_EQ(plain.Solve().objective, 10);
}

TEST(Constructs, HaveNoFlowWhereAMinimumHasNoRoom) {
  Plain plain({1, 1, 1}, {1, 1});
  plain.AddWaits();
  AddGate(plain.sources, {.at_most = 3, .at_least = 3}, plain.targets,
          &plain.problem);
  EXPECT_EQ(plain.Solve().outcome, SolveOutcome::kInfeasible);
}

TEST(Constructs, LeaveSenselessBoundsToValidation) {
  Plain plain({1, 1, 1}, {3});
  AddGate(plain.sources, {.at_most = 2, .at_least = 3}, plain.targets,
          &plain.problem);
  EXPECT_FALSE(ValidateProblem(plain.problem).ok());
}

TEST(Constructs, CountTheTasksOfAClass) {
  for (const FlowUnits slots : {4, 5}) {
    SCOPED_TRACE(slots);
    const FlowUnits cost = slots < 5 ? 500 : 0;
    Plain gang({3, 2}, {slots});
    gang.AddWaits();
    Plain colocation = gang;
    AddGang(gang.sources, gang.targets, &gang.problem);
    EXPECT_EQ(Optimum(gang.problem, *MakeSolver("network_simplex")), cost);
    AddColocation(colocation.sources, colocation.targets, &colocation.problem);
    EXPECT_EQ(Optimum(colocation.problem, *MakeSolver("network_simplex")),
              cost);
  }
}

TEST(Constructs, GangIsPlacedInPartWithoutItsMark) {
  Plain plain({1, 1, 1}, {1, 1});
  plain.AddWaits();
  const Gate gang = AddGang(plain.sources, plain.targets, &plain.problem);
  const auto result =
      SolveAllOrNone(plain.problem, *MakeSolver("network_simplex"));
  ASSERT_EQ(result.outcome, SolveOutcome::kOptimal);
  EXPECT_EQ(result.solution.objective, 300);
  EXPECT_THAT(FlowsOn(plain.runs, result.solution.flows), Each(0));
  plain.problem.SetAllOrNone(gang.through, false);
  EXPECT_THAT(FlowsOn(plain.runs, plain.Solve().flows), Each(1));
}

}  // namespace
}  // namespace sluice
