#include "round/packing/packing_peers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "round/packing/running_classes.h"
#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/rules_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

PlacementRules AwayFrom(const std::string& job,
                        const std::string& topology = "host") {
  PlacementRules rules;
  rules.anti_affinity = {{TasksOfJob(job), topology}};
  return rules;
}

MachineOptions InZone(const std::string& zone) {
  return {.cpu = 1000, .labels = {{"zone", zone}}};
}

class PackingPeersTest : public ::testing::Test {
 protected:
  static ClusterBuilder Machines() {
    return ClusterBuilder()
        .Machine("m0", {.cpu = 1000, .labels = {{"host", "m0"}}})
        .Machine("m1", {.cpu = 1000, .labels = {{"host", "m1"}}});
  }
  const ClassKey& KeyOf(uint64_t uid) { return cluster_.TaskOf(uid).class_key; }
  MachineId Machine(const std::string& uuid) {
    return cluster_.state().FindMachine(uuid)->id;
  }
  void Place(uint64_t uid, const std::string& uuid) {
    cluster_.mutable_state().Place(TaskId(uid), Machine(uuid), 0);
  }
  // As far as tasks that wait are concerned.
  PackingPeers Peers() {
    cluster_.mutable_state().SyncPeers();
    return {cluster_.state(), cluster_.constraints(), {}, {}};
  }

  TestScheduler cluster_;
};

TEST_F(PackingPeersTest, KnowsWhoseTermsAreHeeded) {
  PlacementRules spread;
  spread.spread = {Spread(TasksOfJob("counted"), "host")};
  PlacementRules company;
  company.affinity = {{TasksOfJob("led"), "host"}};
  PlacementRules near;
  near.affinity = {{TasksOfJob("hub"), "zone"}};
  PlacementRules wish;
  wish.preferred_peers = {{10, {TasksOfJob("liked"), "host"}}};
  Machines()
      .Task(1, {.job = "plain"})
      .Task(2, {.job = "alone", .rules = AwayFrom("alone")})
      .Task(3, {.job = "far", .rules = AwayFrom("zoned", "zone")})
      .Task(4, {.job = "zoned"})
      .Task(5, {.job = "spread", .rules = spread})
      .Task(6, {.job = "counted"})
      .Task(7, {.job = "follower", .rules = company})
      .Task(8, {.job = "led", .rules = AwayFrom("led")})
      .Task(9, {.job = "fond", .rules = wish})
      .Task(10, {.job = "liked"})
      .Task(11, {.job = "near", .rules = near})
      .Task(12, {.job = "hub"})
      .ApplyTo(&cluster_);
  PackingPeers peers = Peers();
  std::vector<uint64_t> movable;
  for (uint64_t uid = 1; uid <= 12; ++uid) {
    if (peers.IsHeeded(KeyOf(uid))) movable.push_back(uid);
  }
  EXPECT_THAT(movable, ElementsAre(1, 2, 7, 8, 9, 10));
}

// Wishes make no problem larger.
TEST_F(PackingPeersTest, HeedsClassesWithWishesAloneEvenWhereTermsAreLeftOut) {
  PlacementRules wish;
  wish.preferred_peers = {{10, {TasksOfJob("liked"), "host"}}};
  wish.spread = {Spread(TasksOfJob("fond"), "host")};
  wish.spread[0].is_required = false;
  PlacementRules must;
  must.spread = {Spread(TasksOfJob("counted"), "host")};
  Machines()
      .Task(1, {.job = "fond", .rules = wish})
      .Task(2, {.job = "liked"})
      .Task(3, {.job = "spread", .rules = must})
      .Task(4, {.job = "counted"})
      .Task(5, {.job = "alone", .rules = AwayFrom("alone")})
      .Task(6, {.job = "kept away"})
      .Task(7, {.job = "shy", .rules = AwayFrom("kept away")})
      .ApplyTo(&cluster_);
  cluster_.mutable_state().SyncPeers();
  PackingPeers peers(cluster_.state(), cluster_.constraints(), {},
                     {.heeds_terms = false});
  std::vector<uint64_t> movable;
  for (uint64_t uid = 1; uid <= 7; ++uid) {
    if (peers.IsHeeded(KeyOf(uid))) movable.push_back(uid);
  }
  EXPECT_THAT(movable, ElementsAre(1, 2));
  // Once it runs it keeps others away, whether or not it waits.
  Place(7, "m0");
  PackingPeers after(cluster_.state(), cluster_.constraints(), {},
                     {.heeds_terms = false});
  EXPECT_FALSE(after.IsHeeded(KeyOf(6)));
}

