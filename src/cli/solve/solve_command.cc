#include "cli/solve/solve_command.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <istream>
#include <memory>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/solve/solve.h"
#include "cli/solve/solve_session.h"
#include "flow/dimacs.h"
#include "flow/dimacs_changes.h"
#include "solver/registry.h"

namespace sluice {
namespace {

constexpr Command::Text kText = {
    .name = "solve",
    .arguments = "FILE|-",
    .summary = "Solves a min-cost flow problem in DIMACS format",
    .description =
        R"(Solves the problem in FILE (- for standard input), proves the optimum, and
prints it with the time and the work that it took.  No server is needed.

  c any text                    a comment
  p min NODES ARCS              once, before what follows; nodes are 1, 2, ...
  n NODE SUPPLY                 a negative supply is a demand
  a TAIL HEAD LOW CAP COST      an arc for LOW to CAP units at COST each; the
                                next three lines are about the arc before them
  c sluice convex WIDTH COST WIDTH COST ...
                                the first WIDTH units cost COST each, the next
                                WIDTH the next COST, and so on; the arc's CAP is
                                the sum of the widths, its COST the first cost
  c sluice gain NUMERATOR DENOMINATOR
                                of DENOMINATOR units NUMERATOR arrive
  c sluice all-or-none          the arc carries nothing or CAP

With --changes the problem is then changed and solved again, by the same solver,
which may keep what it found.  (With gains or all-or-none arcs it starts from
scratch; an optimum with gains is right to about nine digits.)  A file of
changes:

  x [arc] TAIL HEAD LOW CAP COST    sets the arc, or adds it.  If several lead
                                    from TAIL to HEAD, the lines of a group set
                                    the first, the second, ..., and then the
                                    first again.
  s NODE NUMBER                     adds NUMBER to a supply.  If a group would
                                    leave the supplies out of balance, but not
                                    if its numbers were the supplies, they are.
  r                                 ends a group: solves again, as does the end
                                    of the file

In JSON, status ("optimal", "infeasible", ...), objective, solve_ms, cpu_ms,
verify_ms, work and error are those of the solve from scratch.  Some keys in
detail:

  error        why there is no optimum; it counts nodes and arcs from 0
  algorithm    the one asked for; found_by is the one that ended the solve
  objectives   from scratch, then after each group; null where not optimal
  resolve_ms   the time of each solve after changes
  resolves     each of these in full; apply_ms is for making the changes
  nodes, arcs  of FILE, before changes
  peak_rss_mb  the most memory the process had, reading included (MiB)
  flow         with --flow: tail, head and flow of each arc after the last
               solve, if that was optimal, in the order of the file

solve_ms, cpu_ms (processor time) and resolve_ms are the solver's alone:
reading, changing and verifying do not count.

Exit codes: 0 if every solve was optimal; 1 if a file cannot be read; 2 if the
command line, a file or a changed problem makes no sense; 3 if a solve was not
optimal for another reason.
)"};

// Enough for one read; the size of a pipe is not known.
constexpr size_t kChunkBytes = 1 << 16;

// `size_hint` is how many bytes there may be.
absl::StatusOr<std::string> ReadAll(const std::string& path,
                                    uintmax_t size_hint, std::istream& input) {
  std::string text;
  text.reserve(std::min<uintmax_t>(size_hint, kDimacsBytesMax) + kChunkBytes);
  while (input) {
    // One byte beyond the limit is enough for the reader to refuse.
    if (text.size() > kDimacsBytesMax) break;
    const size_t size = text.size();
    text.resize(size + kChunkBytes);
    input.read(text.data() + size, kChunkBytes);
    text.resize(size + static_cast<size_t>(input.gcount()));
  }
  if (input.bad()) return absl::DataLossError(StrCat("cannot read ", path));
  return text;
}

absl::StatusOr<std::string> ReadPath(const std::string& path,
                                     const CommandContext& context) {
  if (path == "-") return ReadAll("standard input", 0, context.console.in);
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(StrCat("cannot read ", path));
  std::error_code no_regular_file;
  const uintmax_t size = std::filesystem::file_size(path, no_regular_file);
  return ReadAll(path, no_regular_file ? 0 : size, file);
}

// For people: the algorithms by name.
std::string AlgorithmHelp() {
  std::string help = StrCat("The algorithm (", kAutomatic,
                            "). Only this one accepts gains, for\n"
                            "which it uses an algorithm of their own:");
  for (const SolverEntry& entry : Solvers()) {
    help += StrCat("\n", entry.name, "\n  ", entry.summary);
  }
  return help;
}

class SolveCommand final : public Command {
 public:
  Text text() const override { return kText; }

