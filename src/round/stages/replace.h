// Tasks take the place of those that they replace.
//
// A task that replaces a running one waits for its place, or goes elsewhere if
// it may.  A task does not wait in any queue while another is to run in its
// place (state/replacements.h).
//
// Threads: free functions; confined to the core thread.

#ifndef SLUICE_ROUND_STAGES_REPLACE_H_
#define SLUICE_ROUND_STAGES_REPLACE_H_

#include "round/context/round_context.h"
#include "sluice/state/machine.h"
#include "sluice/state/task.h"

namespace sluice {

// Before the first tier: decides which waiting tasks are held.  Gives newcomers
// the place of a task that can be told to leave, if they may run there once it
// has left.
void ReplaceTasks(RoundContext* context);

// At the end of the round: tells tasks to leave whose replacements run.
void StopReplaced(RoundContext* context);

// The machine as if the running task were gone.
Machine WithoutTask(const Machine& machine, const Task& running);

}  // namespace sluice

#endif  // SLUICE_ROUND_STAGES_REPLACE_H_
