// Whole rounds, by what each domain gets of tasks of which it should have some
// at least (DomainMinimum).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/strings.h"
#include "explain/explanation.h"
#include "sluice/flow/problem.h"
#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/rules_builder.h"
#include "util/seed_count.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::HasSubstr;

constexpr uint32_t kLow = 2;
constexpr uint32_t kHigh = 9;

using Counts = std::map<std::string, int>;

class MinimumsTest : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }

  static PlacementRules AtLeast(int32_t count, const std::string& app,
                                const std::string& topology = "zone") {
    return {.minimums = {{{App(app), topology}, count}}};
  }
  void Machine(const std::string& uuid, int64_t cpu, const std::string& zone) {
    cluster_.Apply(
        Added(uuid, {.cpu = cpu, .labels = {{"host", uuid}, {"zone", zone}}}));
  }
  // Tasks from this uid on, of one app, which is their job, too.
  void Submit(uint64_t first, int count, const std::string& app,
              const PlacementRules& rules = {}, int64_t cpu = 1000,
              uint32_t priority = kLow) {
    for (int i = 0; i < count; ++i) {
      cluster_.Apply(Submitted(first + static_cast<uint64_t>(i),
                               {.cpu = cpu,
                                .priority = priority,
                                .job = "job-" + app,
                                .labels = {{"app", app}},
                                .rules = rules},
                               {}));
    }
  }
  // Of the app's tasks that run, by zone (or another label).
  Counts CountsOf(std::string_view app, std::string_view label = "zone") const {
    Counts counts;
    for (const auto& [id, machine] : cluster_.state().machines()) {
      for (const TaskId task : machine->tasks) {
        if (cluster_.state().FindTask(task)->name.empty() ||
            cluster_.state()
                    .FindJob(cluster_.state().FindTask(task)->job)
                    ->name != StrCat("job-", app)) {
          continue;
        }
        ++counts[*machine->FindLabel(std::string(label))];
      }
    }
    return counts;
  }
  // Begins a round.  Returns the lower bounds of its first pass, ascending.
  std::vector<FlowUnits> LowerBounds() {
    std::vector<FlowUnits> bounds;
    cluster_.scheduler().StartRound(/*now_ms=*/1);
    problem_ = cluster_.NextProblem();
    for (ArcIndex arc = 0; arc < problem_->arc_count(); ++arc) {
      if (problem_->arc(arc).lower > 0) {
        bounds.push_back(problem_->arc(arc).lower);
      }
    }
    std::ranges::sort(bounds);
    return bounds;
  }

  // Goes on with it; returns what became of the pass.
  SolveOutcome Finish() {
    const FlowSolution solution = cluster_.SolveFlow(*problem_);
    cluster_.scheduler().FinishStep(solution);
    cluster_.FinishRound();
    cluster_.Deliver();
    return solution.outcome;
  }

  TestScheduler cluster_;
  std::optional<FlowProblem> problem_;
};

TEST_F(MinimumsTest, EachDomainGetsItsShareWhateverItCosts) {
  Machine("a", 64000, "a");
  Machine("b", 64000, "b");
  PlacementRules likes_a;
  likes_a.preferred = {{100, {.labels = {LabelIn("zone", {"a"})}}}};
  Submit(10, 4, "plain", likes_a);
  PlacementRules rules = AtLeast(2, "web");
  rules.preferred = likes_a.preferred;
  Submit(20, 5, "web", rules);
  cluster_.Reply(1);
  EXPECT_EQ(CountsOf("plain"), (Counts{{"a", 4}}));
  EXPECT_EQ(CountsOf("web"), (Counts{{"a", 3}, {"b", 2}}));
}

TEST_F(MinimumsTest, TheyAreLowerBoundsOfTheNetwork) {
  for (const char* zone : {"a", "b", "c"}) {
    Machine(StrCat(zone, 1), 4000, zone);
    Machine(StrCat(zone, 2), 4000, zone);
  }
  Submit(1, 9, "web", AtLeast(2, "web"));
  EXPECT_EQ(LowerBounds(), (std::vector<FlowUnits>{2, 2, 2}));
  EXPECT_EQ(Finish(), SolveOutcome::kOptimal);
  const Counts counts = CountsOf("web");
  EXPECT_EQ(counts.size(), 3u);
  for (const auto& [zone, count] : counts) EXPECT_GE(count, 2) << zone;
}

