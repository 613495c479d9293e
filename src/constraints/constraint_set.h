// The constraints in force, ANDed, and the registry of all there are.

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
    for (const Entry& entry : entries_) {
      if (!entry.constraint->Allows(task_class, machine)) return false;
    }
    return true;
  }
  // Only what depends on the load of the machine, of which `free` is free: who
  // asks for many classes works that out once.
  bool AllowsLoad(const ClassKey& task_class, const Machine& machine,
                  const Resources& free) const {
    return task_class.request.FitsIn(free) &&
           AllowsLoadBesideFit(task_class, machine);
  }
  // The same of a class whose request fits.
  bool AllowsLoadBesideFit(const ClassKey& task_class,
                           const Machine& machine) const {
    for (const Constraint* constraint : on_load_beside_fit_) {
      if (!constraint->Allows(task_class, machine)) return false;
    }
    return true;
  }
  // Whether there is more to AllowsLoad() than that the request fits.
  bool AsksForMoreThanFit(const ClassKey& task_class) const {
    for (const Constraint* constraint : on_load_beside_fit_) {
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
  // returns how many of these are the first forbidding constraint's.
  size_t Explain(
      const ClassKey& task_class, const Machine& machine,
      const std::function<const std::string&(ResourceIndex)>& resource_name,
      std::vector<Reason>* reasons) const;

 private:
  std::vector<Entry> entries_;
  // AllowsLoad() asks for the fit itself, without a call: that is what decides
  // nearly always.
  std::vector<const Constraint*> on_load_beside_fit_;
};

}  // namespace sluice

#endif  // SLUICE_CONSTRAINTS_CONSTRAINT_SET_H_
