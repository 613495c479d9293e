#include "persist/stored_requirements.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "base/status_macros.h"

namespace sluice {
namespace {

bool HasFittingValues(const LabelRequirement& requirement) {
  switch (requirement.op) {
    case LabelOperator::kIn:
    case LabelOperator::kNotIn:
      return !requirement.values.empty();
    case LabelOperator::kExists:
    case LabelOperator::kDoesNotExist:
      return requirement.values.empty();
    case LabelOperator::kGreaterThan:
    case LabelOperator::kLessThan:
      return requirement.values.size() == 1 &&
             ParseInt64(requirement.values[0]).has_value();
    case LabelOperator::kInvalid:
      return requirement.values.size() == 1;
  }
  return false;
}

}  // namespace

v1::StoredRequirement Encode(const LabelRequirement& requirement) {
  v1::StoredRequirement stored;
  stored.set_key(requirement.key);
  stored.set_op(static_cast<int32_t>(requirement.op));
  for (const std::string& value : requirement.values) stored.add_values(value);
  return stored;
}

absl::StatusOr<LabelRequirement> Decode(const v1::StoredRequirement& stored) {
  ASSIGN_OR_RETURN(const LabelOperator op,
                   ToEnum("an operator", stored.op(), LabelOperator::kInvalid));
  LabelRequirement requirement = {
      stored.key(), op, {stored.values().begin(), stored.values().end()}};
  RETURN_IF_ERROR(CheckAscending("values", requirement.values));
  if (!HasFittingValues(requirement)) {
    return Damaged("a requirement of it has values that it cannot have");
  }
  return requirement;
}

StoredRequirementList Encode(
    const std::vector<LabelRequirement>& requirements) {
  StoredRequirementList stored;
  for (const LabelRequirement& requirement : requirements) {
    *stored.Add() = Encode(requirement);
  }
  return stored;
}

absl::StatusOr<std::vector<LabelRequirement>> Decode(
    const StoredRequirementList& stored) {
  std::vector<LabelRequirement> requirements;
  for (const v1::StoredRequirement& message : stored) {
    ASSIGN_OR_RETURN(LabelRequirement requirement, Decode(message));
    requirements.push_back(std::move(requirement));
  }
  RETURN_IF_ERROR(CheckAscending("requirements", requirements));
  return requirements;
}

}  // namespace sluice
