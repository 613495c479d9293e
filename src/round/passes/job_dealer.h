// Chooses one of several equal machines for a task: the first one with the
// fewest tasks of its job.
//
// A pass's network draws such machines as one node.  Dealing out its flow like
// this separates most of a job's tasks; the arrangement
// (round/search/arrangement.h) sees to the others.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_ROUND_PASSES_JOB_DEALER_H_
#define SLUICE_ROUND_PASSES_JOB_DEALER_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/container/flat_hash_map.h"
#include "state/cluster_state.h"

namespace sluice {

class JobDealer {
 public:
  // `state` must outlive this, and not change meanwhile.
  explicit JobDealer(const ClusterState& state) : state_(state) {}

  // Returns the index of the machine, and counts the task there from now on.
  // REQUIRES: there are machines.
  size_t Deal(JobId job, std::span<const MachineId> machines);

 private:
  const ClusterState& state_;
  // How many it has dealt, keyed by job and machine in one number.
  absl::flat_hash_map<uint64_t, int64_t> dealt_;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_PASSES_JOB_DEALER_H_
