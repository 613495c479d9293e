// Taints: every taint of the machine that keeps tasks away is tolerated
// (Kubernetes: TaintToleration and NodeUnschedulable).
//
// An unschedulable machine and one in a bad condition have taints that say so;
// PreferNoSchedule is a matter of cost (cost/models/taint.cc).

#include <algorithm>
#include <memory>

#include "base/strings.h"
#include "constraints/toleration.h"
#include "sluice/constraints/constraint.h"

namespace sluice {
namespace {

constexpr std::string_view kUnschedulable = "node.kubernetes.io/unschedulable";

bool Repels(const Taint& taint, const PlacementRules& rules) {
  const bool filters = taint.effect == TaintEffect::kNoSchedule ||
                       taint.effect == TaintEffect::kNoExecute;
  return filters && !IsTolerated(taint, rules.tolerations);
}

class Taints : public Constraint {
 public:
  bool Allows(const ClassKey& task_class,
              const Machine& machine) const override {
    return std::ranges::none_of(
        machine.taints, [&](const MachineTaint& machine_taint) {
          return Repels(machine_taint.taint, *task_class.rules);
        });
  }

  void Explain(
      const ClassKey& task_class, const Machine& machine,
      const std::function<const std::string&(ResourceIndex)>& /*resource_name*/,
      std::vector<Reason>* reasons) const override {
    for (const auto& [taint, since_ms] : machine.taints) {
      if (!Repels(taint, *task_class.rules)) continue;
      const std::string shown = TaintText(taint);
      const std::string lacks =
          StrCat("lacks the task's toleration of ", shown);
      if (taint.key == kUnschedulable) {
        reasons->push_back(
            {"unschedulable", "node(s) were unschedulable", lacks});
      } else {
        reasons->push_back(
            {"untolerated_taint", StrCat("had the taint ", shown), lacks});
      }
    }
  }
};

}  // namespace

std::unique_ptr<Constraint> MakeConstraint_taints() {
  return std::make_unique<Taints>();
}

}  // namespace sluice
