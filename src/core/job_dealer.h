// Which of several machines that are alike a task goes to: the first one on
// which the fewest tasks of its job are.
//
// A pass's network draws such machines as one node.  Most of a job's tasks come
// to be apart when its flow is dealt out; the arrangement
// (core/arrangement.h) sees to the others.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_CORE_JOB_DEALER_H_
#define SLUICE_CORE_JOB_DEALER_H_

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

  // Returns an index, of the machine that a task of the job goes to from now
  // on. REQUIRES: there are machines.
  size_t Deal(JobId job, std::span<const MachineId> machines);

 private:
  const ClusterState& state_;
  // How many it has dealt, by job and machine in one number.
  absl::flat_hash_map<uint64_t, int64_t> dealt_;
};

}  // namespace sluice

#endif  // SLUICE_CORE_JOB_DEALER_H_
