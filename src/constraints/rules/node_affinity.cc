// Required node affinity: the machine matches one of the task's terms
// (Kubernetes: NodeAffinity's requiredDuringSchedulingIgnoredDuringExecution).

#include <algorithm>
#include <memory>

#include "base/strings.h"
#include "constraints/label_match.h"
#include "sluice/constraints/constraint.h"

namespace sluice {
namespace {

class NodeAffinity : public Constraint {
 public:
  bool Allows(const ClassKey& task_class,
              const Machine& machine) const override {
    const std::vector<NodeTerm>& terms = task_class.rules->required;
    return terms.empty() ||
           std::ranges::any_of(terms, [&](const NodeTerm& term) {
             return Matches(term, machine);
           });
  }

  bool Concerns(const ClassKey& task_class) const override {
    return !task_class.rules->required.empty();
  }

  void Explain(
      const ClassKey& task_class, const Machine& machine,
      const std::function<const std::string&(ResourceIndex)>& /*resource_name*/,
      std::vector<Reason>* reasons) const override {
    if (Allows(task_class, machine)) return;
    const std::vector<NodeTerm>& terms = task_class.rules->required;
    reasons->push_back(
        {"node_affinity_mismatch",
         StrCat("node(s) didn't match the node affinity ", TermsText(terms)),
         LacksText(terms, machine)});
  }
};

}  // namespace

std::unique_ptr<Constraint> MakeConstraint_node_affinity() {
  return std::make_unique<NodeAffinity>();
}

}  // namespace sluice
