// Machines that are reserved for tasks that have waited too long.
//
// A task with a large request can wait forever while smaller ones come and go:
// what becomes free goes to the next task that fits.  Once the large one has
// waited long enough, a machine is reserved for it: what becomes free there is
// kept until the task fits, and then it is placed.  The most urgent tasks come
// first, then those that have waited longest.  A reservation yields to a more
// urgent task that could go there.  It ends if the task fits elsewhere first.
// It also ends if the machine has come no closer to having room for as long
// again: then another machine is tried.
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
#include "round/context/round_stats.h"
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

  // Ends those that must yield and those in vain.  Call it when a round begins.
  void Review(int64_t now_ms);
  // Makes those that are due.  Call it when a round ends: it has placed what
  // fits.
  void Make(int64_t now_ms);

 private:
  struct Reserved {
    std::optional<MachineId> machine;
    int64_t since_ms = 0;            // When made, or when less was missing.
    int64_t missing_ppm = 0;         // As MissingOn().
    std::set<MachineId> tried = {};  // In vain.
  };

  // What the machine lacks for the task, in parts per million of what it has,
  // summed over all resources.  Nullopt if the task may not go there, or would
  // not fit on the empty machine.
  std::optional<int64_t> MissingOn(const Machine& machine,
                                   const Task& task) const;
  // The tasks that have waited long enough, in the order of their turns.
  std::vector<const Task*> FindDue(int64_t now_ms) const;
  // True if a more urgent waiting task could use the machine.
  bool MustYield(const Machine& machine, const Task& task) const;
  // The machine that lacks the least, of those without reserved room; nullopt
  // if there is none.
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
