// Node selector: each of the task's selectors holds on the machine's labels
// (Kubernetes: spec.nodeSelector; the operators beyond equality are the wire
// contract's).

#include <algorithm>
#include <memory>

#include "base/strings.h"
#include "constraints/label_match.h"
#include "sluice/constraints/constraint.h"

namespace sluice {
namespace {

class NodeSelector : public Constraint {
 public:
  bool Allows(const ClassKey& task_class,
              const Machine& machine) const override {
    return FirstMiss(*task_class.rules, machine) == nullptr;
  }

  bool Concerns(const ClassKey& task_class) const override {
    return !task_class.rules->selectors.empty();
  }

  void Explain(
      const ClassKey& task_class, const Machine& machine,
      const std::function<const std::string&(ResourceIndex)>& /*resource_name*/,
      std::vector<Reason>* reasons) const override {
    const LabelRequirement* miss = FirstMiss(*task_class.rules, machine);
    if (miss == nullptr) return;
    reasons->push_back(
        {"node_selector_mismatch",
         StrCat("node(s) didn't match the selector ", RequirementText(*miss)),
         LacksText(task_class.rules->selectors, machine)});
  }

 private:
  static const LabelRequirement* FirstMiss(const PlacementRules& rules,
                                           const Machine& machine) {
    const auto miss = std::ranges::find_if_not(
        rules.selectors, [&](const LabelRequirement& selector) {
          return Holds(selector, machine.FindLabel(selector.key));
        });
    return miss == rules.selectors.end() ? nullptr : &*miss;
  }
};

}  // namespace

std::unique_ptr<Constraint> MakeConstraint_node_selector() {
  return std::make_unique<NodeSelector>();
}

}  // namespace sluice
