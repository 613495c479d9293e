// Texts for people: whom a task may displace, and for whom a task was told to
// leave.
//
// Threads: pure functions; confined to the core thread.

#ifndef SLUICE_EXPLAIN_PREEMPTION_TEXT_H_
#define SLUICE_EXPLAIN_PREEMPTION_TEXT_H_

#include <string>

#include "round/scheduler.h"
#include "sluice/state/task.h"

namespace sluice {

// Whom a waiting task may displace, or why it may not, to be appended to the
// reason why it waits: "; 3 machines would have room for it without the less
// urgent tasks, which the next round may stop: 2 tasks on machine 'node-7', at
// a cost of 350", or "..., but disruption budgets protect these: shop/web needs
// 3 available tasks and has 3".  The cost is that of a machine where little is
// stopped; another choice may cost less.  Looks at each running task.
std::string MayStopText(const Task& task, const Scheduler& scheduler);

// For whom a running task was told to leave, what that costs, and what stopping
// others instead would cost as things are now, to be appended to where it runs:
// ", and was told to leave it to make room for web-1 of priority 1000; its stop
// costs 350; instead, 2 tasks on machine 'node-7' could be stopped at a cost of
// 450".  Empty if it may stay.  May look at each running task.  REQUIRES: the
// state's peers are in sync.
std::string LeavingText(const Task& task, const Scheduler& scheduler);

}  // namespace sluice

#endif  // SLUICE_EXPLAIN_PREEMPTION_TEXT_H_
