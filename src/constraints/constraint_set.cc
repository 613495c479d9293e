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
    if (entry.aspect == MachineAspect::kLoad && entry.name != "resource_fit") {
      on_load_beside_fit_.push_back(entry.constraint.get());
    }
  }
}

size_t ConstraintSet::Explain(
    const ClassKey& task_class, const Machine& machine,
    const std::function<const std::string&(ResourceIndex)>& resource_name,
    std::vector<Reason>* reasons) const {
  const size_t before = reasons->size();
  size_t first_count = 0;
  for (const Entry& entry : entries_) {
    entry.constraint->Explain(task_class, machine, resource_name, reasons);
    if (first_count == 0) first_count = reasons->size() - before;
  }
  return first_count;
}

}  // namespace sluice
