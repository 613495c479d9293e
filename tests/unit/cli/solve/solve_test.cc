#include "cli/solve/solve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "util/fake_clock.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;

// Four units from the first node to the second: three at 2 each, the others at
// 5 over a third.
FlowProblem Sample() {
  FlowProblem problem;
  for (const FlowUnits supply : {4, -4, 0}) problem.AddNode(supply);
  problem.AddArc(0, 1, 3, 2);
  problem.AddArc(0, 2, 9, 5);
  problem.AddArc(2, 1, 9, 0);
  return problem;
}

std::vector<std::string> Objectives(const SolveReport& report) {
  std::vector<std::string> objectives;
  for (const SolveStep& step : report.steps) {
    objectives.push_back(step.result.objective);
  }
  return objectives;
}

TEST(SolveAndResolve, SolvesAfterEachGroup) {
  const std::vector<DimacsChanges> groups = {
      {.arcs = {{.tail = 0, .head = 1, .lower = 0, .capacity = 4, .cost = 1}},
       .supplies = {}},
      {.arcs = {}, .supplies = {{0, 20, 1}, {1, -20, 2}}},
      {.arcs = {}, .supplies = {{0, -19, 1}, {1, 19, 2}}}};
  const FakeClock clock;
  const absl::StatusOr<SolveReport> report = SolveAndResolve(
      Sample(), groups, {.choice = {}, .repeat_count = 3}, clock);
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->node_count, 3);
  EXPECT_EQ(report->arc_count, 3);
  EXPECT_GT(report->peak_rss_kib, 0);
  EXPECT_THAT(Objectives(*report), ElementsAre("11", "4", "", "9"));
  EXPECT_THAT(WorstStep(*report), Optional(2u));
  EXPECT_EQ(report->steps[2].result.outcome, SolveOutcome::kInfeasible);
}

TEST(SolveAndResolve, PassesOnWhatChangesCannotDo) {
  const std::vector<DimacsChanges> groups = {
      {.arcs = {}, .supplies = {{0, INT64_MAX, 17}}}};
  const FakeClock clock;
  EXPECT_THAT(SolveAndResolve(Sample(), groups, {}, clock),
              StatusIs(absl::StatusCode::kOutOfRange,
                       "line 17: the supply of node 1 does not fit 64 bits"));
}

TEST(WorstStep, IsNoneWhereAllAreOptimal) {
  const FakeClock clock;
  const absl::StatusOr<SolveReport> report =
      SolveAndResolve(Sample(), {}, {}, clock);
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(WorstStep(*report), std::nullopt);
}

TEST(WorstStep, IsTheOneThatMakesNoSense) {
  SolveReport report;
  report.steps.resize(3);
  report.steps[0].result.outcome = SolveOutcome::kOptimal;
  report.steps[1].result.outcome = SolveOutcome::kInfeasible;
  report.steps[2].result.outcome = SolveOutcome::kInvalidProblem;
  EXPECT_THAT(WorstStep(report), Optional(2u));
  report.steps[2].result.outcome = SolveOutcome::kInfeasible;
  EXPECT_THAT(WorstStep(report), Optional(1u));
}

SolveReport SampleReport() {
  SolveStep first;
  first.result.outcome = SolveOutcome::kOptimal;
  first.result.objective = "11";
  first.result.found_by = "cost_scaling";
  first.result.work = {.phases = 2, .arc_scans = 30};
  first.solve_us = 1500;
  first.cpu_us = 1400;
  first.verify_us = 20;
  SolveStep second;
  second.result.outcome = SolveOutcome::kInfeasible;
  second.result.found_by = "cost_scaling";
  second.result.error = "no \"way\"";
  second.result.witness_cut_size = 2;
  second.result.work = {.phases = 1, .arc_scans = 9};
  second.apply_us = 3;
  second.solve_us = 250;
  second.cpu_us = 240;
  return {.algorithm = "automatic",
          .node_count = 3,
          .arc_count = 4,
          .read_us = 700,
          .peak_rss_kib = 2560,
          .steps = {first, second}};
}

TEST(PrintSolveJson, WritesTheKeysThatHelpNames) {
  std::ostringstream out;
  PrintSolveJson(SampleReport(), out);
  EXPECT_EQ(out.str(), R"({
  "status": "optimal",
  "objective": 11,
  "solve_ms": 1.5,
  "cpu_ms": 1.4,
  "verify_ms": 0.02,
  "found_by": "cost_scaling",
  "work": {"phases": 2, "pushes": 0, "relabels": 0, "pivots": 0, "paths": 0, )"
                       R"("arc_scans": 30},
  "algorithm": "automatic",
  "objectives": [11, null],
  "resolve_ms": [0.25],
  "resolves": [{"status": "infeasible", "objective": null, "solve_ms": 0.25, )"
                       R"("cpu_ms": 0.24, "verify_ms": 0, )"
                       R"("found_by": "cost_scaling", "work": {"phases": 1, )"
                       R"("pushes": 0, "relabels": 0, "pivots": 0, )"
                       R"("paths": 0, "arc_scans": 9}, )"
                       R"("error": "no \"way\"", "witness_cut_nodes": 2, )"
                       R"("apply_ms": 0.003}],
  "nodes": 3,
  "arcs": 4,
  "read_ms": 0.7,
  "peak_rss_mb": 2.5
}
)");
}

TEST(PrintSolveJson, TellsOfASearch) {
  SolveReport report = SampleReport();
  SolveStep& first = report.steps.front();
  first.result.outcome = SolveOutcome::kBudgetSpent;
  first.result.objective = "";
  first.result.search = {
      .node_count = 7, .best_objective = "12.5", .bound = "11", .gap = "1.5"};
  std::ostringstream out;
  PrintSolveJson(report, out);
  EXPECT_THAT(out.str(), HasSubstr("  \"objective\": null,\n"));
  EXPECT_THAT(out.str(), HasSubstr("  \"search_nodes\": 7,\n"
                                   "  \"best_objective\": 12.5,\n"
                                   "  \"bound\": 11,\n"
                                   "  \"gap\": 1.5,\n"));
}

TEST(PrintSolveTable, ShowsASolveALineAndTheCountersThatCounted) {
  std::ostringstream out;
  PrintSolveTable(SampleReport(), out);
  EXPECT_EQ(out.str(),
            "nodes        3\n"
            "arcs         4\n"
            "algorithm    automatic\n"
            "read in      700 us\n"
            "peak memory  2.5 MiB\n"
            "\n"
            "SOLVE         STATUS      OBJECTIVE    TIME     CPU  VERIFY  "
            "APPLY  PHASES  ARC SCANS\n"
            "from scratch  optimal            11  1.5 ms  1.4 ms   20 us  "
            " 0 us       2         30\n"
            "again, 1      infeasible          -  250 us  240 us    0 us  "
            " 3 us       1          9\n");
}

TEST(PrintSolveTable, ShowsTheBoundsOfASearch) {
  SolveReport report = SampleReport();
  report.steps.resize(1);
  SolveResult& result = report.steps.front().result;
  result.outcome = SolveOutcome::kBudgetSpent;
  result.objective = "";
  result.search = {
      .node_count = 7, .best_objective = "12.5", .bound = "11", .gap = "1.5"};
  std::ostringstream out;
  PrintSolveTable(report, out);
  EXPECT_THAT(
      out.str(),
      HasSubstr(
          "SOLVE         STATUS        OBJECTIVE  BEST  BOUND    TIME  "));
  EXPECT_THAT(
      out.str(),
      HasSubstr(
          "from scratch  budget spent          -  12.5     11  1.5 ms  "));
}

}  // namespace
}  // namespace sluice
