// What rounds make of the policy sjf: who goes first where not all have room.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/rng.h"
#include "base/strings.h"
#include "cost/waiting_prices.h"
#include "util/cluster_builder.h"
#include "util/seed_count.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;

constexpr int64_t kSecondMs = 1000;
constexpr int64_t kMinuteMs = 60'000;
// A word about kinds of work, of which nothing waits or runs.
constexpr uint64_t kTeacher = 1'000'000;

// By passes alone, and with all that improves on them.
class ShortestFirst : public testing::TestWithParam<int64_t> {
 protected:
  static RoundOptions Options() { return {.improve_budget = GetParam()}; }
};

void Teach(const std::string& binary, int64_t run_ms,
           TestScheduler* scheduler) {
  scheduler->Apply(Submitted(kTeacher, {.binary = binary}));
  scheduler->Apply(CompleteTask{{kTeacher}, run_ms});
  scheduler->Apply(Removed(kTeacher));
}

void TeachShortAndLong(TestScheduler* scheduler) {
  Teach("short", kSecondMs, scheduler);
  Teach("long", 20 * kSecondMs, scheduler);
}

TEST_P(ShortestFirst, OfOneClassTheShorterGoes) {
  for (const bool is_asked_for : {true, false}) {
    TestScheduler scheduler(
        Options(), StrCat(kDefaultCostModels, is_asked_for ? ",sjf" : ""));
    TeachShortAndLong(&scheduler);
    scheduler.Apply(Added("m", {.cpu = 1000}));
    scheduler.Apply(Submitted(1, {.cpu = 1000, .binary = "long"}));
    scheduler.Apply(Submitted(2, {.cpu = 1000, .binary = "short"}));
    scheduler.Apply(Submitted(3, {.cpu = 1000, .binary = "short"}));
    scheduler.Round();
    EXPECT_EQ(scheduler.MachineOf(1), is_asked_for ? "" : "m");
    EXPECT_EQ(scheduler.MachineOf(2), is_asked_for ? "m" : "")
        << "of the equally short ones the older";
    EXPECT_EQ(scheduler.MachineOf(3), "");
  }
}

TEST_P(ShortestFirst, OfTwoClassesTheShorterGoes) {
  for (const bool is_long_larger : {false, true}) {
    TestScheduler scheduler(Options(), "cpu_memory,sjf");
    TeachShortAndLong(&scheduler);
    scheduler.Apply(Added("m", {.cpu = 1000}));
    scheduler.Apply(
        Submitted(1, {.cpu = is_long_larger ? 900 : 600, .binary = "long"}));
    scheduler.Apply(
        Submitted(2, {.cpu = is_long_larger ? 600 : 900, .binary = "short"}));
    scheduler.Round();
    EXPECT_EQ(scheduler.MachineOf(1), "");
    EXPECT_EQ(scheduler.MachineOf(2), "m");
  }
}

TEST_P(ShortestFirst, WhatIsNotKnownIsAsGoodAsUsual) {
  TestScheduler scheduler(Options(), "sjf");
  TeachShortAndLong(&scheduler);
  scheduler.Apply(Added("m", {.cpu = 1000}));
  uint64_t uid = 0;
  for (const char* binary : {"long", "unknown", "short"}) {
    scheduler.Apply(Submitted(++uid, {.cpu = 1000, .binary = binary}));
  }
  std::vector<uint64_t> order;
  for (int round = 0; round < 3; ++round) {
    scheduler.Round();
    scheduler.Deliver();
    for (const auto& [id, machine] : scheduler.state().machines()) {
      for (const TaskId task : machine->tasks) order.push_back(task.value);
    }
    scheduler.Apply(Removed(order.back()));
  }
  EXPECT_THAT(order, ElementsAre(3, 2, 1));
}

TEST_P(ShortestFirst, APriorityIsWorthMore) {
  TestScheduler scheduler(Options(), "sjf");
  TeachShortAndLong(&scheduler);
  scheduler.Apply(Added("m", {.cpu = 1000}));
  scheduler.Apply(Submitted(1, {.cpu = 1000, .binary = "short"}));
  scheduler.Apply(Submitted(2, {.cpu = 1000, .priority = 1, .binary = "long"}));
  scheduler.Round();
  EXPECT_EQ(scheduler.MachineOf(2), "m");
}

