// A machine as constraints and policies see it: machines that look the same
// form one group (network/machine_groups.h).
//
// Threads: values.

#ifndef SLUICE_NETWORK_MACHINE_LOOK_H_
#define SLUICE_NETWORK_MACHINE_LOOK_H_

#include <cstdint>
#include <utility>

#include "constraints/machine_kinds.h"
#include "sluice/state/machine.h"

namespace sluice {

struct MachineLook {
  KindId kind;
  uint64_t part;  // What else tells it apart.
  const Machine* machine;

  friend bool operator==(const MachineLook& a, const MachineLook& b) {
    return a.kind == b.kind && a.part == b.part &&
           a.machine->parts_look == b.machine->parts_look &&
           a.machine->used == b.machine->used &&
           a.machine->allocatable == b.machine->allocatable &&
           a.machine->is_measured == b.machine->is_measured &&
           (!a.machine->is_measured ||
            a.machine->reclaimed == b.machine->reclaimed) &&
           a.machine->capacity == b.machine->capacity &&
           KeepSame(*a.machine, *b.machine) &&
           a.machine->used_host_ports == b.machine->used_host_ports &&
           a.machine->kept_host_ports == b.machine->kept_host_ports;
  }
  template <class H>
  friend H AbslHashValue(H hash, const MachineLook& look) {
    return H::combine(std::move(hash), look.kind, look.part, look.machine->used,
                      look.machine->allocatable);
  }

 private:
  // True if equally much of the free room is reserved.
  static bool KeepSame(const Machine& a, const Machine& b) {
    if (!a.KeepsRoom() && !b.KeepsRoom()) return true;
    return KeptOn(a) == KeptOn(b);
  }
  static const Resources& KeptOn(const Machine& machine) {
    static const Resources nothing;
    return machine.KeepsRoom() ? machine.reserved : nothing;
  }
};

}  // namespace sluice

#endif  // SLUICE_NETWORK_MACHINE_LOOK_H_
