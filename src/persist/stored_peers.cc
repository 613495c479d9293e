#include "persist/stored_peers.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "persist/stored_requirements.h"

namespace sluice {
namespace {

using StoredPeerTerms = google::protobuf::RepeatedPtrField<v1::StoredPeerTerm>;

}  // namespace

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

namespace {

v1::StoredPeerTerm Encode(const PeerTerm& term) {
  v1::StoredPeerTerm stored;
  *stored.mutable_tasks() = sluice::Encode(term.tasks);
  stored.set_topology_key(term.topology_key);
  return stored;
}

absl::StatusOr<PeerTerm> Decode(const v1::StoredPeerTerm& stored) {
  PeerTerm term;
  ASSIGN_OR_RETURN(term.tasks, sluice::Decode(stored.tasks()));
  term.topology_key = stored.topology_key();
  return term;
}

StoredPeerTerms Encode(const std::vector<PeerTerm>& terms) {
  StoredPeerTerms stored;
  for (const PeerTerm& term : terms) *stored.Add() = Encode(term);
  return stored;
}

absl::StatusOr<std::vector<PeerTerm>> Decode(const StoredPeerTerms& stored) {
  std::vector<PeerTerm> terms;
  for (const v1::StoredPeerTerm& message : stored) {
    ASSIGN_OR_RETURN(PeerTerm term, Decode(message));
    terms.push_back(std::move(term));
  }
  RETURN_IF_ERROR(CheckAscending("terms about tasks", terms));
  return terms;
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

absl::StatusOr<DomainMinimum> Decode(const v1::StoredDomainMinimum& stored) {
  if (stored.at_least() < 1) {
    return Damaged("a minimum of it is out of range");
  }
  DomainMinimum minimum;
  ASSIGN_OR_RETURN(minimum.term, Decode(stored.term()));
  minimum.at_least = stored.at_least();
  return minimum;
}

}  // namespace

void EncodePeers(const PlacementRules& rules, v1::StoredRules* stored) {
  *stored->mutable_affinity() = Encode(rules.affinity);
  *stored->mutable_anti_affinity() = Encode(rules.anti_affinity);
  for (const WeightedPeerTerm& preferred : rules.preferred_peers) {
    v1::StoredWeightedPeerTerm* message = stored->add_preferred_peers();
    message->set_weight(preferred.weight);
    *message->mutable_term() = Encode(preferred.term);
  }
  for (const SpreadConstraint& spread : rules.spread) {
    *stored->add_spread() = Encode(spread);
  }
  for (const DomainMinimum& minimum : rules.minimums) {
    v1::StoredDomainMinimum* message = stored->add_minimums();
    *message->mutable_term() = Encode(minimum.term);
    message->set_at_least(minimum.at_least);
  }
  if (rules.replaces.has_value()) stored->set_replaces(rules.replaces->value);
}

absl::Status DecodePeers(const v1::StoredRules& stored, PlacementRules* rules) {
  ASSIGN_OR_RETURN(rules->affinity, Decode(stored.affinity()));
  ASSIGN_OR_RETURN(rules->anti_affinity, Decode(stored.anti_affinity()));
  for (const v1::StoredWeightedPeerTerm& message : stored.preferred_peers()) {
    if (message.weight() == 0 || message.weight() < -100 ||
        message.weight() > 100) {
      return Damaged("a weight about tasks of it is out of range");
    }
    ASSIGN_OR_RETURN(PeerTerm term, Decode(message.term()));
    rules->preferred_peers.push_back({message.weight(), std::move(term)});
  }
  // One may be there twice.
  if (!std::ranges::is_sorted(rules->preferred_peers)) {
    return Damaged("preferred terms about tasks of it are out of order");
  }
  for (const v1::StoredSpreadConstraint& message : stored.spread()) {
    ASSIGN_OR_RETURN(SpreadConstraint spread, Decode(message));
    rules->spread.push_back(std::move(spread));
  }
  RETURN_IF_ERROR(CheckAscending("spread constraints", rules->spread));
  for (const v1::StoredDomainMinimum& message : stored.minimums()) {
    ASSIGN_OR_RETURN(DomainMinimum minimum, Decode(message));
    rules->minimums.push_back(std::move(minimum));
  }
  RETURN_IF_ERROR(CheckAscending("minimums", rules->minimums));
  if (stored.has_replaces()) rules->replaces = TaskId{stored.replaces()};
  return absl::OkStatus();
}

}  // namespace sluice