TEST_F(PackingPeersTest, HeedsNoTermThatSomeMachineHasNoDomainFor) {
  Machines()
      .Machine("nowhere", {.cpu = 1000})
      .Task(1, {.job = "shy", .rules = AwayFrom("batch")})
      .Task(2, {.job = "batch"})
      .ApplyTo(&cluster_);
  PackingPeers peers = Peers();
  EXPECT_FALSE(peers.IsHeeded(KeyOf(1)));
  PackingProblem problem;
  problem.classes.resize(1);
  peers.Relate(std::vector<ClassKey>{KeyOf(1)}, &problem);
  EXPECT_GT(problem.classes[0].per_machine_max, 1) << "a bound leaves it out";
}

PlacementRules Near(const std::string& job) {
  PlacementRules rules;
  rules.affinity = {{TasksOfJob(job), "host"}};
  return rules;
}

TEST_F(PackingPeersTest, KnowsWhoNeedsWhomForCompany) {
  Machines()
      .Task(1, {.job = "follower", .rules = Near("led")})
      .Tasks(2, 3, {.job = "led"})
      .ApplyTo(&cluster_);
  Place(2, "m1");
  PackingPeers peers = Peers();
  const std::vector<ClassKey> keys = {KeyOf(1), KeyOf(3)};
  PackingProblem problem;
  problem.classes.resize(2);
  peers.Relate(keys, &problem);
  EXPECT_TRUE(problem.classes[0].needs_company);
  EXPECT_THAT(problem.classes[0].company, ElementsAre(1));
  EXPECT_FALSE(problem.classes[1].needs_company);
  EXPECT_THAT(peers.AccompaniedOn(Machine("m0")), IsEmpty());
  EXPECT_THAT(peers.AccompaniedOn(Machine("m1")), ElementsAre(0));
  EXPECT_TRUE(peers.TellsMachinesApart());
  // As if the one that is placed waited, too.
  PackingPeers anew = Peers();
  anew.NoteFreed(KeyOf(2), Machine("m1"));
  anew.Relate(keys, &problem);
  EXPECT_THAT(anew.AccompaniedOn(Machine("m1")), IsEmpty());
}

TEST_F(PackingPeersTest, HeedsChainsOfCompanyUnlessTheyEndInACircle) {
  PlacementRules zoned;
  zoned.affinity = {{TasksOfJob("hub"), "zone"}};
  Machines()
      .Task(1, {.job = "first", .rules = Near("second")})
      .Task(2, {.job = "second", .rules = Near("third")})
      .Task(3, {.job = "third"})
      .Task(4, {.job = "together", .rules = Near("together")})
      .Task(5, {.job = "zoned", .rules = zoned})
      .Task(6, {.job = "plain", .rules = Near("led")})
      .Task(7, {.job = "led"})
      .Task(8, {.job = "hub"})
      .Task(9, {.job = "round", .rules = Near("and round")})
      .Task(10, {.job = "and round", .rules = Near("round")})
      .Task(11, {.job = "drawn in", .rules = Near("round")})
      .ApplyTo(&cluster_);
  PackingPeers peers = Peers();
  std::vector<uint64_t> heeded;
  for (uint64_t uid = 1; uid <= 11; ++uid) {
    if (peers.IsHeeded(KeyOf(uid))) heeded.push_back(uid);
  }
  EXPECT_THAT(heeded, ElementsAre(1, 2, 3, 6, 7));
}

