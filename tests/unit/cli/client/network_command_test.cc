#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cli/application.h"
#include "cli/client/network_text.h"
#include "flow/dimacs.h"
#include "unit/cli/fake_server.h"
#include "unit/cli/run_cli.h"

namespace sluice {
namespace {

using testing::HasSubstr;
using testing::Not;
using v1::RoundNetwork;

void AddNode(RoundNetwork::Node::Kind kind, const std::string& name,
             int64_t supply, RoundNetwork::Pass* pass) {
  RoundNetwork::Node& node = *pass->add_nodes();
  node.set_kind(kind);
  node.set_name(name);
  node.set_supply(supply);
}

RoundNetwork::Arc& AddArc(int32_t tail, int32_t head,
                          std::vector<std::pair<int64_t, int64_t>> segments,
                          int64_t flow, RoundNetwork::Pass* pass) {
  RoundNetwork::Arc& arc = *pass->add_arcs();
  arc.set_tail(tail);
  arc.set_head(head);
  for (const auto& [width, cost] : segments) {
    RoundNetwork::Segment& segment = *arc.add_segments();
    segment.set_width(width);
    segment.set_cost(cost);
  }
  arc.set_flow(flow);
  return arc;
}

// Three tasks, two of which have room on a machine.
RoundNetwork ThreeTasks() {
  RoundNetwork network;
  network.set_round(7);
  network.set_arcs_max(20000);
  RoundNetwork::Pass& pass = *network.add_passes();
  AddNode(RoundNetwork::Node::CLASS, "3 of web, priority 0", 3, &pass);
  AddNode(RoundNetwork::Node::MACHINES, "node-1", 0, &pass);
  AddNode(RoundNetwork::Node::UNSCHEDULED, "unscheduled of web", 0, &pass);
  AddNode(RoundNetwork::Node::SINK, "sink", -3, &pass);
  AddArc(0, 1, {{2, 0}}, 2, &pass);
  AddArc(1, 3, {{1, 128}, {1, 192}}, 2, &pass);
  AddArc(0, 2, {{3, 4014560 * 128}}, 1, &pass);
  AddArc(2, 3, {{3, 0}}, 1, &pass);
  pass.set_cost(513864000);
  pass.mutable_nodes(0)->set_potential(-158016);
  return network;
}

CliResult RunNetwork(const RoundNetwork& network,
                     std::vector<std::string> flags) {
  FakeServer server;
  server.inspector.network = network;
  flags.insert(flags.begin(), {"network", "--server=" + server.Address()});
  return RunCli(flags);
}

TEST(NetworkCommand, ListsThePasses) {
  const CliResult result = RunNetwork(ThreeTasks(), {});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_EQ(result.out,
            "round 7\n"
            "PASS  NODES  ARCS  TASKS  PLACED       COST\n"
            "   1      4     4      3       2  513864000\n");
}

TEST(NetworkCommand, SaysWhatWasTooLarge) {
  RoundNetwork network = ThreeTasks();
  network.mutable_passes(0)->clear_cost();
  network.set_left_out(2);
  const CliResult result = RunNetwork(network, {});
  EXPECT_THAT(result.out, HasSubstr("?  not solved"));
  EXPECT_THAT(result.out, HasSubstr("2 more have too many arcs to be kept"));
}

TEST(NetworkCommand, DrawsForGraphviz) {
  const CliResult result = RunNetwork(ThreeTasks(), {"--format=dot"});
  EXPECT_THAT(result.out, HasSubstr("digraph \"round 7 pass 1\" {"));
  EXPECT_THAT(result.out, HasSubstr("n0 [label=\"3 of web,\\npriority 0\\n"
                                    "supply 3\", shape=ellipse, "
                                    "tooltip=\"potential -1,234.5\"];"));
  EXPECT_THAT(result.out, HasSubstr("n2 [label=\"unscheduled of web\", "
                                    "shape=box, style=dashed, "));
  EXPECT_THAT(result.out, HasSubstr("n3 [label=\"sink\\ndemand 3\", "));
  EXPECT_THAT(result.out,
              HasSubstr("n1 -> n3 [label=\"2 of 2 at 1 to 1.5\", penwidth=2"));
  EXPECT_THAT(result.out, HasSubstr("n0 -> n2 [label=\"1 of 3 at 4,014,560\""));
}

TEST(NetworkCommand, DrawsBoundsGainsAndGates) {
  RoundNetwork network = ThreeTasks();
  RoundNetwork::Arc& arc = *network.mutable_passes(0)->mutable_arcs(0);
  arc.set_lower(1);
  arc.set_gain_numerator(1);
  arc.set_gain_denominator(4);
  arc.set_all_or_none(true);
  arc.set_flow(0);
  network.mutable_passes(0)->mutable_nodes(1)->set_name("a \"b\"");
  const CliResult result = RunNetwork(network, {"--format=dot"});
  EXPECT_THAT(result.out,
              HasSubstr("[label=\"0 of 2, at least 1, 1 of 4 arrive, all or "
                        "none\", color=gray"));
  EXPECT_THAT(result.out, HasSubstr("a \\\"b\\\""));
}

TEST(NetworkCommand, WritesWhatTheSolverReads) {
  RoundNetwork network = ThreeTasks();
  RoundNetwork::Arc& arc = *network.mutable_passes(0)->mutable_arcs(0);
  arc.set_lower(1);
  const CliResult result = RunNetwork(network, {"--format=dimacs"});
  EXPECT_THAT(result.out, HasSubstr("c node 2: node-1\n"));
  EXPECT_THAT(result.out, HasSubstr("a 1 2 1 2 0\n"));
  const auto problem = ReadDimacs(result.out);
  ASSERT_TRUE(problem.ok()) << problem.status();
  EXPECT_EQ(problem->node_count(), 4);
  EXPECT_EQ(problem->arc_count(), 4);
  EXPECT_EQ(problem->segments(1).size(), 2u);
  EXPECT_EQ(problem->arc(0).lower, 1);
}

TEST(NetworkCommand, WritesWhatOtherProgramsRead) {
  RoundNetwork network = ThreeTasks();
  const CliResult result = RunNetwork(network, {"--format=plain_dimacs"});
  EXPECT_THAT(result.out, Not(HasSubstr("c ")));
  const auto problem = ReadDimacs(result.out);
  ASSERT_TRUE(problem.ok()) << problem.status();
  EXPECT_EQ(problem->arc_count(), 5) << "one had two steps";
  network.mutable_passes(0)->mutable_arcs(0)->set_all_or_none(true);
  EXPECT_THAT(RunNetwork(network, {"--format=plain_dimacs"}).err,
              HasSubstr("arc 1 has a gain or is all or none"));
}

TEST(NetworkCommand, OneFileHasOneProblem) {
  RoundNetwork network = ThreeTasks();
  *network.add_passes() = network.passes(0);
  EXPECT_THAT(RunNetwork(network, {"--format=dimacs"}).err,
              HasSubstr("choose one of the 2 passes with --pass"));
  EXPECT_EQ(RunNetwork(network, {"--format=dimacs", "--pass=2"}).exit_code,
            kExitSuccess);
  EXPECT_THAT(RunNetwork(network, {"--format=dot", "--pass=2"}).out,
              HasSubstr("round 7 pass 2"));
  EXPECT_THAT(RunNetwork(network, {"--pass=3"}).err,
              HasSubstr("there is no pass 3: the round has 2"));
}

TEST(NetworkCommand, SaysThatThereWasNoneYet) {
  RoundNetwork network;
  network.set_arcs_max(20000);
  EXPECT_EQ(RunNetwork(network, {}).out, "no round has solved a network yet\n");
}

TEST(NetworkCommand, SaysThatNothingIsKept) {
  EXPECT_THAT(RunNetwork({}, {}).err,
              HasSubstr("the daemon keeps no networks"));
}

TEST(NetworkCommand, IsForPrograms) {
  for (const char* flag : {"--output=json", "--format=json"}) {
    const CliResult result = RunNetwork(ThreeTasks(), {flag});
    EXPECT_THAT(result.out, HasSubstr("\"kind\": \"UNSCHEDULED\""));
    EXPECT_THAT(result.out, Not(HasSubstr("PASS")));
  }
}

TEST(ProblemOf, RefusesWhatIsNoNetwork) {
  RoundNetwork::Pass pass = ThreeTasks().passes(0);
  pass.mutable_arcs(1)->set_head(9);
  EXPECT_THAT(ProblemOf(pass).status().ToString(), HasSubstr("arc 1"));
  pass = ThreeTasks().passes(0);
  pass.mutable_arcs(2)->clear_segments();
  EXPECT_THAT(ProblemOf(pass).status().ToString(),
              HasSubstr("arc 2 of the network has no segment"));
}

}  // namespace
}  // namespace sluice
