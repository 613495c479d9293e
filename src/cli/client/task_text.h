// Words for the state of a task.
//
// Threads: free functions without state.

#ifndef SLUICE_CLI_CLIENT_TASK_TEXT_H_
#define SLUICE_CLI_CLIENT_TASK_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "sluice/v1/inspector.pb.h"

namespace sluice {

// "pending", "running", ...; "?" for a state this program does not know.
std::string_view TaskStateName(v1::Task::State state);

// What its client calls the task: its uid, or for a task of a feed its id
// there, since the uid of such a task is the daemon's own.
std::string TaskIdText(const v1::Task& task);

// The names of all states, in the order of their numbers.
std::vector<std::string_view> TaskStateNames();

// The state of this name; STATE_UNSPECIFIED if there is none.
v1::Task::State TaskStateNamed(std::string_view name);

}  // namespace sluice

#endif  // SLUICE_CLI_CLIENT_TASK_TEXT_H_
