#include "core/core_metrics.h"

#include <glog/logging.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/strings.h"
#include "util/cluster_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::HasSubstr;
using testing::Not;

// Keeps what is logged.
class Log final : public google::LogSink {
 public:
  Log() { google::AddLogSink(this); }
  ~Log() override { google::RemoveLogSink(this); }

  void send(google::LogSeverity /*severity*/, const char* /*path*/,
            const char* /*file*/, int /*line*/,
            const google::LogMessageTime& /*time*/, const char* message,
            size_t size) override {
    text.append(message, size).append("\n");
  }

  std::string text;
};

// A round that is told in the log.
RoundStats StatsOf(const std::vector<int64_t>& waiting,
                   const std::vector<int64_t>& needed) {
  RoundStats stats;
  stats.passes = 1;
  stats.cost.waiting = LevelCosts(waiting);
  stats.bound.waiting = LevelCosts(needed);
  return stats;
}

class CoreMetricsTest : public testing::Test {
 protected:
  std::string Value(const std::string& level) const {
    const std::string start =
        StrCat("sluice_round_gap_ratio{level=\"", level, "\"} ");
    const std::string text = metrics_.Text();
    const size_t begin = text.find(start);
    if (begin == std::string::npos) return "";
    const size_t value = begin + start.size();
    return text.substr(value, text.find('\n', value) - value);
  }

  const Log log_;
  TestScheduler scheduler_;
  Metrics metrics_;
  CoreMetrics counts_{scheduler_.scheduler(), metrics_};
};

TEST_F(CoreMetricsTest, TellsTheGapsOfTheUppermostLevelsAndOfTheRest) {
  RoundStats stats = StatsOf({0, 100, 100, 0, 0, 0, 0, 1000, 100, 0, 0, 0, 100},
                             {0, 100, 75, 0, 0, 0, 0, 999, 100, 0, 0, 0, 0});
  stats.cost.placed = 10;
  counts_.CountRound(stats, 0);
  EXPECT_EQ(Value("1"), "0");
  EXPECT_EQ(Value("2"), "0");
  EXPECT_EQ(Value("3"), "0.25");
  EXPECT_EQ(Value("8"), "0.001");
  EXPECT_EQ(Value("9"), "");
  EXPECT_EQ(Value("rest"), "0.5");
  EXPECT_EQ(Value("cost"), "Nan");
  EXPECT_THAT(log_.text,
              HasSubstr(" gap=90/1000 "
                        "level_gaps=3:250/1000,8:1/1000,rest:500/1000 "));
}

TEST_F(CoreMetricsTest, TellsTheGapOfWhatIsPlaced) {
  RoundStats stats = StatsOf({100}, {100});
  stats.cost.placed = 10;
  stats.bound.placed = 9;
  counts_.CountRound(stats, 0);
  EXPECT_EQ(Value("cost"), "0.1");
  EXPECT_THAT(log_.text, HasSubstr(" gap=100/1000 level_gaps=cost:100/1000 "));
}

TEST_F(CoreMetricsTest, KeepsTheGapUntilARoundIsToWorkItOutAgain) {
  counts_.CountRound(StatsOf({4}, {3}), 0);
  RoundStats unproved = StatsOf({5}, {});
  unproved.is_bound_known = false;
  unproved.skips_proof = true;
  counts_.CountRound(unproved, 10'000'000);
  EXPECT_EQ(Value("1"), "0.25");
  EXPECT_THAT(log_.text, HasSubstr(" gap=unknown level_gaps=unknown "));
  EXPECT_THAT(metrics_.Text(),
              HasSubstr("sluice_round_bounds_unknown_total 0\n"));
}

TEST_F(CoreMetricsTest, TellsNoGapWhereARoundIsAsGoodAsCanBe) {
  counts_.CountRound(StatsOf({5, 7}, {5, 7}), 0);
  EXPECT_EQ(Value("2"), "0");
  EXPECT_THAT(log_.text, HasSubstr(" gap=0/1000 level_gaps=none "));
}

TEST_F(CoreMetricsTest, TellsAnUnknownGapFromNone) {
  counts_.CountRound(StatsOf({5}, {5}), 0);
  RoundStats unknown = StatsOf({5}, {});
  unknown.is_bound_known = false;
  counts_.CountRound(unknown, 10'000'000);
  for (const char* level : {"1", "8", "rest", "cost"}) {
    EXPECT_EQ(Value(level), "Nan") << level;
  }
  EXPECT_THAT(log_.text, HasSubstr(" gap=unknown level_gaps=unknown "));
  EXPECT_THAT(metrics_.Text(),
              HasSubstr("sluice_round_bounds_unknown_total 1\n"));
}

TEST_F(CoreMetricsTest, CountsWhatDisruptionBudgetsKeep) {
  RoundStats stats;
  stats.left_alone = 5;
  stats.exhausted_budgets = 2;
  stats.given_up = 3;
  counts_.CountRound(stats, 0);
  EXPECT_THAT(metrics_.Text(), HasSubstr("sluice_budgets_exhausted 2\n"));
  counts_.CountRound(RoundStats(), 0);
  EXPECT_THAT(metrics_.Text(), HasSubstr("sluice_budgets_exhausted 0\n"));
  EXPECT_THAT(metrics_.Text(), HasSubstr("sluice_budget_kept_tasks_total 8\n"));
}

TEST_F(CoreMetricsTest, TellsWithAReplyWhatIsStale) {
  scheduler_.Apply(Added("m", {.cpu = 1000}));
  for (uint64_t uid = 1; uid <= 2; ++uid) scheduler_.Apply(Submitted(uid));
  counts_.RefreshGauges(0, 60'000'000);
  counts_.CountReply(ScheduleReply(), 60'000'000);
  EXPECT_THAT(log_.text, Not(HasSubstr("reply:")));
  scheduler_.Apply(BeginAnnouncement());
  scheduler_.Apply(Submitted(2));
  counts_.RefreshGauges(0, 70'000'000);
  counts_.CountReply(ScheduleReply(), 70'000'000);
  EXPECT_THAT(log_.text,
              HasSubstr("reply: deltas=0 unscheduled=0 stale_tasks=1 "
                        "stale_machines=1 (not mentioned since"));
}

TEST_F(CoreMetricsTest, TellsWhatIsStaleAsSoonAsAClientBeginsAnew) {
  scheduler_.Apply(Added("m", {.cpu = 1000}));
  scheduler_.Apply(Submitted(1));
  counts_.RefreshGauges(0, 60'000'000);
  scheduler_.Apply(BeginAnnouncement());
  counts_.CountReply(ScheduleReply(), 60'000'001);
  EXPECT_THAT(log_.text, HasSubstr(" stale_tasks=1 stale_machines=1 "));
}

TEST_F(CoreMetricsTest, WarnsOnceOfMachinesThatShareAName) {
  for (const char* uuid : {"a", "b"}) {
    AddMachine machine = Added(uuid, {.cpu = 1000});
    machine.spec.name = "same";
    scheduler_.Apply(machine);
  }
  constexpr int64_t kMinuteUs = 60'000'000;
  counts_.RefreshGauges(0, kMinuteUs);
  EXPECT_THAT(log_.text, HasSubstr("2 machines share their name with another "
                                   "one, for example 'same'"));
  const std::string told = log_.text;
  scheduler_.Apply(Added("c", {.cpu = 1000}));
  counts_.RefreshGauges(0, 2 * kMinuteUs);
  EXPECT_EQ(log_.text, told);
}

}  // namespace
}  // namespace sluice
