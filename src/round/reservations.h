// Machines that are reserved for tasks that have waited too long.
//
// A task with a large request can wait forever while smaller ones come and go:
// whatever ends is given to the next task that fits.  Once it has waited long
// enough, a machine is reserved for it: what becomes free there is kept until
// the task fits, and then it is placed.  The most urgent tasks come first, then
// the oldest.  A reservation yields to a more urgent task that could go there.
// It ends if the task fits elsewhere first, or if the machine has lacked as
// much for it for the same time again: then another machine is tried.
//
// Tasks of gangs and tasks with required terms about other tasks get none.
// With preemption, tasks that may displace a running one get none either.
//
// Threads: confined to the core thread.  Reservations are not stored: after a
// restart they are made anew.

#ifndef SLUICE_ROUND_RESERVATIONS_H_
#define SLUICE_ROUND_RESERVATIONS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "constraints/constraint_set.h"
#include "round/round_stats.h"
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

  // Ends those that must yield, or lead to nothing.  Call it when a round
  // begins.
  void Review(int64_t now_ms);
  // Makes those that are due.  Call it when a round, which has placed what
  // fits, ends.
  void Make(int64_t now_ms);

 private:
  struct Reserved {
    std::optional<MachineId> machine;
    int64_t since_ms = 0;            // When made, or when something last left.
    int64_t missing_ppm = 0;         // Of what it offers, over all resources.
    std::set<MachineId> tried = {};  // In vain.
  };

  // What the machine lacks for the task as parts of what it offers, summed over
  // all resources.  Nullopt if the task may not go there, or would not fit on
  // the empty machine.
  std::optional<int64_t> MissingOn(const Machine& machine,
                                   const Task& task) const;
  // The tasks that have waited long enough, in the order of their turns.
  std::vector<const Task*> FindDue(int64_t now_ms) const;
  // True if a more urgent waiting task could use the machine.
  bool MustYield(const Machine& machine, const Task& task) const;
  // The machine that lacks least, among those with no reserved room; nullopt if
  // there is none.
  std::optional<MachineId> FindMachine(const Task& task,
                                       const std::set<MachineId>& but) const;

  const ConstraintSet& constraints_;
  const ReservationOptions options_;
  const bool preempts_;
  ClusterState& state_;
  std::map<TaskId, Reserved> reserved_;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_RESERVATIONS_H_