TEST_F(MinimumsTest, WhoAsksForThemComesBeforeOthersOfThePriority) {
  Machine("a", 8000, "a");
  Machine("b", 1000, "b");
  // They have waited longer, and are as large.
  Submit(1, 9, "plain");
  Submit(20, 1, "web", AtLeast(1, "web"));
  Submit(21, 1, "web", AtLeast(1, "web"));
  cluster_.Reply(3'600'000);
  EXPECT_EQ(CountsOf("web"), (Counts{{"a", 1}, {"b", 1}}));
  EXPECT_EQ(CountsOf("plain"), (Counts{{"a", 7}}));
}

TEST_F(MinimumsTest, WhatIsMoreUrgentComesFirst) {
  Machine("a", 8000, "a");
  Machine("b", 1000, "b");
  Submit(1, 1, "urgent", {.selectors = {LabelIn("host", {"b"})}}, 1000, kHigh);
  Submit(20, 2, "web", AtLeast(1, "web"));
  cluster_.Reply(1);
  // Nobody waits for what cannot be.
  EXPECT_EQ(CountsOf("web"), (Counts{{"a", 2}}));
  EXPECT_EQ(cluster_.scheduler().round_stats().unmet_minimums, 1);
}

// Where both cannot be met the round asks for as much as can be.
TEST_F(MinimumsTest, WhatContradictsEachOtherLosesNoRound) {
  Machine("a", 8000, "a");
  Machine("b", 1000, "b");
  Submit(1, 2, "db", AtLeast(1, "db"));
  Submit(11, 2, "web", AtLeast(1, "web"));
  EXPECT_EQ(LowerBounds(), (std::vector<FlowUnits>{1, 1, 1, 1}));
  EXPECT_EQ(Finish(), SolveOutcome::kInfeasible);
  Counts both = CountsOf("web");
  for (const auto& [zone, count] : CountsOf("db")) both[zone] += count;
  EXPECT_EQ(both, (Counts{{"a", 3}, {"b", 1}}));
}

TEST_F(MinimumsTest, TooFewTasksRiseLikeWater) {
  for (const char* zone : {"a", "b", "c"}) Machine(zone, 8000, zone);
  Submit(1, 1, "web", AtLeast(2, "web"));
  cluster_.Reply(1);
  Submit(2, 2, "web", AtLeast(2, "web"));
  cluster_.Reply(2);
  EXPECT_EQ(CountsOf("web"), (Counts{{"a", 1}, {"b", 1}, {"c", 1}}));
  Submit(4, 3, "web", AtLeast(2, "web"));
  cluster_.Reply(3);
  EXPECT_EQ(CountsOf("web"), (Counts{{"a", 2}, {"b", 2}, {"c", 2}}));
}

TEST_F(MinimumsTest, ADomainThatLostSomeIsFilledUp) {
  for (const char* zone : {"a", "b"}) Machine(zone, 8000, zone);
  Submit(1, 4, "web", AtLeast(2, "web"));
  cluster_.Reply(1);
  for (uint64_t uid = 1; uid <= 4; ++uid) {
    if (cluster_.MachineOf(uid) == "b") cluster_.Apply(Removed(uid));
  }
  Submit(11, 2, "web", AtLeast(2, "web"));
  cluster_.Reply(2);
  EXPECT_EQ(CountsOf("web"), (Counts{{"a", 2}, {"b", 2}}));
}

TEST_F(MinimumsTest, OnEveryMachine) {
  Machine("big", 64000, "a");
  for (const char* host : {"m1", "m2", "m3"}) Machine(host, 2000, "a");
  Submit(1, 5, "agent", AtLeast(1, "agent", ""));
  cluster_.Reply(1);
  Counts counts = CountsOf("agent", "host");
  EXPECT_EQ(counts.size(), 4u);
}

// Two classes that share one fill it up together.
TEST_F(MinimumsTest, ClassesThatShareOne) {
  for (const char* zone : {"a", "b", "c"}) Machine(zone, 8000, zone);
  Submit(1, 2, "web", AtLeast(1, "web"), 1000);
  Submit(11, 1, "web", AtLeast(1, "web"), 900);
  cluster_.Reply(1);
  EXPECT_EQ(CountsOf("web"), (Counts{{"a", 1}, {"b", 1}, {"c", 1}}));
}