  void AddFlags(FlagSet& flags) override {
    std::vector<std::string> names;
    for (const SolverEntry& entry : Solvers()) names.emplace_back(entry.name);
    flags.AddChoice(
        {.name = "algorithm", .value = "NAME", .help = AlgorithmHelp()}, names,
        &options_.choice.algorithm);
    flags.AddString({.name = "changes",
                     .value = "FILE",
                     .help = "Changes to make before solving again."},
                    &changes_path_);
    flags.AddInteger({.name = "repeat",
                      .value = "N",
                      .help = "Solves from scratch N times, with a new solver\n"
                              "each; times are the median (1)."},
                     {.min = 1, .max = 1'000'000}, &options_.repeat_count);
    flags.AddSwitch("flow",
                    "Prints what each arc carries after the last solve, as\n"
                    "lines of DIMACS: f TAIL HEAD FLOW.",
                    &options_.wants_flow);
    flags.AddInteger(
        {.name = "search_nodes",
         .value = "N",
         .help = "How many relaxations to solve at most if arcs are\n"
                 "all or none; 0 is no limit (10000)."},
        {.min = 0, .max = 1'000'000'000}, &options_.choice.search_nodes_max);
  }

  absl::Status TakeArguments(std::vector<std::string> arguments) override {
    RETURN_IF_ERROR(CheckArgumentCount(kText, arguments, 1));
    path_ = std::move(arguments.front());
    if (path_ == "-" && changes_path_ == "-") {
      return absl::InvalidArgumentError(
          "the problem and its changes cannot both be on standard input");
    }
    return absl::OkStatus();
  }

  absl::Status Run(const CommandContext& context) override;

  int ExitCode(const absl::Status& error) const override {
    if (absl::IsInvalidArgument(error) || absl::IsOutOfRange(error)) {
      return kExitUsage;
    }
    return absl::IsFailedPrecondition(error) ? kExitNoOptimum : kExitFailure;
  }

 private:
  absl::StatusOr<FlowProblem> ReadProblem(const CommandContext& context) const;
  // The error for a step without an optimum.
  absl::Status Failure(const SolveReport& report, size_t index) const;
  absl::StatusOr<std::vector<DimacsChanges>> ReadChanges(
      const CommandContext& context, NodeIndex node_count) const;

  std::string path_;
  std::string changes_path_;
  SolveOptions options_;
};

absl::StatusOr<FlowProblem> SolveCommand::ReadProblem(
    const CommandContext& context) const {
  ASSIGN_OR_RETURN(const std::string text, ReadPath(path_, context));
  absl::StatusOr<FlowProblem> problem = ReadDimacs(text);
  if (!problem.ok()) return Annotate(problem.status(), path_);
  return problem;
}

absl::StatusOr<std::vector<DimacsChanges>> SolveCommand::ReadChanges(
    const CommandContext& context, NodeIndex node_count) const {
  if (changes_path_.empty()) return std::vector<DimacsChanges>();
  ASSIGN_OR_RETURN(const std::string text, ReadPath(changes_path_, context));
  absl::StatusOr<std::vector<DimacsChanges>> groups =
      ReadDimacsChanges(text, node_count);
  if (!groups.ok()) return Annotate(groups.status(), changes_path_);
  return groups;
}

absl::Status SolveCommand::Run(const CommandContext& context) {
  const int64_t started_us = context.clock.MonotonicUs();
  ASSIGN_OR_RETURN(FlowProblem problem, ReadProblem(context));
  ASSIGN_OR_RETURN(const std::vector<DimacsChanges> groups,
                   ReadChanges(context, problem.node_count()));
  const int64_t read_us = context.clock.MonotonicUs() - started_us;
  absl::StatusOr<SolveReport> report =
      SolveAndResolve(std::move(problem), groups, options_, context.clock);
  if (!report.ok()) {
    // Only changes can lead out of a range.
    return Annotate(report.status(), absl::IsOutOfRange(report.status())
                                         ? changes_path_
                                         : path_);
  }
  report->read_us = read_us;
  if (context.options.wants_json()) {
    PrintSolveJson(*report, context.console.out);
  } else {
    PrintSolveTable(*report, context.console.out);
  }
  const std::optional<size_t> failed = WorstStep(*report);
  return failed.has_value() ? Failure(*report, *failed) : absl::OkStatus();
}

absl::Status SolveCommand::Failure(const SolveReport& report,
                                   size_t index) const {
  const SolveResult& result = report.steps[index].result;
  const std::string_view outcome = SolveOutcomeName(result.outcome);
  const std::string message = StrCat(
      index == 0 ? path_ : StrCat(changes_path_, ": after group ", index), ": ",
      outcome, result.error == outcome ? "" : StrCat(": ", result.error),
      result.outcome == SolveOutcome::kBudgetSpent
          ? "; --search_nodes raises the limit"
          : "");
  return result.outcome == SolveOutcome::kInvalidProblem
             ? absl::InvalidArgumentError(message)
             : absl::FailedPreconditionError(message);
}

}  // namespace

std::unique_ptr<Command> MakeSolveCommand() {
  return std::make_unique<SolveCommand>();
}

}  // namespace sluice
