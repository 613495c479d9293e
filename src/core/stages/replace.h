// Tasks take the place of those that they replace.
//
// Threads: a free function; confined to the core thread.

#ifndef SLUICE_CORE_STAGES_REPLACE_H_
#define SLUICE_CORE_STAGES_REPLACE_H_

#include "core/round_context.h"

namespace sluice {

// Where the task that runs can be told to leave, and the newcomer may run there
// once it has: before the first tier.
void ReplaceTasks(RoundContext* context);

}  // namespace sluice

#endif  // SLUICE_CORE_STAGES_REPLACE_H_
