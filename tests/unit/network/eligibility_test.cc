#include "network/eligibility.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "cost/policy_set.h"
#include "util/cluster_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class EligibilityTest : public testing::Test {
 protected:
  // The uuids of the machines that the task may use.
  std::vector<std::string> MachinesFor(uint64_t uid) {
    Eligibility& eligibility = cluster_.eligibility();
    std::vector<std::string> uuids;
    const PlacementRules& rules = *cluster_.TaskOf(uid).class_key.rules;
    const auto kinds = eligibility.KindsFor(rules);
    for (const auto& [id, machine] : cluster_.state().machines()) {
      const KindId kind = eligibility.KindOf(*machine);
      bool is_listed = false;
      for (const Eligibility::Kind& one : kinds) {
        if (one.id == kind) uuids.push_back(machine->uuid);
        is_listed = is_listed || one.id == kind;
      }
      EXPECT_EQ(eligibility.Allows(rules, *machine),
                is_listed && machine->IsUsable());
      EXPECT_EQ(eligibility.MaskFor(rules)[static_cast<size_t>(kind)],
                is_listed);
    }
    return uuids;
  }
  EligibilityCounters counters() const {
    return cluster_.scheduler().eligibility().counters();
  }
  TestScheduler cluster_;
};

TEST_F(EligibilityTest, ListsTheKindsThatAreAllowedAndWhatTheyCost) {
  ClusterBuilder()
      .Machine("a", {.labels = {{"disk", "ssd"}}})
      .Machine("b", {.taints = {NoSchedule("k")}})
      .Machine("c", {})
      .Task(1,
            {.rules = {.preferred = {{2, {.labels = {LabelExists("disk")}}}}}})
      .ApplyTo(&cluster_);
  EXPECT_THAT(MachinesFor(1), ElementsAre("a", "c"));
  std::map<KindId, Cost> preferences;
  for (const auto& [kind, preference] :
       cluster_.eligibility().KindsFor(*cluster_.TaskOf(1).class_key.rules)) {
    preferences[kind] = preference;
  }
  const auto preference_on = [&](std::string_view uuid) {
    return preferences.at(
        cluster_.eligibility().KindOf(*cluster_.state().FindMachine(uuid)));
  };
  EXPECT_EQ(preference_on("a"), 0);
  EXPECT_EQ(preference_on("c"), 6000);
}

TEST_F(EligibilityTest, FollowsMachinesThatAreDescribedAnew) {
  cluster_.Apply(Added("a", {}));
  cluster_.Apply(Submitted(1, {.rules = {.selectors = {LabelExists("disk")}}}));
  EXPECT_THAT(MachinesFor(1), IsEmpty());
  cluster_.Apply(Updated("a", {.labels = {{"disk", "ssd"}}}));
  EXPECT_THAT(MachinesFor(1), ElementsAre("a"));
  cluster_.Apply(
      Updated("a", {.labels = {{"disk", "ssd"}}, .taints = {NoExecute("k")}}));
  EXPECT_THAT(MachinesFor(1), IsEmpty());
}

// A thousand machines, each with a name and a host label of its own.
TEST_F(EligibilityTest, AsksOnceForMachinesThatNoRulesTellApart) {
  for (int i = 0; i < 1000; ++i) {
    cluster_.Apply(
        Added(StrCat("m", i),
              {.labels = {{"host", StrCat("m", i)}, {"zone", StrCat(i % 2)}}}));
  }
  cluster_.Apply(
      Submitted(1, {.rules = {.selectors = {LabelIn("zone", {"1"})}}}));
  EXPECT_EQ(MachinesFor(1).size(), 500u);
  const int64_t evaluations = counters().evaluations;
  EXPECT_LE(evaluations, 10);
  cluster_.Apply(Updated("m7", {.labels = {{"host", "x"}, {"zone", "0"}}}));
  EXPECT_EQ(MachinesFor(1).size(), 499u);
  EXPECT_EQ(counters().evaluations, evaluations) << "such a kind was known";
}

