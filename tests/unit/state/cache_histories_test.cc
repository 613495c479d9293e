#include "state/cache_histories.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "state/command.h"
#include "unit/state/state_fixture.h"

namespace sluice {
namespace {

constexpr WorkKindId kOne = {1};
constexpr WorkKindId kOther = {2};
constexpr KindScheme kScheme = {.reports_min = 3,
                                .devil_misses = 10,
                                .rabbit_hits = 10,
                                .turtle_references = 1};
// For 1,000,000 instructions.
constexpr CacheUse kDevilish = {.references = 40'000, .misses = 30'000};
constexpr CacheUse kRabbity = {.references = 40'000, .misses = 5'000};

// After as many reports as it takes.
TaskKind KindBy(const CacheUse& use) {
  CacheHistories histories;
  for (int i = 0; i < 3; ++i) histories.Note(kOne, use);
  return histories.TaskKindOf(kOne, kScheme);
}

TEST(CacheHistories, TellKindsByMissesHitsAndReferences) {
  EXPECT_EQ(KindBy({10'000, 10'000}), TaskKind::kDevil);
  EXPECT_EQ(KindBy({100'000, 10'000}), TaskKind::kDevil);
  EXPECT_EQ(KindBy({19'999, 9'999}), TaskKind::kRabbit);
  EXPECT_EQ(KindBy({10'000, 0}), TaskKind::kRabbit);
  EXPECT_EQ(KindBy({19'998, 9'999}), TaskKind::kSheep);
  EXPECT_EQ(KindBy({1'000, 0}), TaskKind::kSheep);
  EXPECT_EQ(KindBy({999, 999}), TaskKind::kTurtle);
  EXPECT_EQ(KindBy({0, 0}), TaskKind::kTurtle);
}

TEST(CacheHistories, TellNothingBeforeThereAreEnoughReports) {
  CacheHistories histories;
  EXPECT_EQ(histories.TaskKindOf(kOne, kScheme), TaskKind::kSheep);
  for (int i = 0; i < 2; ++i) histories.Note(kOne, kDevilish);
  EXPECT_EQ(histories.TaskKindOf(kOne, kScheme), TaskKind::kSheep);
  histories.Note(kOne, kDevilish);
  EXPECT_EQ(histories.TaskKindOf(kOne, kScheme), TaskKind::kDevil);
  EXPECT_EQ(histories.TaskKindOf(kOther, kScheme), TaskKind::kSheep);
}

TEST(CacheHistories, GoByTheMean) {
  CacheHistories histories;
  histories.Note(kOne, {10'000, 1'000});
  histories.Note(kOne, {20'000, 2'000});
  histories.Note(kOne, {60'000, 6'000});
  ASSERT_NE(histories.Find(kOne), nullptr);
  EXPECT_EQ(histories.Find(kOne)->mean.references, 30'000);
  EXPECT_EQ(histories.Find(kOne)->mean.misses, 3'000);
  // Work that changes is of another kind after some reports.
  for (int i = 0; i < 20; ++i) histories.Note(kOne, kDevilish);
  EXPECT_EQ(histories.TaskKindOf(kOne, kScheme), TaskKind::kDevil);
}

TEST(CacheHistories, IgnoreCountsThatMakeNoSenseAndBoundOthers) {
  constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
  CacheHistories histories;
  histories.Note(kOne, {.references = 5, .misses = 6});
  histories.Note(kOne, {.references = 5, .misses = -1});
  histories.Note(kOne, {.references = -2, .misses = -1});
  EXPECT_EQ(histories.Find(kOne), nullptr);
  histories.Note(kOne, {kAll, kAll});
  histories.Note(kOne, {0, 0});
  histories.Note(kOne, {kAll, 0});
  EXPECT_LE(histories.Find(kOne)->mean.references, CacheHistories::kCountMax);
  EXPECT_EQ(histories.TaskKindOf(kOne, kScheme), TaskKind::kDevil);
}

TEST(CacheHistories, ForgetTheKindThatWasAddedToTheLongestAgo) {
  CacheHistories histories(2);
  for (const uint64_t kind : {1, 2, 1, 3}) histories.Note({kind}, kDevilish);
  EXPECT_NE(histories.Find({1}), nullptr);
  EXPECT_EQ(histories.Find({2}), nullptr);
  EXPECT_NE(histories.Find({3}), nullptr);
}

// What tasks teach, and what others of their kind of work become by it.
class TaughtKinds : public StateTest {
 protected:
  void Begin(bool learns = true) {
    state_.SetNeeds({.interference = Interference(),
                     .kinds = learns ? std::optional(kScheme) : std::nullopt});
    Do(Added("m", {.cpu = 4000}));
  }
  void Report(const CacheUse& use, int times = 3) {
    for (int i = 0; i < times; ++i) {
      Do(Submitted(99, {.binary = "/bin/a"}));
      Run(99, "m");
      Do(CompleteTask{.uid = {99}, .cache = use});
      Do(Removed(99));
    }
  }
  TaskKind KindOf(uint64_t uid) const {
    return *TaskOf(uid).class_key.rules->kind;
  }
  const CacheHistories& histories() const { return state_.histories().cache(); }
};

TEST_F(TaughtKinds, AreOfTheTasksThatComeLater) {
  Begin();
  Do(Submitted(1, {.binary = "/bin/a"}));
  Report(kDevilish);
  Do(Submitted(2, {.binary = "/bin/a"}));
  Do(Submitted(3, {.binary = "/bin/b"}));
  EXPECT_EQ(KindOf(1), TaskKind::kSheep) << "it was none when it came";
  EXPECT_EQ(KindOf(2), TaskKind::kDevil);
  EXPECT_EQ(KindOf(3), TaskKind::kSheep) << "another kind of work";
  Do(Updated(1, {.binary = "/bin/a"}));
  EXPECT_EQ(KindOf(1), TaskKind::kDevil) << "described anew";
}

TEST_F(TaughtKinds, ChangeWhereATaskThatRunsIsDescribedAnew) {
  Begin();
  Do(Submitted(1, {.cpu = 100, .binary = "/bin/a"}));
  Run(1, "m");
  Report(kRabbity);
  Do(Updated(1, {.cpu = 100, .binary = "/bin/a"}));
  EXPECT_EQ(KindOf(1), TaskKind::kRabbit);
  EXPECT_EQ(TaskOf(1).state, TaskState::kRunning);
}

TEST_F(TaughtKinds, YieldToWhatIsStated) {
  Begin();
  Report(kDevilish);
  Do(Submitted(1, {.labels = {{"taskType", "sheep"}}, .binary = "/bin/a"}));
  SubmitTask turtle = Submitted(2, {.binary = "/bin/a"});
  turtle.spec.task_type = static_cast<int32_t>(TaskKind::kTurtle);
  Do(turtle);
  EXPECT_EQ(KindOf(1), TaskKind::kSheep);
  EXPECT_EQ(KindOf(2), TaskKind::kTurtle);
}

TEST_F(TaughtKinds, AreNotKeptWhereNobodyAsks) {
  Begin(/*learns=*/false);
  Report(kDevilish);
  Do(Submitted(1, {.binary = "/bin/a"}));
  EXPECT_EQ(KindOf(1), TaskKind::kSheep);
  EXPECT_EQ(histories().Find(TaskOf(1).work_kind), nullptr);
  EXPECT_EQ(TaskOf(1).work_kind, WorkKindId());
}

TEST_F(TaughtKinds, CountEachReportOnceAndNoneOfTasksThatNobodyKnows) {
  Begin();
  Do(Submitted(1, {.binary = "/bin/a"}));
  const WorkKindId work = TaskOf(1).work_kind;
  Do(CompleteTask{.uid = {2}, .cache = kDevilish});
  EXPECT_EQ(histories().Find(work), nullptr);
  Do(CompleteTask{.uid = {1}});
  EXPECT_EQ(histories().Find(work), nullptr) << "nothing was reported";
  Do(Submitted(3, {.binary = "/bin/a"}));
  Do(CompleteTask{.uid = {3}, .cache = kDevilish});
  Do(CompleteTask{.uid = {3}, .cache = kDevilish});
  ASSERT_NE(histories().Find(work), nullptr);
  EXPECT_EQ(histories().Find(work)->reports, 1) << "said twice";
}

}  // namespace
}  // namespace sluice
