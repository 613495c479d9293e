// Converts samples and final reports of the contract, which have their own
// units, to usage and run times.
//
// For a machine only the fractions are read, not the amounts: these have a
// third unit of memory, and clients have mixed up all three.  KB are 1,024
// bytes.
//
// Threads: pure functions.

#ifndef SLUICE_RPC_CONVERT_USAGE_H_
#define SLUICE_RPC_CONVERT_USAGE_H_

#include "absl/status/statusor.h"
#include "firmament/firmament_scheduler.pb.h"
#include "firmament/resource_stats.pb.h"
#include "firmament/task_stats.pb.h"
#include "rpc/checks.h"
#include "sluice/state/usage.h"
#include "state/command.h"

namespace sluice {

// Errors: kInvalidArgument for an amount that is negative or too large, and for
// a fraction that is not a number or above 10, which is probably a percentage.
absl::StatusOr<TaskUsage> ToTaskUsage(const firmament::TaskStats& stats);
absl::StatusOr<ReportTaskUsage> ToReportTaskUsage(
    const firmament::TaskStats& stats);
absl::StatusOr<ReportMachineUsage> ToReportMachineUsage(
    const firmament::ResourceStats& stats);
// A final report that makes no sense is a fault and is ignored: it ends before
// it begins, or its time is negative, not a number or longer than a year.  If a
// report has more instructions than any machine can execute in its time, these
// and its cache use are ignored.  Its cache use alone is ignored if it has more
// misses than references, or more references than its instructions can make.
CompleteTask ToCompleteTask(const firmament::TaskUID& uid, Faults* faults);

}  // namespace sluice

#endif  // SLUICE_RPC_CONVERT_USAGE_H_
