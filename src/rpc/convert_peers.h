// Converts the messages of the contract to what a task says about other tasks
// (sluice/state/peer_terms.h): affinity, anti-affinity, topology spread, and
// Fleet's conflicts, machine_of, global and replaces.
//
// The results have a canonical form, and faults and errors are as in
// rpc/convert_rules.h.  A selector with an invalid condition means no task: an
// affinity is then never met, and an anti-affinity always.  Terms without
// effect are left out.
//
// Threads: pure functions.

#ifndef SLUICE_RPC_CONVERT_PEERS_H_
#define SLUICE_RPC_CONVERT_PEERS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firmament/pod_affinity.pb.h"
#include "firmament/task_desc.pb.h"
#include "rpc/checks.h"
#include "sluice/state/label_requirement.h"
#include "sluice/state/placement_rules.h"
#include "state/task_selector.h"

namespace sluice {

// The conditions of a selector, all of which must hold.
// Errors: kInvalidArgument, with what is wrong.
absl::StatusOr<std::vector<LabelRequirement>> ToConditions(
    const firmament::PodLabelSelector& selector, Faults* faults);

// Adds to `rules` what `task`, whose identity is `self`, says about other
// tasks, and the bounds for every job unless it states such bounds itself.
// Errors: kInvalidArgument, with the field and what is wrong with it.
absl::Status AddPeerTerms(const firmament::TaskDescriptor& task,
                          const TaskIdentity& self, const JobBounds& bounds,
                          PlacementRules* rules, Faults* faults);

// A term about the tasks with the label, of any job and namespace.
PeerTerm WithLabel(std::string_view label, std::string_view topology_key);
// At most one of the job's tasks with the label runs in the whole cluster.
SpreadConstraint OneOfItsJob(std::string_view job, std::string_view label);

}  // namespace sluice

#endif  // SLUICE_RPC_CONVERT_PEERS_H_
