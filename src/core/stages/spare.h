// Victims of a round whom nobody needs gone any more: what they were to make
// room for was placed elsewhere since, or lost its promise.
//
// They are put back one by one, the most urgent first, and a gang's all
// together.  A victim stays if all room that is kept still fits beside it, and
// if it breaks the rules of no task that has come in this round or is to come.
//
// Threads: free functions; confined to the core thread.

#ifndef SLUICE_CORE_STAGES_SPARE_H_
#define SLUICE_CORE_STAGES_SPARE_H_

#include "core/round_context.h"

namespace sluice {

// Newcomers of the round that are no more urgent than a victim, and beside whom
// somebody for whom it was stopped could not be, or have room, if it stayed.
enum class NewcomersInTheWay {
  kStay,
  kLoseRoom,  // Who has room kept waits without, rather than that a task that
              // runs is stopped.
  kTakeBack,  // So do those that were placed.
};

// Of those that this round stopped and may still undo, but for tasks that are
// to move.  Victims with rules about other tasks are left alone once the round
// has spent what it may on them (RoundContext::spare_looks_left).
void SpareNeedless(NewcomersInTheWay newcomers, RoundContext* context);

// At the end of the round: the same, and of those that earlier rounds stopped
// and that nobody has been told of (RoundContext::untold_victims).
void SpareUntold(RoundContext* context);

}  // namespace sluice

#endif  // SLUICE_CORE_STAGES_SPARE_H_
