#include "constraints/constraint_set.h"

namespace sluice {

#define CONSTRAINT(name, aspect, summary) \
  std::unique_ptr<Constraint> MakeConstraint_##name();
#include "constraints/constraints.def"
#undef CONSTRAINT

ConstraintSet::ConstraintSet() {
#define CONSTRAINT(name, aspect, summary) \
  entries_.push_back({#name, MachineAspect::aspect, MakeConstraint_##name()});
#include "constraints/constraints.def"
#undef CONSTRAINT
  for (const Entry& entry : entries_) {
    if (entry.aspect == MachineAspect::kLoad) {
      on_load_.push_back(entry.constraint.get());
    }
  }
}

void ConstraintSet::Explain(
    const ClassKey& task_class, const Machine& machine,
    const std::function<const std::string&(ResourceIndex)>& resource_name,
    std::vector<Reason>* reasons) const {
  for (const Entry& entry : entries_) {
    entry.constraint->Explain(task_class, machine, resource_name, reasons);
  }
}

}  // namespace sluice
