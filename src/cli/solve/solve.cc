#include "cli/solve/solve.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <ostream>
#include <string_view>
#include <utility>

#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/base/json.h"
#include "cli/base/percentile.h"
#include "cli/base/process_usage.h"
#include "cli/base/quantity.h"
#include "cli/base/report.h"
#include "cli/base/table.h"

namespace sluice {
namespace {

// Measures the time since it was made.
class Stopwatch {
 public:
  explicit Stopwatch(const Clock& clock)
      : clock_(clock),
        started_cpu_us_(GetProcessUsage().cpu_us),
        started_us_(clock.MonotonicUs()) {}

  int64_t elapsed_us() const { return clock_.MonotonicUs() - started_us_; }
  int64_t cpu_us() const { return GetProcessUsage().cpu_us - started_cpu_us_; }

 private:
  const Clock& clock_;
  const int64_t started_cpu_us_;
  const int64_t started_us_;
};

absl::StatusOr<SolveStep> DescribeStep(const FlowProblem& problem,
                                       const SolveSession& session,
                                       const Clock& clock) {
  SolveStep step;
  step.result = session.result();
  if (step.result.outcome != SolveOutcome::kOptimal) return step;
  const Stopwatch stopwatch(clock);
  const absl::Status proof = session.Verify(problem);
  if (!proof.ok()) {
    return absl::InternalError(StrCat("the solution by ", step.result.found_by,
                                      " is wrong: ", proof.message()));
  }
  step.verify_us = stopwatch.elapsed_us();
  return step;
}

// Solves from scratch as often as asked and leaves the last session.
absl::StatusOr<SolveStep> SolveFromScratch(
    const SolveOptions& options, const Clock& clock, FlowProblem* problem,
    std::unique_ptr<SolveSession>* session) {
  std::vector<int64_t> solve_us;
  std::vector<int64_t> cpu_us;
  for (int64_t i = 0; i < options.repeat_count; ++i) {
    session->reset();
    *session = MakeSolveSession(*problem, options.choice);
    const Stopwatch stopwatch(clock);
    (*session)->Solve(*problem);
    solve_us.push_back(stopwatch.elapsed_us());
    cpu_us.push_back(stopwatch.cpu_us());
  }
  problem->StartLog();
  ASSIGN_OR_RETURN(SolveStep step, DescribeStep(*problem, **session, clock));
  step.solve_us = Percentile(std::move(solve_us), 50);
  step.cpu_us = Percentile(std::move(cpu_us), 50);
  return step;
}

absl::StatusOr<SolveStep> SolveAfter(const DimacsChanges& changes,
                                     const Clock& clock, FlowProblem* problem,
                                     DimacsChanger* changer,
                                     SolveSession* session) {
  const Stopwatch apply(clock);
  RETURN_IF_ERROR(changer->Apply(changes));
  const int64_t apply_us = apply.elapsed_us();
  const Stopwatch solve(clock);
  session->Resolve(*problem);
  const int64_t solve_us = solve.elapsed_us();
  const int64_t cpu_us = solve.cpu_us();
  problem->StartLog();
  ASSIGN_OR_RETURN(SolveStep step, DescribeStep(*problem, *session, clock));
  step.apply_us = apply_us;
  step.solve_us = solve_us;
  step.cpu_us = cpu_us;
  return step;
}

struct WorkCounter {
  std::string_view name;
  std::string_view heading;
  int64_t SolveWork::*count;
};

constexpr WorkCounter kWorkCounters[] = {
    {"phases", "PHASES", &SolveWork::phases},
    {"pushes", "PUSHES", &SolveWork::pushes},
    {"relabels", "RELABELS", &SolveWork::relabels},
    {"pivots", "PIVOTS", &SolveWork::pivots},
    {"paths", "PATHS", &SolveWork::paths},
    {"arc_scans", "ARC SCANS", &SolveWork::arc_scans},
};

// A key and its value as JSON.
using JsonField = std::pair<std::string_view, std::string>;

std::string Join(std::span<const JsonField> fields,
                 std::string_view separator) {
  std::string text;
  for (const auto& [key, value] : fields) {
    text += StrCat(text.empty() ? "" : separator, JsonString(key), ": ", value);
  }
  return text;
}

std::string JsonList(std::span<const SolveStep> steps,
                     std::string (*item)(const SolveStep&)) {
  std::string items;
  for (const SolveStep& step : steps) {
    items += StrCat(items.empty() ? "" : ", ", item(step));
  }
  return StrCat("[", items, "]");
}

std::string Milliseconds(int64_t us) {
  return StrCat(static_cast<double>(us) / 1000);
}

std::string NumberOrNull(const std::string& number) {
  return number.empty() ? "null" : number;
}

std::string ObjectiveOrNull(const SolveStep& step) {
  return NumberOrNull(step.result.objective);
}

std::vector<JsonField> StepFields(const SolveStep& step) {
  const SolveResult& result = step.result;
  std::vector<JsonField> work;
  for (const WorkCounter& counter : kWorkCounters) {
    work.emplace_back(counter.name, StrCat(result.work.*counter.count));
  }
  std::vector<JsonField> fields = {
      {"status", JsonString(SolveOutcomeName(result.outcome))},
      {"objective", ObjectiveOrNull(step)},
      {"solve_ms", Milliseconds(step.solve_us)},
      {"cpu_ms", Milliseconds(step.cpu_us)},
      {"verify_ms", Milliseconds(step.verify_us)},
      {"found_by", JsonString(result.found_by)},
      {"work", StrCat("{", Join(work, ", "), "}")}};
  if (result.search.has_value()) {
    fields.emplace_back("search_nodes", StrCat(result.search->node_count));
    fields.emplace_back("best_objective",
                        NumberOrNull(result.search->best_objective));
    fields.emplace_back("bound", NumberOrNull(result.search->bound));
    fields.emplace_back("gap", NumberOrNull(result.search->gap));
  }
  if (!result.error.empty()) {
    fields.emplace_back("error", JsonString(result.error));
  }
  if (result.witness_cut_size > 0) {
    fields.emplace_back("witness_cut_nodes", StrCat(result.witness_cut_size));
  }
  return fields;
}

std::string ResolveJson(const SolveStep& step) {
  std::vector<JsonField> fields = StepFields(step);
  fields.emplace_back("apply_ms", Milliseconds(step.apply_us));
  return StrCat("{", Join(fields, ", "), "}");
}

struct StepColumn {
  std::string heading;
  std::function<std::string(const SolveStep&)> cell;
};

std::string OrDash(const std::string& text) {
  return text.empty() ? "-" : text;
}

StepColumn TimeColumn(std::string heading, int64_t SolveStep::*us) {
  return {std::move(heading),
          [us](const SolveStep& step) { return FormatMicroseconds(step.*us); }};
}

StepColumn SearchColumn(std::string heading,
                        std::string SolveResult::Search::*figure) {
  return {std::move(heading), [figure](const SolveStep& step) {
            const auto& search = step.result.search;
            return OrDash(search.has_value() ? *search.*figure : "");
          }};
}

std::vector<SolveReport::ArcFlow> FlowOf(const FlowProblem& problem,
                                         const SolveSession& session) {
  std::vector<SolveReport::ArcFlow> flow;
  std::vector<std::string> flows = session.flows();
  for (ArcIndex i = 0; i < problem.arc_count(); ++i) {
    const FlowProblem::Arc& arc = problem.arc(i);
    if (arc.is_removed()) continue;
    flow.push_back(
        {arc.tail, arc.head, std::move(flows[static_cast<size_t>(i)])});
  }
  return flow;
}

std::string FlowJson(std::span<const SolveReport::ArcFlow> flow) {
  std::string items;
  for (const SolveReport::ArcFlow& arc : flow) {
    items +=
        StrCat(items.empty() ? "" : ", ", "{\"tail\": ", arc.tail + 1,
               ", \"head\": ", arc.head + 1, ", \"flow\": ", arc.flow, "}");
  }
  return StrCat("[", items, "]");
}

// The columns in which some step has something to tell.
std::vector<StepColumn> StepColumns(std::span<const SolveStep> steps) {
  std::vector<StepColumn> columns = {{"OBJECTIVE", [](const SolveStep& step) {
                                        return OrDash(step.result.objective);
                                      }}};
  if (steps.front().result.search.has_value()) {
    columns.push_back(
        SearchColumn("BEST", &SolveResult::Search::best_objective));
    columns.push_back(SearchColumn("BOUND", &SolveResult::Search::bound));
  }
  columns.push_back(TimeColumn("TIME", &SolveStep::solve_us));
  columns.push_back(TimeColumn("CPU", &SolveStep::cpu_us));
  columns.push_back(TimeColumn("VERIFY", &SolveStep::verify_us));
  if (steps.size() > 1) {
    columns.push_back(TimeColumn("APPLY", &SolveStep::apply_us));
  }
  for (const WorkCounter& counter : kWorkCounters) {
    const auto count = counter.count;
    if (std::ranges::any_of(steps, [count](const SolveStep& step) {
          return step.result.work.*count != 0;
        })) {
      columns.push_back(
          {std::string(counter.heading), [count](const SolveStep& step) {
             return StrCat(step.result.work.*count);
           }});
    }
  }
  return columns;
}

}  // namespace

absl::StatusOr<SolveReport> SolveAndResolve(
    FlowProblem problem, std::span<const DimacsChanges> groups,
    const SolveOptions& options, const Clock& clock) {
  SolveReport report;
  report.node_count = problem.node_count();
  report.arc_count = problem.arc_count();
  std::unique_ptr<SolveSession> session;
  ASSIGN_OR_RETURN(SolveStep first,
                   SolveFromScratch(options, clock, &problem, &session));
  report.algorithm = session->name();
  report.steps.push_back(std::move(first));
  if (!groups.empty()) {
    DimacsChanger changer(&problem);
    for (const DimacsChanges& changes : groups) {
      ASSIGN_OR_RETURN(SolveStep step, SolveAfter(changes, clock, &problem,
                                                  &changer, session.get()));
      report.steps.push_back(std::move(step));
    }
  }
  if (options.wants_flow &&
      report.steps.back().result.outcome == SolveOutcome::kOptimal) {
    report.flow = FlowOf(problem, *session);
  }
  report.peak_rss_kib = GetProcessUsage().peak_rss_kib;
  return report;
}

std::optional<size_t> WorstStep(const SolveReport& report) {
  std::optional<size_t> worst;
  for (size_t i = 0; i < report.steps.size(); ++i) {
    const SolveOutcome outcome = report.steps[i].result.outcome;
    if (outcome == SolveOutcome::kInvalidProblem) return i;
    if (outcome != SolveOutcome::kOptimal && !worst.has_value()) worst = i;
  }
  return worst;
}

void PrintSolveJson(const SolveReport& report, std::ostream& out) {
  const std::span<const SolveStep> steps = report.steps;
  const std::span<const SolveStep> resolves = steps.subspan(1);
  std::vector<JsonField> fields = StepFields(steps.front());
  fields.emplace_back("algorithm", JsonString(report.algorithm));
  fields.emplace_back("objectives", JsonList(steps, &ObjectiveOrNull));
  fields.emplace_back("resolve_ms",
                      JsonList(resolves, [](const SolveStep& step) {
                        return Milliseconds(step.solve_us);
                      }));
  fields.emplace_back("resolves", JsonList(resolves, &ResolveJson));
  fields.emplace_back("nodes", StrCat(report.node_count));
  fields.emplace_back("arcs", StrCat(report.arc_count));
  fields.emplace_back("read_ms", Milliseconds(report.read_us));
  fields.emplace_back("peak_rss_mb",
                      StrCat(static_cast<double>(report.peak_rss_kib) / 1024));
  if (!report.flow.empty()) {
    fields.emplace_back("flow", FlowJson(report.flow));
  }
  out << "{\n  " << Join(fields, ",\n  ") << "\n}\n";
}

void PrintSolveTable(const SolveReport& report, std::ostream& out) {
  Report figures;
  figures.AddCount({"", "nodes"}, report.node_count);
  figures.AddCount({"", "arcs"}, report.arc_count);
  figures.AddText({"", "algorithm"}, report.algorithm);
  figures.AddMicroseconds({"", "read in"}, report.read_us);
  figures.AddText({"", "peak memory"},
                  FormatMemory(report.peak_rss_kib * 1024 * 1000));
  figures.PrintTable(out);
  out << '\n';

  const std::vector<StepColumn> shown = StepColumns(report.steps);
  std::vector<Table::Column> columns = {{"SOLVE"}, {"STATUS"}};
  for (const StepColumn& column : shown) {
    columns.push_back({column.heading, Align::kRight});
  }
  Table table(std::move(columns));
  for (size_t i = 0; i < report.steps.size(); ++i) {
    const SolveStep& step = report.steps[i];
    std::vector<std::string> cells = {
        i == 0 ? "from scratch" : StrCat("again, ", i),
        SolveOutcomeName(step.result.outcome)};
    for (const StepColumn& column : shown) cells.push_back(column.cell(step));
    table.AddRow(std::move(cells));
  }
  table.Print(out);
  if (!report.flow.empty()) out << '\n';
  for (const SolveReport::ArcFlow& arc : report.flow) {
    out << "f " << arc.tail + 1 << ' ' << arc.head + 1 << ' ' << arc.flow
        << '\n';
  }
}

}  // namespace sluice
