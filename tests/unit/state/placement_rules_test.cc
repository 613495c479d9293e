#include "sluice/state/placement_rules.h"

#include <gtest/gtest.h>

#include <vector>

#include "util/cluster_builder.h"

namespace sluice {
namespace {

// Rules that differ from each other in one thing each.
std::vector<PlacementRules> Distinct() {
  const NodeTerm term{.labels = {LabelExists("k")}, .fields = {}};
  return {
      {},
      {.selectors = {LabelIn("k", {"v"})}},
      {.selectors = {LabelNotIn("k", {"v"})}},
      {.selectors = {LabelIn("k", {"w"})}},
      {.required = {NodeTerm()}},
      {.required = {term}},
      {.required = {{.labels = {}, .fields = {NameIs("k")}}}},
      {.preferred = {{1, term}}},
      {.preferred = {{2, term}}},
      {.preferred = {{1, term}, {1, term}}},
      {.tolerations = {ToleratesKey("k")}},
      {.tolerations = {Tolerates(NoExecute("k"))}},
      {.tolerations = {Tolerates(NoExecute("k"), 0)}},
      {.host_ports = {TcpPort(80)}},
      {.host_ports = {UdpPort(80)}},
      {.host_ports = {TcpPort(80, "10.0.0.1")}},
      {.affinity = {PeerTerm()}},
      {.affinity = {{.tasks = {.labels = std::vector<LabelRequirement>()}}}},
      {.affinity = {{.tasks = {.namespaces = {""}}}}},
      {.affinity = {{.tasks = {.namespace_labels =
                                   std::vector<LabelRequirement>()}}}},
      {.affinity = {{.tasks = {.job = "j"}}}},
      {.affinity = {{.topology_key = "k"}}},
      {.anti_affinity = {PeerTerm()}},
      {.preferred_peers = {{1, PeerTerm()}}},
      {.preferred_peers = {{-1, PeerTerm()}}},
      {.spread = {SpreadConstraint()}},
      {.spread = {{.max_skew = 2}}},
      {.spread = {{.is_required = false}}},
      {.spread = {{.min_domains = 2}}},
      {.spread = {{.honors_node_affinity = false}}},
      {.spread = {{.honors_taints = true}}},
      {.replaces = TaskUid{0}},
      {.replaces_anywhere = true},
      {.keeps_node_rules = true},
      {.keeps_peer_rules = true},
      {.owner = {"ReplicaSet", "u"}},
      {.owner = {"ReplicaSet", "v"}}};
}

TEST(PlacementRules, AreEqualOnlyWhereTheySayTheSame) {
  const std::vector<PlacementRules> rules = Distinct();
  for (size_t i = 0; i < rules.size(); ++i) {
    for (size_t j = 0; j < rules.size(); ++j) {
      EXPECT_EQ(rules[i] == rules[j], i == j) << i << " and " << j;
      EXPECT_EQ((rules[i] <=> rules[j]) < 0, (rules[j] <=> rules[i]) > 0)
          << i << " and " << j;
    }
  }
}

TEST(PlacementRules, AreComparedWithoutTheirIds) {
  PlacementRules numbered;
  numbered.id = 7;
  EXPECT_EQ(numbered, NoRules());
  EXPECT_EQ(NoRules().id, 0u);
}

TEST(Owner, IsNobodyWithoutKindAndUid) {
  EXPECT_TRUE(Owner().empty());
  EXPECT_FALSE((Owner{"ReplicaSet", ""}).empty());
}

}  // namespace
}  // namespace sluice
