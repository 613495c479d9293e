// Tasks of a job of which one alone runs (PlacementRules::alternatives).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class AlternativesTest : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  // As a client states it (rpc/convert.cc).
  void Submit(uint64_t uid, TaskOptions options,
              const std::string& name = "either") {
    const std::string label = "alternatives.sluice.io/" + name;
    options.job = "job";
    options.labels.emplace_back(label, "");
    options.rules.alternatives = {{name}};
    SpreadConstraint one = {.min_domains = SpreadConstraint::kFromEmpty,
                            .honors_node_affinity = false};
    one.term = {TasksOfJob("job"), "*"};
    one.term.tasks.labels->push_back(LabelExists(label));
    options.rules.spread = {one};
    cluster_.Apply(Submitted(uid, options, PeerOptions()));
  }
  std::vector<std::string> Reply() { return cluster_.Reply(++now_ms_); }

  TestScheduler cluster_;
  int64_t now_ms_ = 0;
};

TEST_F(AlternativesTest, RunOneOfThemAndNoOtherAfterwards) {
  cluster_.Apply(Added("m", {.cpu = 4000}));
  for (const uint64_t uid : {1, 2, 3}) Submit(uid, {.cpu = 1000});
  const std::vector<std::string> told = Reply();
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_THAT(Reply(), IsEmpty());
  EXPECT_EQ(cluster_.state().pending_count(), 0) << "the others are held";
  const uint64_t running = cluster_.MachineOf(1).empty() ? 2 : 1;
  cluster_.Apply(Completed(running));
  EXPECT_THAT(Reply(), IsEmpty());
}

TEST_F(AlternativesTest, TakeAnotherWhereOneFailed) {
  cluster_.Apply(Added("m", {.cpu = 1000}));
  Submit(1, {.cpu = 1000});
  EXPECT_THAT(Reply(), ElementsAre("PLACE 1 on m"));
  Submit(2, {.cpu = 500});
  EXPECT_THAT(Reply(), IsEmpty());
  cluster_.Apply(Failed(1));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 2 on m"));
}

// Where one of them runs it counts, though the other could not go there.
TEST_F(AlternativesTest, CountWhereverTheyRun) {
  cluster_.Apply(Added("m1", {.cpu = 1000}));
  cluster_.Apply(Added("m2", {.cpu = 1000, .labels = {{"zone", "b"}}}));
  TaskOptions outside = {.cpu = 500};
  outside.rules.selectors = {{"zone", LabelOperator::kDoesNotExist, {}}};
  Submit(1, outside);
  EXPECT_THAT(Reply(), ElementsAre("PLACE 1 on m1"));
  // Another maximum asks for a label that m1 lacks.
  TaskOptions capped = {.cpu = 500, .job = "job"};
  const std::string label = "alternatives.sluice.io/either";
  capped.labels = {{label, ""}};
  SpreadConstraint one = {.min_domains = SpreadConstraint::kFromEmpty,
                          .honors_node_affinity = false};
  one.term = {TasksOfJob("job"), "*"};
  one.term.tasks.labels->push_back(LabelExists(label));
  SpreadConstraint in_zone = one;
  in_zone.term.topology_key = "zone";
  capped.rules.spread = {one, in_zone};
  cluster_.Apply(Submitted(2, capped, PeerOptions()));
  EXPECT_THAT(Reply(), IsEmpty());
  // Nor does it count less on a machine that takes nothing more.
  cluster_.Apply(Removed("m1"));
  EXPECT_THAT(Reply(), IsEmpty());
}

TEST_F(AlternativesTest, TakeThePlaceOfTheOneThatTheyReplace) {
  cluster_.Apply(Added("m", {.cpu = 1000}));
  Submit(1, {.cpu = 500});
  EXPECT_THAT(Reply(), ElementsAre("PLACE 1 on m"));
  TaskOptions newer = {.cpu = 500};
  newer.rules.replaces = TaskUid{1};
  Submit(2, newer);
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m", "PLACE 2 on m"));
  cluster_.Apply(Removed(1));
  EXPECT_THAT(Reply(), IsEmpty());
}

TEST_F(AlternativesTest, TakeTheOneThatFits) {
  cluster_.Apply(Added("m", {.cpu = 1000}));
  Submit(1, {.cpu = 4000});
  Submit(2, {.cpu = 1000});
  EXPECT_THAT(Reply(), ElementsAre("PLACE 2 on m"));
}

TEST_F(AlternativesTest, TakeTheOneThatCostsLess) {
  cluster_.Apply(Added("m", {.cpu = 2000, .labels = {{"disk", "hdd"}}}));
  const TaskOptions content = {.cpu = 1000};
  TaskOptions wishful = {.cpu = 1000};
  wishful.rules.preferred = {{50, {.labels = {LabelIn("disk", {"ssd"})}}}};
  Submit(1, content, "a");
  Submit(2, wishful, "a");
  EXPECT_THAT(Reply(), ElementsAre("PLACE 1 on m"));
  Submit(3, wishful, "b");
  Submit(4, content, "b");
  EXPECT_THAT(Reply(), ElementsAre("PLACE 4 on m"));
}

TEST_F(AlternativesTest, MayBeOfSeveralSets) {
  cluster_.Apply(Added("m", {.cpu = 4000}));
  Submit(1, {.cpu = 1000}, "a");
  Submit(2, {.cpu = 1000}, "b");
  EXPECT_THAT(Reply(), SizeIs(2));
}

}  // namespace
}  // namespace sluice
