// Texts for people about tasks that replace others.
//
// Threads: a pure function; confined to the core thread.

#ifndef SLUICE_EXPLAIN_REPLACEMENT_TEXT_H_
#define SLUICE_EXPLAIN_REPLACEMENT_TEXT_H_

#include <string>

#include "round/scheduler.h"
#include "sluice/state/task.h"

namespace sluice {

// Why a held task waits: "waits for the place of web-1 on node-7, which it
// cannot have: node-7 has 500 cpu, and it asks for 700", "web-2 is to run in
// its place, and runs on node-7", or "web-3, an alternative to it, has
// completed".  REQUIRES: the task is held, and the state's peers are in sync.
std::string ReplacementText(const Task& task, const Scheduler& scheduler);

}  // namespace sluice

#endif  // SLUICE_EXPLAIN_REPLACEMENT_TEXT_H_
