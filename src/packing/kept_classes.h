// A packing problem without some of its classes.
//
// Threads: free functions without state.

#ifndef SLUICE_PACKING_KEPT_CLASSES_H_
#define SLUICE_PACKING_KEPT_CLASSES_H_

#include <cstddef>
#include <optional>
#include <span>

#include "packing/packing_problem.h"

namespace sluice {

// Drops the classes without an index, and renumbers the others wherever the
// problem names them.  Gangs without any classes left are dropped, too.
// REQUIRES: `index_of`, by class, ascends without gaps; the problem has no
// former packing yet.
void KeepClasses(std::span<const std::optional<size_t>> index_of,
                 PackingProblem* problem);

}  // namespace sluice

#endif  // SLUICE_PACKING_KEPT_CLASSES_H_