// Preferences, packing and the search for something better leave them alone.
TEST_F(MinimumsTest, NothingMovesThemForAPreference) {
  Machine("a", 8000, "a");
  Machine("b", 8000, "b");
  PlacementRules rules = AtLeast(1, "web");
  rules.preferred = {{100, {.labels = {LabelIn("zone", {"a"})}}}};
  Submit(1, 3, "web", rules);
  Submit(11, 12, "plain", {.preferred = rules.preferred});
  cluster_.Reply(1);
  EXPECT_EQ(CountsOf("web").size(), 2u);
}

// Machines that are alike are one node, and get as many each.
TEST_F(MinimumsTest, OnMachinesThatAreAlike) {
  for (const char* host : {"m1", "m2", "m3", "m4"}) Machine(host, 8000, "a");
  Submit(1, 1, "first", AtLeast(1, "first"));
  Submit(11, 8, "web", AtLeast(2, "web", ""));
  EXPECT_EQ(LowerBounds(), (std::vector<FlowUnits>{1, 8}));
  EXPECT_EQ(Finish(), SolveOutcome::kOptimal);
  EXPECT_EQ(CountsOf("web", "host"),
            (Counts{{"m1", 2}, {"m2", 2}, {"m3", 2}, {"m4", 2}}));
}

// Machines are filled one after the other, but not for these.
TEST_F(MinimumsTest, OnEveryMachineWithBinPacking) {
  TestScheduler cluster({}, "bin_packing");
  ClusterBuilder()
      .Machines("m", 6, {.cpu = 8000, .memory = 8000})
      .Tasks(1, 12,
             {.cpu = 500,
              .job = "agent",
              .rules = {.minimums = {{{TasksOfJob("agent"), ""}, 1}}}})
      .ApplyTo(&cluster);
  cluster.Reply(1);
  for (const auto& [id, machine] : cluster.state().machines()) {
    EXPECT_FALSE(machine->tasks.empty()) << machine->name;
  }
}

// It has less than the others, which are alike.
TEST_F(MinimumsTest, TheEmptiestMachineComesFirst) {
  for (const char* host : {"m1", "m2", "m3"}) Machine(host, 8000, "a");
  const auto on = [](const char* host) {
    return PlacementRules{.selectors = {LabelIn("host", {host})}};
  };
  Submit(1, 1, "web", on("m1"));
  Submit(2, 1, "web", on("m2"));
  Submit(3, 1, "other", on("m3"), 4000);
  cluster_.Reply(1);
  Submit(11, 2, "web", AtLeast(2, "web", ""));
  cluster_.Reply(2);
  EXPECT_EQ(CountsOf("web", "host")["m3"], 1);
}

// Each of them sees where the leader went only in the pass after that.
TEST_F(MinimumsTest, OfTasksThatFollowOthers) {
  for (const char* zone : {"a", "b", "c"}) {
    Machine(StrCat(zone, 1), 8000, zone);
    Machine(StrCat(zone, 2), 8000, zone);
    Submit(*zone, 1, "db", {.selectors = {LabelIn("zone", {zone})}});
  }
  PlacementRules rules = AtLeast(1, "web");
  rules.affinity = {{App("db"), "zone"}};
  rules.preferred = {{100, {.labels = {LabelIn("zone", {"a"})}}}};
  Submit(1, 3, "web", rules);
  cluster_.Reply(1);
  EXPECT_EQ(CountsOf("web"), (Counts{{"a", 1}, {"b", 1}, {"c", 1}}));
}

// One with a minimum may not stay in the way of something more urgent.
TEST_F(MinimumsTest, NothingMoreUrgentWaitsForThem) {
  cluster_.Apply(
      Added("m0", {.cpu = 1000, .memory = 8000, .labels = {{"zone", "a"}}}));
  cluster_.Apply(
      Added("m1", {.cpu = 2000, .memory = 2000, .labels = {{"zone", "b"}}}));
  const auto submit = [&](uint64_t uid, int64_t cpu, int64_t memory,
                          uint32_t priority, const std::string& app,
                          const PlacementRules& rules) {
    cluster_.Apply(Submitted(uid,
                             {.cpu = cpu,
                              .memory = memory,
                              .priority = priority,
                              .job = "job-" + app,
                              .labels = {{"app", app}},
                              .rules = rules},
                             {}));
  };
  submit(7, 250, 1000, 13, "first", {});
  submit(11, 250, 1000, 13, "first", {});
  submit(12, 1000, 2000, 12, "urgent", AtLeast(1, "urgent"));
  submit(10, 1000, 1000, 11, "web", AtLeast(2, "web"));
  submit(13, 1000, 1000, 11, "web", AtLeast(2, "web"));
  cluster_.Reply(1);
  EXPECT_NE(cluster_.MachineOf(12), "");
}

