// How texts for people name a machine.
//
// Threads: a free function without state.

#ifndef SLUICE_EXPLAIN_NAMED_MACHINE_H_
#define SLUICE_EXPLAIN_NAMED_MACHINE_H_

#include <string>

#include "base/strings.h"
#include "constraints/shown_text.h"
#include "sluice/state/machine.h"

namespace sluice {

// "machine 'node-7'", by its uuid if it has no name.
inline std::string NamedMachine(const Machine& machine) {
  return StrCat("machine '",
                ShownText(machine.name.empty() ? machine.uuid : machine.name),
                "'");
}

}  // namespace sluice

#endif  // SLUICE_EXPLAIN_NAMED_MACHINE_H_
