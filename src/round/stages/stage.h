// A stage of a tier: one way to place more of it, or to place it better.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_ROUND_STAGES_STAGE_H_
#define SLUICE_ROUND_STAGES_STAGE_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "round/context/round_context.h"
#include "round/context/round_work.h"
#include "round/passes/pass.h"

namespace sluice {

class Stage {
 public:
  virtual ~Stage() = default;

  // What it asks for next; nullopt once it is done, or may do no more.
  virtual std::optional<RoundWork> Next() = 0;
  // The answer to that.  A stage that asks for nothing gets none.
  virtual void Finish(const RoundAnswer& /*answer*/) {}
  // Called once, after the last Next() or if the round ends early: leaves
  // nothing half done, and tells what the stage changed.
  virtual StageResult End() { return {}; }
};

// Null if there is nothing to do.  `context` must outlive the stage.
using MakeStage = std::unique_ptr<Stage> (*)(RoundContext* context,
                                             const Tier& tier);

// Places priorities from the tier's on down together, as long as none of them
// has to wait.  Its result has the first tier that must be decided on by
// itself, or the last.
std::unique_ptr<Stage> MakePlaceTogether(RoundContext* context,
                                         const Tier& tier);
// Places tasks of gangs that run with fewer than their minimum.
std::unique_ptr<Stage> MakeHealGangs(RoundContext* context, const Tier& tier);
// Places the tasks that minimums of their classes ask for, in any domain that
// lacks some, before others of the priority take the room.
std::unique_ptr<Stage> MakeMeetMinimums(RoundContext* context,
                                        const Tier& tier);
// Starts gangs, the longest waiting first, if they are worth what they
// displace.
std::unique_ptr<Stage> MakeStartGangs(RoundContext* context, const Tier& tier);
// Starts classes that wait for each other: one task of each at once.
std::unique_ptr<Stage> MakeStartCompanions(RoundContext* context,
                                           const Tier& tier);
// The same with the room left, for classes that found none near running tasks.
std::unique_ptr<Stage> MakeTryCompanions(RoundContext* context,
                                         const Tier& tier);
// Places the tasks that should get the free room.
std::unique_ptr<Stage> MakePlaceAdmitted(RoundContext* context,
                                         const Tier& tier);
// Places what fits, until nothing does.
std::unique_ptr<Stage> MakeFill(RoundContext* context, const Tier& tier);
// Carries out the part of the plan that concerns the tier.
std::unique_ptr<Stage> MakeCarryOut(RoundContext* context, const Tier& tier);
// Starts gangs with terms about tasks, which a packing may not heed, one by one
// with the room left.
std::unique_ptr<Stage> MakeTryGangs(RoundContext* context, const Tier& tier);
// Looks at every way to place a small tier.
std::unique_ptr<Stage> MakeSearch(RoundContext* context, const Tier& tier);

// Decides on all tiers at once, with their sizes, priorities and preferences,
// unless the placements are already optimal.  If it finds something better, it
// takes the placements back, and its result has the plan.
std::unique_ptr<Stage> MakePack(RoundContext* context);
// Moves placements to meet more of their tasks' preferences.
std::unique_ptr<Stage> MakeArrange(RoundContext* context);
// Finds the lower bound of all tiers together.
std::unique_ptr<Stage> MakeAppraise(RoundContext* context);

// Adds what the plan places in the tiers of these priorities, and leaves out
// machines without room for it.
void AddPlanned(uint32_t highest, uint32_t lowest, RoundContext* context,
                Passes* passes);

}  // namespace sluice

#endif  // SLUICE_ROUND_STAGES_STAGE_H_
