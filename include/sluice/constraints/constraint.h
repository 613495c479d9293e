// A constraint says whether a task of a class may run on a machine as the
// machine is now.  Constraints are ANDed.
//
// A new constraint is one file under src/constraints/rules/ and one line in
// src/constraints/constraints.def.
//
// Threads: const methods only, no state of their own.

#ifndef SLUICE_CONSTRAINTS_CONSTRAINT_H_
#define SLUICE_CONSTRAINTS_CONSTRAINT_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/state/machine.h"
#include "sluice/state/task.h"

namespace sluice {

// Why a machine does not take a task.
struct Reason {
  std::string code;   // For programs: "insufficient_cpu".
  std::string text;   // For people: "insufficient cpu".
  std::string lacks;  // What would help on this machine: "lacks 500m cpu".
};

class Constraint {
 public:
  virtual ~Constraint() = default;

  // On the hot path: called for every class and machine of a pass.
  virtual bool Allows(const ClassKey& task_class,
                      const Machine& machine) const = 0;

  // Appends every reason why Allows() is false; none where it is true.
  // `resource_name` gives the name of a resource by its index.
  virtual void Explain(
      const ClassKey& task_class, const Machine& machine,
      const std::function<const std::string&(ResourceIndex)>& resource_name,
      std::vector<Reason>* reasons) const = 0;
};

}  // namespace sluice

#endif  // SLUICE_CONSTRAINTS_CONSTRAINT_H_
