#include "core/job_dealer.h"

#include <limits>

namespace sluice {
namespace {

uint64_t KeyOf(JobId job, MachineId machine) {
  return uint64_t{job.value} << 32 | machine.value;
}

}  // namespace

size_t JobDealer::Deal(TaskId id, std::span<const MachineId> machines) {
  // Both may be gone since the network was drawn.
  const Task* task = state_.FindTask(id);
  if (task == nullptr) return 0;
  size_t best = 0;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < machines.size() && least > 0; ++i) {
    const Machine* machine = state_.FindMachine(machines[i]);
    if (machine == nullptr) continue;
    int64_t count = machine->jobs.Of(task->job);
    const auto it = dealt_.find(KeyOf(task->job, machines[i]));
    if (it != dealt_.end()) count += it->second;
    if (count >= least) continue;
    least = count;
    best = i;
  }
  ++dealt_[KeyOf(task->job, machines[best])];
  return best;
}

}  // namespace sluice
