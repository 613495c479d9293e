// Tasks take the place of those that they replace.
//
// Whoever replaces a task that runs waits for its place, or goes elsewhere if
// it may.  A task does not wait in any queue while another is to run in its
// place (state/replacements.h).
//
// Threads: free functions; confined to the core thread.

#ifndef SLUICE_CORE_STAGES_REPLACE_H_
#define SLUICE_CORE_STAGES_REPLACE_H_

#include "core/round_context.h"
#include "sluice/state/machine.h"
#include "sluice/state/task.h"

namespace sluice {

// Before the first tier: decides which of those that wait are held, and has
// newcomers take the place of a task that can be told to leave where they may
// run there once it has.
void ReplaceTasks(RoundContext* context);

// At the end of the round: tells those to leave in whose place another runs.
void StopReplaced(RoundContext* context);

// The machine as if the task that runs there were gone.
Machine WithoutTask(const Machine& machine, const Task& running);

}  // namespace sluice

#endif  // SLUICE_CORE_STAGES_REPLACE_H_
