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

v1::StoredPreferredTerm Encode(const PreferredTerm& preferred) {
  v1::StoredPreferredTerm stored;
  stored.set_weight(preferred.weight);
  *stored.mutable_term() = Encode(preferred.term);
  return stored;
}

absl::StatusOr<PreferredTerm> Decode(const v1::StoredPreferredTerm& stored) {
  if (stored.weight() < 1 || stored.weight() > 100) {
    return Damaged("a weight of it is out of range");
  }
  PreferredTerm preferred;
  preferred.weight = stored.weight();
  ASSIGN_OR_RETURN(preferred.term, Decode(stored.term()));
  return preferred;
}

// ---------------------------------------------------------------------------
// Tolerations, host ports

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

v1::StoredHostPort Encode(const HostPort& port) {
  v1::StoredHostPort stored;
  stored.set_protocol(port.protocol);
  stored.set_address(port.address);
  stored.set_port(port.port);
  return stored;
}

absl::StatusOr<HostPort> Decode(const v1::StoredHostPort& stored) {
  if (stored.port() < 1 || stored.port() > 65535) {
    return Damaged("a host port of it is out of range");
  }
  return HostPort{stored.protocol(), stored.address(), stored.port()};
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

v1::StoredTaskData Encode(const TaskData& data) {
  v1::StoredTaskData stored;
  stored.set_bytes(data.bytes);
  EncodePlaces(data.on_machines, stored.mutable_on_machines());
  EncodePlaces(data.in_racks, stored.mutable_in_racks());
  return stored;
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

// ---------------------------------------------------------------------------
// Lists, of what is encoded here and of what is elsewhere

template <class Rule, class Stored>
static void EncodeAll(const std::vector<Rule>& rules,
                      google::protobuf::RepeatedPtrField<Stored>* stored) {
  for (const Rule& rule : rules) *stored->Add() = Encode(rule);
}

template <class Rule, class Stored>
static absl::Status DecodeAll(
    std::string_view words,
    const google::protobuf::RepeatedPtrField<Stored>& stored, RuleOrder order,
    std::vector<Rule>* rules) {
  for (const Stored& message : stored) {
    ASSIGN_OR_RETURN(Rule rule, Decode(message));
    rules->push_back(std::move(rule));
  }
  if (order == RuleOrder::kSet) return CheckAscending(words, *rules);
  return CheckAscending(words, *rules, {}, std::ranges::greater());
}

v1::StoredRules Encode(const PlacementRules& rules) {
  v1::StoredRules stored;
#define RULE_LIST(field, ...) EncodeAll(rules.field, stored.mutable_##field());
#define RULE_FLAG(field) stored.set_##field(rules.field);
#define RULE_TASK(field) \
  if (rules.field.has_value()) stored.set_##field(rules.field->value);
#define RULE_MESSAGE(field, Type) \
  if (!rules.field.empty()) *stored.mutable_##field() = Encode(rules.field);
#include "sluice/state/placement_rules.def"
  return stored;
}

absl::StatusOr<PlacementRules> Decode(const v1::StoredRules& stored) {
  PlacementRules rules;
#define RULE_LIST(field, Element, order, words, ...) \
  RETURN_IF_ERROR(                                   \
      DecodeAll(words, stored.field(), RuleOrder::order, &rules.field));
#define RULE_FLAG(field) rules.field = stored.field();
#define RULE_TASK(field) \
  if (stored.has_##field()) rules.field = TaskId{stored.field()};
#define RULE_MESSAGE(field, Type)                          \
  if (stored.has_##field()) {                              \
    ASSIGN_OR_RETURN(rules.field, Decode(stored.field())); \
  }
#include "sluice/state/placement_rules.def"
  return rules;
}

StoredHostPorts Encode(const std::vector<HostPort>& ports) {
  StoredHostPorts stored;
  EncodeAll(ports, &stored);
  return stored;
}

absl::StatusOr<std::vector<HostPort>> Decode(const StoredHostPorts& stored) {
  std::vector<HostPort> ports;
  RETURN_IF_ERROR(DecodeAll("host ports", stored, RuleOrder::kSet, &ports));
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
