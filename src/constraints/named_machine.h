// How texts for people name a machine.
//
// Threads: free functions without state.

#ifndef SLUICE_CONSTRAINTS_NAMED_MACHINE_H_
#define SLUICE_CONSTRAINTS_NAMED_MACHINE_H_

#include <string>

#include "base/strings.h"
#include "constraints/shown_text.h"
#include "sluice/state/machine.h"

namespace sluice {

// Its name, or its uuid if it has none.
inline std::string ShownName(const Machine& machine) {
  return ShownText(machine.name.empty() ? machine.uuid : machine.name);
}

// "machine 'node-7'".
inline std::string NamedMachine(const Machine& machine) {
  return StrCat("machine '", ShownName(machine), "'");
}

}  // namespace sluice

#endif  // SLUICE_CONSTRAINTS_NAMED_MACHINE_H_
