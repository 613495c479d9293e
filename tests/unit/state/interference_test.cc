#include "state/interference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "unit/state/state_fixture.h"
#include "util/peer_builder.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TaskSpec Typed(int32_t type, const LabelPairs& labels = {}) {
  TaskSpec spec;
  spec.task_type = type;
  spec.labels = labels;
  return spec;
}

TEST(TaskKinds, AreTheLabelsOrElseTheTypes) {
  EXPECT_EQ(StatedKindOf(Typed(0)), std::nullopt);
  EXPECT_EQ(StatedKindOf(Typed(2)), TaskKind::kDevil);
  EXPECT_EQ(StatedKindOf(Typed(3)), TaskKind::kTurtle);
  EXPECT_EQ(StatedKindOf(Typed(2, {{"taskType", "Rabbit"}})),
            TaskKind::kRabbit);
  EXPECT_EQ(StatedKindOf(Typed(0, {{"taskType", "sheep"}})), TaskKind::kSheep);
  EXPECT_EQ(StatedKindOf(Typed(2, {{"taskType", "cat"}})), TaskKind::kDevil);
  EXPECT_EQ(StatedKindOf(Typed(0, {{"taskType", "cat"}})), std::nullopt);
  EXPECT_EQ(StatedKindOf(Typed(4)), std::nullopt);
  EXPECT_EQ(StatedKindOf(Typed(-1)), std::nullopt);
}

TEST(TaskKinds, AreALabelInOrder) {
  EXPECT_THAT(
      WithKind({{"a", "1"}, {"z", "2"}}, TaskKind::kTurtle),
      ElementsAre(Pair("a", "1"), Pair("task kind", "turtle"), Pair("z", "2")));
}

TEST(TaskKinds, SayWhomTheyMind) {
  Interference interference = {};
  EXPECT_THAT(TermsOfKind(TaskKind::kRabbit, interference), IsEmpty());
  interference[1][2] = 100;
  const auto terms = TermsOfKind(TaskKind::kRabbit, interference);
  ASSERT_EQ(terms.size(), 1u);
  EXPECT_EQ(terms[0].weight, -100);
  EXPECT_EQ(terms[0].term.topology_key, "") << "on its machine";
  EXPECT_THAT(*terms[0].term.tasks.labels,
              ElementsAre(LabelIn("task kind", {"devil"})));
  EXPECT_THAT(TermsOfKind(TaskKind::kSheep, interference), IsEmpty());
}

class InterferenceTest : public StateTest {};

TEST_F(InterferenceTest, IsNoPartOfTheRulesUnlessSomebodyAsks) {
  Do(Submitted(1, {.labels = {{"taskType", "devil"}}}));
  EXPECT_EQ(TaskOf(1).class_key.rules->kind, std::nullopt);
}

TEST_F(InterferenceTest, TellsClassesApartAndCountsWhoRuns) {
  Interference interference = {};
  interference[1][2] = 7;
  state_.SetNeeds({.interference = interference});
  Do(Added("m", {.cpu = 1000}));
  Do(Submitted(1, {.labels = {{"taskType", "devil"}}}));
  Do(Submitted(2, {.labels = {{"taskType", "rabbit"}}}));
  Do(Submitted(3));
  EXPECT_EQ(TaskOf(1).class_key.rules->kind, TaskKind::kDevil);
  EXPECT_EQ(TaskOf(3).class_key.rules->kind, TaskKind::kSheep);
  EXPECT_EQ(state_.pending().size(), 3u);
  state_.Place({1}, MachineOf("m").id, 0);
  state_.SyncPeers();
  const PeerTerms& terms = state_.peers().TermsOf(*TaskOf(2).class_key.rules);
  ASSERT_EQ(terms.preferred.size(), 1u);
  EXPECT_EQ(terms.preferred[0].weight, -7);
  EXPECT_EQ(terms.preferred[0].term->meant.total(), 1);
  EXPECT_EQ(state_.ToPairs(TaskOf(1).labels),
            (LabelPairs{{"taskType", "devil"}}))
      << "the label of its kind is nobody's business";
}

}  // namespace
}  // namespace sluice
