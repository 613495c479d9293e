// Host ports that several classes of a packing listen on.
//
// Threads: a free function.

#ifndef SLUICE_CORE_SHARED_PORTS_H_
#define SLUICE_CORE_SHARED_PORTS_H_

#include <cstddef>
#include <span>

#include "packing/packing_problem.h"
#include "sluice/state/task.h"

namespace sluice {

// So many at most: each makes fillings harder to find.  Where there are more,
// what the flow places is refused, and placed elsewhere.
inline constexpr size_t kSharedPortsMax = 32;

// Such a port is as a resource of which each machine has one: adds a dimension
// to the requests of the problem's classes for each.  Whether the port is free
// is a matter of the costs.  `keys` are those of the first classes.  Returns
// how many dimensions there are more.
size_t AddSharedPorts(std::span<const ClassKey> keys, PackingProblem* problem);

}  // namespace sluice

#endif  // SLUICE_CORE_SHARED_PORTS_H_