// A class that stays out keeps those out whom it needs, and whom these need.
TEST_F(PackingPeersTest, LeavesOutTheRestOfAChain) {
  PlacementRules zoned;
  zoned.affinity = {{TasksOfJob("second"), "zone"}};
  Machines()
      .Task(1, {.job = "first", .rules = zoned})
      .Task(2, {.job = "second", .rules = Near("third")})
      .Task(3, {.job = "third", .rules = Near("fourth")})
      .Task(4, {.job = "fourth"})
      .ApplyTo(&cluster_);
  PackingPeers peers = Peers();
  for (uint64_t uid = 1; uid <= 4; ++uid) {
    EXPECT_FALSE(peers.IsHeeded(KeyOf(uid))) << uid;
  }
}

TEST_F(PackingPeersTest, KeepsApartWhatMayShareNoMachine) {
  Machines()
      .Task(1, {.job = "alone", .rules = AwayFrom("alone")})
      .Task(2, {.job = "shy", .rules = AwayFrom("batch")})
      .Task(3, {.job = "batch"})
      .ApplyTo(&cluster_);
  PackingPeers peers = Peers();
  PackingProblem problem;
  problem.classes.resize(3);
  peers.Relate(std::vector<ClassKey>{KeyOf(1), KeyOf(2), KeyOf(3)}, &problem);
  EXPECT_EQ(problem.classes[0].per_machine_max, 1);
  EXPECT_THAT(problem.classes[0].apart_from, IsEmpty());
  EXPECT_THAT(problem.classes[1].apart_from, ElementsAre(2));
  EXPECT_THAT(problem.classes[2].apart_from, ElementsAre(1));
}

TEST_F(PackingPeersTest, HasADomainTakeOneOfThoseThatKeepAwayFromEachOther) {
  const PlacementRules rules = AwayFrom("service-*", "zone");
  ClusterBuilder()
      .Machine("m0", InZone("a"))
      .Machine("m1", InZone("b"))
      .Machine("m2", InZone("a"))
      .Machine("nowhere", {.cpu = 1000})
      .Task(1, {.cpu = 100, .job = "service-1", .rules = rules})
      .Task(2, {.cpu = 200, .job = "service-2", .rules = rules})
      .Task(3, {.cpu = 300, .job = "plain"})
      .ApplyTo(&cluster_);
  PackingPeers peers = Peers();
  EXPECT_TRUE(peers.IsHeeded(KeyOf(1)));
  PackingProblem problem;
  problem.classes.resize(3);
  peers.Relate(std::vector<ClassKey>{KeyOf(1), KeyOf(2), KeyOf(3)}, &problem);
  ASSERT_EQ(problem.caps.size(), 2u);
  for (const PackingCap& cap : problem.caps) {
    EXPECT_THAT(cap.classes, ElementsAre(0, 1));
    EXPECT_EQ(cap.most, 1);
  }
  EXPECT_THAT(peers.CapsOn(Machine("m0")), SizeIs(1));
  EXPECT_EQ(peers.CapsOn(Machine("m0")), peers.CapsOn(Machine("m2")));
  EXPECT_NE(peers.CapsOn(Machine("m0")), peers.CapsOn(Machine("m1")));
  EXPECT_THAT(peers.CapsOn(Machine("nowhere")), IsEmpty());
}

