#include "state/speed_histories.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>

#include "state/class_histories.h"
#include "state/command.h"
#include "unit/state/state_fixture.h"

namespace sluice {
namespace {

using Pair = SpeedHistories::Pair;

constexpr Pair kPair = {{1}, {1}};
constexpr uint64_t kGiga = 1'000'000'000;
constexpr int64_t kGib = (int64_t{1} << 30) * 1000;
const LabelPairs kNoLabels;

const SpeedHistories::History* Find(const SpeedHistories& histories,
                                    const Pair& pair) {
  const auto it = histories.pairs().find(pair);
  return it == histories.pairs().end() ? nullptr : &it->second;
}

TEST(MachineType, IsTheLabelWhereThatIsStated) {
  const LabelPairs large = {{"node.kubernetes.io/instance-type", "large"}};
  const LabelPairs small = {{"node.kubernetes.io/instance-type", "small"}};
  EXPECT_EQ(MachineTypeOf(large, {{"cpu", 1000}}),
            MachineTypeOf(large, {{"cpu", 2000}}));
  EXPECT_NE(MachineTypeOf(large, {{"cpu", 1000}}),
            MachineTypeOf(small, {{"cpu", 1000}}));
  // An empty one says nothing.
  const LabelPairs empty = {{"node.kubernetes.io/instance-type", ""}};
  EXPECT_EQ(MachineTypeOf(empty, {{"cpu", 1000}}),
            MachineTypeOf(kNoLabels, {{"cpu", 1000}}));
}

TEST(MachineType, IsWhatItHasElse) {
  const MachineTypeId type = MachineTypeOf(
      kNoLabels, {{"cpu", 1000}, {"memory", 64 * kGib}, {"pods", 110}});
  // Memory counts by whole GiB; pods, disks and links not at all.
  EXPECT_EQ(MachineTypeOf(kNoLabels, {{"cpu", 1000},
                                      {"ephemeral-storage", 5},
                                      {"memory", 64 * kGib - kGib / 3},
                                      {kNetRx, 1},
                                      {kNetTx, 1},
                                      {"nvidia.com/gpu", 0}}),
            type);
  EXPECT_NE(MachineTypeOf(kNoLabels, {{"cpu", 2000}, {"memory", 64 * kGib}}),
            type);
  EXPECT_NE(MachineTypeOf(kNoLabels, {{"cpu", 1000}, {"memory", 65 * kGib}}),
            type);
  EXPECT_NE(MachineTypeOf(
                kNoLabels,
                {{"cpu", 1000}, {"memory", 64 * kGib}, {"nvidia.com/gpu", 1}}),
            type);
  EXPECT_NE(MachineTypeOf(kNoLabels, {}), MachineTypeId());
}

TEST(SpeedHistories, AreThePlainMeanOfTheFirstRuns) {
  SpeedHistories histories;
  EXPECT_EQ(Find(histories, kPair), nullptr);
  // A second for 1, 2 and 4 thousand million: 1000, 500 and 250 ps.
  for (const uint64_t giga : {1, 2, 4}) {
    histories.Note(kPair, 1000, giga * kGiga);
  }
  EXPECT_NEAR(static_cast<double>(Find(histories, kPair)->mean_fs), 583333, 2);
  EXPECT_EQ(Find(histories, kPair)->samples, 3);
  EXPECT_EQ(histories.version(), 3u);
  EXPECT_EQ(Find(histories, {{1}, {2}}), nullptr);
  EXPECT_EQ(Find(histories, {{2}, {1}}), nullptr);
}

TEST(SpeedHistories, MoveByAnEighthOfTheDifferenceLater) {
  SpeedHistories histories;
  for (int i = 0; i < 100; ++i) histories.Note(kPair, 800, kGiga);
  histories.Note(kPair, 1600, kGiga);
  EXPECT_EQ(Find(histories, kPair)->mean_fs, 900'000);
}

TEST(SpeedHistories, TakeTheExtremesForLess) {
  constexpr int64_t kMsMax = ClassHistories::kRunMsMax;
  constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();
  SpeedHistories histories;
  histories.Note(kPair, 0, kGiga);
  histories.Note(kPair, -1, kGiga);
  histories.Note(kPair, 1000, 0);
  EXPECT_TRUE(histories.pairs().empty());
  histories.Note(kPair, kMsMax, 1);
  EXPECT_EQ(Find(histories, kPair)->mean_fs, SpeedHistories::kFsMax);
  histories.Note({{2}, {1}}, 1, kAll);
  EXPECT_EQ(Find(histories, {{2}, {1}})->mean_fs, 1);
}

TEST(SpeedHistories, ForgetThePairThatWasAddedToTheLongestAgo) {
  SpeedHistories histories(3);
  for (const uint64_t type : {1, 2, 3, 1, 4}) {
    histories.Note({{1}, {type}}, 1000, kGiga);
  }
  EXPECT_EQ(histories.pairs().size(), 3u);
  EXPECT_NE(Find(histories, {{1}, {1}}), nullptr);
  EXPECT_EQ(Find(histories, {{1}, {2}}), nullptr);
  EXPECT_NE(Find(histories, {{1}, {4}}), nullptr);
}

TEST(SpeedHistories, AreBounded) {
  SpeedHistories histories;
  for (uint64_t i = 0; i < 2 * SpeedHistories::kPairsMax; ++i) {
    histories.Note({{i / 3}, {i % 3}}, 1000, kGiga);
  }
  EXPECT_EQ(histories.pairs().size(), SpeedHistories::kPairsMax);
}

// What tasks teach: one machine, one task of kind "/bin/a".
class TaughtSpeeds : public StateTest {
 protected:
  void Begin(bool speeds = true) {
    state_.SetNeeds({.speeds = speeds});
    Do(Added("m", {.cpu = 4000}));
    Do(Submitted(1, {.cpu = 1000, .binary = "/bin/a"}));
  }
  int64_t SampleCount() const {
    int64_t count = 0;
    for (const auto& [pair, history] : state_.histories().speeds().pairs()) {
      count += history.samples;
    }
    return count;
  }
};

TEST_F(TaughtSpeeds, AreOfTheMachineWhereTheTaskRan) {
  Begin();
  Run(1, "m");
  EXPECT_EQ(TaskOf(1).class_key.rules->work_kind, TaskOf(1).work_kind);
  Do(CompleteTask{{1}, 1000, kGiga});
  Do(CompleteTask{{1}, 1000, kGiga});
  EXPECT_EQ(SampleCount(), 1) << "said twice, it counts once";
  const auto* history = Find(state_.histories().speeds(),
                             {TaskOf(1).work_kind, MachineOf("m").type});
  ASSERT_NE(history, nullptr);
  EXPECT_EQ(history->mean_fs, 1'000'000);
}

TEST_F(TaughtSpeeds, FollowAMachineThatChanges) {
  Begin();
  const MachineTypeId former = MachineOf("m").type;
  Do(Updated("m", {.cpu = 8000}));
  EXPECT_NE(MachineOf("m").type, former);
  Do(Updated("m", {.cpu = 4000}));
  EXPECT_EQ(MachineOf("m").type, former);
}

TEST_F(TaughtSpeeds, AreNotKeptWhereNobodyAsks) {
  Begin(/*speeds=*/false);
  Run(1, "m");
  EXPECT_EQ(MachineOf("m").type, MachineTypeId());
  EXPECT_EQ(TaskOf(1).class_key.rules, &NoRules());
  Do(CompleteTask{{1}, 1000, kGiga});
  EXPECT_EQ(SampleCount(), 0);
}

TEST_F(TaughtSpeeds, SayNothingOfWhatIsNotKnownToHaveRunThere) {
  Begin();
  Do(Submitted(2, {.cpu = 1000, .binary = "/bin/a"}));
  Do(Submitted(3, {.cpu = 1000, .binary = "/bin/a"}));
  Do(Submitted(4, {.cpu = 1000, .binary = "/bin/a"}));
  Place(2, "m");
  Do(CompleteTask{{1}, 1000, kGiga});  // Waits.
  Do(CompleteTask{{2}, 1000, kGiga});  // Nobody was told to start it.
  Run(3, "m");
  Do(CompleteTask{{3}, std::nullopt, kGiga});
  Run(4, "m");
  Do(CompleteTask{{4}, 1000});
  Do(CompleteTask{{5}, 1000, kGiga});
  EXPECT_EQ(SampleCount(), 0);
}

}  // namespace
}  // namespace sluice
