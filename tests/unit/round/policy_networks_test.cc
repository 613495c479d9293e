// The network that each policy draws of one small cluster, checked by hand
// against the formulas of docs/policies.md.
//
// A line is an arc: how many units it takes at which cost each, the cheapest
// first.  Costs are points; `2250+2` is 2250 points and two 128ths, which are
// the tasks on the machine (docs/flow-network.md, ties).  `at least 1` is a
// lower bound.  The flow to the sink
// says how many tasks a machine gets; which ones is often all the same, and
// left out.  So are arcs from where tasks wait to the sink: they cost nothing.
//
// A new policy fails until it has an expectation here.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "cost/policy_set.h"
#include "network/arc_cost.h"
#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/rules_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

constexpr int64_t kMinuteMs = 60'000;
constexpr int64_t kGib = int64_t{1} << 30;
constexpr uint64_t kTeacher = 100;  // Only says how long its kind of work ran.

const Owner kShopOwner = {"ReplicaSet", "shop"};

NamedAmounts Bandwidth(int64_t kb) { return {{kNetRx, kb}, {kNetTx, kb}}; }

//        cpu           memory  bandwidth  labels      besides
//   m1    4000           4000  1000       ssd, a, r1  a task of shop
//   m2   10000          10000  2000       hdd, b, r2  tainted, four other pods
//   m3    4000, 1000 of  4000   400       ssd, b, r2  avoids shop
//              them reserved
void AddMachines(TestScheduler* scheduler) {
  ClusterBuilder()
      .Machine("m1",
               {.cpu = 4000,
                .memory = 4000,
                .extended = Bandwidth(1000),
                .labels = {{"disk", "ssd"}, {"rack", "r1"}, {"zone", "a"}}})
      .Machine("m2",
               {.cpu = 10000,
                .memory = 10000,
                .extended = Bandwidth(2000),
                .labels = {{"disk", "hdd"}, {"rack", "r2"}, {"zone", "b"}},
                .taints = {PreferNoSchedule("old")}})
      .Machine("m3",
               {.cpu = 3000,
                .memory = 4000,
                .extended = Bandwidth(400),
                .capacity = {{"cpu", 4000}},
                .labels = {{"disk", "ssd"}, {"rack", "r2"}, {"zone", "b"}},
                .avoids = {kShopOwner}})
      .ApplyTo(scheduler);
  for (const char* pod : {"a", "b", "c", "d"}) {
    scheduler->Apply(ForeignPod(StrCat("other/", pod), "m2",
                                {{"cpu", 500}, {"memory", 2000}}));
  }
  scheduler->Apply(ForeignPod("other/agent", "m1", {}));
}

// Of the kind of work that this is, one took so long.
void Teach(const std::string& binary, int64_t run_ms,
           TestScheduler* scheduler) {
  scheduler->Apply(Submitted(kTeacher, {.binary = binary}));
  scheduler->Apply(CompleteTask{{kTeacher}, run_ms});
  scheduler->Apply(Removed(kTeacher));
}

// On this machine, too: so many runs of as long with so many instructions.
void TeachSpeed(const std::string& binary, const char* machine,
                const CompleteTask& run, int times, TestScheduler* scheduler) {
  for (int i = 0; i < times; ++i) {
    scheduler->Apply(Submitted(
        kTeacher, {.rules = {.required = {{.fields = {NameIs(machine)}}}},
                   .binary = binary}));
    scheduler->Round();
    scheduler->Deliver();
    scheduler->Apply(run);
    scheduler->Apply(Removed(kTeacher));
  }
}

