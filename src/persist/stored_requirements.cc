#include "persist/stored_requirements.h"

#include <string>

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

StoredRequirementList Encode(
    const std::vector<LabelRequirement>& requirements) {
  StoredRequirementList stored;
  for (const LabelRequirement& requirement : requirements) {
    v1::StoredRequirement* message = stored.Add();
    message->set_key(requirement.key);
    message->set_op(static_cast<int32_t>(requirement.op));
    for (const std::string& value : requirement.values) {
      message->add_values(value);
    }
  }
  return stored;
}

absl::StatusOr<std::vector<LabelRequirement>> Decode(
    const StoredRequirementList& stored) {
  std::vector<LabelRequirement> requirements;
  for (const v1::StoredRequirement& message : stored) {
    ASSIGN_OR_RETURN(const LabelOperator op, ToEnum("an operator", message.op(),
                                                    LabelOperator::kInvalid));
    requirements.push_back(
        {message.key(),
         op,
         {message.values().begin(), message.values().end()}});
    RETURN_IF_ERROR(CheckAscending("values", requirements.back().values));
    if (!HasFittingValues(requirements.back())) {
      return Damaged("a requirement of it has values that it cannot have");
    }
  }
  RETURN_IF_ERROR(CheckAscending("requirements", requirements));
  return requirements;
}

}  // namespace sluice
