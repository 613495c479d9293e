// A round: stages that place waiting tasks, tier by tier, until nothing more
// can be placed, or placed better.
//
// From the most urgent tier down, a round goes through the stages of
// round/stages/stage.h in the order of the table in round.cc.  Most of them ask
// for flow problems, one after the other (round/passes/pass.h).  Then all tiers
// are packed together, with their sizes, priorities and preferences.  If that
// finds something better, it is carried out, tier by tier, with the same
// stages.
//
// Tasks that depend on tasks are placed by whole classes, too.  If the tasks
// that a class must be near do not run yet, one task of it goes first, and the
// others follow in the next pass.  Classes of one pass may get in each other's
// way: then the later ones are refused at commit, and get their chance in the
// next pass.  The round goes through the tiers again as long as tasks are
// placed that others may wait for.
//
// Threads: none of its own; confined to the core thread.

#ifndef SLUICE_ROUND_ROUND_H_
#define SLUICE_ROUND_ROUND_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "round/context/round_context.h"
#include "round/context/round_work.h"
#include "round/stages/stage.h"

namespace sluice {

class Round {
 public:
  // Serves what waits now; later submissions are left to the next round.
  Round(const RoundContext::Subject& subject, const RoundOptions& options,
        int64_t now_ms);

  // See Scheduler.  All of them count their work in `stats`.
  std::optional<RoundWork> NextStep(RoundStats* stats);
  void FinishStep(const RoundAnswer& answer, RoundStats* stats);
  // Ends the round where it is; no gang is left half placed.
  void End(RoundStats* stats);

  // True if it may decide differently on running tasks than the round before.
  bool has_news() const { return context_.has_news; }
  // Its first delta.
  uint64_t delta_begin() const { return context_.delta_begin; }

 private:
  // Goes on to the next stage: the tiers if something may be placed, and else
  // a packing, the arrangement or the appraisal, as far as they are due.  What
  // these change brings back the tiers.  Returns false once nothing is due.
  bool Advance();
  // The next stage of this tier or of a lower one.
  bool AdvanceInTiers();
  bool EnterTierBelow(std::optional<uint32_t> priority);
  // Ends the stage, and takes over what it changed.
  void EndStage();
  // Records this look, so that the next round knows whether it has news.
  void NoteLook();
  // True if tasks may have been waiting for those placed since the first tier
  // was entered.
  bool MustStartOver() const;

  RoundContext context_;
  std::optional<Tier> tier_;
  size_t next_stage_ = 0;  // Of the tier.
  std::unique_ptr<Stage> stage_;
  bool has_begun_ = false;
  bool must_enter_tiers_ = true;  // Something may be placed.
  bool has_entered_tier_ = false;
  // True if all was packed although there was nothing to place.
  bool has_rebalanced_ = false;
  bool has_arranged_ = false;
  bool has_moved_ = false;  // Placements, by that.
  bool has_appraised_ = false;
  bool has_run_out_ = false;  // Of work, except for the plan.
  bool is_waiting_ = false;   // The stage waits for an answer.
  uint64_t version_ = 0;      // Of the state, when the question was asked.
  // True if a placement was untold when the round began; with preemption.
  bool had_untold_ = false;
  int64_t placed_before_ = 0;  // When the first tier was entered.
  // Since the newest packing or arrangement.
  bool has_started_over_ = false;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_ROUND_H_
