// The parts of a machine: NUMA nodes and processing units with amounts of their
// own, of which tasks that demand it have all they ask for from one.
//
// Such a task is *bound* to its processing unit, or to the NUMA node of that.
// The others float: what is left of the machine is theirs, wherever it lies, so
// that they keep no part from a bound task.  What is bound to a part never asks
// for more than the part has, unless it was bound before the part shrank, or by
// a client.  Of amounts that a part does not state it has no bound.
//
// Threads: free functions; confined to the core thread.

#ifndef SLUICE_STATE_MACHINE_PARTS_H_
#define SLUICE_STATE_MACHINE_PARTS_H_

#include <cstdint>
#include <string>

#include "sluice/state/machine.h"
#include "sluice/state/task.h"

namespace sluice {

// The processing unit for a task of the class.  Of those on which all its
// demands can be met the one with the least left, so that large ones still fit
// elsewhere; where it has none, or nothing meets them, the roomiest one; kNoPu
// where there is none.
int32_t UnitFor(const ClassKey& key, const Machine& machine);

// Whether all demands of the class can be met.
bool MeetsPartDemands(const ClassKey& key, const Machine& machine);

// What is missing: "a NUMA node with room for all of it".  REQUIRES: they
// cannot.
std::string PartsLackingText(const ClassKey& key, const Machine& machine);

// A task of the class is bound on the unit, or is not any more (`sign` -1).
// No-op for those that float.
void Bind(const ClassKey& key, int32_t pu, int sign, Machine* machine);

// After the tree was described anew: what tells it, with what is bound, from
// others.
void NoteParts(Machine* machine);

}  // namespace sluice

#endif  // SLUICE_STATE_MACHINE_PARTS_H_
