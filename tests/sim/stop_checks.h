// Whether what a daemon stops tasks for is there, by its state after each step.
//
// A round changes its mind until it ends, and tasks come and go meanwhile.  So
// what it stopped is looked at when it has ended, and each reason counts that
// there was in one of its steps.
//
// Threads: one.

#ifndef SLUICE_TESTS_SIM_STOP_CHECKS_H_
#define SLUICE_TESTS_SIM_STOP_CHECKS_H_

#include <cstdint>
#include <map>
#include <string>

#include "round/context/round_stats.h"
#include "sim/workload.h"
#include "state/cluster_state.h"

namespace sluice::sim {

class StopChecks {
 public:
  explicit StopChecks(const Workload& workload) : workload_(workload) {}

  // What was decided so far was another process's.
  void NoteRecovered(const ClusterState& state) {
    next_sequence_ = state.counters().next_delta_sequence;
  }
  // After each step.  Says what is wrong; "": nothing.
  std::string Look(const ClusterState& state, bool is_in_round,
                   Preemption mode);

 private:
  // By machine, the highest priority that room is kept for, or that was placed,
  // plus one.
  using Reasons = std::map<MachineId, uint32_t>;
  void NoteReasons(const ClusterState& state);
  // Where tasks move one may be stopped for another that comes from where
  // somebody more urgent goes.
  uint32_t ReasonOn(MachineId machine, Preemption mode) const;

  // Those that were told to leave since the last round.
  std::map<TaskId, DeltaType> FindLeaving(const ClusterState& state) const;
  void NoteAllowances(const ClusterState& state);
  std::string FindExcess(const ClusterState& state) const;

  const Workload workload_;
  uint64_t next_sequence_ = 0;  // Of deltas.
  Reasons reasons_;
  // How many tasks of a job might be stopped at most, by its budget.
  std::map<JobId, int64_t> allowed_;
};

}  // namespace sluice::sim

#endif  // SLUICE_TESTS_SIM_STOP_CHECKS_H_
