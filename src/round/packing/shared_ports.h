// Host ports that several classes of a packing listen on.
//
// Threads: a free function.

#ifndef SLUICE_ROUND_PACKING_SHARED_PORTS_H_
#define SLUICE_ROUND_PACKING_SHARED_PORTS_H_

#include <cstddef>
#include <span>

#include "packing/packing_problem.h"
#include "sluice/state/task.h"

namespace sluice {

// The maximum: each port makes fillings harder to find.  Beyond it, what the
// flow places is refused and placed elsewhere.
inline constexpr size_t kSharedPortsMax = 32;

// Each such port is like a resource of which each machine has one: adds a
// dimension per port to the requests of the problem's classes.  The costs say
// whether the port is free.  `keys` are those of the first classes.  Returns
// the number of added dimensions.
size_t AddSharedPorts(std::span<const ClassKey> keys, PackingProblem* problem);

}  // namespace sluice

#endif  // SLUICE_ROUND_PACKING_SHARED_PORTS_H_
