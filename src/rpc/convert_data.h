// Converts the dependencies of a task's descriptor to the data that it reads.
//
// Threads: pure functions.

#ifndef SLUICE_RPC_CONVERT_DATA_H_
#define SLUICE_RPC_CONVERT_DATA_H_

#include "absl/status/statusor.h"
#include "firmament/task_desc.pb.h"
#include "sluice/state/task_data.h"

namespace sluice {

// Reads the objects that are stored somewhere (CONCRETE and STREAM).  Objects
// with the same id are copies of one, which has the size of the first.  A
// location is the name of a machine, or "/RACK/MACHINE".  An object without
// one, or on unknown machines, comes from afar wherever the task goes.
// Errors: kInvalidArgument for too many objects or too large ones, and for
// names that are too long or not UTF-8.
absl::StatusOr<TaskData> ToTaskData(const firmament::TaskDescriptor& task);

}  // namespace sluice

#endif  // SLUICE_RPC_CONVERT_DATA_H_
