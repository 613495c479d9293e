#include "round/packing/participants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "constraints/constraint_set.h"
#include "cost/policy_set.h"
#include "unit/state/state_fixture.h"
#include "util/peer_builder.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class ParticipantsTest : public StateTest {
 protected:
  ParticipantsTest() : eligibility_(constraints_, policies_) {
    Do(Added("a", {.cpu = 1000, .labels = {{"zone", "z"}}}));
    Do(Added("b", {.cpu = 1000, .labels = {{"zone", "z"}}}));
  }
  void Submit(uint64_t uid, const std::string& app,
              const PlacementRules& rules = {}, uint64_t gang = 0) {
    Do(Submitted(uid,
                 {.cpu = 500,
                  .priority = 5,
                  .job = "job-" + app,
                  .labels = {{"app", app}},
                  .rules = rules},
                 {.gang = {.minimum = gang}}));
  }
  static PlacementRules AwayFrom(const std::string& app) {
    return {.anti_affinity = {{App(app), "zone"}}};
  }
  // `round` says whose turn it is.
  Participants Of(PackingScope scope, uint64_t round = 0) {
    state_.SyncPeers();
    eligibility_.Refresh(&state_);
    context_.emplace(
        RoundContext::Subject{state_, policies_, constraints_, eligibility_},
        RoundOptions(), 0);
    stats_.number = round;
    context_->stats = &stats_;
    return {scope, {}, /*heeds_terms=*/true, &*context_};
  }
  const ClassKey& KeyOf(uint64_t uid) const { return TaskOf(uid).class_key; }
  JobId JobOf(uint64_t uid) const { return TaskOf(uid).job; }

  const ConstraintSet constraints_;
  const PolicySet policies_ = *PolicySet::FromNames(kDefaultCostModels);
  Eligibility eligibility_;
  RoundStats stats_;
  std::optional<RoundContext> context_;
};

TEST_F(ParticipantsTest, LeaveOutWhoseRulesAreNotHeededButForABound) {
  Submit(1, "plain");
  Submit(2, "shy", AwayFrom("plain"));
  Participants movable = Of(PackingScope::kMovable);
  EXPECT_FALSE(movable.Include(KeyOf(2)));
  EXPECT_FALSE(movable.has_turns());
  EXPECT_TRUE(Of(PackingScope::kAll).Include(KeyOf(2)));
}

TEST_F(ParticipantsTest, LeaveOutAGangOfWhichOneClassIsNotHeeded) {
  Submit(1, "plain");
  Submit(2, "gang", {}, 2);
  Submit(3, "gang", AwayFrom("plain"), 2);
  Submit(4, "whole", {}, 2);
  Submit(5, "whole", {}, 2);
  Participants movable = Of(PackingScope::kMovable);
  EXPECT_FALSE(movable.Include(KeyOf(2)));
  EXPECT_TRUE(movable.Include(KeyOf(4)));
  EXPECT_THAT(movable.gangs(), ElementsAre(Pair(JobOf(4), 2)));
}

TEST_F(ParticipantsTest, InAGangsTurnAreItAndThoseWithoutRules) {
  Submit(1, "plain");
  Submit(2, "gang", AwayFrom("meant"), 2);
  Submit(3, "gang", AwayFrom("meant"), 2);
  Submit(4, "meant");
  int turns = 0;
  for (uint64_t round = 0; round < 3; ++round) {
    Participants all = Of(PackingScope::kPreempting, round);
    EXPECT_TRUE(all.has_turns());
    EXPECT_TRUE(all.Include(KeyOf(1)));
    if (!all.Include(KeyOf(2))) continue;
    ++turns;
    EXPECT_FALSE(all.Include(KeyOf(4))) << "the gang's rules mean it";
  }
  EXPECT_EQ(turns, 1) << "of the gang, one that its rules mean, and nobody";
}

TEST_F(ParticipantsTest, HaveNoTurnOfAGangThatItDoesNotHelp) {
  PlacementRules rules = AwayFrom("gang");
  Submit(2, "gang", rules, 2);
  Submit(3, "gang", {}, 2);
  Submit(4, "other");
  for (uint64_t round = 0; round < 3; ++round) {
    Participants turn = Of(PackingScope::kPreempting, round);
    EXPECT_FALSE(turn.Include(KeyOf(2))) << "its rules are about one another";
    EXPECT_TRUE(turn.Include(KeyOf(4)));
    EXPECT_THAT(turn.gangs(), IsEmpty());
  }
}

}  // namespace
}  // namespace sluice
