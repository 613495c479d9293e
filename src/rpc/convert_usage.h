// From samples and final reports of the contract, which come in units of their
// own, to usage and run times.
//
// Of a machine the fractions are read and no amounts: those come in a third
// unit of memory, and clients have mixed up all three.  KB are 1,024 bytes.
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
// a fraction that is no number or beyond 10, which is most likely a percentage.
absl::StatusOr<TaskUsage> ToTaskUsage(const firmament::TaskStats& stats);
absl::StatusOr<ReportTaskUsage> ToReportTaskUsage(
    const firmament::TaskStats& stats);
absl::StatusOr<ReportMachineUsage> ToReportMachineUsage(
    const firmament::ResourceStats& stats);
// A final report that makes no sense is a fault, and as good as none: one that
// ends before it begins, or is of a time that is negative, no number or longer
// than a year.  Of one with more instructions than any machine can do in its
// time, they are as good as not stated, and what they made of the cache, too;
// the latter also where its misses are more than its references, or these more
// than its instructions can make.
CompleteTask ToCompleteTask(const firmament::TaskUID& uid, Faults* faults);

}  // namespace sluice

#endif  // SLUICE_RPC_CONVERT_USAGE_H_
