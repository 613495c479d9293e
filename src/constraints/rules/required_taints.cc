// Required taints: the machine has each taint that the task demands.  So a task
// for machines that were set aside runs on no others.

#include <algorithm>
#include <memory>

#include "base/strings.h"
#include "sluice/constraints/constraint.h"

namespace sluice {
namespace {

constexpr size_t kShownBytes = 64;  // Of a key or value.

bool Has(const Machine& machine, const RequiredTaint& required) {
  return std::ranges::any_of(machine.taints, [&](const MachineTaint& it) {
    return it.taint.key == required.key &&
           (required.values.empty() ||
            std::ranges::binary_search(required.values, it.taint.value));
  });
}

// "dedicated", or "dedicated=ml", of the first of several values.
std::string ShownTaint(const RequiredTaint& required) {
  std::string text = Printable(required.key, kShownBytes);
  if (required.values.empty()) return text;
  text += StrCat("=", Printable(required.values.front(), kShownBytes));
  const size_t others = required.values.size() - 1;
  if (others == 0) return text;
  return StrCat(
      text, others == 1 ? " or another" : StrCat(" or ", others, " others"));
}

class RequiredTaints : public Constraint {
 public:
  bool Allows(const ClassKey& task_class,
              const Machine& machine) const override {
    return std::ranges::all_of(
        task_class.rules->required_taints,
        [&](const RequiredTaint& required) { return Has(machine, required); });
  }

  bool Concerns(const ClassKey& task_class) const override {
    return !task_class.rules->required_taints.empty();
  }

  void Explain(
      const ClassKey& task_class, const Machine& machine,
      const std::function<const std::string&(ResourceIndex)>& /*resource_name*/,
      std::vector<Reason>* reasons) const override {
    const auto& all = task_class.rules->required_taints;
    const auto missing = std::ranges::find_if_not(
        all,
        [&](const RequiredTaint& required) { return Has(machine, required); });
    if (missing == all.end()) return;
    const std::string shown = ShownTaint(*missing);
    reasons->push_back({"required_taint_missing",
                        StrCat("lacked the required taint ", shown),
                        StrCat("lacks the taint ", shown)});
  }
};

}  // namespace

std::unique_ptr<Constraint> MakeConstraint_required_taints() {
  return std::make_unique<RequiredTaints>();
}

}  // namespace sluice