// Each of a thousand tasks names its machine, by a label or by the name.
TEST_F(EligibilityTest, AsksAboutNamedMachinesAlone) {
  constexpr int kCount = 1000;
  for (int i = 0; i < kCount; ++i) {
    const std::string uuid = StrCat("m", i);
    cluster_.Apply(Added(uuid, {.labels = {{"host", uuid}}}));
    TaskOptions options;
    if (i % 3 == 0) {
      options.rules.selectors = {LabelIn("host", {uuid})};
    } else if (i % 3 == 1) {
      options.rules.required = {{.labels = {LabelIn("host", {uuid})}}};
    } else {
      options.rules.required = {{.fields = {NameIs(uuid)}}};
    }
    cluster_.Apply(Submitted(static_cast<uint64_t>(i), options));
  }
  for (const uint64_t uid : {0, 1, 2, 500, 999}) {
    EXPECT_THAT(MachinesFor(uid), ElementsAre(StrCat("m", uid)));
  }
  cluster_.Round();
  EXPECT_EQ(cluster_.state().pending_count(), 0);
  EXPECT_LE(counters().evaluations, 5 * kCount);
}

TEST_F(EligibilityTest, ForgetsRulesThatNoTaskHas) {
  cluster_.Apply(Added("a", {}));
  cluster_.Apply(Submitted(1, {.rules = {.selectors = {LabelExists("disk")}}}));
  MachinesFor(1);
  cluster_.Apply(Removed(1));
  cluster_.Round();
  cluster_.Apply(Submitted(2, {.rules = {.selectors = {LabelExists("gpu")}}}));
  EXPECT_THAT(MachinesFor(2), IsEmpty());
  cluster_.Apply(Updated("a", {.labels = {{"gpu", "1"}}}));
  EXPECT_THAT(MachinesFor(2), ElementsAre("a"));
}

// Tasks with data are held back from where it is far, by how long they waited.
class HeldBackTest : public EligibilityTest {
 protected:
  HeldBackTest() { cluster_.mutable_state().SetNeeds({.data = true}); }
};

TEST_F(HeldBackTest, KeepsToMachinesThatExist) {
  const PolicySet policies = *PolicySet::FromNames("quincy");
  Eligibility eligibility(cluster_.constraints(), policies);
  PlacementRules reads;
  reads.data = {.bytes = int64_t{1} << 30,
                .on_machines = {{"a", int64_t{1} << 30}}};
  ClusterBuilder()
      .Machine("a", {})
      .Machine("b", {})
      .Task(1, {.rules = reads})
      .ApplyTo(&cluster_);
  ClusterState& state = cluster_.mutable_state();
  const auto count = [&](int64_t now_ms) {
    eligibility.StartRound(&state);
    eligibility.HoldBack(&state, now_ms);
    eligibility.Refresh(&state);
    return eligibility.KindsFor(*cluster_.TaskOf(1).class_key.rules).size();
  };
  EXPECT_EQ(count(0), 1u);
  EXPECT_EQ(count(3999), 1u);
  EXPECT_EQ(count(4000), 2u);
  EXPECT_EQ(count(-1), 1u) << "the clock was set back";
  cluster_.Apply(Removed("a"));
  count(0);
  EXPECT_TRUE(eligibility.Allows(*cluster_.TaskOf(1).class_key.rules,
                                 *state.FindMachine("b")))
      << "none is nearer any more";
}

