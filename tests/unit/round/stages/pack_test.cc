#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "round/context/round_context.h"
#include "round/stages/stage.h"
#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/rules_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

constexpr int64_t kMinuteMs = 60000;

class PackTest : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  // Places the task as a pass would have.
  void Place(uint64_t uid, std::string_view uuid) {
    cluster_.eligibility();  // Learns the rules of what waits.
    cluster_.mutable_state().Place({uid},
                                   cluster_.state().FindMachine(uuid)->id, 0);
  }
  void Start(int64_t now_ms = 0) {
    context_.emplace(
        RoundContext::Subject{cluster_.mutable_state(), cluster_.policies(),
                              cluster_.constraints(),
                              cluster_.scheduler().eligibility()},
        options_, now_ms);
    context_->delta_begin = 0;  // All that is placed is of this round.
    stats_ = RoundStats();
    context_->stats = &stats_;
  }
  void Run(const std::unique_ptr<Stage>& stage) {
    if (stage == nullptr) return;
    while (const std::optional<RoundWork> work = stage->Next()) {
      stage->Finish(cluster_.Solve(*work));
    }
    context_->TakeOver(stage->End());
  }
  // Packs all tiers and carries that out.
  void Pack(int64_t now_ms = 0) {
    Start(now_ms);
    Run(MakePack(&*context_));
    for (const uint32_t priority : {2, 1, 0}) {
      Tier tier = {.priority = priority};
      Run(MakeCarryOut(&*context_, tier));
    }
  }
  void DoAppraise() {
    Start();
    Run(MakeAppraise(&*context_));
  }
  // A gang of two with these priorities stands where only the large task fits.
  void PackGangAndALargeTask(const std::array<uint32_t, 2>& priorities) {
    ClusterBuilder()
        .Machine("large", {.cpu = 900})
        .Machine("small", {.cpu = 400})
        .ApplyTo(&cluster_);
    for (uint64_t uid = 1; const uint32_t priority : priorities) {
      cluster_.Apply(
          Submitted(uid++, {.cpu = 200, .priority = priority, .job = "gang"},
                    {.gang = {.minimum = 2}}));
    }
    cluster_.Apply(Submitted(3, {.cpu = 900}));
    Place(1, "large");
    Place(2, "large");
    Pack();
    EXPECT_EQ(On(1), "small");
    EXPECT_EQ(On(2), "small");
    EXPECT_EQ(On(3), "large");
  }
  std::string On(uint64_t uid) { return cluster_.MachineOf(uid); }

  TestScheduler cluster_;
  RoundOptions options_;
  RoundStats stats_;
  std::optional<RoundContext> context_;
};

TEST_F(PackTest, GivesTheRoomOfOneTaskToTwo) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Task(1, {.cpu = 900})
      .Tasks(2, 2, {.cpu = 500})
      .ApplyTo(&cluster_);
  Place(1, "m");
  Pack();
  EXPECT_EQ(On(1), "");
  EXPECT_EQ(On(2), "m");
  EXPECT_EQ(On(3), "m");
  EXPECT_EQ(stats_.placed, 1);  // Two more, one less.
  EXPECT_EQ(context_->appraisal->cost, context_->appraisal->bound);
}

MachineOptions InZone(const std::string& zone, int64_t cpu) {
  return {.cpu = cpu, .labels = {{"zone", zone}}};
}

PlacementRules SpreadOverZones() {
  PlacementRules rules;
  rules.spread = {Spread(TasksOfJob("web"), "zone")};
  return rules;
}

// One of the job runs in the first zone: none may join it there before one is
// in the second.
TEST_F(PackTest, PlacesWhatHasToWaitForADomainToRise) {
  const PlacementRules rules = SpreadOverZones();
  ClusterBuilder()
      .Machine("a", InZone("a", 1000))
      .Machine("b", InZone("b", 1400))
      .Task(1, {.cpu = 300, .job = "web", .rules = rules})
      .ApplyTo(&cluster_);
  Place(1, "a");
  cluster_.Deliver();
  ClusterBuilder()
      .Tasks(2, 3, {.cpu = 700, .job = "web", .rules = rules})
      .Task(5, {.cpu = 1400})
      .ApplyTo(&cluster_);
  Place(5, "b");
  Pack();
  EXPECT_EQ(On(5), "");
  for (const uint64_t uid : {2, 3, 4}) EXPECT_NE(On(uid), "") << uid;
}

