// Victims of a round that no longer need to leave: what they were to make room
// for was placed elsewhere since, or lost its promise.
//
// They are put back one by one, the most urgent first, the tasks of a gang
// together.  A victim stays if all reserved room still fits beside it, and if
// it breaks the rules of no task that has come in this round or is to come.
//
// Threads: free functions; confined to the core thread.

#ifndef SLUICE_ROUND_STAGES_SPARE_H_
#define SLUICE_ROUND_STAGES_SPARE_H_

#include "round/context/round_context.h"

namespace sluice {

// What happens to newcomers of the round that are no more urgent than a victim
// and that, if it stayed, would leave no place for a task it was stopped for.
enum class NewcomersInTheWay {
  kStay,
  // Nominees lose their room and wait, rather than have a running task stopped.
  kLoseRoom,
  kTakeBack,  // So do those that were placed.
};

// Spares victims of this round that it may still undo, except tasks that are to
// move.  Victims with rules about other tasks are left alone once the round has
// spent its budget for them (Effort::kVictims).
void SpareNeedless(NewcomersInTheWay newcomers, RoundContext* context);

// The same at the end of the round, and also for victims of earlier rounds that
// no client has been told of (RoundContext::untold_victims).
void SpareUntold(RoundContext* context);

}  // namespace sluice

#endif  // SLUICE_ROUND_STAGES_SPARE_H_
