#include "constraints/constraint_set.h"

namespace sluice {

#define CONSTRAINT(name, summary) std::unique_ptr<Constraint> Make_##name();
#include "constraints/constraints.def"
#undef CONSTRAINT

ConstraintSet::ConstraintSet() {
#define CONSTRAINT(name, summary) constraints_.push_back(Make_##name());
#include "constraints/constraints.def"
#undef CONSTRAINT
}

void ConstraintSet::Explain(
    const ClassKey& task_class, const Machine& machine,
    const std::function<const std::string&(ResourceIndex)>& resource_name,
    std::vector<Reason>* reasons) const {
  for (const auto& constraint : constraints_) {
    constraint->Explain(task_class, machine, resource_name, reasons);
  }
}

}  // namespace sluice