TEST_F(MinimumsTest, WhatIsLackingIsCountedOnceForAllWhoAsk) {
  Machine("a", 1000, "a");
  Machine("b", 8000, "b");
  Submit(1, 1, "full", {.selectors = {LabelIn("zone", {"a"})}}, 1000, kHigh);
  cluster_.Reply(1);
  // In two priorities, and the most that any of them asks for.
  Submit(11, 1, "web", AtLeast(1, "web"));
  Submit(12, 1, "web", AtLeast(3, "web"), 1000, kHigh);
  cluster_.Reply(2);
  EXPECT_EQ(cluster_.scheduler().round_stats().unmet_minimums, 3 + 1);
}

TEST_F(MinimumsTest, ExplainSaysWhatIsLacking) {
  Machine("a", 8000, "a");
  Machine("b", 1000, "b");
  Submit(1, 1, "urgent", {.selectors = {LabelIn("host", {"b"})}}, 1000, kHigh);
  Submit(20, 9, "web", AtLeast(1, "web"));
  cluster_.Reply(1);
  uint64_t waiting = 0;
  for (uint64_t uid = 20; uid < 29; ++uid) {
    if (cluster_.MachineOf(uid).empty()) waiting = uid;
  }
  ASSERT_NE(waiting, 0u);
  EXPECT_THAT(
      Explain(cluster_.TaskOf(waiting), cluster_.scheduler(), 2).summary,
      HasSubstr("; too few of app=web of namespace ns: of the 1 that "
                "it should have, zone=b has 0"));
}

// With room for all each domain has what it should, in lives with everything.
TEST_F(MinimumsTest, AreMetWhereThereIsRoom) {
  const uint64_t seeds = SeedCount(60);
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Rng rng(seed);
    TestScheduler cluster;
    const auto zones = static_cast<int>(rng.Between(2, 4));
    for (int m = 0; m < 3 * zones; ++m) {
      cluster.Apply(
          Added(StrCat("m", m),
                {.cpu = 16000, .labels = {{"zone", StrCat("z", m % zones)}}}));
    }
    uint64_t uid = 1;
    std::map<std::string, int32_t> least;
    for (int app = 0; app < 3; ++app) {
      const std::string name = StrCat("app", app);
      const auto at_least = static_cast<int32_t>(rng.Between(1, 3));
      least[name] = at_least;
      PlacementRules rules = {.minimums = {{{App(name), "zone"}, at_least}}};
      if (rng.Between(0, 1) == 1) {
        rules.preferred = {{100, {.labels = {LabelIn("zone", {"z0"})}}}};
      }
      const int64_t count = at_least * zones + rng.Between(0, 4);
      for (int64_t i = 0; i < count; ++i) {
        cluster.Apply(
            Submitted(uid++,
                      {.cpu = 500 * rng.Between(1, 2),
                       .priority = static_cast<uint32_t>(rng.Between(0, 1)),
                       .job = name,
                       .labels = {{"app", name}},
                       .rules = rules},
                      {}));
      }
    }
    cluster.Reply(1);
    for (const auto& [name, at_least] : least) {
      std::map<std::string, int32_t> counts;
      for (const auto& [id, machine] : cluster.state().machines()) {
        for (const TaskId task : machine->tasks) {
          const Job* job =
              cluster.state().FindJob(cluster.state().FindTask(task)->job);
          if (job->name == name) ++counts[*machine->FindLabel("zone")];
        }
      }
      ASSERT_EQ(std::ssize(counts), zones);
      for (const auto& [zone, count] : counts) {
        EXPECT_GE(count, at_least) << name << " in " << zone;
      }
    }
    ASSERT_EQ(FindContradiction(cluster.state()), "");
  }
}

}  // namespace
}  // namespace sluice
