#include "observe/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/strings.h"
#include "util/paths.h"

namespace sluice {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Row {
  std::string_view name;
  std::string_view kind;
  std::string_view label;
  std::string_view unit;
  std::string_view help;
};

constexpr Row kRows[] = {
#define METRIC_COUNTER(member, name, unit, help) \
  {name, "counter", "", unit, help},
#define METRIC_GAUGE(member, name, unit, help) {name, "gauge", "", unit, help},
#define METRIC_HISTOGRAM(member, name, unit, help) \
  {name, "histogram", "", unit, help},
#define METRIC_COUNTER_BY(member, name, label, unit, help) \
  {name, "counter", label, unit, help},
#define METRIC_GAUGE_BY(member, name, label, unit, help) \
  {name, "gauge", label, unit, help},
#include "observe/metrics.def"
#undef METRIC_COUNTER
#undef METRIC_GAUGE
#undef METRIC_HISTOGRAM
#undef METRIC_COUNTER_BY
#undef METRIC_GAUGE_BY
};

std::string ReferencePage() {
  std::string page =
      "# Metrics\n\n"
      "<!-- Generated from src/observe/metrics.def.  After a change of it:\n"
      "     SLUICE_REWRITE=1 ctest -R observe_test -->\n\n"
      "`sluiced` serves these at `http://<http_address>/metrics`.\n\n"
      "| metric | kind | unit | meaning |\n"
      "| --- | --- | --- | --- |\n";
  for (const Row& row : kRows) {
    const std::string label =
        row.label.empty() ? "" : StrCat("{", row.label, "}");
    page += StrCat("| `", row.name, label, "` | ", row.kind, " | ", row.unit,
                   " | ", row.help, " |\n");
  }
  return page;
}

TEST(MetricsTable, IsSortedByName) {
  EXPECT_TRUE(std::ranges::is_sorted(kRows, {}, &Row::name));
}

TEST(MetricsTable, KeepsToTheNamingRules) {
  std::set<std::string_view> names;
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    EXPECT_TRUE(names.insert(row.name).second) << "named twice";
    EXPECT_TRUE(row.name.starts_with("sluice_"));
    EXPECT_EQ(row.name.ends_with("_total"), row.kind == "counter");
    // A point in time is not a duration.
    EXPECT_EQ(row.name.ends_with("_seconds") &&
                  !row.name.ends_with("_timestamp_seconds"),
              row.kind == "histogram");
    EXPECT_TRUE(row.help.ends_with("."));
    EXPECT_FALSE(row.unit.empty());
  }
}

// With SLUICE_REWRITE set, the test writes the page instead, for review like
// code.
TEST(MetricsTable, IsWhatTheReferencePageSays) {
  const std::string path = SourcePath("docs/metrics.md");
  if (std::getenv("SLUICE_REWRITE") != nullptr) {
    std::ofstream(path) << ReferencePage();
  }
  std::ostringstream page;
  page << std::ifstream(path).rdbuf();
  EXPECT_EQ(page.str(), ReferencePage())
      << "run SLUICE_REWRITE=1 ctest -R observe_test";
}

TEST(Metrics, ShowsEveryPlainMetricFromTheStart) {
  const Metrics metrics;
  const std::string text = metrics.Text();
  for (const Row& row : kRows) {
    if (!row.label.empty()) continue;
    EXPECT_THAT(text, HasSubstr(StrCat("# TYPE ", row.name, " ", row.kind)));
  }
}

TEST(Metrics, RendersCountersAndGauges) {
  Metrics metrics;
  metrics.rounds.Increment();
  metrics.rounds.Increment(2);
  metrics.mailbox_depth.Set(7);
  metrics.mailbox_depth.Decrement();
  const std::string text = metrics.Text();
  EXPECT_THAT(text, HasSubstr("\nsluice_rounds_total 3\n"));
  EXPECT_THAT(text, HasSubstr("\nsluice_mailbox_depth 6\n"));
}

TEST(Metrics, KeepsOneSeriesForEachLabelValue) {
  Metrics metrics;
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("sluice_events_total{")));
  metrics.events.With("task_submitted").Increment();
  metrics.events.With("task_submitted").Increment();
  metrics.events.With("node_added").Increment();
  metrics.tasks.With("running").Set(5);
  const std::string text = metrics.Text();
  EXPECT_THAT(text,
              HasSubstr("\nsluice_events_total{kind=\"task_submitted\"} 2\n"));
  EXPECT_THAT(text,
              HasSubstr("\nsluice_events_total{kind=\"node_added\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\nsluice_tasks{state=\"running\"} 5\n"));
}

TEST(Metrics, SortsDurationsIntoBuckets) {
  Metrics metrics;
  metrics.solve_seconds.Observe(0.0004);
  metrics.solve_seconds.Observe(3600);
  const std::string text = metrics.Text();
  EXPECT_THAT(text,
              HasSubstr("sluice_solve_seconds_bucket{le=\"0.00025\"} 0\n"));
  EXPECT_THAT(text,
              HasSubstr("sluice_solve_seconds_bucket{le=\"0.0005\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("sluice_solve_seconds_bucket{le=\"100\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("sluice_solve_seconds_bucket{le=\"+Inf\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("sluice_solve_seconds_count 2\n"));
}

TEST(Metrics, TwoInstancesShareNothing) {
  Metrics first;
  Metrics second;
  first.rounds.Increment();
  EXPECT_THAT(second.Text(), HasSubstr("\nsluice_rounds_total 0\n"));
}

TEST(Metrics, CountsFromManyThreadsWhileItIsRead) {
  Metrics metrics;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&metrics, i] {
      const std::string kind = StrCat("kind_", i % 2);
      for (int k = 0; k < 500; ++k) {
        metrics.events.With(kind).Increment();
        metrics.round_seconds.Observe(0.001);
        if (k % 100 == 0) {
          EXPECT_FALSE(metrics.Text().empty());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string text = metrics.Text();
  EXPECT_THAT(text, HasSubstr("sluice_events_total{kind=\"kind_0\"} 1000\n"));
  EXPECT_THAT(text, HasSubstr("sluice_round_seconds_count 2000\n"));
}

}  // namespace
}  // namespace sluice