// Of different priorities, but the zones rise only together.
TEST_F(PackTest, PlacesAllOfASpreadWithTheMostUrgent) {
  const PlacementRules rules = SpreadOverZones();
  ClusterBuilder()
      .Machine("a", InZone("a", 500))
      .Machine("b", InZone("b", 600))
      .ApplyTo(&cluster_);
  // The large ones fit only in the second zone, after small ones in the first.
  cluster_.Apply(
      Submitted(1, {.cpu = 300, .priority = 2, .job = "web", .rules = rules}));
  cluster_.Apply(
      Submitted(2, {.cpu = 300, .priority = 2, .job = "web", .rules = rules}));
  cluster_.Apply(
      Submitted(3, {.cpu = 250, .priority = 1, .job = "web", .rules = rules}));
  cluster_.Apply(
      Submitted(4, {.cpu = 250, .priority = 1, .job = "web", .rules = rules}));
  Place(1, "a");
  Pack();
  for (const uint64_t uid : {1, 2}) EXPECT_EQ(On(uid), "b") << uid;
  for (const uint64_t uid : {3, 4}) EXPECT_EQ(On(uid), "a") << uid;
}

// A gang of two waits, since the passes placed a task that is worth less.
TEST_F(PackTest, StartsAGangInThePlaceOfATask) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Task(1, {.cpu = 600})
      .ApplyTo(&cluster_);
  for (const uint64_t uid : {2, 3}) {
    cluster_.Apply(
        Submitted(uid, {.cpu = 500, .job = "gang"}, {.gang = {.minimum = 2}}));
  }
  Place(1, "m");
  Pack();
  EXPECT_EQ(On(1), "");
  EXPECT_EQ(On(2), "m");
  EXPECT_EQ(On(3), "m");
}

// Three tasks are worth more than a gang of two that was started before.
TEST_F(PackTest, TakesAGangBackForWhatIsWorthMore) {
  ClusterBuilder().Machine("m", {.cpu = 900}).ApplyTo(&cluster_);
  for (const uint64_t uid : {1, 2}) {
    cluster_.Apply(
        Submitted(uid, {.cpu = 450, .job = "gang"}, {.gang = {.minimum = 2}}));
  }
  ClusterBuilder().Tasks(3, 3, {.cpu = 300}).ApplyTo(&cluster_);
  Place(1, "m");
  Place(2, "m");
  Pack();
  for (const uint64_t uid : {1, 2}) EXPECT_EQ(On(uid), "") << uid;
  for (const uint64_t uid : {3, 4, 5}) EXPECT_EQ(On(uid), "m") << uid;
}

PlacementRules Beside(const std::string& job) {
  PlacementRules rules;
  rules.affinity = {{TasksOfJob(job), "host"}};
  return rules;
}
PlacementRules BesideLeader() { return Beside("leader"); }

// The leader stands where none of those fits who need it; they are more urgent,
// but can only go after it.
TEST_F(PackTest, PutsLessUrgentCompanyWhereOthersNeedIt) {
  ClusterBuilder()
      .Machine("small", {.cpu = 200, .labels = {{"host", "small"}}})
      .Machine("large", {.cpu = 1000, .labels = {{"host", "large"}}})
      .Task(1, {.cpu = 200, .job = "leader"})
      .ApplyTo(&cluster_);
  for (const uint64_t uid : {2, 3}) {
    cluster_.Apply(Submitted(uid, {.cpu = 400,
                                   .priority = 2,
                                   .job = "follower",
                                   .rules = BesideLeader()}));
  }
  Place(1, "small");
  Pack();
  for (const uint64_t uid : {1, 2, 3}) EXPECT_EQ(On(uid), "large") << uid;
  EXPECT_EQ(context_->appraisal->cost, context_->appraisal->bound);
}

// Each may go only once those are there whom it needs, whatever its priority.
TEST_F(PackTest, PutsChainsOfCompanyTogether) {
  ClusterBuilder()
      .Machine("small", {.cpu = 500, .labels = {{"host", "small"}}})
      .Machine("large", {.cpu = 700, .labels = {{"host", "large"}}})
      .Task(1, {.cpu = 200, .job = "leader"})
      .Task(2, {.cpu = 200, .job = "middle", .rules = BesideLeader()})
      .Task(
          3,
          {.cpu = 300, .priority = 2, .job = "last", .rules = Beside("middle")})
      .ApplyTo(&cluster_);
  Place(1, "small");
  Place(2, "small");
  Pack();
  for (const uint64_t uid : {1, 2, 3}) EXPECT_EQ(On(uid), "large") << uid;
  EXPECT_EQ(context_->appraisal->cost, context_->appraisal->bound);
}

