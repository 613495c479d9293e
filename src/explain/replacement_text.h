// Texts for people about tasks that replace others.
//
// Threads: a pure function; confined to the core thread.

#ifndef SLUICE_EXPLAIN_REPLACEMENT_TEXT_H_
#define SLUICE_EXPLAIN_REPLACEMENT_TEXT_H_

#include <string>

#include "round/scheduler.h"
#include "sluice/state/task.h"

namespace sluice {

// Why a held task waits: "waits for the place of task 1 web-1 on machine
// 'node-7', but could not have it: lacks 500m cpu", "task 2 web-2 is to run in
// its place, and runs on machine 'node-7'", or "task 3 web-3, an alternative to
// it, has completed".  REQUIRES: the task is held, and the state's peers are in
// sync.
std::string ReplacementText(const Task& task, const Scheduler& scheduler);

}  // namespace sluice

#endif  // SLUICE_EXPLAIN_REPLACEMENT_TEXT_H_
