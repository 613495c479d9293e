#include "persist/stored_peers.h"

#include <string>

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "persist/stored_requirements.h"

namespace sluice {
v1::StoredTaskSelector Encode(const TaskSelector& selector) {
  v1::StoredTaskSelector stored;
  if (selector.labels.has_value()) {
    *stored.mutable_labels()->mutable_requirements() = Encode(*selector.labels);
  }
  for (const std::string& name : selector.namespaces) {
    stored.add_namespaces(name);
  }
  if (selector.namespace_labels.has_value()) {
    *stored.mutable_namespace_labels()->mutable_requirements() =
        Encode(*selector.namespace_labels);
  }
  stored.set_job(selector.job);
  return stored;
}

absl::StatusOr<TaskSelector> Decode(const v1::StoredTaskSelector& stored) {
  TaskSelector selector;
  if (stored.has_labels()) {
    ASSIGN_OR_RETURN(selector.labels, Decode(stored.labels().requirements()));
  }
  selector.namespaces.assign(stored.namespaces().begin(),
                             stored.namespaces().end());
  RETURN_IF_ERROR(CheckAscending("namespaces", selector.namespaces));
  if (stored.has_namespace_labels()) {
    ASSIGN_OR_RETURN(selector.namespace_labels,
                     Decode(stored.namespace_labels().requirements()));
  }
  selector.job = stored.job();
  return selector;
}

v1::StoredPeerTerm Encode(const PeerTerm& term) {
  v1::StoredPeerTerm stored;
  *stored.mutable_tasks() = Encode(term.tasks);
  stored.set_topology_key(term.topology_key);
  return stored;
}

absl::StatusOr<PeerTerm> Decode(const v1::StoredPeerTerm& stored) {
  PeerTerm term;
  ASSIGN_OR_RETURN(term.tasks, Decode(stored.tasks()));
  term.topology_key = stored.topology_key();
  return term;
}

v1::StoredWeightedPeerTerm Encode(const WeightedPeerTerm& preferred) {
  v1::StoredWeightedPeerTerm stored;
  stored.set_weight(preferred.weight);
  *stored.mutable_term() = Encode(preferred.term);
  return stored;
}

absl::StatusOr<WeightedPeerTerm> Decode(
    const v1::StoredWeightedPeerTerm& stored) {
  if (stored.weight() == 0 || stored.weight() < -100 || stored.weight() > 100) {
    return Damaged("a weight about tasks of it is out of range");
  }
  WeightedPeerTerm preferred;
  preferred.weight = stored.weight();
  ASSIGN_OR_RETURN(preferred.term, Decode(stored.term()));
  return preferred;
}

v1::StoredSpreadConstraint Encode(const SpreadConstraint& spread) {
  v1::StoredSpreadConstraint stored;
  *stored.mutable_term() = Encode(spread.term);
  stored.set_max_skew(spread.max_skew);
  stored.set_is_required(spread.is_required);
  stored.set_min_domains(spread.min_domains);
  stored.set_honors_node_affinity(spread.honors_node_affinity);
  stored.set_honors_taints(spread.honors_taints);
  return stored;
}

absl::StatusOr<SpreadConstraint> Decode(
    const v1::StoredSpreadConstraint& stored) {
  if (stored.max_skew() < 1 || stored.min_domains() < 1) {
    return Damaged("a spread constraint of it is out of range");
  }
  SpreadConstraint spread;
  ASSIGN_OR_RETURN(spread.term, Decode(stored.term()));
  spread.max_skew = stored.max_skew();
  spread.is_required = stored.is_required();
  spread.min_domains = stored.min_domains();
  spread.honors_node_affinity = stored.honors_node_affinity();
  spread.honors_taints = stored.honors_taints();
  return spread;
}

v1::StoredDomainMinimum Encode(const DomainMinimum& minimum) {
  v1::StoredDomainMinimum stored;
  *stored.mutable_term() = Encode(minimum.term);
  stored.set_at_least(minimum.at_least);
  return stored;
}

absl::StatusOr<DomainMinimum> Decode(const v1::StoredDomainMinimum& stored) {
  if (stored.at_least() < 1) {
    return Damaged("a minimum of it is out of range");
  }
  DomainMinimum minimum;
  ASSIGN_OR_RETURN(minimum.term, Decode(stored.term()));
  minimum.at_least = stored.at_least();
  return minimum;
}

}  // namespace sluice
