#include "round/reservations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "base/strings.h"
#include "explain/explanation.h"
#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/seed_count.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::HasSubstr;

constexpr int64_t kMinute = 60'000;
constexpr int64_t kAfter = 10 * kMinute;

RoundOptions WithReservations() {
  return {.reservations = {.after_ms = kAfter, .machines_percent = 50}};
}

// Machines of 4 cores; tasks of one core fill them.
class ReservationsTest : public testing::Test {
 protected:
  void Round(int64_t minute) {
    scheduler_.Round(minute * kMinute);
    scheduler_.Deliver();
  }
  void Submit(uint64_t uid, int64_t cores, int64_t minute,
              uint32_t priority = 0) {
    scheduler_.Apply(
        Submitted(uid, {.cpu = cores * 1000, .priority = priority}),
        minute * kMinute);
  }
  void Run(uint64_t uid, int64_t cores, std::string_view machine) {
    Submit(uid, cores, 0);
    ClusterState& state = scheduler_.mutable_state();
    state.Place({uid}, state.FindMachine(machine)->id, 0);
  }
  void Complete(uint64_t uid, int64_t minute) {
    scheduler_.Apply(Completed(uid), minute * kMinute);
  }
  // The machine that is reserved for the task; "" for none.
  std::string ReservedFor(uint64_t uid) const {
    const Nominations& nominations = scheduler_.state().nominations();
    if (!nominations.IsReservation({uid})) return "";
    return scheduler_.state()
        .FindMachine(nominations.machines().at({uid}))
        ->uuid;
  }

  TestScheduler scheduler_{WithReservations()};
};

TEST_F(ReservationsTest, KeepWhatBecomesFreeUntilTheTaskFits) {
  ClusterBuilder().Machine("m", {.cpu = 4000}).ApplyTo(&scheduler_);
  for (uint64_t uid = 1; uid <= 4; ++uid) Submit(uid, 1, 0);
  Round(0);
  Submit(10, 3, 0);
  Round(9);
  EXPECT_EQ(ReservedFor(10), "") << "it has not waited long enough";
  Complete(1, 9);
  Submit(11, 1, 9);
  Round(9);
  EXPECT_EQ(scheduler_.MachineOf(11), "m");
  Round(10);
  EXPECT_EQ(ReservedFor(10), "m");
  for (uint64_t uid = 2; uid <= 4; ++uid) {
    Complete(uid, 11);
    Submit(10 + uid, 1, 11);
    Round(11);
    EXPECT_EQ(scheduler_.MachineOf(10 + uid), "");
    EXPECT_EQ(scheduler_.MachineOf(10), uid < 4 ? "" : "m");
  }
}

TEST_F(ReservationsTest, KeepNoMoreThanTheTaskNeeds) {
  ClusterBuilder().Machine("m", {.cpu = 4000}).ApplyTo(&scheduler_);
  for (uint64_t uid = 1; uid <= 4; ++uid) Submit(uid, 1, 0);
  Round(0);
  Submit(10, 2, 0);
  Round(10);
  Complete(1, 11);
  Submit(11, 1, 11);
  Round(11);
  EXPECT_EQ(scheduler_.MachineOf(11), "");
  Complete(2, 12);
  Complete(3, 12);
  Round(12);
  EXPECT_EQ(scheduler_.MachineOf(10), "m");
  EXPECT_EQ(scheduler_.MachineOf(11), "m");
}

TEST_F(ReservationsTest, AreForTheMachineThatLacksLeast) {
  ClusterBuilder()
      .Machine("small", {.cpu = 2000})
      .Machine("full", {.cpu = 4000})
      .Machine("tainted",
               {.cpu = 4000, .taints = {{"k", "v", TaintEffect::kNoSchedule}}})
      .Machine("half", {.cpu = 4000})
      .ApplyTo(&scheduler_);
  scheduler_.Apply(ForeignPod("a/b", "tainted", {{"cpu", 1000}}));
  Run(1, 4, "full");
  Run(2, 2, "half");
  Run(3, 1, "small");
  Round(0);
  Submit(10, 3, 0);
  Round(10);
  EXPECT_EQ(ReservedFor(10), "half");
  EXPECT_THAT(
      Explain(scheduler_.TaskOf(10), scheduler_.scheduler(), 10 * kMinute)
          .summary,
      HasSubstr("machine 'half' is reserved for it"));
}

