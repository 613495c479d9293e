#include "constraints/machine_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "util/cluster_builder.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

class MachineKindsTest : public testing::Test {
 protected:
  void Add(const std::string& uuid, const LabelPairs& labels,
           const std::vector<Taint>& taints = {}) {
    state_.Apply(Added(uuid, {.labels = labels, .taints = taints}), 0);
    Update();
  }
  void Update() {
    for (const auto& [id, fields] : state_.TakeDescribedMachines()) {
      kinds_.Update(id, fields, state_);
    }
  }
  void Learn(PlacementRules rules) {
    rules.id = ++last_id_;
    kinds_.Learn(std::vector<const PlacementRules*>{&rules}, state_);
  }
  void LearnLabel(const LabelRequirement& requirement) {
    Learn({.selectors = {requirement}});
  }
  KindId KindOf(const std::string& uuid) const {
    return kinds_.KindOf(state_.FindMachine(uuid)->id);
  }
  bool AreAlike(const std::string& a, const std::string& b) const {
    return KindOf(a) == KindOf(b);
  }

  ClusterState state_;
  MachineKinds kinds_;
  uint32_t last_id_ = 0;
};

TEST_F(MachineKindsTest, TellsNothingApartThatNoRulesMention) {
  Add("a", {{"host", "a"}, {"zone", "1"}});
  Add("b", {{"host", "b"}});
  EXPECT_TRUE(AreAlike("a", "b"));
  EXPECT_THAT(kinds_.Exemplar(KindOf("a")).labels, IsEmpty());
}

TEST_F(MachineKindsTest, TellsMentionedValuesFromAllOthers) {
  Add("a", {{"zone", "1"}});
  Add("b", {{"zone", "2"}});
  Add("c", {{"zone", "3"}});
  Add("d", {});
  LearnLabel(LabelIn("zone", {"1"}));
  EXPECT_FALSE(AreAlike("a", "b"));
  EXPECT_TRUE(AreAlike("b", "c"));
  EXPECT_FALSE(AreAlike("c", "d"));
  LearnLabel(LabelNotIn("zone", {"2"}));
  EXPECT_FALSE(AreAlike("b", "c"));
}

TEST_F(MachineKindsTest, TellsEveryValueApartThatIsComparedAsANumber) {
  Add("a", {{"cores", "1"}});
  Add("b", {{"cores", "2"}});
  LearnLabel(LabelExists("cores"));
  EXPECT_TRUE(AreAlike("a", "b"));
  LearnLabel(LabelAbove("cores", 8));
  EXPECT_FALSE(AreAlike("a", "b"));
}

TEST_F(MachineKindsTest, TellsMentionedNamesFromAllOthers) {
  for (const std::string name : {"a", "b", "c"}) Add(name, {});
  Learn({.required = {{.fields = {NameIs("b")}}}});
  EXPECT_TRUE(AreAlike("a", "c"));
  EXPECT_FALSE(AreAlike("a", "b"));
  EXPECT_EQ(kinds_.Exemplar(KindOf("b")).name, "b");
}

TEST_F(MachineKindsTest, TellsMentionedUuidsFromAllOthers) {
  const auto add = [&](const std::string& uuid, const std::string& name) {
    AddMachine command = Added(uuid, {});
    command.spec.name = name;
    state_.Apply(command, 0);
    Update();
  };
  add("a", "n1");
  add("b", "n2");
  add("c", "b");
  add("d", "n4");
  const LabelRequirement is_b = LabelIn("machine_id", {"b"});
  Learn({.required = {{.fields = {is_b}}}});
  EXPECT_TRUE(AreAlike("a", "d"));
  EXPECT_FALSE(AreAlike("a", "b"));
  EXPECT_FALSE(AreAlike("b", "c"));
  EXPECT_THAT(kinds_.KindsIn(is_b, true),
              UnorderedElementsAre(KindOf("b"), KindOf("c")));
  EXPECT_EQ(kinds_.Exemplar(KindOf("b")).uuid, "b");
}

