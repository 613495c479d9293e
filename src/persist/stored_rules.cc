#include "persist/stored_rules.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "base/limits.h"
#include "base/status_macros.h"
#include "messages/fields.h"
#include "persist/damage.h"

namespace sluice {
namespace {

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

// ---------------------------------------------------------------------------
// Lists

template <class Rule, class Stored>
void EncodeAll(const std::vector<Rule>& rules,
               google::protobuf::RepeatedPtrField<Stored>* stored) {
  for (const Rule& rule : rules) WriteFields(rule, stored->Add());
}

template <class Rule, class Stored>
absl::Status DecodeAll(std::string_view words,
                       const google::protobuf::RepeatedPtrField<Stored>& stored,
                       RuleOrder order, std::vector<Rule>* rules) {
  for (const Stored& message : stored) {
    RETURN_IF_ERROR(DecodeFields(words, message, &rules->emplace_back()));
  }
  if (order == RuleOrder::kSet) return CheckAscending(words, *rules);
  return CheckAscending(words, *rules, {}, std::ranges::greater());
}

}  // namespace

v1::StoredRules Encode(const PlacementRules& rules) {
  v1::StoredRules stored;
#define RULE_LIST(field, ...) EncodeAll(rules.field, stored.mutable_##field());
#define RULE_FLAG(field) stored.set_##field(rules.field);
#define RULE_TASK(field) \
  if (rules.field.has_value()) stored.set_##field(rules.field->value);
#define RULE_MESSAGE(field, Type) \
  if (!rules.field.empty()) *stored.mutable_##field() = Encode(rules.field);
#include "sluice/state/placement_rules.def"
  firmament::TaskRules further;
  WriteFields(rules, &further);
  if (further.ByteSizeLong() > 0) *stored.mutable_rules() = std::move(further);
  return stored;
}

absl::StatusOr<PlacementRules> Decode(const v1::StoredRules& stored) {
  PlacementRules rules;
  if (stored.has_rules()) {
    // A task is not placed against a rule of a newer daemon.
    if (HasUnknownFields(stored.rules())) {
      return Damaged("a field of its rules is unknown");
    }
    RETURN_IF_ERROR(DecodeFields("rules", stored.rules(), &rules));
  }
#define RULE_LIST(field, Element, order, words, ...) \
  RETURN_IF_ERROR(                                   \
      DecodeAll(words, stored.field(), RuleOrder::order, &rules.field));
#define RULE_FLAG(field) rules.field = stored.field();
#define RULE_TASK(field) \
  if (stored.has_##field()) rules.field = TaskUid{stored.field()};
#define RULE_MESSAGE(field, Type)                          \
  if (stored.has_##field()) {                              \
    ASSIGN_OR_RETURN(rules.field, Decode(stored.field())); \
  }
#include "sluice/state/placement_rules.def"
  return rules;
}

absl::StatusOr<std::vector<HostPort>> Decode(const StoredHostPorts& stored) {
  std::vector<HostPort> ports;
  RETURN_IF_ERROR(DecodeAll("host ports", stored, RuleOrder::kSet, &ports));
  return ports;
}

StoredOwners Encode(const std::vector<Owner>& avoids) {
  StoredOwners stored;
  EncodeAll(avoids, &stored);
  return stored;
}

absl::StatusOr<std::vector<Owner>> Decode(const StoredOwners& stored) {
  std::vector<Owner> avoids;
  RETURN_IF_ERROR(
      DecodeAll("avoided owners", stored, RuleOrder::kSet, &avoids));
  return avoids;
}

StoredTaints Encode(const std::vector<MachineTaint>& taints) {
  StoredTaints stored;
  EncodeAll(taints, &stored);
  return stored;
}

absl::StatusOr<std::vector<MachineTaint>> Decode(const StoredTaints& stored) {
  std::vector<MachineTaint> taints;
  for (const v1::StoredTaint& message : stored) {
    RETURN_IF_ERROR(DecodeFields("taints", message, &taints.emplace_back()));
  }
  RETURN_IF_ERROR(CheckAscending("taints", taints, &MachineTaint::taint));
  return taints;
}

}  // namespace sluice
