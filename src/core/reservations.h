// Machines that are reserved for tasks that wait too long.
//
// A task that asks for much can wait for ever while smaller ones come and go:
// whatever ends is given to the next that fits.  Once it has waited so long a
// machine is reserved for it: what becomes free there is kept until the task
// fits, and then it is placed.  The most urgent tasks come first, of these the
// oldest.  A reservation yields to a more urgent task that could go there, and
// ends where the task fits elsewhere first, or where the machine has lacked as
// much for it for as long again: then another is tried.
//
// Tasks of gangs, and those with required terms about other tasks, get none;
// nor, where preemption is on, those that may displace something that runs.
//
// Threads: confined to the core thread.  Nothing of it is stored: after a
// restart reservations are made anew.

#ifndef SLUICE_CORE_RESERVATIONS_H_
#define SLUICE_CORE_RESERVATIONS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "constraints/constraint_set.h"
#include "core/round_stats.h"
#include "state/cluster_state.h"

namespace sluice {

class Reservations {
 public:
  // What is passed must outlive this.
  Reservations(const ConstraintSet& constraints, const RoundOptions& options,
               ClusterState* state)
      : constraints_(constraints),
        options_(options.reservations),
        preempts_(options.preemption.mode != Preemption::kOff),
        state_(*state) {}

  // Ends those that must yield, or lead to nothing.  At the begin of a round.
  void Review(int64_t now_ms);
  // Makes those that are due.  At the end of a round, which has placed what
  // fits.
  void Make(int64_t now_ms);

 private:
  struct Reserved {
    std::optional<MachineId> machine;
    int64_t since_ms = 0;     // That it was made, or something last left.
    int64_t missing_ppm = 0;  // Of what the machine offers, all resources.
    std::set<MachineId> tried = {};  // In vain.
  };

  // What the machine lacks for the task, of what it offers, the parts of all
  // resources together; nothing where the task may not go there, or would not
  // fit if all tasks had left.
  std::optional<int64_t> MissingOn(const Machine& machine,
                                   const Task& task) const;
  // Those that have waited long enough, in the order of their turns.
  std::vector<const Task*> FindDue(int64_t now_ms) const;
  // Whether a more urgent task that waits could use the machine.
  bool MustYield(const Machine& machine, const Task& task) const;
  // The one with the least missing of those where nothing is kept; nothing
  // where there is none.
  std::optional<MachineId> FindMachine(const Task& task,
                                       const std::set<MachineId>& but) const;

  const ConstraintSet& constraints_;
  const ReservationOptions options_;
  const bool preempts_;
  ClusterState& state_;
  std::map<TaskId, Reserved> reserved_;
};

}  // namespace sluice

#endif  // SLUICE_CORE_RESERVATIONS_H_
