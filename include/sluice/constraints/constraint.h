// A constraint says whether a task of a class may run on a machine as the
// machine is now.  Constraints are ANDed.
//
// A new constraint is one file under src/constraints/rules/ and one line in
// src/constraints/constraints.def, which says what of the machine its verdict
// depends on.  Of the class it may look at the rules, and with kLoad at the
// request too.
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

// What of a machine a verdict depends on.
enum class MachineAspect : uint8_t {
  kLabels,  // Labels and name.  The verdict is kept until they change.
  kTaints,  // Taints.  Likewise.
  kAvoids,  // Whose tasks it would rather not have.  Likewise.
  kLoad,    // Amounts, what runs there.  Asked anew each time.
};

class Constraint {
 public:
  virtual ~Constraint() = default;

  // With kLoad on the hot path: called for every class and machine of a pass.
  // With another aspect `machine` may be one that is only like the machine
  // meant: with labels that no rules mention left out or of another value.
  virtual bool Allows(const ClassKey& task_class,
                      const Machine& machine) const = 0;

  // Whether it may forbid the class any machine.  Where not, it need not be
  // asked; whether classes without rules are asked is found out once.
  virtual bool Concerns(const ClassKey& /*task_class*/) const { return true; }

  // Appends every reason why Allows() is false; none where it is true.
  // `resource_name` gives the name of a resource by its index.
  virtual void Explain(
      const ClassKey& task_class, const Machine& machine,
      const std::function<const std::string&(ResourceIndex)>& resource_name,
      std::vector<Reason>* reasons) const = 0;
};

}  // namespace sluice

#endif  // SLUICE_CONSTRAINTS_CONSTRAINT_H_
