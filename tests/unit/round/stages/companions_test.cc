// Classes that wait for each other, in rounds.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "unit/round/preemption_fixture.h"
#include "util/seed_count.h"

namespace sluice {
namespace {

using testing::AnyOf;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class CompanionsTest : public PreemptionFixture {
 protected:
  // Each of these apps must be near the next one, and the last near the first.
  void SubmitCircle(const std::vector<std::string>& apps,
                    const std::string& topology = "zone", Size size = {}) {
    for (size_t i = 0; i < apps.size(); ++i) {
      Submit(++last_uid_, apps[i], kLow,
             Near(apps[(i + 1) % apps.size()], topology), size);
    }
  }

  uint64_t last_uid_ = 0;
};

TEST_F(CompanionsTest, StartInOneDomainOrNotAtAll) {
  Machine("a", 1000, "y");
  Machine("b", 1000, "z");
  SubmitCircle({"web", "db"});
  EXPECT_THAT(Reply(), IsEmpty());
  Machine("c", 1000, "z");
  EXPECT_THAT(Reply(),
              AnyOf(UnorderedElementsAre("PLACE 1 on b", "PLACE 2 on c"),
                    UnorderedElementsAre("PLACE 1 on c", "PLACE 2 on b")));
}

TEST_F(CompanionsTest, ShareAMachineWhereTheyMust) {
  Machine("a", 1000);
  Machine("b", 2000);
  SubmitCircle({"web", "db"}, "host");
  EXPECT_THAT(Reply(), UnorderedElementsAre("PLACE 1 on b", "PLACE 2 on b"));
}

TEST_F(CompanionsTest, AreFollowedByTheRestOfTheirClasses) {
  Machine("a", 3000, "y");
  Machine("b", 2000, "z");
  Machine("c", 2000, "z");
  for (int i = 0; i < 2; ++i) SubmitCircle({"web", "db"});
  EXPECT_THAT(ReplyInTheEnd(), SizeIs(4));
  for (const uint64_t uid : {1, 2, 3, 4}) {
    EXPECT_NE(cluster_.MachineOf(uid), "a") << "has no room for all of them";
  }
}

TEST_F(CompanionsTest, MayBeMoreThanTwo) {
  Machine("a", 2000);
  SubmitCircle({"web", "db", "cache"});
  EXPECT_THAT(Reply(), IsEmpty());
  Machine("b", 1000);
  EXPECT_THAT(Reply(), SizeIs(3));
}

TEST_F(CompanionsTest, HeedWhoKeepsAway) {
  Machine("a", 5000, "y");
  Machine("b", 3000, "z");
  Run(11, "hermit", kHigh, On("a", AwayFrom("db")));
  last_uid_ = 0;
  SubmitCircle({"web", "db"});
  EXPECT_THAT(Reply(), UnorderedElementsAre("PLACE 1 on b", "PLACE 2 on b"));
}

TEST_F(CompanionsTest, WaitForALeaderThatIsToComeFirst) {
  Machine("a", 4000);
  Submit(11, "db", kLow);
  SubmitCircle({"web", "db"});
  EXPECT_THAT(ReplyInTheEnd(), SizeIs(3));
}

TEST_F(CompanionsTest, StartAsOneGangInADomainForAllOfIt) {
  Machine("a", 2000, "y");
  Machine("b", 2000, "z");
  const auto submit = [this](uint64_t uid, const std::string& app,
                             const std::string& other) {
    TaskOptions task = {.cpu = 1000, .job = "gang", .labels = {{"app", app}}};
    task.rules = Near(other);
    cluster_.Apply(Submitted(uid, task, {.gang = {.minimum = 3}}));
  };
  submit(1, "web", "db");
  submit(2, "db", "web");
  submit(3, "db", "web");
  EXPECT_THAT(Reply(), IsEmpty());
  Machine("c", 1000, "z");
  EXPECT_THAT(Reply(), SizeIs(3));
  for (const uint64_t uid : {1, 2, 3}) EXPECT_NE(cluster_.MachineOf(uid), "a");
}

// Each machine has room for one pair only.
TEST_F(CompanionsTest, StartAsOneGangInSeveralDomainsWhereNoneHasRoomForAll) {
  const auto submit = [this](const std::string& app, const std::string& other) {
    TaskOptions task = {.cpu = 700, .job = "gang", .labels = {{"app", app}}};
    task.rules = Near(other, "host");
    cluster_.Apply(Submitted(++last_uid_, task, {.gang = {.minimum = 6}}));
  };
  for (int i = 0; i < 3; ++i) {
    submit("web", "db");
    submit("db", "web");
  }
  for (const char* machine : {"a", "b"}) Machine(machine, 1500);
  EXPECT_THAT(Reply(), IsEmpty());
  Machine("c", 1500);
  EXPECT_THAT(Reply(), SizeIs(6));
}

// Two circles, of which the first takes what the second is about.
TEST_F(CompanionsTest, MayShareAClass) {
  Machine("m", 4000);
  Submit(1, "b", kLow, Near("a", "host"));
  Submit(2, "a", kLow, Near("b"), {.cpu = 300});
  Submit(3, "a", kLow, Near("b"), {.cpu = 100});
  EXPECT_THAT(ReplyInTheEnd(), SizeIs(3));
}

TEST_F(CompanionsTest, AreTriedInEveryWayToCloseACircle) {
  Machine("m", 4000);
  Submit(1, "b", kHigh, On("nowhere", Near("d")));
  Submit(2, "b", kLow, Near("d"), {.cpu = 500});
  Submit(3, "d", kLow, Near("b"));
  EXPECT_THAT(ReplyInTheEnd(), SizeIs(2));
}

TEST_F(CompanionsTest, StartWhereNoneHasRoomNearOneThatRuns) {
  Machine("full", 1000);
  const TaskOptions lone = {
      .cpu = 1000, .job = "lone", .labels = {{"app", "c"}}};
  cluster_.Apply(Submitted(1, lone, PeerOptions()));
  ASSERT_THAT(Reply(), SizeIs(1));
  Machine("m", 4000);
  Submit(2, "c", kLow, Near("a", "host"));
  Submit(3, "a", kLow, Near("c", "host"));
  EXPECT_THAT(ReplyInTheEnd(),
              UnorderedElementsAre("PLACE 2 on m", "PLACE 3 on m"));
}

// Tasks of one app in two sizes, all of which are to be together.
TEST_F(CompanionsTest, BeginNoSecondGroupOfTheirOwnKind) {
  Machine("full", 1000);
  Run(1, "app", kHigh, Near("app", "host"));
  Machine("m", 4000);
  Submit(2, "app", kHigh, Near("app", "host"), {.cpu = 300});
  Submit(3, "app", kHigh, Near("app", "host"), {.cpu = 100});
  EXPECT_THAT(ReplyInTheEnd(), IsEmpty());
}

TEST_F(CompanionsTest, BeginNoSecondGroupOfJobsThatRun) {
  Machine("full", 2000, "y");
  SubmitCircle({"web", "db"});
  ASSERT_THAT(Reply(), SizeIs(2));
  Machine("m", 4000, "z");
  SubmitCircle({"web", "db"});
  EXPECT_THAT(ReplyInTheEnd(), IsEmpty());
}

TEST_F(CompanionsTest, MayBeOfAGangThatIsLessUrgent) {
  Machine("m", 4000);
  Submit(1, "a", kLow, Near("b"), {.cpu = 1000, .gang = 1});
  Submit(2, "b", kHigh, Near("a"));
  EXPECT_THAT(ReplyInTheEnd(), SizeIs(2));
}

TEST_F(CompanionsTest, AreAllPlacedInTheEndHoweverMany) {
  for (int i = 0; i < 20; ++i) {
    Machine(StrCat("m", i), 100'000, StrCat("z", i % 4));
  }
  constexpr int kPairs = 600;
  for (int i = 0; i < kPairs; ++i) {
    SubmitCircle({StrCat("a", i), StrCat("b", i)}, "zone", {.cpu = 10});
  }
  size_t placed = 0;
  for (int i = 0; i < 40; ++i) placed += Reply().size();
  EXPECT_EQ(placed, 2U * kPairs);
}

// Beside every place that there is.
TEST_F(CompanionsTest, StartWhereverThatIsPossible) {
  int started = 0;
  for (uint64_t seed = 1; seed <= SeedCount(300); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    TestScheduler cluster;
    struct Made {
      int64_t cpu;
      std::string zone;
    };
    std::map<std::string, Made> machines;
    for (int i = 0; i < 4; ++i) {
      const std::string uuid = StrCat("m", i);
      const Made made{rng.Between(1, 4) * 100, StrCat("z", rng.Below(2))};
      machines[uuid] = made;
      cluster.Apply(Added(
          uuid,
          {.cpu = made.cpu, .labels = {{"host", uuid}, {"zone", made.zone}}}));
    }
    const int64_t cpu[] = {rng.Between(1, 4) * 100, rng.Between(1, 4) * 100};
    const std::string topologies[] = {rng.Chance(1, 2) ? "zone" : "host",
                                      rng.Chance(1, 2) ? "zone" : "host"};
    const char* const apps[] = {"web", "db"};
    for (const uint64_t i : {0, 1}) {
      TaskOptions task = {.cpu = cpu[i], .job = apps[i]};
      task.labels = {{"app", apps[i]}};
      task.rules.affinity = {{App(apps[1 - i]), topologies[i]}};
      cluster.Apply(Submitted(i + 1, task, PeerOptions()));
    }
    const bool is_by_host = topologies[0] == "host" || topologies[1] == "host";
    bool is_possible = false;
    for (const auto& [a, on_a] : machines) {
      for (const auto& [b, on_b] : machines) {
        if (a != b && (is_by_host || on_a.zone != on_b.zone)) continue;
        is_possible |= a == b ? cpu[0] + cpu[1] <= on_a.cpu
                              : cpu[0] <= on_a.cpu && cpu[1] <= on_b.cpu;
      }
    }
    ASSERT_EQ(cluster.Reply(1).size(), is_possible ? 2U : 0U);
    ASSERT_EQ(FindContradiction(cluster.state()), "");
    started += is_possible ? 1 : 0;
  }
  EXPECT_GT(started, static_cast<int>(SeedCount(300)) / 4);
}

}  // namespace
}  // namespace sluice
