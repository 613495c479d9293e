// Parts: a NUMA node or a processing unit has room for everything that a task
// asks for, if the task demands to get it from one.

#include <memory>

#include "base/strings.h"
#include "sluice/constraints/constraint.h"
#include "state/machine_parts.h"

namespace sluice {
namespace {

class PartFit : public Constraint {
 public:
  bool Allows(const ClassKey& task_class,
              const Machine& machine) const override {
    return MeetsPartDemands(task_class, machine);
  }

  bool Concerns(const ClassKey& task_class) const override {
    return task_class.rules->DemandsParts();
  }

  void Explain(
      const ClassKey& task_class, const Machine& machine,
      const std::function<const std::string&(ResourceIndex)>& /*resource_name*/,
      std::vector<Reason>* reasons) const override {
    if (Allows(task_class, machine)) return;
    const std::string lacking = PartsLackingText(task_class, machine);
    reasons->push_back({"part_too_small", StrCat("lacked ", lacking),
                        StrCat("lacks ", lacking)});
  }
};

}  // namespace

std::unique_ptr<Constraint> MakeConstraint_part_fit() {
  return std::make_unique<PartFit>();
}

}  // namespace sluice
