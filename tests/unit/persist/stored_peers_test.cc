#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "persist/stored_rules.h"
#include "util/rules_builder.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::HasSubstr;

using Requirements = std::vector<LabelRequirement>;

// Something of everything, with bytes that are no UTF-8; what is absent and
// what is empty among it.
PlacementRules Everything() {
  const PeerTerm nobody;
  const PeerTerm anybody{
      .tasks = {.labels = Requirements(), .namespace_labels = Requirements()}};
  const PeerTerm term{
      .tasks = {.labels =
                    Requirements{LabelExists("a\xff"), LabelIn("b", {"1"})},
                .namespaces = {"shop", "shop\xff"},
                .namespace_labels = Requirements{LabelNotIn("c", {"1", "2"})},
                .job = "web\xff*"},
      .topology_key = "zone\xff"};
  PlacementRules rules;
  rules.affinity = {nobody, term};
  rules.anti_affinity = {anybody, term};
  rules.preferred_peers = {
      {-100, term}, {-1, anybody}, {100, term}, {100, term}};
  rules.spread = {{.term = term},
                  {.term = term,
                   .max_skew = INT32_MAX,
                   .is_required = false,
                   .min_domains = 7,
                   .honors_node_affinity = false,
                   .honors_taints = true}};
  rules.minimums = {{anybody, 2}, {term, INT32_MAX}};
  rules.replaces = TaskUid{0};
  rules.replaces_anywhere = true;
  return InOrder(rules);
}

TEST(StoredPeers, ComeBackAsTheyWere) {
  const PlacementRules rules = Everything();
  v1::StoredRules stored;
  ASSERT_TRUE(stored.ParseFromString(Encode(rules).SerializeAsString()));
  EXPECT_EQ(*Decode(stored), rules);
  EXPECT_EQ(*Decode(v1::StoredRules()), NoRules());
}

// A store outlives the daemon that wrote it.
TEST(StoredPeers, AreTheBytesThatTheyAlwaysWere) {
  PlacementRules rules = Everything();
  rules.replaces_anywhere = false;  // There was no such rule.
  EXPECT_EQ(Fnv1a64(Encode(rules).SerializeAsString()), 11293217142742259999u);
}

TEST(StoredPeers, TakeNoBytesWhereThereAreNone) {
  EXPECT_EQ(Encode(NoRules()).ByteSizeLong(), 0u);
}

// What no state ever stored, and what is said of it.
struct Damage {
  std::function<void(v1::StoredRules*)> cause;
  std::string error;
};

TEST(StoredPeers, AreRefusedWhereTheyNeverWere) {
  const auto tasks = [](v1::StoredRules* rules) {
    return rules->mutable_affinity(1)->mutable_tasks();
  };
  const std::vector<Damage> damages = {
      {[=](auto* rules) {
         tasks(rules)->mutable_labels()->mutable_requirements(0)->set_op(7);
       },
       "its terms about tasks: tasks: labels: requirements: op: 7 is not in"},
      {[=](auto* rules) {
         tasks(rules)
             ->mutable_namespace_labels()
             ->mutable_requirements(0)
             ->clear_values();
       },
       "namespace_labels: requirements: values: its operator cannot have "
       "these"},
      {[=](auto* rules) { tasks(rules)->add_namespaces("a"); },
       "its terms about tasks: tasks: namespaces: out of order"},
      {[](auto* rules) { rules->mutable_affinity()->SwapElements(0, 1); },
       "its terms about tasks are out of order"},
      {[](auto* rules) { rules->add_anti_affinity(); },
       "its terms about tasks are out of order"},
      {[](auto* rules) { rules->mutable_preferred_peers(0)->set_weight(0); },
       "its preferred terms about tasks: weight: is 0"},
      {[](auto* rules) { rules->mutable_preferred_peers(0)->set_weight(-101); },
       "its preferred terms about tasks: weight: -101 is not in"},
      {[](auto* rules) { rules->mutable_preferred_peers(3)->set_weight(101); },
       "its preferred terms about tasks: weight: 101 is not in"},
      {[](auto* rules) { rules->mutable_preferred_peers(0)->set_weight(50); },
       "its preferred terms about tasks are out of order"},
      {[](auto* rules) { rules->mutable_spread(0)->set_max_skew(0); },
       "its spread constraints: max_skew: 0 is not in 1 to"},
      {[](auto* rules) { rules->mutable_spread(0)->set_min_domains(-1); },
       "its spread constraints: min_domains: -1 is not in 1 to"},
      {[](auto* rules) { *rules->add_spread() = rules->spread(0); },
       "its spread constraints are out of order"},
      {[](auto* rules) { rules->mutable_minimums(0)->set_at_least(0); },
       "its minimums: at_least: 0 is not in 1 to"},
      {[](auto* rules) { *rules->add_minimums() = rules->minimums(0); },
       "its minimums are out of order"}};
  for (const Damage& damage : damages) {
    v1::StoredRules stored = Encode(Everything());
    damage.cause(&stored);
    EXPECT_THAT(Decode(stored),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr(damage.error)));
  }
}

}  // namespace
}  // namespace sluice
