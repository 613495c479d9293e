// Converts the messages of the contract to commands, and checks all that can be
// checked about a message without knowing the cluster.
//
// A message that makes no sense is not an error.  Its command has a
// `quarantine_reason`, so that the client's task or machine is known, visible
// and explained, but not scheduled.  Such a command holds a bounded name and
// no amounts, labels, rules or taints.  Rules and taints that cannot be
// understood do not quarantine; they become faults (rpc/convert_rules.h).
//
// Ids are opaque.  One longer than kIdBytesMax is replaced by a fingerprint of
// bounded size (base/hash.h), which names the same thing every time.
//
// These fields play no part in scheduling and are not read: disk_cap and the
// bandwidths of memory and disk of ResourceVector, and the fields of
// TaskDescriptor that describe its run.
//
// Threads: pure functions.

#ifndef SLUICE_RPC_CONVERT_H_
#define SLUICE_RPC_CONVERT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "firmament/firmament_scheduler.pb.h"
#include "rpc/checks.h"
#include "state/command.h"

namespace sluice {

// What holds if messages do not state it.
struct MessageDefaults {
  int64_t max_pods = 110;  // The pods of a machine that states 0.
  JobBounds job_bounds = {};
  // True if conditions evict: AddEvictingTaints() (rpc/convert_rules.h).
  bool conditions_evict = false;
};

// The form in which the id is kept.
std::string KeptId(std::string_view id);

// The job is td.job_id, or jd.uuid if that is empty.  A message without
// task_descriptor is a quarantined task of uid 0.  `bounds` hold for every job
// (rpc/convert_peers.h).
// Errors: kFailedPrecondition for a task that is neither CREATED nor RUNNING on
// a resource: another scheduler has it already.
absl::StatusOr<SubmitTask> ToSubmitTask(
    const firmament::TaskDescription& description, const JobBounds& bounds,
    Faults* faults);
// The same for a task in any state.
SubmitTask ToStatedTask(const firmament::TaskDescription& description,
                        const JobBounds& bounds, Faults* faults);
UpdateTask ToUpdateTask(const firmament::TaskDescription& description,
                        const JobBounds& bounds, Faults* faults);
// Leaves out the bandwidth that the description's fields ask for.
void IgnoreBandwidth(const firmament::TaskDescription& description,
                     TaskSpec* spec);

AddMachine ToAddMachine(const firmament::ResourceTopologyNodeDescriptor& tree,
                        int64_t default_max_pods, Faults* faults);
// States amounts only if the message has any.
UpdateMachine ToUpdateMachine(
    const firmament::ResourceTopologyNodeDescriptor& tree,
    int64_t default_max_pods, Faults* faults);

RemoveMachine ToRemoveMachine(const firmament::ResourceUID& uid);

// AddForeignPod or RemoveForeignPod.  Memory and ephemeral storage come in
// bytes here, unlike everywhere else in the contract.
// Errors: kInvalidArgument for a type that is neither ADD nor REMOVE, or an
// amount that is negative or too large: there is no foreign pod to quarantine.
absl::StatusOr<Command> ToForeignPod(const firmament::TaskInfo& info);

}  // namespace sluice

#endif  // SLUICE_RPC_CONVERT_H_
