#include "round/context/network_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flow/validate.h"
#include "util/cluster_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::SizeIs;

FlowProblem OneArc() {
  FlowProblem problem;
  problem.AddNode(1);
  problem.AddNode(-1);
  problem.AddArc(0, 1, 1, 5);
  return problem;
}

TEST(NetworkLog, KeepsWhatThereIsRoomFor) {
  NetworkLog log(4);  // Each of these arcs has one segment.
  for (int pass = 0; pass < 3; ++pass) {
    if (log.HasRoomFor(OneArc(), 4)) log.Open(OneArc(), {}, {});
    FlowSolution solution;
    solution.objective = pass;
    log.Close(solution);
  }
  EXPECT_EQ(log.round(), 4u);
  ASSERT_THAT(log.passes(), SizeIs(2));
  EXPECT_EQ(log.passes()[1].solution.objective, 1) << "the third is not its";
  EXPECT_EQ(log.left_out(), 1);
  EXPECT_TRUE(log.HasRoomFor(OneArc(), 5));
  EXPECT_THAT(log.passes(), SizeIs(0)) << "of the round before";
  EXPECT_EQ(log.left_out(), 0);
}

TEST(NetworkLog, KeepsNothingWhereItHasNoRoom) {
  NetworkLog log(0);
  EXPECT_FALSE(log.HasRoomFor(OneArc(), 1));
  EXPECT_EQ(log.left_out(), 0);
}

TEST(NetworkLog, HasTheNetworksOfTheNewestRoundThatSolvedAny) {
  TestScheduler cluster({.network_arcs_max = 1000});
  for (const char* uuid : {"a", "b"}) cluster.Apply(Added(uuid, {.cpu = 1000}));
  for (const uint64_t uid : {1, 2}) {
    cluster.Apply(Submitted(uid, {.cpu = 1000, .job = "web"}));
  }
  cluster.Reply(1);
  const NetworkLog& log = cluster.scheduler().network_log();
  const uint64_t round = log.round();
  ASSERT_FALSE(log.passes().empty());
  const NetworkLog::Pass& pass = log.passes().front();
  EXPECT_TRUE(ValidateProblem(pass.problem).ok());
  EXPECT_EQ(pass.solution.outcome, SolveOutcome::kOptimal);
  ASSERT_THAT(pass.nodes, SizeIs(pass.problem.node_count()));
  using Kind = NodeMeaning::Kind;
  int64_t waiting = 0;
  int64_t machines = 0;
  for (ArcIndex a = 0; a < pass.problem.arc_count(); ++a) {
    const FlowUnits flow = pass.solution.flows[static_cast<size_t>(a)];
    const NodeMeaning& head =
        pass.nodes[static_cast<size_t>(pass.problem.arc(a).head)];
    if (head.kind == Kind::kUnscheduled) waiting += flow;
    if (head.kind == Kind::kMachines) {
      EXPECT_EQ(head.machine_count, 2u) << "which nothing tells apart";
      machines += flow;
    }
  }
  EXPECT_EQ(waiting, 0);
  EXPECT_EQ(machines, 2);
  EXPECT_EQ(pass.nodes.front().kind, Kind::kClass);
  EXPECT_EQ(pass.classes.front(), "2 of web, priority 0");
  cluster.Apply(Removed("a"));
  cluster.Apply(Removed("b"));
  cluster.Reply(2);
  EXPECT_EQ(log.round(), round) << "the second round had nothing to solve";
}

}  // namespace
}  // namespace sluice
