// What a task reads, out of the references that its descriptor depends on.
//
// Threads: pure functions.

#ifndef SLUICE_RPC_CONVERT_DATA_H_
#define SLUICE_RPC_CONVERT_DATA_H_

#include "absl/status/statusor.h"
#include "firmament/task_desc.pb.h"
#include "sluice/state/task_data.h"

namespace sluice {

// Of the objects that are stored somewhere (CONCRETE and STREAM).  Those with
// the same id are copies of one, which is the first's size.  A location is the
// name of a machine, or "/RACK/MACHINE"; an object without one, or on machines
// that nobody knows, comes from afar wherever the task goes.
// Errors: kInvalidArgument for too many objects or too large ones, and for
// names that are too long or no UTF-8.
absl::StatusOr<TaskData> ToTaskData(const firmament::TaskDescriptor& task);

}  // namespace sluice

#endif  // SLUICE_RPC_CONVERT_DATA_H_
