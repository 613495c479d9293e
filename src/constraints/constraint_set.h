// The constraints in force, ANDed, and the registry of all there are.

#ifndef SLUICE_CONSTRAINTS_CONSTRAINT_SET_H_
#define SLUICE_CONSTRAINTS_CONSTRAINT_SET_H_

#include <memory>
#include <vector>

#include "sluice/constraints/constraint.h"

namespace sluice {

class ConstraintSet {
 public:
  // Every constraint of constraints.def.
  ConstraintSet();

  bool Allows(const ClassKey& task_class, const Machine& machine) const {
    for (const auto& constraint : constraints_) {
      if (!constraint->Allows(task_class, machine)) return false;
    }
    return true;
  }
  // Appends every reason against the pair, in the order of constraints.def.
  void Explain(
      const ClassKey& task_class, const Machine& machine,
      const std::function<const std::string&(ResourceIndex)>& resource_name,
      std::vector<Reason>* reasons) const;

 private:
  std::vector<std::unique_ptr<Constraint>> constraints_;
};

}  // namespace sluice

#endif  // SLUICE_CONSTRAINTS_CONSTRAINT_SET_H_