TEST_F(PackingPeersTest, HasTheCapsOfASpreadRiseTogether) {
  PlacementRules rules;
  rules.spread = {Spread(TasksOfJob("web"), "zone")};
  ClusterBuilder()
      .Machine("m0", InZone("a"))
      .Machine("m1", InZone("b"))
      .Machine("nowhere", {.cpu = 1000})
      .Tasks(1, 6, {.cpu = 100, .job = "web", .rules = rules})
      .ApplyTo(&cluster_);
  Place(1, "m0");
  PackingPeers peers = Peers();
  EXPECT_TRUE(peers.IsHeeded(KeyOf(2)));
  PackingProblem problem;
  problem.classes.resize(1);
  problem.classes[0].waiting = {{5, 1}};
  peers.Relate(std::vector<ClassKey>{KeyOf(2)}, &problem);
  ASSERT_EQ(problem.spreads.size(), 1u);
  EXPECT_EQ(problem.spreads[0].rise_max, 3) << "six over two zones";
  EXPECT_THAT(problem.spreads[0].ahead, ElementsAre(1, 0));
  EXPECT_EQ(problem.caps[0].most, 0);
  EXPECT_EQ(problem.caps[1].most, 1);
  EXPECT_THAT(peers.KeptAwayFrom(Machine("nowhere")), ElementsAre(0));
  // Room is kept for one in the other zone, which may not come.
  cluster_.mutable_state().Nominate({6}, Machine("m1"));
  PackingPeers awaiting = Peers();
  PackingProblem kept;
  kept.classes.resize(1);
  kept.classes[0].waiting = {{4, 1}};
  awaiting.Relate(std::vector<ClassKey>{KeyOf(2)}, &kept);
  EXPECT_THAT(kept.spreads[0].ahead, ElementsAre(1, 0));
  EXPECT_EQ(kept.caps[1].most, 0);
  cluster_.mutable_state().EndNomination({6});
  // As if the one that is placed waited, too.
  PackingPeers anew = Peers();
  anew.NoteFreed(KeyOf(1), Machine("m0"));
  PackingProblem whole;
  whole.classes.resize(1);
  whole.classes[0].waiting = {{6, 1}};
  anew.Relate(std::vector<ClassKey>{KeyOf(2)}, &whole);
  EXPECT_THAT(whole.spreads[0].ahead, ElementsAre(0, 0));
  EXPECT_EQ(whole.caps[0].most, 1);
}

TEST_F(PackingPeersTest,
       CountsWhatRunsForASpreadWhereItsDomainHoldsNotTooMany) {
  PlacementRules rules;
  rules.spread = {Spread(TasksOfJob("web"), "zone")};
  ClusterBuilder()
      .Machine("m0", InZone("a"))
      .Machine("m1", InZone("b"))
      .Machine("m2", InZone("c"))
      .Tasks(1, 6, {.cpu = 100, .job = "web", .rules = rules})
      .Task(7, {.job = "other"})
      .ApplyTo(&cluster_);
  for (const uint64_t uid : {1, 2, 3}) Place(uid, "m0");
  Place(4, "m1");
  Place(5, "m2");
  PackingPeers peers = Peers();
  EXPECT_TRUE(peers.IsHeeded(KeyOf(6)));
  EXPECT_FALSE(peers.HeedsWhatRuns(KeyOf(6))) << "a holds too many";
  EXPECT_TRUE(peers.Concerns(KeyOf(1)));
  EXPECT_TRUE(peers.IsCounted(KeyOf(1)));
  EXPECT_FALSE(peers.IsCounted(KeyOf(7)));
  PackingProblem problem;
  problem.classes.resize(2);
  problem.classes[0].waiting = {{1, 1}};
  peers.Relate(std::vector<ClassKey>{KeyOf(6)}, &problem);
  peers.RelateRunning(std::vector<ClassKey>{KeyOf(6)},
                      std::vector<ClassKey>{KeyOf(1)}, {}, &problem);
  ASSERT_EQ(problem.caps.size(), 3u);
  EXPECT_THAT(problem.caps[0].classes, ElementsAre(0));
  EXPECT_THAT(problem.caps[1].classes, ElementsAre(0, 1));
  // As if one ran on each machine, and the others could not be stopped.
  problem.groups = {{{}, 1, 0, {}, peers.CapsOn(Machine("m0"))},
                    {{}, 1, 0, {}, peers.CapsOn(Machine("m1"))},
                    {{}, 1, 0, {}, peers.CapsOn(Machine("m2"))}};
  problem.staying = {{{1, 1}}};
  CountRunningInSpreads(&problem);
  EXPECT_THAT(problem.spreads[0].ahead, ElementsAre(2, -1, -1));
  EXPECT_EQ(problem.caps[0].most, 0);
  EXPECT_EQ(problem.caps[1].most, 2) << "the skew, and the one that runs";
  Place(6, "m1");
  EXPECT_FALSE(Peers().HeedsWhatRuns(KeyOf(6)));
}