TEST_F(MachineKindsTest, LooksAtPreferredTermsToo) {
  Add("a", {{"disk", "ssd"}});
  Add("b", {});
  Learn({.preferred = {{1, {.labels = {LabelExists("disk")}}}}});
  EXPECT_FALSE(AreAlike("a", "b"));
}

TEST_F(MachineKindsTest, ViewsTaintsAndAvoidsWhole) {
  Add("a", {}, {NoSchedule("k", "1")});
  Add("b", {}, {NoSchedule("k", "2")});
  Add("c", {}, {NoSchedule("k", "1")});
  EXPECT_FALSE(AreAlike("a", "b"));
  EXPECT_TRUE(AreAlike("a", "c"));
  EXPECT_EQ(kinds_.ViewOf(KindOf("a"), MachineAspect::kLabels),
            kinds_.ViewOf(KindOf("b"), MachineAspect::kLabels));
  state_.Apply(Updated("c", {.taints = {NoSchedule("k", "1")},
                             .avoids = {{"ReplicaSet", "x"}}}),
               0);
  Update();
  EXPECT_FALSE(AreAlike("a", "c"));
}

// Only the machine that changed is seen anew, and only in what changed.
TEST_F(MachineKindsTest, CountsWhatIsSeenAnew) {
  for (int i = 0; i < 100; ++i) Add(StrCat("m", i), {{"zone", "1"}});
  LearnLabel(LabelIn("zone", {"1", "2"}));
  const int64_t before = kinds_.invalidation_count();
  state_.Apply(Updated("m7", {.labels = {{"zone", "2"}}}), 0);
  Update();
  EXPECT_EQ(kinds_.invalidation_count(), before + 1);
  EXPECT_FALSE(AreAlike("m7", "m8"));
  state_.Apply(Updated("m7", {.cpu = 500, .labels = {{"zone", "2"}}}), 0);
  Update();
  EXPECT_EQ(kinds_.invalidation_count(), before + 1) << "amounts are load";
  LearnLabel(LabelIn("other", {"1"}));
  EXPECT_EQ(kinds_.invalidation_count(), before + 1) << "none has the label";
}

TEST_F(MachineKindsTest, ForgetsMachinesThatAreGone) {
  Add("a", {});
  const MachineId id = state_.FindMachine("a")->id;
  kinds_.Update(id, kAllFields, ClusterState());
  EXPECT_EQ(kinds_.KindOf(id), kNoKind);
}

TEST_F(MachineKindsTest, IsStaleWhenMostRulesAreGone) {
  std::vector<uint32_t> ids;
  for (int i = 0; i < 10001; ++i) {
    LearnLabel(LabelIn("job", {StrCat(i)}));
    ids.push_back(last_id_);
  }
  EXPECT_FALSE(kinds_.is_stale());
  kinds_.Forget(ids);
  EXPECT_TRUE(kinds_.is_stale());
}

TEST_F(MachineKindsTest, IsStaleWhenMostOfWhatWasMentionedIsGone) {
  std::vector<std::string> values;
  for (int i = 0; i < 2000; ++i) {
    values.push_back(StrCat(i) + std::string(4000, 'x'));
  }
  LearnLabel(LabelIn("job", values));
  EXPECT_FALSE(kinds_.is_stale());
  kinds_.Forget(std::vector<uint32_t>{last_id_});
  EXPECT_TRUE(kinds_.is_stale());
}

// What nobody mentions cannot be mentioned by accident.
TEST_F(MachineKindsTest, StandsInForOtherValuesWithOneThatNobodyCanSay) {
  Add("a", {{"zone", "1"}});
  LearnLabel(LabelIn("zone", {"2"}));
  EXPECT_THAT(kinds_.Exemplar(KindOf("a")).labels,
              ElementsAre(Pair("zone", "\xff")));
}

}  // namespace
}  // namespace sluice