// A task that reads next to nothing waits for no taint, label or owner.
TEST_F(HeldBackTest, KeepsNobodyFromWhatOtherPoliciesChargeFor) {
  const PolicySet policies =
      *PolicySet::FromNames("avoid_pods,node_affinity,quincy,taint");
  Eligibility eligibility(cluster_.constraints(), policies);
  PlacementRules reads;
  reads.data = {.bytes = 1 << 20, .on_machines = {{"a", 1 << 20}}};
  ClusterBuilder()
      .Machine("a", {})
      .Machine("b", {.taints = {{"slow", "", TaintEffect::kPreferNoSchedule}}})
      .Task(1, {.rules = reads})
      .ApplyTo(&cluster_);
  ClusterState& state = cluster_.mutable_state();
  eligibility.StartRound(&state);
  eligibility.HoldBack(&state, 10);
  eligibility.Refresh(&state);
  EXPECT_TRUE(eligibility.Allows(*cluster_.TaskOf(1).class_key.rules,
                                 *state.FindMachine("b")))
      << "5 points from the data, and 450,000 for a taint";
}

// What is charged where by how fast a kind of work runs.
class SpeedsTest : public testing::Test {
 protected:
  SpeedsTest() {
    ClusterBuilder()
        .Machine("a", {.cpu = 4000})
        .Machine("b", {.cpu = 8000})
        .Task(1, {.cpu = 1, .binary = "/bin/a"})
        .Task(2, {.cpu = 1, .binary = "/bin/b"})
        .Task(3, {.cpu = 2, .binary = "/bin/a"})
        .ApplyTo(&cluster_);
  }
  Cost PreferenceOf(uint64_t uid, const char* uuid) {
    const PlacementRules& rules = *cluster_.TaskOf(uid).class_key.rules;
    const Machine& machine = *cluster_.state().FindMachine(uuid);
    Eligibility& eligibility = cluster_.eligibility();
    const Cost cost = eligibility.PreferenceCost(rules, machine);
    for (const Eligibility::Kind& kind : eligibility.KindsFor(rules)) {
      if (kind.id != eligibility.KindOf(machine)) continue;
      EXPECT_EQ(kind.preference, cost);
    }
    return cost;
  }
  // A task of the kind takes so long for as much.
  void Run(const char* binary, const char* uuid, int64_t run_ms) {
    ClusterState& state = cluster_.mutable_state();
    cluster_.Apply(Submitted(9, {.binary = binary}));
    state.Place({9}, state.FindMachine(uuid)->id, 0);
    cluster_.Deliver();
    cluster_.Apply(CompleteTask{{9}, run_ms, 1'000'000'000});
    cluster_.Apply(Removed(9));
  }
  TestScheduler cluster_{RoundOptions(), "whare_map:samples=1"};
};

TEST_F(SpeedsTest, ChangeWhatIsKeptWhenARoundBegins) {
  EXPECT_NE(cluster_.TaskOf(1).class_key.rules,
            cluster_.TaskOf(2).class_key.rules);
  EXPECT_EQ(cluster_.TaskOf(1).class_key.rules,
            cluster_.TaskOf(3).class_key.rules);
  EXPECT_NE(cluster_.eligibility().KindOf(*cluster_.state().FindMachine("a")),
            cluster_.eligibility().KindOf(*cluster_.state().FindMachine("b")));
  EXPECT_EQ(PreferenceOf(1, "a"), 0);
  Run("/bin/a", "a", 200);
  Run("/bin/a", "b", 100);
  EXPECT_EQ(PreferenceOf(1, "a"), 0) << "until a round begins";
  ClusterState& state = cluster_.mutable_state();
  cluster_.eligibility().StartRound(&state);
  EXPECT_EQ(PreferenceOf(1, "a"), 1'500'000);
  EXPECT_EQ(PreferenceOf(1, "b"), 0);
  EXPECT_EQ(PreferenceOf(2, "a"), 0);
  // Another round, another table; this one is the slower now.
  for (int i = 0; i < 40; ++i) Run("/bin/a", "b", 400);
  EXPECT_EQ(PreferenceOf(1, "b"), 0);
  cluster_.eligibility().StartRound(&state);
  EXPECT_EQ(PreferenceOf(1, "a"), 0);
  EXPECT_GT(PreferenceOf(1, "b"), 1'000'000);
  EXPECT_EQ(PreferenceOf(2, "b"), 0);
}

}  // namespace
}  // namespace sluice
