// Converts the contract's conditions on labels to LabelRequirement.  Conditions
// that mean the same get the same form.  An invalid one becomes kInvalid and is
// noted as a fault.
//
// Threads: pure functions.

#ifndef SLUICE_RPC_CONVERT_REQUIREMENTS_H_
#define SLUICE_RPC_CONVERT_REQUIREMENTS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "firmament/label_selector.pb.h"
#include "rpc/checks.h"
#include "sluice/state/label_requirement.h"

namespace sluice {

using RepeatedText = google::protobuf::RepeatedPtrField<std::string>;

// What a condition is on, which decides whether it is valid.
enum class RequirementOn { kMachineLabel, kMachineField, kTaskLabel };

// A requirement as its client gives it.
struct GivenRequirement {
  std::string_view key;
  LabelOperator op;
  std::string operator_text;  // For people.
  const RepeatedText& values;
};

// By the name of its operator: "In", "NotIn", ...
GivenRequirement Given(std::string_view key, std::string_view op,
                       const RepeatedText& values);
GivenRequirement Given(const firmament::LabelSelector& selector);

// Errors: kInvalidArgument if a bound is exceeded.
absl::StatusOr<LabelRequirement> ToRequirement(const GivenRequirement& given,
                                               RequirementOn on,
                                               Faults* faults);

}  // namespace sluice

#endif  // SLUICE_RPC_CONVERT_REQUIREMENTS_H_
