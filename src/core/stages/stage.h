// A stage of a tier: one way to place more of it, or to place it better.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_CORE_STAGES_STAGE_H_
#define SLUICE_CORE_STAGES_STAGE_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "core/pass.h"
#include "core/round_context.h"
#include "core/round_work.h"

namespace sluice {

class Stage {
 public:
  virtual ~Stage() = default;

  // What it asks for next; nothing once it is done, or may do no more.
  virtual std::optional<RoundWork> Next() = 0;
  // The answer to that.  A stage that asks for nothing gets none.
  virtual void Finish(const RoundAnswer& /*answer*/) {}
  // Called once, after the last Next(), or where the round ends early: leaves
  // nothing half done.
  virtual void End() {}
};

// Null where there is nothing to do.  `context` and `tier` must outlive the
// stage.
using MakeStage = std::unique_ptr<Stage> (*)(RoundContext* context, Tier* tier);

// Places priorities from the tier's on down together, as long as none of them
// waits, and makes the tier the first that is to be decided on by itself, or
// the last.
std::unique_ptr<Stage> MakePlaceTogether(RoundContext* context, Tier* tier);
// Places tasks of gangs that run with fewer than they need.
std::unique_ptr<Stage> MakeHealGangs(RoundContext* context, Tier* tier);
// Places the tasks that minimums of their classes ask for, wherever a domain
// lacks some, before others of the priority take the room.
std::unique_ptr<Stage> MakeMeetMinimums(RoundContext* context, Tier* tier);
// Starts gangs, those that wait longest first, where they are worth what they
// displace.
std::unique_ptr<Stage> MakeStartGangs(RoundContext* context, Tier* tier);
// Starts classes that wait for each other: one task of each at once.
std::unique_ptr<Stage> MakeStartCompanions(RoundContext* context, Tier* tier);
// The same with what is left, of those that found no room near others that run.
std::unique_ptr<Stage> MakeTryCompanions(RoundContext* context, Tier* tier);
// Places the work that the free room should go to.
std::unique_ptr<Stage> MakePlaceAdmitted(RoundContext* context, Tier* tier);
// Places what fits, until nothing does.
std::unique_ptr<Stage> MakeFill(RoundContext* context, Tier* tier);
// Carries out the plan, as far as it is about the tier.
std::unique_ptr<Stage> MakeCarryOut(RoundContext* context, Tier* tier);
// Starts gangs with terms about tasks, which a packing may not heed, one by one
// with what is left.
std::unique_ptr<Stage> MakeTryGangs(RoundContext* context, Tier* tier);
// Looks at every way to place a small tier.
std::unique_ptr<Stage> MakeSearch(RoundContext* context, Tier* tier);

// Decides on all tiers at once, sizes, priorities and preferences, unless what
// was placed is as good as can be.  Where it finds something better it takes
// back what was placed and makes the plan.
std::unique_ptr<Stage> MakePack(RoundContext* context);
// Moves what was placed so that more of what its tasks wish of each other is
// met.
std::unique_ptr<Stage> MakeArrange(RoundContext* context);
// Finds out how good all tiers are at best.
std::unique_ptr<Stage> MakeAppraise(RoundContext* context);

// Adds what the plan places in the tiers of these priorities, and leaves out
// machines that have no room for it.
void AddPlanned(uint32_t highest, uint32_t lowest, RoundContext* context,
                Passes* passes);

}  // namespace sluice

#endif  // SLUICE_CORE_STAGES_STAGE_H_
