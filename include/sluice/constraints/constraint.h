// A constraint says whether a task of a class may run on a machine as the
// machine is now.  Constraints are ANDed.
//
// A new constraint is one file under src/constraints/rules/ and one line in
// src/constraints/constraints.def, which says what aspect of the machine its
// verdict depends on.  Of the class it may look at the rules, and with kLoad
// also at the request.
//
// Threads: const methods only, no state of their own.

#ifndef SLUICE_CONSTRAINTS_CONSTRAINT_H_
#define SLUICE_CONSTRAINTS_CONSTRAINT_H_

#include <cstdint>
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

// The aspect of a machine that a verdict depends on.
enum class MachineAspect : uint8_t {
  kLabels,  // Labels and name.  The verdict is cached until they change.
  kTaints,  // Taints.  Likewise.
  kAvoids,  // Owners it avoids.  Likewise.
  kLoad,    // Amounts, running tasks.  Asked anew each time.
};

class Constraint {
 public:
  virtual ~Constraint() = default;

  // With kLoad this is on the hot path: called for every class and machine of a
  // pass.  With another aspect `machine` may be an equivalent one: labels that
  // no rules mention may be missing or have other values.
  virtual bool Allows(const ClassKey& task_class,
                      const Machine& machine) const = 0;

  // False if it never forbids the class any machine: then it need not be asked.
  // Whether classes without rules are asked is determined once.
  virtual bool Concerns(const ClassKey& /*task_class*/) const { return true; }

  // Appends every reason why Allows() is false; none if it is true.
  // `resource_name` gives the name of a resource by its index.
  virtual void Explain(
      const ClassKey& task_class, const Machine& machine,
      const std::function<const std::string&(ResourceIndex)>& resource_name,
      std::vector<Reason>* reasons) const = 0;
};

}  // namespace sluice

#endif  // SLUICE_CONSTRAINTS_CONSTRAINT_H_
