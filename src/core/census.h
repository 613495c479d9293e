// The cluster in numbers: what a status screen and the gauges show.
//
// Threads: a pure function over the state; call it on the core thread.

#ifndef SLUICE_CORE_CENSUS_H_
#define SLUICE_CORE_CENSUS_H_

#include <cstdint>
#include <string>

#include "sluice/state/resources.h"
#include "state/cluster_state.h"

namespace sluice {

struct Census {
  int64_t usable_machines = 0;    // Stale and draining ones not counted.
  int64_t draining_machines = 0;  // Stale and quarantined ones not counted.
  int64_t overcommitted_machines = 0;  // Present, with more on them than fits.
  int64_t departed_machines = 0;       // With something left on them.
  int64_t quarantined_machines = 0;    // Departed ones not counted.
  // Present machines that share their name, and one such name.
  int64_t namesake_machines = 0;
  std::string shared_name;
  Resources allocatable;          // Of the usable machines.
  Resources used;                 // Likewise.
  int64_t measured_machines = 0;  // Of these, placed on by measured use.
  Resources reclaimed;            // On these.
  int64_t jobs = 0;
  int64_t pending_tasks = 0;   // Without the quarantined ones.
  int64_t gang_tasks = 0;      // Of these, in gangs that have not started.
  int64_t held_tasks = 0;      // Of these, of feeds that are not live.
  int64_t backoff_tasks = 0;   // Of these, in backoff after a failure.
  int64_t awaiting_tasks = 0;  // Of these, running on an unknown machine.
  int64_t templates = 0;       // Not counted as pending.
  int64_t running_tasks = 0;
  int64_t completed_tasks = 0;
  int64_t failed_tasks = 0;
  int64_t quarantined_tasks = 0;
  int64_t muted_tasks = 0;  // Waiting, under a uid that no client knows.
  // Running, but their client gave their uid to another task.
  int64_t displaced_tasks = 0;
  // Not mentioned since their client began anew.  Those that run or have ended
  // are also counted by their state.
  int64_t stale_tasks = 0;
  int64_t stale_machines = 0;
  int64_t undelivered_deltas = 0;
};

// Walks over every task and machine: some milliseconds per hundred thousand.
Census TakeCensus(const ClusterState& state);

}  // namespace sluice

#endif  // SLUICE_CORE_CENSUS_H_
