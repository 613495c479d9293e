// What machines already hold, as patterns of a packing problem.
//
// Threads: values.

#ifndef SLUICE_ROUND_PACKING_FORMER_PLACEMENTS_H_
#define SLUICE_ROUND_PACKING_FORMER_PLACEMENTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "packing/packing_problem.h"
#include "round/packing/round_packing.h"

namespace sluice {

class FormerPlacements {
 public:
  // `packing` must outlive this.
  explicit FormerPlacements(const RoundPacking& packing);

  // Adds a task of the class.  Does nothing if the machine takes no part.
  void Add(MachineId machine, size_t task_class);
  // Adds all running tasks that may be stopped.
  void AddWhatRuns();
  // Removes a task of the class.  Does nothing if none was added.
  void Remove(MachineId machine, size_t task_class);
  // Like Add(), but only if the machine may hold the task and has room beside
  // what was added.
  void AddIfThereIsRoom(MachineId machine, size_t task_class);

  // One pattern per group of machines that hold the same.
  std::vector<Pattern> Patterns() const;

 private:
  const RoundPacking& packing_;
  absl::flat_hash_map<MachineId, size_t> group_of_;
  absl::flat_hash_map<MachineId, std::map<size_t, int64_t>> holds_;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_PACKING_FORMER_PLACEMENTS_H_
