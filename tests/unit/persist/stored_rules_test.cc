#include "persist/stored_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "util/cluster_builder.h"
#include "util/drawn_rules.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// Something of everything, with bytes that are no UTF-8.
PlacementRules Everything() {
  const NodeTerm term{
      .labels = {LabelIn("a\xff", {"1", "2\xff"}), LabelNotIn("b", {""}),
                 LabelExists("c"), LabelDoesNotExist("d"),
                 LabelAbove("e", INT64_MAX), LabelBelow("f", INT64_MIN),
                 LabelInvalid("g", "operator 'Has' is unknown")},
      .fields = {NameIs("n1"), NameIsNot("n2")}};
  PlacementRules rules;
  rules.selectors = term.labels;
  rules.required = {NodeTerm(), term};
  rules.preferred = {{1, term}, {100, term}, {100, term}};
  rules.tolerations = {Tolerates(NoSchedule("k", "v")),
                       Tolerates(NoExecute("k"), 0),
                       Tolerates(NoExecute("k"), -300),
                       Tolerates(PreferNoSchedule("k")),
                       ToleratesKey("k"),
                       ToleratesEverything(),
                       {.key = "k",
                        .op = TolerationOperator::kUnknown,
                        .effect = TaintEffect::kUnknown}};
  rules.host_ports = {TcpPort(1), UdpPort(65535, "::1")};
  rules.data = {.bytes = 7,
                .on_machines = {{"a\xff", 7}, {"b", 1}},
                .in_racks = {{"r", 6}}};
  return InOrder(rules);
}

TEST(StoredRules, ComeBackAsTheyWere) {
  const PlacementRules rules = Everything();
  v1::StoredRules stored;
  ASSERT_TRUE(stored.ParseFromString(Encode(rules).SerializeAsString()));
  const absl::StatusOr<PlacementRules> decoded = Decode(stored);
  ASSERT_THAT(decoded, IsOk());
  EXPECT_EQ(*decoded, rules);
  EXPECT_EQ(*Decode(v1::StoredRules()), NoRules());
}

// A store outlives the daemon that wrote it.
TEST(StoredRules, AreTheBytesThatTheyAlwaysWere) {
  EXPECT_EQ(Fnv1a64(Encode(Everything()).SerializeAsString()),
            4243154255320945826u);
}

TEST(StoredRules, OfEveryNewKindComeBackAsTheyWere) {
  Rng rng(/*seed=*/1);
  for (int i = 0; i < 100; ++i) {
    PlacementRules rules;
    DrawTaskRules(&rng, &rules);
    v1::StoredRules stored;
    ASSERT_TRUE(stored.ParseFromString(Encode(rules).SerializeAsString()));
    EXPECT_EQ(stored.has_rules(), rules != NoRules());
    EXPECT_EQ(*Decode(stored), rules);
  }
}

TEST(StoredRules, AreWithoutTheOwner) {
  PlacementRules rules;
  rules.owner = {"ReplicaSet", "u"};
  EXPECT_EQ(*Decode(Encode(rules)), NoRules());
}

TEST(StoredTaints, ComeBackAsTheyWere) {
  const std::vector<MachineTaint> taints = {
      {{"a", "", TaintEffect::kUnknown}, -1},
      {NoSchedule("a", "v\xff"), 0},
      {NoExecute("b"), INT64_MAX}};
  const auto decoded = Decode(Encode(taints));
  ASSERT_THAT(decoded, IsOk());
  ASSERT_EQ(decoded->size(), taints.size());
  for (size_t i = 0; i < taints.size(); ++i) {
    EXPECT_EQ((*decoded)[i].taint, taints[i].taint);
    EXPECT_EQ((*decoded)[i].since_ms, taints[i].since_ms);
  }
  EXPECT_THAT(*Decode(StoredTaints()), IsEmpty());
}

TEST(StoredOwners, ComeBackAsTheyWere) {
  const std::vector<Owner> avoids = {{"ReplicaSet", "1"}, {"ReplicaSet", "2"}};
  EXPECT_EQ(*Decode(Encode(avoids)), avoids);
}

// What no state ever stored, and what is said of it.
struct Damage {
  std::function<void(v1::StoredRules*)> cause;
  std::string error;
};

TEST(StoredRules, AreRefusedWhereTheyNeverWere) {
  const std::vector<Damage> damages = {
      {[](auto* rules) {
         rules->mutable_required(1)->mutable_fields(0)->set_op(9);
       },
       "its terms: fields: op: 9 is not in 0 to 6"},
      {[](auto* rules) { rules->add_required(); },
       "its terms are out of order"},
      {[](auto* rules) { rules->mutable_preferred(0)->set_weight(0); },
       "its preferred terms: weight: 0 is not in 1 to 100"},
      {[](auto* rules) { rules->mutable_preferred(2)->set_weight(101); },
       "its preferred terms: weight: 101 is not in 1 to 100"},
      {[](auto* rules) { rules->mutable_preferred(2)->set_weight(50); },
       "its preferred terms are out of order"},
      {[](auto* rules) { rules->mutable_tolerations(0)->set_op(3); },
       "its tolerations: op: 3 is not in 0 to 2"},
      {[](auto* rules) { rules->mutable_tolerations(0)->set_effect(4); },
       "its tolerations: effect: 4 is not in 0 to 3"},
      {[](auto* rules) { rules->add_tolerations(); },
       "its tolerations are out of order"},
      {[](auto* rules) { rules->mutable_host_ports(0)->set_port(0); },
       "its host ports: port: 0 is not in 1 to 65535"},
      {[](auto* rules) { rules->mutable_host_ports(1)->set_port(65536); },
       "its host ports: port: 65536 is not in 1 to 65535"},
      {[](auto* rules) { rules->mutable_host_ports()->SwapElements(0, 1); },
       "its host ports are out of order"},
      {[](auto* rules) {
         rules->mutable_rules()
             ->GetReflection()
             ->MutableUnknownFields(rules->mutable_rules())
             ->AddVarint(1000, 1);
       },
       "a field of its rules is unknown"}};
  for (const Damage& damage : damages) {
    v1::StoredRules stored = Encode(Everything());
    damage.cause(&stored);
    EXPECT_THAT(Decode(stored),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr(damage.error)));
  }
}

TEST(StoredTaints, AreRefusedWhereTheyNeverWere) {
  StoredTaints stored = Encode(
      std::vector<MachineTaint>{{NoExecute("a"), 1}, {NoExecute("b"), 2}});
  stored.SwapElements(0, 1);
  EXPECT_THAT(Decode(stored), StatusIs(absl::StatusCode::kDataLoss,
                                       "its taints are out of order"));
  stored.Mutable(0)->set_effect(-1);
  EXPECT_THAT(Decode(stored),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("effect: -1 is not in 0 to 3")));
}

TEST(StoredOwners, AreRefusedInAnotherOrder) {
  StoredOwners stored = Encode(std::vector<Owner>{{"a", "1"}, {"b", "1"}});
  *stored.Add() = stored[1];
  EXPECT_THAT(Decode(stored), StatusIs(absl::StatusCode::kDataLoss,
                                       HasSubstr("avoided owners")));
}

}  // namespace
}  // namespace sluice
