#include "util/rules_builder.h"

namespace sluice {

PlacementRules InOrder(PlacementRules rules) {
  const auto sort = [](std::vector<LabelRequirement>* requirements) {
    for (LabelRequirement& requirement : *requirements) {
      requirement.values = InOrder(std::move(requirement.values));
    }
    *requirements = InOrder(std::move(*requirements));
  };
  sort(&rules.selectors);
  for (NodeTerm& term : rules.required) {
    sort(&term.labels);
    sort(&term.fields);
  }
  for (PreferredTerm& preferred : rules.preferred) {
    sort(&preferred.term.labels);
    sort(&preferred.term.fields);
  }
  const auto sort_peers = [&](TaskSelector* tasks) {
    if (tasks->labels) sort(&*tasks->labels);
    tasks->namespaces = InOrder(std::move(tasks->namespaces));
    if (tasks->namespace_labels) sort(&*tasks->namespace_labels);
  };
  for (PeerTerm& term : rules.affinity) sort_peers(&term.tasks);
  for (PeerTerm& term : rules.anti_affinity) sort_peers(&term.tasks);
  for (WeightedPeerTerm& preferred : rules.preferred_peers) {
    sort_peers(&preferred.term.tasks);
  }
  for (SpreadConstraint& spread : rules.spread) sort_peers(&spread.term.tasks);
  for (DomainMinimum& minimum : rules.minimums) {
    sort_peers(&minimum.term.tasks);
  }
  rules.affinity = InOrder(std::move(rules.affinity));
  rules.anti_affinity = InOrder(std::move(rules.anti_affinity));
  std::ranges::sort(rules.preferred_peers);  // Twice the same counts twice.
  rules.spread = InOrder(std::move(rules.spread));
  rules.required = InOrder(std::move(rules.required));
  std::ranges::sort(rules.preferred);  // Twice the same counts twice.
  rules.tolerations = InOrder(std::move(rules.tolerations));
  rules.host_ports = InOrder(std::move(rules.host_ports));
  return rules;
}

}  // namespace sluice
