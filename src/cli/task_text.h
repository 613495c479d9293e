// Words for the state of a task.
//
// Threads: free functions without state.

#ifndef SLUICE_CLI_TASK_TEXT_H_
#define SLUICE_CLI_TASK_TEXT_H_

#include <string_view>

#include "sluice/v1/inspector.pb.h"

namespace sluice {

// "pending", "running", ...; "?" for a state this program does not know.
std::string_view TaskStateName(v1::Task::State state);

}  // namespace sluice

#endif  // SLUICE_CLI_TASK_TEXT_H_
