#include "round/passes/job_dealer.h"

#include <limits>

namespace sluice {
namespace {

uint64_t KeyOf(JobId job, MachineId machine) {
  return uint64_t{job.value} << 32 | machine.value;
}

}  // namespace

size_t JobDealer::Deal(JobId job, std::span<const MachineId> machines) {
  size_t best = 0;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < machines.size() && least > 0; ++i) {
    // It may be gone since the network was drawn.
    const Machine* machine = state_.FindMachine(machines[i]);
    if (machine == nullptr) continue;
    int64_t count = machine->jobs.Of(job);
    if (count >= least) continue;
    const auto it = dealt_.find(KeyOf(job, machines[i]));
    if (it != dealt_.end()) count += it->second;
    if (count >= least) continue;
    least = count;
    best = i;
  }
  ++dealt_[KeyOf(job, machines[best])];
  return best;
}

}  // namespace sluice