// Of several machines that are alike those with a leader get followers.
TEST_F(PackTest, PutsThoseWhoNeedCompanyOnlyWhereItIs) {
  ClusterBuilder cluster;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    cluster.Machine(name, {.cpu = 1000, .labels = {{"host", name}}});
  }
  cluster.Tasks(1, 2, {.cpu = 200, .job = "leader"})
      .Tasks(3, 4, {.cpu = 400, .job = "follower", .rules = BesideLeader()})
      .ApplyTo(&cluster_);
  Place(1, "a");
  Place(2, "a");
  Pack();
  EXPECT_NE(On(1), On(2));
  for (uint64_t uid = 3; uid <= 6; ++uid) {
    EXPECT_TRUE(On(uid) == On(1) || On(uid) == On(2)) << uid;
  }
}

// Tasks of two sizes, which are counted together.
TEST_F(PackTest, PlacesClassesOfOneSpreadInTheOrderInWhichDomainsRise) {
  const PlacementRules rules = SpreadOverZones();
  ClusterBuilder()
      .Machine("a", InZone("a", 700))
      .Machine("b", InZone("b", 600))
      .Task(1, {.cpu = 300, .job = "web", .rules = rules})
      .Tasks(2, 5, {.cpu = 200, .job = "web", .rules = rules})
      .Task(7, {.cpu = 700})
      .ApplyTo(&cluster_);
  Place(7, "a");
  Pack();
  EXPECT_EQ(On(7), "");
  for (uint64_t uid = 1; uid <= 6; ++uid) EXPECT_NE(On(uid), "") << uid;
}

TEST_F(PackTest, LeavesAloneWhatIsAsGoodAsCanBe) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Task(1, {.cpu = 600})
      .Task(2, {.cpu = 600})
      .ApplyTo(&cluster_);
  Place(1, "m");
  Pack();
  EXPECT_EQ(On(1), "m");
  EXPECT_EQ(stats_.withdrawn, 0);
}

TEST_F(PackTest, AsksForNothingWhereNothingCouldBeBetter) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Task(1, {.cpu = 600})
      .Task(2, {.cpu = 2000})
      .ApplyTo(&cluster_);
  Place(1, "m");
  Pack();
  EXPECT_EQ(stats_.packings, 0) << "the other task fits nowhere at all";
}

TEST_F(PackTest, GivesTheRoomToTheOlderTask) {
  cluster_.Apply(Added("m", {.cpu = 1000}), 0);
  cluster_.Apply(Submitted(1, {.cpu = 600}), 0);
  cluster_.Apply(Submitted(2, {.cpu = 600}), kMinuteMs);
  Place(2, "m");
  Pack(kMinuteMs);
  EXPECT_EQ(On(1), "m");
}

TEST_F(PackTest, KeepsAnOldTaskThatIsDearerThanTwoNewOnes) {
  cluster_.Apply(Added("m", {.cpu = 1000}), 0);
  cluster_.Apply(Submitted(1, {.cpu = 1000}), 0);
  cluster_.Apply(Submitted(2, {.cpu = 500}), 2 * kMinuteMs);
  cluster_.Apply(Submitted(3, {.cpu = 500}), 2 * kMinuteMs);
  Place(1, "m");
  Pack(2 * kMinuteMs);
  EXPECT_EQ(On(1), "m");
}

TEST_F(PackTest, LeavesWhatAClientWasTold) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Machine("n", {.cpu = 1000})
      .Tasks(1, 2, {.cpu = 900})
      .Tasks(3, 4, {.cpu = 500})
      .ApplyTo(&cluster_);
  Place(1, "m");
  cluster_.Deliver();
  Place(2, "n");
  Pack();
  EXPECT_EQ(On(1), "m");
  EXPECT_EQ(On(2), "");
}

// The large task of priority 1 goes where the small one leaves it room, and
// then both of priority 0 fit.
TEST_F(PackTest, DecidesOnAllPrioritiesTogether) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Machine("n", {.cpu = 600})
      .Task(1, {.cpu = 400, .priority = 1})
      .Task(2, {.cpu = 900})
      .ApplyTo(&cluster_);
  Place(1, "m");
  Pack();
  EXPECT_EQ(On(1), "n");
  EXPECT_EQ(On(2), "m");
  EXPECT_EQ(context_->appraisal->cost, PackingCost());
}