TEST_F(ReservationsTest, EndWhereTheTaskFitsElsewhere) {
  ClusterBuilder().Machine("m", {.cpu = 4000}).ApplyTo(&scheduler_);
  Submit(1, 2, 0);
  Round(0);
  Submit(10, 3, 0);
  Round(10);
  ASSERT_EQ(ReservedFor(10), "m");
  scheduler_.Apply(Added("n", {.cpu = 4000}));
  Submit(11, 1, 11);
  Round(11);
  EXPECT_EQ(scheduler_.MachineOf(10), "n");
  EXPECT_NE(scheduler_.MachineOf(11), "");
}

TEST_F(ReservationsTest, YieldToMoreUrgentTasksThatCouldGoThere) {
  ClusterBuilder().Machine("m", {.cpu = 4000}).ApplyTo(&scheduler_);
  for (uint64_t uid = 1; uid <= 4; ++uid) Submit(uid, 1, 0);
  Round(0);
  Submit(10, 3, 0);
  Round(10);
  Complete(1, 11);
  Round(11);
  ASSERT_EQ(ReservedFor(10), "m");
  Submit(11, 9, 11, /*priority=*/5);  // Could not, whatever left.
  Round(11);
  EXPECT_EQ(ReservedFor(10), "m");
  Submit(12, 1, 12, /*priority=*/5);
  Round(12);
  EXPECT_EQ(scheduler_.MachineOf(12), "m");
  EXPECT_EQ(ReservedFor(10), "m") << "again, once nobody more urgent waits";
}

TEST_F(ReservationsTest, TryAnotherMachineWhereNothingLeaves) {
  ClusterBuilder()
      .Machine("a", {.cpu = 4000})
      .Machine("b", {.cpu = 4000})
      .ApplyTo(&scheduler_);
  Submit(1, 3, 0);
  Submit(2, 3, 0);
  Round(0);
  Submit(10, 4, 0);
  Round(10);
  const std::string first = ReservedFor(10);
  ASSERT_NE(first, "");
  Round(19);
  EXPECT_EQ(ReservedFor(10), first);
  Round(20);
  const std::string second = ReservedFor(10);
  EXPECT_NE(second, "");
  EXPECT_NE(second, first);
  Round(30);
  EXPECT_EQ(ReservedFor(10), first) << "all were tried";
}

TEST_F(ReservationsTest, EndWithTheirMachines) {
  ClusterBuilder().Machine("m", {.cpu = 4000}).ApplyTo(&scheduler_);
  Submit(1, 2, 0);
  Round(0);
  Submit(10, 3, 0);
  Round(10);
  ASSERT_EQ(ReservedFor(10), "m");
  scheduler_.Apply(Removed("m"));
  EXPECT_EQ(ReservedFor(10), "");
  Round(11);
  EXPECT_EQ(ReservedFor(10), "");
}

TEST_F(ReservationsTest, AreNotForGangsNorForTasksWithTerms) {
  ClusterBuilder().Machine("m", {.cpu = 4000}).ApplyTo(&scheduler_);
  Submit(1, 2, 0);
  Round(0);
  scheduler_.Apply(
      Submitted(10, {.cpu = 3000, .job = "g"}, {.gang = {.minimum = 1}}));
  Round(20);
  EXPECT_EQ(ReservedFor(10), "");
}

TEST_F(ReservationsTest, KeepWhatForeignPodsLeave) {
  ClusterBuilder().Machine("m", {.cpu = 4000}).ApplyTo(&scheduler_);
  scheduler_.Apply(ForeignPod("a/b", "m", {{"cpu", 1000}}));
  Run(1, 3, "m");
  scheduler_.Deliver();
  Submit(10, 3, 0);
  Round(10);
  ASSERT_EQ(ReservedFor(10), "m");
  scheduler_.Apply(RemoveForeignPod{"a/b"});
  Submit(11, 1, 10);
  Round(11);
  EXPECT_EQ(scheduler_.MachineOf(11), "");
  scheduler_.Apply(ForeignPod("a/b", "m", {{"cpu", 1000}}));
  EXPECT_EQ(scheduler_.state().FindMachine("m")->Free()[kCpu], 0);
}

