// Random commands, rounds and replies, watched by a model that shares no code
// with the scheduler: invariants I1, I2 and I4, what is acknowledged, what is
// counted; and that the same commands give the same deltas.

#include <gtest/gtest.h>

#include <string>

#include "base/hash.h"
#include "base/rng.h"
#include "property/cluster_model.h"
#include "property/command_generator.h"
#include "util/seed_count.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

constexpr int kStepsPerSeed = 400;

// One run of a seed.  It stops at the first thing that is wrong.
class Trial {
 public:
  explicit Trial(uint64_t seed)
      : rng_(seed),
        generator_(rng_.Next()),
        cluster_({.arcs_max = rng_.Chance(1, 4) ? rng_.Between(5, 60) : 0,
                  .improve_budget = DrawImproveBudget(&rng_)}) {}

  // Returns what was wrong, or "".
  std::string Go() {
    for (step_ = 0; step_ < kStepsPerSeed; ++step_) {
      now_ms_ += rng_.Between(0, 5000);
      if (rng_.Chance(1, 8)) {
        DoRound();
      } else if (rng_.Chance(1, 12)) {
        DoReply();
      } else {
        DoCommand();
      }
      model_.ObserveState(cluster_.state());
      const std::string contradiction = FindContradiction(cluster_.state());
      if (!contradiction.empty()) return At(contradiction);
      if (!model_.errors().empty()) return At(model_.errors().front());
      if (!error_.empty()) return At(error_);
    }
    return "";
  }

  // All that the scheduler told, in one number.
  uint64_t digest() const { return Fnv1a64(transcript_); }
  const ClusterModel& model() const { return model_; }
  int64_t refused() const { return refused_; }

 private:
  std::string At(const std::string& what) const {
    return StrCat("step ", step_, ": ", what);
  }

  void DoCommand() {
    const Command command = generator_.Next();
    const Ack expected = model_.Apply(command);
    const Ack actual = cluster_.Apply(command, now_ms_);
    if (actual != expected) {
      error_ = StrCat("command ", command.index(), " gives ",
                      static_cast<int>(actual), " and not ",
                      static_cast<int>(expected));
    }
    // Within a round, what it withdrew has been seen before.
    model_.ObserveOutbox(cluster_.state(), /*is_in_round=*/false);
  }

  // A round into which commands, failed solves and replies fall.
  void DoRound() {
    Scheduler& scheduler = cluster_.scheduler();
    const bool is_quiet = rng_.Chance(1, 2);
    const int64_t decisions = model_.decisions();
    const int64_t withdrawals = model_.withdrawals();
    scheduler.StartRound(now_ms_);
    while (const auto work = scheduler.NextStep()) {
      model_.ObserveOutbox(cluster_.state(), /*is_in_round=*/true);
      RoundAnswer answer = cluster_.Solve(*work);
      if (!is_quiet) {
        for (int64_t i = rng_.Between(0, 2); i > 0; --i) DoCommand();
        if (rng_.Chance(1, 8)) DoReply();
        auto* flow = std::get_if<FlowSolution>(&answer);
        if (flow != nullptr && rng_.Chance(1, 20)) {
          flow->outcome = SolveOutcome::kCancelled;
        }
      }
      scheduler.FinishStep(answer);
      model_.ObserveOutbox(cluster_.state(), /*is_in_round=*/true);
    }
    model_.ObserveOutbox(cluster_.state(), /*is_in_round=*/true);
    const RoundStats& stats = scheduler.round_stats();
    refused_ += stats.refused;
    if (!is_quiet) return;
    if (stats.placed != (model_.decisions() - decisions) -
                            (model_.withdrawals() - withdrawals)) {
      error_ = "the round counts its placements differently";
    }
    if (stats.refused != 0) error_ = "a quiet round refused its own placement";
    if (!stats.is_cut_short) model_.ObserveEndOfRound();
  }

  void DoReply() {
    const bool is_limited = rng_.Chance(1, 3);
    const ScheduleReply reply =
        cluster_.replies().Take(is_limited ? rng_.Below(200) : kReplyBytesMax);
    model_.ObserveReply(reply, is_limited);
    for (const ScheduleReply::Entry& entry : reply.deltas) {
      transcript_ += StrCat(entry.uid.value, "@", entry.resource_id, "\n");
    }
    for (const TaskUid uid : reply.unscheduled) {
      transcript_ += StrCat(uid.value, " waits\n");
    }
    // The call takes a while, and its client may hang up.
    for (int64_t i = rng_.Between(0, 3); i > 0; --i) DoCommand();
    const bool is_delivered = rng_.Chance(4, 5);
    model_.ObserveEndOfReply(is_delivered);
    cluster_.replies().End(is_delivered);
    model_.ObserveOutbox(cluster_.state(), /*is_in_round=*/false);
  }

  Rng rng_;
  CommandGenerator generator_;
  TestScheduler cluster_;
  ClusterModel model_;
  int64_t now_ms_ = 0;
  int step_ = 0;
  int64_t refused_ = 0;
  std::string error_;
  std::string transcript_;
};

class SchedulerProperty : public testing::TestWithParam<uint64_t> {};

TEST_P(SchedulerProperty, HoldsWhateverHappens) {
  constexpr uint64_t kSeedsPerCase = 30;
  int64_t decisions = 0;
  int64_t withdrawals = 0;
  int64_t refused = 0;
  for (uint64_t i = 0; i < kSeedsPerCase; ++i) {
    const uint64_t seed = GetParam() * kSeedsPerCase + i;
    Trial trial(seed);
    ASSERT_EQ(trial.Go(), "") << "seed " << seed;
    decisions += trial.model().decisions();
    withdrawals += trial.model().withdrawals();
    refused += trial.refused();
  }
  EXPECT_GT(decisions, 700) << "the commands do not try the scheduler";
  EXPECT_GT(refused, 0) << "no command ever met a placement in the making";
  RecordProperty("decisions", std::to_string(decisions));
  RecordProperty("withdrawals", std::to_string(withdrawals));
}

TEST_P(SchedulerProperty, TellsTheSameOfTheSameCommands) {
  const uint64_t seed = GetParam() + 1000000;
  Trial first(seed);
  Trial second(seed);
  ASSERT_EQ(first.Go(), "") << "seed " << seed;
  ASSERT_EQ(second.Go(), "") << "seed " << seed;
  EXPECT_EQ(first.digest(), second.digest()) << "seed " << seed;
}

INSTANTIATE_TEST_SUITE_P(Seeds, SchedulerProperty,
                         testing::Range<uint64_t>(0, SeedCount(16)));

}  // namespace
}  // namespace sluice
