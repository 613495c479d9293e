#include "constraints/constraint_set.h"

#include <glog/logging.h>

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
  bool has_fit = false;
  const ClassKey without_rules;
  for (const Entry& entry : entries_) {
    const Constraint* constraint = entry.constraint.get();
    std::vector<Asked*> asked = {&with_rules_};
    if (constraint->Concerns(without_rules)) asked.push_back(&without_rules_);
    const bool is_fit = entry.name == "resource_fit";
    has_fit = has_fit || is_fit;
    for (Asked* one : asked) {
      one->all.push_back(constraint);
      if (entry.aspect == MachineAspect::kLoad && !is_fit) {
        one->on_load.push_back(constraint);
      }
    }
  }
  CHECK(has_fit) << "AllowsLoad() stands in for a constraint that is not there";
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