void TeachSpeeds(TestScheduler* scheduler) {
  const auto teach = [&](const char* binary, const char* machine,
                         uint64_t giga_instructions, int times) {
    const int64_t run_ms = std::string_view(binary) == "shop" ? 1'000 : 20'000;
    TeachSpeed(binary, machine,
               {{kTeacher}, run_ms, giga_instructions * 1'000'000'000}, times,
               scheduler);
  };
  teach("shop", "m1", 4, 4);
  teach("shop", "m2", 5, 4);
  teach("shop", "m3", 10, 3);
  teach("batch", "m1", 100, 4);
  teach("batch", "m2", 30, 4);
  teach("batch", "m3", 93, 4);
}

// As it comes in where each job has these bounds (rpc/convert_peers.h).
void Bound(const JobBounds& bounds, TaskOptions* task) {
  if (bounds.at_least == 0) return;
  task->rules.minimums = {
      {{TasksOfJob(task->job), bounds.topology_key}, bounds.at_least}};
}

// All tasks ask for as much, but for bandwidth.  Two of shop wait, one of them
// for a minute, and one of batch.
void AddTasks(const JobBounds& bounds, TestScheduler* scheduler) {
  TaskOptions shop = {.cpu = 1000,
                      .memory = 1000,
                      .extended = Bandwidth(100),
                      .job = "shop",
                      .labels = {{"app", "shop"}, {"taskType", "rabbit"}},
                      .owner = kShopOwner,
                      .binary = "shop"};
  shop.rules.required = {{.fields = {NameIs("m1")}}};
  scheduler->Apply(Submitted(1, shop, PeerOptions()));
  scheduler->Round();
  shop.extended = Bandwidth(150);
  shop.rules = {.preferred = {{10, {.labels = {LabelIn("disk", {"ssd"})}}},
                              {20, {.labels = {LabelIn("zone", {"b"})}}}},
                .spread = {{.term = {App("shop"), /*topology_key=*/""},
                            .is_required = false}},
                .data = {.bytes = 4 * kGib,
                         .on_machines = {{"m2", 1 * kGib}, {"m3", 3 * kGib}},
                         .in_racks = {{"r2", 4 * kGib}}}};
  Bound(bounds, &shop);
  scheduler->Apply(Submitted(2, shop, PeerOptions()));
  scheduler->Apply(Submitted(3, shop, PeerOptions()), kMinuteMs);
  TaskOptions batch = {
      .cpu = 1000,
      .memory = 1000,
      .job = "batch",
      .labels = {{"taskType", "devil"}},
      .rules = {.tolerations = {Tolerates(PreferNoSchedule("old"))},
                .preferred_peers = {{40, {App("shop"), ""}}},
                .data = {.bytes = 2 * kGib,
                         .on_machines = {{"m1", 2 * kGib}},
                         .in_racks = {{"r1", 2 * kGib}}}},
      .binary = "batch"};
  Bound(bounds, &batch);
  scheduler->Apply(Submitted(4, batch, PeerOptions()), kMinuteMs);
}

std::string CostText(FlowCost cost) {
  const FlowCost parts = cost % kPartsPerPoint;
  std::string text = StrCat(cost / kPartsPerPoint);
  if (parts != 0) text += StrCat(parts > 0 ? "+" : "-", std::abs(parts));
  return text;
}

std::string NameOf(NodeIndex node, const NetworkLog::Pass& pass,
                   const ClusterState& state) {
  const NodeMeaning& meaning = pass.nodes[static_cast<size_t>(node)];
  switch (meaning.kind) {
    case NodeMeaning::Kind::kGate:
      return "gate";
    case NodeMeaning::Kind::kDomain:
      return "domain";
    case NodeMeaning::Kind::kClass: {
      const std::string& name = pass.classes[meaning.class_index];
      return name.substr(0, name.find(','));  // Without the priority.
    }
    case NodeMeaning::Kind::kMachines:
      return state.FindMachine(meaning.machine)->name;
    case NodeMeaning::Kind::kAggregate:
      return "rack";
    case NodeMeaning::Kind::kUnscheduled:
      return "waiting";
    case NodeMeaning::Kind::kLevel:
      return "level";
    case NodeMeaning::Kind::kSink:
      return "sink";
  }
  return "";
}

std::string Draw(const NetworkLog::Pass& pass, const ClusterState& state) {
  std::string text = "\n";
  const NodeIndex sink = static_cast<NodeIndex>(
      std::ranges::find(pass.nodes, NodeMeaning::Kind::kSink,
                        &NodeMeaning::kind) -
      pass.nodes.begin());
  for (ArcIndex a = 0; a < pass.problem.arc_count(); ++a) {
    const FlowProblem::Arc& arc = pass.problem.arc(a);
    const std::string tail = NameOf(arc.tail, pass, state);
    const FlowUnits flow = pass.solution.flows[static_cast<size_t>(a)];
    std::string_view mark = ": ";
    std::string costs;
    for (const CostSegment& segment : pass.problem.segments(a)) {
      costs += StrCat(mark, segment.width, " at ", CostText(segment.cost));
      mark = ", ";
    }
    if (tail == "waiting") {
      EXPECT_EQ(costs.substr(costs.find(" at ")), " at 0");
      continue;
    }
    text += StrCat(tail, " -> ", NameOf(arc.head, pass, state), costs);
    if (arc.lower > 0) text += StrCat("; at least ", arc.lower);
    if (flow > 0 && arc.head == sink) text += StrCat("; flow ", flow);
    text += '\n';
  }
  return text + StrCat("cost ", CostText(pass.solution.objective), "\n");
}

// The first pass with all that waits.
std::string DrawWith(std::string_view policies) {
  TestScheduler scheduler({.network_arcs_max = 1000}, policies);
  Teach("shop", 1'000, &scheduler);
  Teach("batch", 20'000, &scheduler);
  AddMachines(&scheduler);
  TeachSpeeds(&scheduler);
  AddTasks(PolicySet::FromNames(policies)->BoundsOfJobs(), &scheduler);
  scheduler.Apply(
      ReportMachineUsage{"m2", {.net_rx_kb = 500, .net_tx_kb = 1000}},
      kMinuteMs);
  scheduler.Round(kMinuteMs);
  const NetworkLog& log = scheduler.scheduler().network_log();
  if (log.passes().empty()) return "nothing";
  return Draw(log.passes().front(), scheduler.state());
}

struct Expectation {
  std::string_view policy;
  std::string_view network;
};

constexpr Expectation kExpectations[] = {
    // m3 avoids the owner of shop.  All else costs nothing but a 128th for each
    // task that is there: two on m1, four on m2, none on m3.
    {"avoid_pods", R"(
1 of batch -> m1: 1 at 0
2 of shop -> m1: 2 at 0
m1 -> sink: 1 at 0+2, 1 at 0+3, 1 at 0+4; flow 2
1 of batch -> m2: 1 at 0
2 of shop -> m2: 2 at 0
m2 -> sink: 1 at 0+4, 1 at 0+5
1 of batch -> m3: 1 at 0
2 of shop -> m3: 2 at 8000000
m3 -> sink: 1 at 0, 1 at 0+1; flow 1
2 of shop -> waiting: 1 at 514560000, 1 at 517120000
1 of batch -> waiting: 1 at 514560000
cost 0+5
)"},
    // Each unit at the mean of its machine's, rounded down to a 128th:
    // m1: 3000 of 4000 free, then 2000, 1000:  (750 + 500 + 250) / 3 = 500
    // m2: 8000 and 2000 of 10000 free:  (800 + 200) / 2 = 500, then
    //     (700 + 100) / 2 = 400:  (500 + 400) / 2 = 450
    // m3, empty, 3000 and 4000 of 4000 free:  1000 + (750 + 1000) / 2 = 1875,
    //     then (500 + 750) / 2 = 625:  (1875 + 625) / 2 = 1250
    {"bin_packing", R"(
1 of batch -> m1: 1 at 0
2 of shop -> m1: 2 at 0
m1 -> sink: 3 at 500+3; flow 1
1 of batch -> m2: 1 at 0
2 of shop -> m2: 2 at 0
m2 -> sink: 2 at 450+4; flow 2
1 of batch -> m3: 1 at 0
2 of shop -> m3: 2 at 0
m3 -> sink: 2 at 1250
2 of shop -> waiting: 1 at 514560000, 1 at 517120000
1 of batch -> waiting: 1 at 514560000
cost 1400+11
)"},
    // A rabbit of shop runs on m1.  One that joins it minds it, and is minded:
    // 3000 x (20 + 20) = 120000, and as much again for each that came before.
    // The best that there could be for the devil of batch is 40, for being near
    // shop.  On m1 it has that, but minds and is minded, 40 - 100 - 100 = -160:
    // 3000 x (40 + 160) = 600000.  Elsewhere it misses 40:  3000 x 40 = 120000.
    {"coco", R"(
1 of batch -> m1: 1 at 600000
2 of shop -> m1: 1 at 120000, 1 at 240000
m1 -> sink: 1 at 0+2, 1 at 0+3, 1 at 0+4
1 of batch -> m2: 1 at 120000
2 of shop -> m2: 1 at 0, 1 at 120000
m2 -> sink: 1 at 0+4, 1 at 0+5; flow 1
1 of batch -> m3: 1 at 120000
2 of shop -> m3: 1 at 0, 1 at 120000
m3 -> sink: 1 at 0, 1 at 0+1; flow 2
2 of shop -> waiting: 1 at 514560000, 1 at 517120000
1 of batch -> waiting: 1 at 514560000
cost 120000+5
)"},
    // m1: 2000 + 1000 x 1000 / 4000 = 2250, and 1000 x 1000 / 4000 more each
    // m2: 2000 of 10000 cpu and 8000 of 10000 memory:  2000 + (200 + 800) / 2 +
    //     1000 x 0.3 x 0.3 = 2590, then 2000 + (300 + 900) / 2 + 90 = 2690
    // m3: 1000 of 4000 cpu are reserved:  2000 + (250 + 0) / 2 + 1000 x 0.125 x
    //     0.125 = 2140, then 2000 + (500 + 250) / 2 + 15 = 2390
    {"cpu_memory", R"(
1 of batch -> m1: 1 at 0
2 of shop -> m1: 2 at 0
m1 -> sink: 1 at 2250+2, 1 at 2500+3, 1 at 2750+4; flow 1
1 of batch -> m2: 1 at 0
2 of shop -> m2: 2 at 0
m2 -> sink: 1 at 2590+4, 1 at 2690+5
1 of batch -> m3: 1 at 0
2 of shop -> m3: 2 at 0
m3 -> sink: 1 at 2140, 1 at 2390+1; flow 2
2 of shop -> waiting: 1 at 514560000, 1 at 517120000
1 of batch -> waiting: 1 at 514560000
cost 6780+3
)"},
    // r1 is m1: 3000 x 1000 / 4000 of cpu and of memory, 1500, and as much
    // again
    //     for each
    // r2 is m2 and m3: 3000 x 2000 / 13000 + 3000 x 8000 / 14000 = 461 + 1714,
    //     then 692 + 1928, then 923 + 2142
    {"domain_spreading", R"(
1 of batch -> m1: 1 at 0
2 of shop -> m1: 2 at 0
m1 -> rack: 1 at 0+2, 1 at 0+3, 1 at 0+4
1 of batch -> m2: 1 at 0
2 of shop -> m2: 2 at 0
m2 -> rack: 1 at 0+4, 1 at 0+5
1 of batch -> m3: 1 at 0
2 of shop -> m3: 2 at 0
m3 -> rack: 1 at 0, 1 at 0+1
rack -> sink: 1 at 1500, 1 at 3000, 1 at 4500; flow 1
rack -> sink: 1 at 2175, 1 at 2620, 1 at 3065; flow 2
2 of shop -> waiting: 1 at 514560000, 1 at 517120000
1 of batch -> waiting: 1 at 514560000
cost 6295+3
)"},
    // One of each job in each rack.  A task of shop runs in r1, so that r2
    // lacks
    // one; of batch both lack one, and there is only one, which is for the
    // first.  The other of shop is for a pass of its own.  All else is as void
    // has it.
    {"job_bounds", R"(
1 of batch -> domain: 1 at 0; at least 1
1 of shop -> domain: 1 at 0
1 of batch -> domain: 1 at 0
1 of shop -> domain: 1 at 0; at least 1
domain -> m1: 1 at 0
domain -> m1: 1 at 0
m1 -> sink: 1 at 0+2, 1 at 0+3; flow 1
domain -> m2: 1 at 0
domain -> m2: 1 at 0
m2 -> sink: 1 at 0+4, 1 at 0+5
domain -> m3: 1 at 0
domain -> m3: 1 at 0
m3 -> sink: 1 at 0, 1 at 0+1; flow 1
1 of shop -> waiting: 1 at 517120000
1 of batch -> waiting: 1 at 514560000
cost 0+2
)"},
    // Siblings are told apart when what was placed is arranged: no arc differs
    // from those of void.
    {"job_spread", R"(
1 of batch -> m1: 1 at 0
2 of shop -> m1: 2 at 0
m1 -> sink: 1 at 0+2, 1 at 0+3, 1 at 0+4; flow 1
1 of batch -> m2: 1 at 0
2 of shop -> m2: 2 at 0
m2 -> sink: 1 at 0+4, 1 at 0+5
1 of batch -> m3: 1 at 0
2 of shop -> m3: 2 at 0
m3 -> sink: 1 at 0, 1 at 0+1; flow 2
2 of shop -> waiting: 1 at 514560000, 1 at 517120000
1 of batch -> waiting: 1 at 514560000
cost 0+3
)"},
    // 100 x the tasks and foreign pods: 2 on m1, 4 on m2, none on m3.
    {"load_spreading", R"(
1 of batch -> m1: 1 at 0
2 of shop -> m1: 2 at 0
m1 -> sink: 1 at 200+2, 1 at 300+3, 1 at 400+4; flow 1
1 of batch -> m2: 1 at 0
2 of shop -> m2: 2 at 0
m2 -> sink: 1 at 400+4, 1 at 500+5
1 of batch -> m3: 1 at 0
2 of shop -> m3: 2 at 0
m3 -> sink: 1 at 0, 1 at 100+1; flow 2
2 of shop -> waiting: 1 at 514560000, 1 at 517120000
1 of batch -> waiting: 1 at 514560000
cost 300+3
)"},
    // The mean request is 100 = (2 x 150 + 0) / 3.
    // m1: 100 of 1000 are asked for:  1000 x 100 / 1000 = 100, then 200, 300
    // m2: 500 and 1000 of 2000 were measured:
    //     1000 x (500 + 1000) / (2 x 2000) = 375, then
    //     1000 x (600 + 1100) / (2 x 2000) = 425
    // m3: 0, then 1000 x 100 / 400 = 250; its 400 take two of 150
    // shop asks for 50 more than the mean: 1000 x 50 / 1000 = 50 more on m1, 25
    // on m2, 125 on m3.  batch asks for 100 less: 100, 50 and 250 less.
    {"network_aware", R"(
1 of batch -> m1: 1 at -100
2 of shop -> m1: 2 at 50
m1 -> sink: 1 at 100+2, 1 at 200+3, 1 at 300+4; flow 2
1 of batch -> m2: 1 at -50
2 of shop -> m2: 2 at 25
m2 -> sink: 1 at 375+4, 1 at 425+5
1 of batch -> m3: 1 at -250
2 of shop -> m3: 2 at 125
m3 -> sink: 1 at 0, 1 at 250+1; flow 1
2 of shop -> waiting: 1 at 514560000, 1 at 517120000
1 of batch -> waiting: 1 at 514560000
cost 150+5
)"},
    // shop misses zone b on m1:  3000 x 20 = 60000, and the ssd on m2:
    // 3000 x 10 = 30000.
    {"node_affinity", R"(
1 of batch -> m1: 1 at 0
2 of shop -> m1: 2 at 60000
m1 -> sink: 1 at 0+2, 1 at 0+3, 1 at 0+4; flow 1
1 of batch -> m2: 1 at 0
2 of shop -> m2: 2 at 30000
m2 -> sink: 1 at 0+4, 1 at 0+5
1 of batch -> m3: 1 at 0
2 of shop -> m3: 2 at 0
m3 -> sink: 1 at 0, 1 at 0+1; flow 2
2 of shop -> waiting: 1 at 514560000, 1 at 517120000
1 of batch -> waiting: 1 at 514560000
cost 0+3
)"},
    // Only on m1 batch is near shop; elsewhere it misses 3000 x 40 = 120000.
    {"pod_affinity", R"(
1 of batch -> m1: 1 at 0
2 of shop -> m1: 2 at 0
m1 -> sink: 1 at 0+2, 1 at 0+3, 1 at 0+4; flow 1
1 of batch -> m2: 1 at 120000
2 of shop -> m2: 2 at 0
m2 -> sink: 1 at 0+4, 1 at 0+5
1 of batch -> m3: 1 at 120000
2 of shop -> m3: 2 at 0
m3 -> sink: 1 at 0, 1 at 0+1; flow 2
2 of shop -> waiting: 1 at 514560000, 1 at 517120000
1 of batch -> waiting: 1 at 514560000
cost 0+3
)"},
    // shop reads 4 GiB, 1 of them on m2 and 3 on m3, which are of one rack.
    // m1: 6000 x 4 = 24000, m2: 3000 x 3 = 9000, m3: 3000 x 1 = 3000
    // One of shop has waited for 60 s, so machines that cost 1500 x 60 more
    // than m3
    // will do: all.  batch, which has just come, goes only where its data is.
    {"quincy", R"(
1 of batch -> m1: 1 at 0
2 of shop -> m1: 2 at 24000
m1 -> sink: 1 at 0+2, 1 at 0+3, 1 at 0+4; flow 1
2 of shop -> m2: 2 at 9000
m2 -> sink: 1 at 0+4, 1 at 0+5
2 of shop -> m3: 2 at 3000
m3 -> sink: 1 at 0, 1 at 0+1; flow 2
2 of shop -> waiting: 1 at 514560000, 1 at 517120000
1 of batch -> waiting: 1 at 514560000
cost 6000+3
)"},
    // Seed, machine and tasks there, as in "1 m1 2", by FNV-1a modulo 1000:
    // 912, 123, 178 on m1, 919, 708 on m2, 656, 867 on m3.  The cheapest first.
    {"random", R"(
1 of batch -> m1: 1 at 0
2 of shop -> m1: 2 at 0
m1 -> sink: 1 at 123+3, 1 at 178+4, 1 at 912+2; flow 2
1 of batch -> m2: 1 at 0
2 of shop -> m2: 2 at 0
m2 -> sink: 1 at 708+5, 1 at 919+4
1 of batch -> m3: 1 at 0
2 of shop -> m3: 2 at 0
m3 -> sink: 1 at 656, 1 at 867+1; flow 1
2 of shop -> waiting: 1 at 514560000, 1 at 517120000
1 of batch -> waiting: 1 at 514560000
cost 957+7
)"},
    // shop ran for 1000 ms, batch for 20000.  Steps: 9, for 2^9 = 512, and 14,
    // for 2^14 = 16384; their mean is 11.5, rounded 12.
    // Factors:  2^(3 + 12 - 9) = 64 and 2^(3 + 12 - 14) = 2
    // shop:   512000000 + 64 x 2560000 = 675840000, and after a minute
    //         512000000 + 64 x 5120000 = 839680000
    // batch:  512000000 + 2 x 2560000 = 517120000
    {"sjf", R"(
1 of batch -> m1: 1 at 0
2 of shop -> m1: 2 at 0
m1 -> sink: 1 at 0+2, 1 at 0+3, 1 at 0+4; flow 1
1 of batch -> m2: 1 at 0
2 of shop -> m2: 2 at 0
m2 -> sink: 1 at 0+4, 1 at 0+5
1 of batch -> m3: 1 at 0
2 of shop -> m3: 2 at 0
m3 -> sink: 1 at 0, 1 at 0+1; flow 2
2 of shop -> waiting: 1 at 675840000, 1 at 839680000
1 of batch -> waiting: 1 at 517120000
cost 0+3
)"},
    // m2 has a PreferNoSchedule taint that batch tolerates and shop does not.
    {"taint", R"(
1 of batch -> m1: 1 at 0
2 of shop -> m1: 2 at 0
m1 -> sink: 1 at 0+2, 1 at 0+3, 1 at 0+4; flow 1
1 of batch -> m2: 1 at 0
2 of shop -> m2: 2 at 450000
m2 -> sink: 1 at 0+4, 1 at 0+5
1 of batch -> m3: 1 at 0
2 of shop -> m3: 2 at 0
m3 -> sink: 1 at 0, 1 at 0+1; flow 2
2 of shop -> waiting: 1 at 514560000, 1 at 517120000
1 of batch -> waiting: 1 at 514560000
cost 0+3
)"},
    // Three domains, each a machine:  60000 x ln(3 + 2) = 96566, and 96562 with
    // the logarithm in 1024ths, 1648, for each task of shop by which a machine
    // exceeds the emptiest.  One runs on m1.
    {"topology_spread", R"(
1 of batch -> m1: 1 at 0
2 of shop -> m1: 1 at 96562, 1 at 193124
m1 -> sink: 1 at 0+2, 1 at 0+3, 1 at 0+4
1 of batch -> m2: 1 at 0
2 of shop -> m2: 1 at 0, 1 at 96562
m2 -> sink: 1 at 0+4, 1 at 0+5; flow 1
1 of batch -> m3: 1 at 0
2 of shop -> m3: 1 at 0, 1 at 96562
m3 -> sink: 1 at 0, 1 at 0+1; flow 2
2 of shop -> waiting: 1 at 514560000, 1 at 517120000
1 of batch -> waiting: 1 at 514560000
cost 0+5
)"},
    // 2 wherever.
    {"trivial", R"(
1 of batch -> m1: 1 at 0
2 of shop -> m1: 2 at 0
m1 -> sink: 1 at 2+2, 1 at 2+3, 1 at 2+4; flow 1
1 of batch -> m2: 1 at 0
2 of shop -> m2: 2 at 0
m2 -> sink: 1 at 2+4, 1 at 2+5
1 of batch -> m3: 1 at 0
2 of shop -> m3: 2 at 0
m3 -> sink: 1 at 2, 1 at 2+1; flow 2
2 of shop -> waiting: 1 at 514560000, 1 at 517120000
1 of batch -> waiting: 1 at 514560000
cost 6+3
)"},
    // Nothing but the tasks that are there.
    {"void", R"(
1 of batch -> m1: 1 at 0
2 of shop -> m1: 2 at 0
m1 -> sink: 1 at 0+2, 1 at 0+3, 1 at 0+4; flow 1
1 of batch -> m2: 1 at 0
2 of shop -> m2: 2 at 0
m2 -> sink: 1 at 0+4, 1 at 0+5
1 of batch -> m3: 1 at 0
2 of shop -> m3: 2 at 0
m3 -> sink: 1 at 0, 1 at 0+1; flow 2
2 of shop -> waiting: 1 at 514560000, 1 at 517120000
1 of batch -> waiting: 1 at 514560000
cost 0+3
)"},
    // Of shop, 4 runs on m1 and on m2: a second for 4 and 5 thousand million
    // instructions, 250 and 200 ps for each.  So m1 takes 25 % longer, 5
    // twentieths:  75000 x 5 = 375000.  Three on m3 are too few to count.
    // Of batch 20 s for 100, 30 and 93:  200 ps on m1, 666.7 on m2, where more
    // than three times as long costs 3000000, and 215 on m3, 7.5 % longer, 1
    // twentieth.
    {"whare_map", R"(
1 of batch -> m1: 1 at 0
2 of shop -> m1: 2 at 375000
m1 -> sink: 1 at 0+2, 1 at 0+3, 1 at 0+4; flow 1
1 of batch -> m2: 1 at 3000000
2 of shop -> m2: 2 at 0
m2 -> sink: 1 at 0+4, 1 at 0+5
1 of batch -> m3: 1 at 75000
2 of shop -> m3: 2 at 0
m3 -> sink: 1 at 0, 1 at 0+1; flow 2
2 of shop -> waiting: 1 at 514560000, 1 at 517120000
1 of batch -> waiting: 1 at 514560000
cost 0+3
)"},
};

// In force alone, but for what charges what it says.
std::string AsAloneAsCanBe(const CostModelEntry& entry) {
  return StrCat(entry.name,
                entry.kind == CostKind::kInterference ? ",pod_affinity" : "");
}

TEST(PolicyNetworks, AreAsWorkedOutByHand) {
  for (const CostModelEntry& entry : CostModels()) {
    SCOPED_TRACE(entry.name);
    const auto* it =
        std::ranges::find(kExpectations, entry.name, &Expectation::policy);
    if (it == std::end(kExpectations)) {
      ADD_FAILURE() << "no expectation; work one out for\n"
                    << DrawWith(AsAloneAsCanBe(entry));
      continue;
    }
    EXPECT_EQ(DrawWith(AsAloneAsCanBe(entry)), it->network);
  }
}

}  // namespace
}  // namespace sluice
