// Classes of a packing of which each domain takes only so many, together: they
// keep away from each other, or are spread.
//
// Threads: values.

#ifndef SLUICE_CORE_CAPPED_CLASSES_H_
#define SLUICE_CORE_CAPPED_CLASSES_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "constraints/topology_spread.h"
#include "sluice/base/ids.h"
#include "state/peer_table.h"

namespace sluice {

struct CappedClasses {
  const CountedTerm* term = nullptr;
  // Of a spread constraint in its rules; nothing: they keep away from each
  // other.
  std::optional<size_t> spread = {};
  std::vector<size_t> classes = {};  // Of what is to be placed.
  size_t first_cap = 0;              // That of the first domain.
  // Of a spread, as things are: whom it counts, and by domain whether it holds
  // too many, or none count there.  Tasks that run and may be stopped count for
  // the caps of the other domains, if there are any such.
  std::optional<TopologySpread> counts = {};
  std::vector<bool> is_over = {};
  bool has_running = false;
};

// A task that runs and keeps the classes of a term from its domain.
struct DomainKeeper {
  const CountedTerm* term;
  MachineId machine;
  TaskId task;
};

}  // namespace sluice

#endif  // SLUICE_CORE_CAPPED_CLASSES_H_
