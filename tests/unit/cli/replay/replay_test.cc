#include "cli/replay/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "unit/cli/fake_server.h"
#include "util/fake_clock.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::ElementsAre;

// Plays `pods` on one machine of 10 cores and 2 GPUs.
struct Fixture {
  explicit Fixture(std::vector<TracePod> trace_pods)
      : pods(std::move(trace_pods)),
        machines({{.sn = "m",
                   .cpu_milli = 10'000,
                   .memory_mib = 1024,
                   .gpus = 2,
                   .model = "T4"}}) {
    options.server = server.Address();
  }

  absl::StatusOr<ReplayResult> Run(int64_t batch = 1) {
    const CommandContext context = {
        .options = options, .console = console, .clock = clock};
    const std::vector<TraceEvent> events = OrderTrace(pods);
    return Replay(context, machines, pods)
        .Run(events, SplitByCount(events, batch));
  }

  // Places what asks for at most 5 cores.
  FakeServer server{5000};
  std::vector<TracePod> pods;
  std::vector<TraceMachine> machines;
  GlobalOptions options;
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Console console = {.in = in, .out = out, .err = err};
  FakeClock clock;
};

TracePod Pod(const std::string& name, int64_t cpu_milli, int64_t creation_s,
             int64_t deletion_s) {
  TracePod pod;
  pod.name = name;
  pod.cpu_milli = cpu_milli;
  pod.memory_mib = 100;
  pod.gpus = 1;
  pod.creation_s = creation_s;
  pod.deletion_s = deletion_s;
  return pod;
}

TEST(Replay, KeepsTheBooks) {
  Fixture f({Pod("a", 3000, 0, 10), Pod("b", 4000, 5, TracePod::kNever),
             Pod("c", 2000, 20, 30)});
  const auto result = f.Run();
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->placed, 3);
  EXPECT_EQ(result->completed, 2);
  EXPECT_EQ(result->gave_up, 0);
  EXPECT_EQ(result->pending, 0);
  EXPECT_EQ(result->allocatable.cpu_milli, 10'000);
  EXPECT_EQ(result->used_peak.cpu_milli, 7000);
  EXPECT_EQ(result->used_peak.memory_mib, 200);
  EXPECT_EQ(result->used_peak.gpus, 2);
  EXPECT_EQ(result->used_after_arrivals.cpu_milli, 6000);
  // After each of three arrivals, and after the departure that is left.
  EXPECT_EQ(result->round_us.size(), 4u);
  EXPECT_THAT(
      f.server.scheduler.CallsOf(1),
      ElementsAre("TaskSubmitted 1", "TaskCompleted 1", "TaskRemoved 1"));
  EXPECT_THAT(f.server.scheduler.CallsOf(2), ElementsAre("TaskSubmitted 2"));
}

TEST(Replay, OnlyRemovesWhatNeverRan) {
  Fixture f({Pod("huge", 6000, 0, 10), Pod("also", 6000, 0, TracePod::kNever)});
  const auto result = f.Run();
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->placed, 0);
  EXPECT_EQ(result->completed, 0);
  EXPECT_EQ(result->gave_up, 1);
  EXPECT_EQ(result->pending_after_arrivals, 2);
  EXPECT_EQ(result->pending, 1);
  EXPECT_THAT(f.server.scheduler.CallsOf(1),
              ElementsAre("TaskSubmitted 1", "TaskRemoved 1"));
}

TEST(Replay, HasARoundSeeEveryPod) {
  Fixture f({Pod("a", 3000, 1, 2), Pod("b", 2000, 3, 3), Pod("c", 1000, 4, 5)});
  const auto result = f.Run(3);
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->placed, 3);
  EXPECT_EQ(result->completed, 3);
  EXPECT_EQ(result->gave_up, 0);
  EXPECT_EQ(result->used_peak.cpu_milli, 6000);
  EXPECT_EQ(f.server.scheduler.task_count(), 0u);
  EXPECT_THAT(
      f.server.scheduler.CallsOf(2),
      ElementsAre("TaskSubmitted 2", "TaskCompleted 2", "TaskRemoved 2"));
}

TEST(Replay, OfNothingAddsTheMachines) {
  Fixture f({});
  ASSERT_THAT(f.Run(), IsOk());
  EXPECT_THAT(f.server.scheduler.calls(), ElementsAre("NodeAdded m"));
}

TEST(Replay, StopsWhereTheServerRefuses) {
  Fixture f({Pod("a", 1000, 0, TracePod::kNever)});
  ASSERT_THAT(f.Run(), IsOk());
  EXPECT_THAT(f.Run(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                testing::HasSubstr("TASK_ALREADY_SUBMITTED")));
}

}  // namespace
}  // namespace sluice
