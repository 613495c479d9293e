// The constraints in force, ANDed, and the registry of all constraints.

#ifndef SLUICE_CONSTRAINTS_CONSTRAINT_SET_H_
#define SLUICE_CONSTRAINTS_CONSTRAINT_SET_H_

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "sluice/constraints/constraint.h"

namespace sluice {

class ConstraintSet {
 public:
  struct Entry {
    std::string_view name;
    MachineAspect aspect;
    std::unique_ptr<Constraint> constraint;
  };

  // Every constraint of constraints.def.
  ConstraintSet();

  // In the order of constraints.def.
  std::span<const Entry> entries() const { return entries_; }

  bool Allows(const ClassKey& task_class, const Machine& machine) const {
    for (const Constraint* constraint : AskedOf(task_class).all) {
      if (!constraint->Allows(task_class, machine)) return false;
    }
    return true;
  }
  // Only what depends on the load of the machine, with the free amounts given:
  // callers that ask for many classes compute these once.
  bool AllowsLoad(const ClassKey& task_class, const Machine& machine,
                  const Resources& free) const {
    return task_class.request.FitsIn(free) &&
           AllowsLoadBesideFit(task_class, machine);
  }
  // The same for a class whose request fits.
  bool AllowsLoadBesideFit(const ClassKey& task_class,
                           const Machine& machine) const {
    for (const Constraint* constraint : AskedOf(task_class).on_load) {
      if (!constraint->Allows(task_class, machine)) return false;
    }
    return true;
  }
  // True if AllowsLoad() checks more than that the request fits.
  bool AsksForMoreThanFit(const ClassKey& task_class) const {
    for (const Constraint* constraint : AskedOf(task_class).on_load) {
      if (constraint->Concerns(task_class)) return true;
    }
    return false;
  }
  // Only what depends on this aspect of the machine.
  bool AllowsAspect(MachineAspect aspect, const ClassKey& task_class,
                    const Machine& machine) const {
    for (const Entry& entry : entries_) {
      if (entry.aspect == aspect &&
          !entry.constraint->Allows(task_class, machine)) {
        return false;
      }
    }
    return true;
  }
  // Appends every reason against the pair, in the order of constraints.def, and
  // returns how many of these belong to the first forbidding constraint.
  size_t Explain(
      const ClassKey& task_class, const Machine& machine,
      const std::function<const std::string&(ResourceIndex)>& resource_name,
      std::vector<Reason>* reasons) const;

 private:
  struct Asked {
    std::vector<const Constraint*> all;
    // Without the fit, which AllowsLoad() checks inline: it nearly always
    // decides.
    std::vector<const Constraint*> on_load;
  };
  const Asked& AskedOf(const ClassKey& task_class) const {
    return task_class.rules == no_rules_ ? without_rules_ : with_rules_;
  }

  std::vector<Entry> entries_;
  const PlacementRules* no_rules_ = &NoRules();
  Asked with_rules_;
  Asked without_rules_;  // Most classes skip rules that they lack.
};

}  // namespace sluice

#endif  // SLUICE_CONSTRAINTS_CONSTRAINT_SET_H_