// What would be reclaimed goes with the tasks that it is reclaimed from.
TEST_F(ReservationsTest, AreNotForWhatIsLargerThanTheMachine) {
  scheduler_.mutable_state().measured_use().SetOptions(
      {.is_on = true, .samples = 1, .stale_ms = 100 * kMinute});
  ClusterBuilder()
      .Machine("m", {.cpu = 4000, .capacity = {{"cpu", 4000}}})
      .ApplyTo(&scheduler_);
  Run(1, 4, "m");
  scheduler_.Deliver();
  Submit(10, 5, 0);
  scheduler_.Apply(
      ReportMachineUsage{"m", {.cpu_ppm = 500'000, .memory_ppm = 0}}, kMinute);
  ASSERT_GT(scheduler_.state().FindMachine("m")->Offered()[kCpu], 5000);
  Round(10);
  EXPECT_EQ(ReservedFor(10), "");
}

TEST_F(ReservationsTest, LeaveThoseToPreemptionThatMayDisplaceSomebody) {
  TestScheduler scheduler(
      {.preemption = {.mode = Preemption::kPriority},
       .reservations = {.after_ms = kAfter, .machines_percent = 100}});
  ClusterBuilder()
      .Machine("m", {.cpu = 4000})
      .Machine("n", {.cpu = 4000})
      .ApplyTo(&scheduler);
  scheduler.Apply(Submitted(1, {.cpu = 3000, .priority = 5}));
  scheduler.Apply(Submitted(2, {.cpu = 3000, .priority = 7}));
  scheduler.Round();
  scheduler.Deliver();
  scheduler.Apply(Submitted(10, {.cpu = 4000, .priority = 5}));
  scheduler.Apply(
      Submitted(11, {.cpu = 4000, .priority = 6, .budget = std::nullopt}));
  scheduler.Apply(Submitted(12, {.cpu = 5000, .priority = 6}));
  scheduler.Round(20 * kMinute);
  const Nominations& nominations = scheduler.state().nominations();
  EXPECT_FALSE(nominations.IsReservation({11}));
  EXPECT_TRUE(nominations.Contains({11})) << "the first has to leave for it";
  EXPECT_FALSE(nominations.IsReservation({12})) << "it fits nowhere";
}

TEST_F(ReservationsTest, AreNoMoreThanMayBe) {
  ClusterBuilder().Machines("m", 4, {.cpu = 4000}).ApplyTo(&scheduler_);
  for (uint64_t uid = 1; uid <= 4; ++uid) Submit(uid, 3, 0);
  Round(0);
  for (uint64_t uid = 10; uid < 14; ++uid) {
    Submit(uid, 4, static_cast<int64_t>(14 - uid));
  }
  Round(30);
  EXPECT_EQ(scheduler_.state().nominations().reservations().size(), 2u);
  EXPECT_NE(ReservedFor(13), "") << "the oldest";
  EXPECT_NE(ReservedFor(12), "");
}

// Small tasks come as fast as others end, for ever; those that need a whole
// machine come now and then.  With reservations each of them runs in the end;
// without, hardly one.
int64_t LargeThatRan(uint64_t seed, const RoundOptions& options) {
  Rng rng(seed);
  TestScheduler scheduler(options);
  ClusterBuilder().Machines("m", 4, {.cpu = 4000}).ApplyTo(&scheduler);
  uint64_t last_uid = 100;
  std::map<uint64_t, int64_t> ends;  // In minutes, of those that run.
  std::vector<uint64_t> large;
  int64_t ran = 0;
  for (int64_t minute = 0; minute < 600; ++minute) {
    const int64_t now_ms = minute * kMinute;
    while (scheduler.state().pending_count() < 10) {
      scheduler.Apply(Submitted(++last_uid, {.cpu = 1000}), now_ms);
    }
    if (minute % 100 == 0) {
      large.push_back(++last_uid);
      scheduler.Apply(Submitted(last_uid, {.cpu = 4000}), now_ms);
    }
    scheduler.Round(now_ms);
    scheduler.Deliver();
    for (const auto& [id, task] : scheduler.state().tasks()) {
      if (task->state == TaskState::kRunning) {
        ends.try_emplace(id.value, minute + rng.Between(5, 30));
      }
    }
    for (auto it = ends.begin(); it != ends.end();) {
      if (it->second > minute) {
        ++it;
        continue;
      }
      ran += std::ranges::count(large, it->first);
      scheduler.Apply(Completed(it->first), now_ms);
      scheduler.Apply(Removed(it->first), now_ms);
      it = ends.erase(it);
    }
  }
  return ran;
}

TEST(Reservations, LetNobodyWaitForEver) {
  for (uint64_t seed = 1; seed <= SeedCount(10); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    // Six come, each at most some 70 minutes before it has run.
    EXPECT_GE(LargeThatRan(seed, {.reservations = {.after_ms = kAfter}}), 5);
    EXPECT_LE(LargeThatRan(seed, {}), 2);
  }
}

}  // namespace
}  // namespace sluice