TEST_F(PackTest, GivesTheRoomOfAnyNumberToOneOfHigherPriority) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Tasks(1, 9, {.cpu = 100})
      .Task(10, {.cpu = 1000, .priority = 1})
      .ApplyTo(&cluster_);
  for (uint64_t uid = 1; uid <= 9; ++uid) Place(uid, "m");
  Pack();
  EXPECT_EQ(On(10), "m");
  EXPECT_EQ(On(1), "");
  EXPECT_EQ(context_->appraisal->bound, context_->appraisal->cost);
}

TEST_F(PackTest, LeavesTasksAloneThatDependOnOthers) {
  PlacementRules rules;
  rules.anti_affinity = {{TasksOfJob("other"), "zone"}};
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Task(1, {.cpu = 900, .rules = rules})
      .Tasks(2, 2, {.cpu = 500, .job = "other"})
      .ApplyTo(&cluster_);
  Place(1, "m");
  Pack();
  EXPECT_EQ(On(1), "m");
  EXPECT_FALSE(context_->appraisal.has_value()) << "it leaves out a task";
}

// A gang that has started may move, and stays whole whatever that displaces.
TEST_F(PackTest, MovesAGangThatStartedAndKeepsItWhole) {
  PackGangAndALargeTask({0, 0});
}

TEST_F(PackTest, MovesAGangOfSeveralPrioritiesAsAWhole) {
  PackGangAndALargeTask({1, 2});
}

TEST_F(PackTest, DoesNothingWithoutABudget) {
  options_.improve_budget = 0;
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Task(1, {.cpu = 900})
      .Tasks(2, 2, {.cpu = 500})
      .ApplyTo(&cluster_);
  Place(1, "m");
  Pack();
  EXPECT_EQ(On(1), "m");
}

// Where the wish of weight 100 is met that of weight 1 is not.
TEST_F(PackTest, MeetsTheStrongerWishWhateverTheSizes) {
  const auto wish = [](int32_t weight) {
    PlacementRules rules;
    rules.preferred = {{weight, {{LabelIn("gpu", {"yes"})}, {}}}};
    return rules;
  };
  ClusterBuilder()
      .Machine("gpu", {.cpu = 4000, .labels = {{"gpu", "yes"}}})
      .Machine("plain", {.cpu = 4000})
      .Task(1, {.cpu = 4000, .rules = wish(1)})
      .Task(2, {.cpu = 1000, .rules = wish(100)})
      .ApplyTo(&cluster_);
  Place(1, "gpu");
  Place(2, "plain");
  Pack();
  EXPECT_EQ(On(1), "plain");
  EXPECT_EQ(On(2), "gpu");
}

TEST_F(PackTest, SpreadsLoadOverMachinesThatThePlanNeedsNot) {
  PlacementRules rules;
  rules.preferred = {{50, {{LabelIn("disk", {"ssd"})}, {}}}};
  ClusterBuilder()
      .Machines("ssd", 4, {.cpu = 8000, .labels = {{"disk", "ssd"}}})
      .Machine("hdd", {.cpu = 8000})
      .Tasks(1, 8, {.cpu = 1000, .rules = rules})
      .ApplyTo(&cluster_);
  for (uint64_t uid = 1; uid <= 8; ++uid) Place(uid, "hdd");
  Pack();
  for (const std::string uuid : {"ssd0", "ssd1", "ssd2", "ssd3"}) {
    EXPECT_EQ(cluster_.state().FindMachine(uuid)->tasks.size(), 2u) << uuid;
  }
}

TEST_F(PackTest, AppraisesWhatCouldNotBePlacedAtAll) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Tasks(1, 3, {.cpu = 2000})
      .ApplyTo(&cluster_);
  DoAppraise();
  const Appraisal& found = *context_->appraisal;
  EXPECT_GT(found.cost.waiting[0], 0);
  EXPECT_EQ(found.bound, found.cost);
  EXPECT_EQ(stats_.packings, 0);
}

TEST_F(PackTest, AppraisesWhatCouldBeBetter) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Task(1, {.cpu = 900})
      .Tasks(2, 2, {.cpu = 500})
      .ApplyTo(&cluster_);
  DoAppraise();
  const Appraisal& found = *context_->appraisal;
  ASSERT_TRUE(found.bound.has_value());
  EXPECT_EQ(3 * found.bound->waiting[0], found.cost.waiting[0]);
  EXPECT_EQ(stats_.packings, 1);
}

}  // namespace
}  // namespace sluice