TEST_F(PackingPeersTest, HasNoSpreadWhereNoMachineIsInADomain) {
  PlacementRules rules;
  rules.spread = {Spread(TasksOfJob("web"), "rack")};
  Machines()
      .Tasks(1, 2, {.cpu = 100, .job = "web", .rules = rules})
      .ApplyTo(&cluster_);
  PackingPeers peers = Peers();
  EXPECT_TRUE(peers.IsHeeded(KeyOf(1)));
  PackingProblem problem;
  problem.classes.resize(1);
  peers.Relate(std::vector<ClassKey>{KeyOf(1)}, &problem);
  EXPECT_THAT(problem.spreads, IsEmpty());
  EXPECT_THAT(peers.KeptAwayFrom(Machine("m0")), ElementsAre(0));
}

TEST_F(PackingPeersTest, TellsConstraintsOverTheSameDomainsApart) {
  PlacementRules two;
  two.spread = {Spread(TasksOfJob("web"), "zone", 1),
                Spread(TasksOfJob("web"), "zone", 5)};
  two.spread[0].is_required = false;
  PlacementRules both = AwayFrom("alone", "zone");
  both.spread = {Spread(TasksOfJob("alone"), "zone", 2)};
  ClusterBuilder()
      .Machine("m0", InZone("a"))
      .Machine("m1", InZone("b"))
      .Machine("m2", InZone("b"))
      .Task(1, {.cpu = 100, .job = "web", .rules = two})
      .Task(2, {.cpu = 100, .job = "alone", .rules = both})
      .ApplyTo(&cluster_);
  PackingPeers peers = Peers();
  EXPECT_TRUE(peers.IsHeeded(KeyOf(1))) << "its wish is none of this";
  EXPECT_TRUE(peers.IsHeeded(KeyOf(2)));
  PackingProblem problem;
  problem.classes.resize(2);
  problem.classes[0].waiting = {{6, 1}};
  problem.classes[1].waiting = {{1, 1}};
  peers.Relate(std::vector<ClassKey>{KeyOf(1), KeyOf(2)}, &problem);
  std::vector<std::pair<size_t, int64_t>> caps;  // Of the first domain.
  for (const size_t cap : peers.CapsOn(Machine("m0"))) {
    caps.emplace_back(problem.caps[cap].classes[0], problem.caps[cap].most);
  }
  EXPECT_THAT(caps, UnorderedElementsAre(Pair(0, 5), Pair(1, 1), Pair(1, 2)));
}

TEST_F(PackingPeersTest, KeepsAwayFromThoseThatStayAndNotFromThoseThatLeave) {
  Machines()
      .Task(1, {.cpu = 100, .job = "shy", .rules = AwayFrom("batch")})
      .Tasks(2, 3, {.cpu = 100, .job = "batch"})
      .Task(5, {.cpu = 100, .job = "shy", .rules = AwayFrom("batch")})
      .ApplyTo(&cluster_);
  Place(2, "m0");
  Place(3, "m0");
  Place(5, "m1");
  PackingPeers peers = Peers();
  peers.NoteFreed(KeyOf(2), Machine("m0"));
  PackingProblem problem;
  problem.classes.resize(2);
  const std::vector<ClassKey> keys = {KeyOf(1), KeyOf(4)};
  peers.Relate(keys, &problem);
  EXPECT_THAT(peers.KeptAwayFrom(Machine("m0")), ElementsAre(0));
  EXPECT_THAT(peers.KeptAwayFrom(Machine("m1")), ElementsAre(1));
  PackingPeers once_all_leave = Peers();
  once_all_leave.NoteFreed(KeyOf(2), Machine("m0"));
  once_all_leave.NoteFreed(KeyOf(3), Machine("m0"));
  once_all_leave.NoteFreed(KeyOf(5), Machine("m1"));
  once_all_leave.Relate(keys, &problem);
  EXPECT_THAT(once_all_leave.KeptAwayFrom(Machine("m0")), IsEmpty());
  EXPECT_THAT(once_all_leave.KeptAwayFrom(Machine("m1")), IsEmpty());
}

}  // namespace
}  // namespace sluice
