// What happens to the tasks on a machine if it drains.
//
// Threads: a free function; confined to the core thread.

#ifndef SLUICE_EXPLAIN_DRAIN_REPORT_H_
#define SLUICE_EXPLAIN_DRAIN_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "round/leaving/draining.h"
#include "round/scheduler.h"
#include "sluice/state/machine.h"
#include "sluice/state/task.h"

namespace sluice {

struct DrainReport {
  int64_t leaving = 0;  // Told to leave, but still there.
  int64_t movable = 0;  // A round may move them if the machine drains.
  struct Held {
    DrainHold hold = DrainHold::kNoMachine;
    std::string text = {};  // Why they stay.
    std::vector<const Task*> tasks = {};
  };
  std::vector<Held> held;  // The largest group first.
};

// As things are.  Looks at each machine for each task that might move, and at
// each task if there is any budget.  REQUIRES: the state's peers are in sync.
DrainReport ReportDrain(const Machine& machine, const Scheduler& scheduler);

}  // namespace sluice

#endif  // SLUICE_EXPLAIN_DRAIN_REPORT_H_
