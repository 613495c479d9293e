// What machines hold already, as patterns of a packing problem.
//
// Threads: values.

#ifndef SLUICE_CORE_FORMER_PLACEMENTS_H_
#define SLUICE_CORE_FORMER_PLACEMENTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/round_packing.h"
#include "packing/packing_problem.h"

namespace sluice {

class FormerPlacements {
 public:
  // `packing` must outlive this.
  explicit FormerPlacements(const RoundPacking& packing);

  // A task of the class; nothing where the machine takes no part.
  void Add(MachineId machine, size_t task_class);
  // All that runs and may be stopped.
  void AddWhatRuns();
  // A task of the class; nothing where none was added.
  void Remove(MachineId machine, size_t task_class);
  // The same as Add() where the machine has room beside what was added, and may
  // hold it.
  void AddIfThereIsRoom(MachineId machine, size_t task_class);

  // Machines on which the same stands together.
  std::vector<Pattern> Patterns() const;

 private:
  const RoundPacking& packing_;
  absl::flat_hash_map<MachineId, size_t> group_of_;
  absl::flat_hash_map<MachineId, std::map<size_t, int64_t>> holds_;
};

}  // namespace sluice

#endif  // SLUICE_CORE_FORMER_PLACEMENTS_H_
