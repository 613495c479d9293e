// The parts of a machine: NUMA nodes and processing units with amounts of their
// own.  A task that demands a part gets all it asks for from one.
//
// Such a task is *bound* to its processing unit, or to the NUMA node of that.
// The others float: they use what is left of the machine, wherever it is, and
// never keep a bound task from a part.  Tasks bound to a part never ask for
// more than it has, unless they were bound before it shrank, or by a client.  A
// part sets no limit for amounts that it does not state.
//
// Threads: free functions; confined to the core thread.

#ifndef SLUICE_STATE_MACHINE_PARTS_H_
#define SLUICE_STATE_MACHINE_PARTS_H_

#include <cstdint>
#include <string>

#include "sluice/state/machine.h"
#include "sluice/state/task.h"

namespace sluice {

// The processing unit for a task of the class.  Among those that meet all its
// demands this is the one with the least left, so that large tasks still fit
// elsewhere.  Without demands, or if no unit meets them, it is the roomiest
// one.  kNoPu if the machine has no units.
int32_t UnitFor(const ClassKey& key, const Machine& machine);

// True if the machine can meet all demands of the class.
bool MeetsPartDemands(const ClassKey& key, const Machine& machine);

// What is missing: "a NUMA node with room for all of it".  REQUIRES:
// MeetsPartDemands() is false.
std::string PartsLackingText(const ClassKey& key, const Machine& machine);

// Binds a task of the class to the unit (`sign` 1), or frees it (`sign` -1).
// No-op for tasks that float.
void Bind(const ClassKey& key, int32_t pu, int sign, Machine* machine);

// Updates the fingerprint of the tree and of what is bound there.  Call after
// the tree was described anew.
void NoteParts(Machine* machine);

}  // namespace sluice

#endif  // SLUICE_STATE_MACHINE_PARTS_H_