// Newcomers of the short kind come every minute, each for all of the machine.
// The long one is an eighth as dear per minute, and goes when it is as dear as
// the newcomer.
TEST_P(ShortestFirst, TheLongerGoesOnceItHasWaitedLongEnough) {
  TestScheduler scheduler(Options(), "sjf");
  Teach("short", 1024, &scheduler);
  Teach("long", 8 * 1024, &scheduler);
  scheduler.Apply(Added("m", {.cpu = 1000}));
  scheduler.Apply(Submitted(1, {.cpu = 1000, .binary = "long"}));
  int64_t minute = 0;
  for (uint64_t uid = 2; minute < 60; ++uid, ++minute) {
    const int64_t now_ms = minute * kMinuteMs;
    scheduler.Apply(Submitted(uid, {.cpu = 1000, .binary = "short"}), now_ms);
    scheduler.Round(now_ms);
    scheduler.Deliver();
    if (scheduler.MachineOf(1) == "m") break;
    ASSERT_EQ(scheduler.MachineOf(uid), "m") << minute;
    scheduler.Apply(CompleteTask{{uid}, 1024}, now_ms + kSecondMs);
    scheduler.Apply(Removed(uid), now_ms + kSecondMs);
  }
  EXPECT_EQ(minute, 7);
}

TEST_P(ShortestFirst, TellsABoundThatHolds) {
  TestScheduler scheduler(Options(), StrCat(kDefaultCostModels, ",sjf"));
  TeachShortAndLong(&scheduler);
  ClusterBuilder().Machines("m", 2, {.cpu = 2000}).ApplyTo(&scheduler);
  for (uint64_t uid = 1; uid <= 10; ++uid) {
    scheduler.Apply(Submitted(
        uid, {.cpu = 1000, .binary = uid % 2 == 0 ? "short" : "long"}));
  }
  const RoundStats& stats = scheduler.Round();
  int64_t waiting = 0;
  const WaitingPrices prices(scheduler.policies(),
                             scheduler.state().histories(), 0);
  for (const TaskId id : scheduler.state().unscheduled()) {
    waiting += prices.Of(*scheduler.state().FindTask(id));
  }
  EXPECT_EQ(scheduler.MachineOf(1), "");
  EXPECT_EQ(stats.cost.waiting.Sum(), waiting);
  if (GetParam() == 0) return;
  EXPECT_TRUE(stats.is_bound_known);
  EXPECT_EQ(stats.bound, stats.cost);
}

// What it costs, at the least, to leave those from `next` on waiting that do
// not fit into what is free.
Cost LeastWaiting(const std::vector<const Task*>& tasks, size_t next,
                  const WaitingPrices& prices, std::vector<int64_t>* free) {
  if (next == tasks.size()) return 0;
  const int64_t cpu = tasks[next]->class_key.request[kCpu];
  Cost least =
      prices.Of(*tasks[next]) + LeastWaiting(tasks, next + 1, prices, free);
  for (int64_t& room : *free) {
    if (room < cpu) continue;
    room -= cpu;
    least = std::min(least, LeastWaiting(tasks, next + 1, prices, free));
    room += cpu;
  }
  return least;
}

// Few tasks of any sizes, ages and kinds: against all legal assignments.
TEST(ShortestFirstOracle, LeavesTheLeastWaitingCost) {
  for (uint64_t seed = 1; seed <= SeedCount(300); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Rng rng(seed);
    TestScheduler scheduler(RoundOptions(), StrCat(kDefaultCostModels, ",sjf"));
    for (int kind = 0; kind < 4; ++kind) {
      Teach(StrCat("kind", kind), int64_t{1} << rng.Between(5, 20), &scheduler);
    }
    std::vector<int64_t> free;
    for (int64_t i = rng.Between(1, 3); i > 0; --i) {
      free.push_back(rng.Between(1, 20));
      scheduler.Apply(Added(StrCat("m", i), {.cpu = free.back()}));
    }
    constexpr int64_t kNowMs = 60 * kMinuteMs;
    int64_t submitted_ms = 0;
    std::vector<const Task*> tasks;
    for (int64_t uid = rng.Between(1, 6); uid > 0; --uid) {
      submitted_ms += rng.Between(0, 10) * kMinuteMs;
      const auto id = static_cast<uint64_t>(uid);
      scheduler.Apply(Submitted(id, {.cpu = rng.Between(1, 10),
                                     .binary = StrCat("kind", rng.Below(5))}),
                      submitted_ms);
      tasks.push_back(&scheduler.TaskOf(id));
    }
    const WaitingPrices prices(scheduler.policies(),
                               scheduler.state().histories(), kNowMs);
    const Cost least = LeastWaiting(tasks, 0, prices, &free);
    const RoundStats& stats = scheduler.Round(kNowMs);
    Cost waiting = 0;
    for (const Task* task : tasks) {
      if (task->state == TaskState::kPending) waiting += prices.Of(*task);
    }
    EXPECT_EQ(waiting, least);
    EXPECT_LE(stats.bound, stats.cost);
    if (testing::Test::HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Budgets, ShortestFirst,
                         testing::Values(0, RoundOptions().improve_budget),
                         [](const auto& budget) {
                           return budget.param == 0 ? "Passes" : "Improved";
                         });

}  // namespace
}  // namespace sluice
