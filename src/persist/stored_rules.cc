#include "persist/stored_rules.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "base/limits.h"
#include "base/status_macros.h"
#include "persist/stored_peers.h"
#include "persist/stored_requirements.h"

namespace sluice {
namespace {

absl::StatusOr<TaintEffect> ToEffect(int32_t number) {
  return ToEnum("an effect", number, TaintEffect::kNoExecute);
}

// ---------------------------------------------------------------------------
// Terms

v1::StoredNodeTerm Encode(const NodeTerm& term) {
  v1::StoredNodeTerm stored;
  *stored.mutable_labels() = sluice::Encode(term.labels);
  *stored.mutable_fields() = sluice::Encode(term.fields);
  return stored;
}

absl::StatusOr<NodeTerm> Decode(const v1::StoredNodeTerm& stored) {
  NodeTerm term;
  ASSIGN_OR_RETURN(term.labels, sluice::Decode(stored.labels()));
  ASSIGN_OR_RETURN(term.fields, sluice::Decode(stored.fields()));
  return term;
}

// ---------------------------------------------------------------------------
// Tolerations

v1::StoredToleration Encode(const Toleration& toleration) {
  v1::StoredToleration stored;
  stored.set_key(toleration.key);
  stored.set_op(static_cast<int32_t>(toleration.op));
  stored.set_value(toleration.value);
  if (toleration.effect.has_value()) {
    stored.set_effect(static_cast<int32_t>(*toleration.effect));
  }
  if (toleration.seconds.has_value()) stored.set_seconds(*toleration.seconds);
  return stored;
}

absl::StatusOr<Toleration> Decode(const v1::StoredToleration& stored) {
  Toleration toleration;
  toleration.key = stored.key();
  ASSIGN_OR_RETURN(toleration.op, ToEnum("an operator", stored.op(),
                                         TolerationOperator::kUnknown));
  toleration.value = stored.value();
  if (stored.has_effect()) {
    ASSIGN_OR_RETURN(toleration.effect, ToEffect(stored.effect()));
  }
  if (stored.has_seconds()) toleration.seconds = stored.seconds();
  return toleration;
}

// ---------------------------------------------------------------------------
// Data

using StoredPlaces = google::protobuf::RepeatedPtrField<v1::StoredDataPlace>;

void EncodePlaces(const TaskData::Places& places, StoredPlaces* stored) {
  for (const auto& [name, bytes] : places) {
    v1::StoredDataPlace* message = stored->Add();
    message->set_name(name);
    message->set_bytes(bytes);
  }
}

absl::StatusOr<TaskData::Places> DecodePlaces(const StoredPlaces& stored,
                                              int64_t all) {
  TaskData::Places places;
  for (const v1::StoredDataPlace& message : stored) {
    if (message.bytes() < 1 || message.bytes() > all) {
      return Damaged("an amount of its data is out of range");
    }
    if (!places.empty() && places.back().first >= message.name()) {
      return Damaged("places of its data are out of order");
    }
    places.emplace_back(message.name(), message.bytes());
  }
  return places;
}

absl::StatusOr<TaskData> Decode(const v1::StoredTaskData& stored) {
  TaskData data;
  data.bytes = stored.bytes();
  if (data.bytes < 1 || data.bytes > kAmountMax) {
    return Damaged("the size of its data is out of range");
  }
  ASSIGN_OR_RETURN(data.on_machines,
                   DecodePlaces(stored.on_machines(), data.bytes));
  ASSIGN_OR_RETURN(data.in_racks, DecodePlaces(stored.in_racks(), data.bytes));
  return data;
}

}  // namespace

v1::StoredRules Encode(const PlacementRules& rules) {
  v1::StoredRules stored;
  *stored.mutable_selectors() = Encode(rules.selectors);
  for (const NodeTerm& term : rules.required) {
    *stored.add_required() = Encode(term);
  }
  for (const PreferredTerm& preferred : rules.preferred) {
    v1::StoredPreferredTerm* message = stored.add_preferred();
    message->set_weight(preferred.weight);
    *message->mutable_term() = Encode(preferred.term);
  }
  for (const Toleration& toleration : rules.tolerations) {
    *stored.add_tolerations() = Encode(toleration);
  }
  *stored.mutable_host_ports() = Encode(rules.host_ports);
  EncodePeers(rules, &stored);
  stored.set_never_preempts(rules.never_preempts);
  if (!rules.data.empty()) {
    v1::StoredTaskData* data = stored.mutable_data();
    data->set_bytes(rules.data.bytes);
    EncodePlaces(rules.data.on_machines, data->mutable_on_machines());
    EncodePlaces(rules.data.in_racks, data->mutable_in_racks());
  }
  return stored;
}

absl::StatusOr<PlacementRules> Decode(const v1::StoredRules& stored) {
  PlacementRules rules;
  ASSIGN_OR_RETURN(rules.selectors, Decode(stored.selectors()));
  for (const v1::StoredNodeTerm& message : stored.required()) {
    ASSIGN_OR_RETURN(NodeTerm term, Decode(message));
    rules.required.push_back(std::move(term));
  }
  RETURN_IF_ERROR(CheckAscending("terms", rules.required));
  for (const v1::StoredPreferredTerm& message : stored.preferred()) {
    if (message.weight() < 1 || message.weight() > 100) {
      return Damaged("a weight of it is out of range");
    }
    ASSIGN_OR_RETURN(NodeTerm term, Decode(message.term()));
    rules.preferred.push_back({message.weight(), std::move(term)});
  }
  // One may be there twice.
  if (!std::ranges::is_sorted(rules.preferred)) {
    return Damaged("preferred terms of it are out of order");
  }
  for (const v1::StoredToleration& message : stored.tolerations()) {
    ASSIGN_OR_RETURN(Toleration toleration, Decode(message));
    rules.tolerations.push_back(std::move(toleration));
  }
  RETURN_IF_ERROR(CheckAscending("tolerations", rules.tolerations));
  ASSIGN_OR_RETURN(rules.host_ports, Decode(stored.host_ports()));
  RETURN_IF_ERROR(DecodePeers(stored, &rules));
  rules.never_preempts = stored.never_preempts();
  if (stored.has_data()) {
    ASSIGN_OR_RETURN(rules.data, Decode(stored.data()));
  }
  return rules;
}

StoredHostPorts Encode(const std::vector<HostPort>& ports) {
  StoredHostPorts stored;
  for (const HostPort& port : ports) {
    v1::StoredHostPort* message = stored.Add();
    message->set_protocol(port.protocol);
    message->set_address(port.address);
    message->set_port(port.port);
  }
  return stored;
}

absl::StatusOr<std::vector<HostPort>> Decode(const StoredHostPorts& stored) {
  std::vector<HostPort> ports;
  for (const v1::StoredHostPort& message : stored) {
    if (message.port() < 1 || message.port() > 65535) {
      return Damaged("a host port of it is out of range");
    }
    ports.push_back({message.protocol(), message.address(), message.port()});
  }
  RETURN_IF_ERROR(CheckAscending("host ports", ports));
  return ports;
}

v1::StoredOwner Encode(const Owner& owner) {
  v1::StoredOwner stored;
  stored.set_kind(owner.kind);
  stored.set_uid(owner.uid);
  return stored;
}

Owner Decode(const v1::StoredOwner& stored) {
  return {stored.kind(), stored.uid()};
}

StoredOwners Encode(const std::vector<Owner>& avoids) {
  StoredOwners stored;
  for (const Owner& owner : avoids) *stored.Add() = Encode(owner);
  return stored;
}

absl::StatusOr<std::vector<Owner>> Decode(const StoredOwners& stored) {
  std::vector<Owner> avoids;
  for (const v1::StoredOwner& message : stored) {
    avoids.push_back(Decode(message));
  }
  RETURN_IF_ERROR(CheckAscending("avoided owners", avoids));
  return avoids;
}

StoredTaints Encode(const std::vector<MachineTaint>& taints) {
  StoredTaints stored;
  for (const MachineTaint& taint : taints) {
    v1::StoredTaint* message = stored.Add();
    message->set_key(taint.taint.key);
    message->set_value(taint.taint.value);
    message->set_effect(static_cast<int32_t>(taint.taint.effect));
    message->set_since_ms(taint.since_ms);
  }
  return stored;
}

absl::StatusOr<std::vector<MachineTaint>> Decode(const StoredTaints& stored) {
  std::vector<MachineTaint> taints;
  for (const v1::StoredTaint& message : stored) {
    ASSIGN_OR_RETURN(const TaintEffect effect, ToEffect(message.effect()));
    taints.push_back(
        {{message.key(), message.value(), effect}, message.since_ms()});
  }
  RETURN_IF_ERROR(CheckAscending("taints", taints, &MachineTaint::taint));
  return taints;
}

}  // namespace sluice
