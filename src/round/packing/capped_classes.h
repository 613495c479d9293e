// Packing classes of which each domain takes only a limited number, together:
// they avoid each other, or are spread.
//
// Threads: values.

#ifndef SLUICE_ROUND_PACKING_CAPPED_CLASSES_H_
#define SLUICE_ROUND_PACKING_CAPPED_CLASSES_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "constraints/topology_spread.h"
#include "sluice/base/ids.h"
#include "state/peer_table.h"

namespace sluice {

struct CappedClasses {
  const CountedTerm* term = nullptr;
  // Index of a spread constraint in its rules; nullopt if they avoid each
  // other.
  std::optional<size_t> spread = {};
  std::vector<size_t> classes = {};  // Those to be placed.
  size_t first_cap = 0;              // The cap of the first domain.
  // Of a spread, as things are: whom it counts, and by domain, whether the
  // domain holds too many or counts no tasks.  `has_running`: some of those
  // counted run and may be stopped; they count for the caps of the other
  // domains.
  std::optional<TopologySpread> counts = {};
  std::vector<bool> is_over = {};
  bool has_running = false;
};

// A running task that keeps the classes of a term out of its domain.
struct DomainKeeper {
  const CountedTerm* term;
  MachineId machine;
  TaskId task;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_PACKING_CAPPED_CLASSES_H_
