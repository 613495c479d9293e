#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/strings.h"
#include "cli/solve/solve_session.h"
#include "solver/registry.h"
#include "unit/cli/run_cli.h"

namespace sluice {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Four units from node 1 to node 4; the optimum is 14.
constexpr char kProblem[] =
    "c four units\n"
    "p min 4 5\n"
    "n 1 4\n"
    "n 4 -4\n"
    "a 1 2 0 4 2\n"
    "c sluice convex 2 2 2 7\n"
    "a 1 3 0 2 2\n"
    "a 2 3 0 2 1\n"
    "a 2 4 0 3 3\n"
    "a 3 4 0 5 1\n";

// A file that is gone with the test.
class TextFile {
 public:
  explicit TextFile(const std::string& text)
      : path_(StrCat(
            testing::TempDir(), "/solve_command_test_",
            testing::UnitTest::GetInstance()->current_test_info()->name(), "_",
            text.size(), ".txt")) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TextFile() { std::filesystem::remove(path_); }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

Struct ParseJson(const std::string& text) {
  Struct json;
  const auto status = google::protobuf::util::JsonStringToMessage(text, &json);
  EXPECT_TRUE(status.ok()) << status.ToString() << "\n" << text;
  return json;
}

double Number(const Struct& json, const std::string& key) {
  const auto found = json.fields().find(key);
  EXPECT_TRUE(found != json.fields().end() &&
              found->second.kind_case() == Value::kNumberValue)
      << key;
  return found == json.fields().end() ? -1 : found->second.number_value();
}

std::string Text(const Struct& json, const std::string& key) {
  const auto found = json.fields().find(key);
  return found == json.fields().end() ? "" : found->second.string_value();
}

// Null as -1.
std::vector<double> Numbers(const Struct& json, const std::string& key) {
  std::vector<double> numbers;
  for (const Value& value : json.fields().at(key).list_value().values()) {
    numbers.push_back(
        value.kind_case() == Value::kNumberValue ? value.number_value() : -1);
  }
  return numbers;
}

TEST(SolveCommand, SolvesAFile) {
  const TextFile file(kProblem);
  const CliResult result = RunCli({"solve", file.path(), "--output=json"});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_EQ(result.err, "");
  const Struct json = ParseJson(result.out);
  EXPECT_EQ(Text(json, "status"), "optimal");
  EXPECT_EQ(Number(json, "objective"), 14);
  EXPECT_EQ(Text(json, "algorithm"), kAutomatic);
  EXPECT_GE(Number(json, "solve_ms"), 0);
  EXPECT_GE(Number(json, "cpu_ms"), 0);
  EXPECT_GE(Number(json, "verify_ms"), 0);
  EXPECT_GT(Number(json, "peak_rss_mb"), 0);
  EXPECT_EQ(Number(json, "nodes"), 4);
  EXPECT_EQ(Number(json, "arcs"), 5);
  EXPECT_THAT(Numbers(json, "objectives"), ElementsAre(14));
  EXPECT_THAT(Numbers(json, "resolve_ms"), ElementsAre());
  EXPECT_GT(Number(json.fields().at("work").struct_value(), "arc_scans"), 0);
}

TEST(SolveCommand, EveryAlgorithmFindsTheSameOptima) {
  const TextFile changes(
      "x arc 1 3 0 4 2\n"
      "r\n"
      "s 1 1\n"
      "s 4 -1\n"
      "r\n"
      "x 1 2 0 0 0\n"
      "r\n"
      "s 1 -2\n"
      "s 4 2\n");
  for (const SolverEntry& entry : Solvers()) {
    const CliResult result =
        RunCli({"solve", "-", "--changes", changes.path(), "--repeat=2",
                "--output=json", StrCat("--algorithm=", entry.name)},
               kProblem);
    EXPECT_EQ(result.exit_code, kExitNoOptimum) << result.err;
    const Struct json = ParseJson(result.out);
    EXPECT_EQ(Text(json, "algorithm"), entry.name);
    // After the third group nothing takes the fifth unit.
    EXPECT_THAT(Numbers(json, "objectives"), ElementsAre(14, 12, 16, -1, 9));
    EXPECT_EQ(Numbers(json, "resolve_ms").size(), 4u);
    EXPECT_EQ(json.fields().at("resolves").list_value().values_size(), 4);
  }
}

TEST(SolveCommand, TellsAnInfeasibleProblem) {
  const CliResult result = RunCli({"solve", "-", "--output=json"},
                                  "p min 2 1\nn 1 3\nn 2 -3\na 1 2 0 2 1\n");
  EXPECT_EQ(result.exit_code, kExitNoOptimum);
  EXPECT_TRUE(result.err.starts_with("sluicectl: -: infeasible: "))
      << result.err;
  const Struct json = ParseJson(result.out);
  EXPECT_EQ(Text(json, "status"), "infeasible");
  EXPECT_EQ(json.fields().at("objective").kind_case(), Value::kNullValue);
  EXPECT_THAT(Numbers(json, "objectives"), ElementsAre(-1));
  EXPECT_EQ(Number(json, "witness_cut_nodes"), 1);
  EXPECT_NE(Text(json, "error"), "");
}

TEST(SolveCommand, TellsAProblemThatMakesNoSense) {
  const CliResult result =
      RunCli({"solve", "-", "--output=json"}, "p min 2 0\nn 1 3\n");
  EXPECT_EQ(result.exit_code, kExitUsage);
  const Struct json = ParseJson(result.out);
  EXPECT_EQ(Text(json, "status"), "invalid problem");
  EXPECT_EQ(Text(json, "error"), "supplies add up to 3 and not to zero");
}

TEST(SolveCommand, NamesFileAndLineOfAFault) {
  const TextFile file("p min 10 1\nn 12 1\n");
  const CliResult bad = RunCli({"solve", file.path()});
  EXPECT_EQ(bad.exit_code, kExitUsage);
  EXPECT_EQ(bad.out, "");
  EXPECT_EQ(bad.err,
            StrCat("sluicectl: ", file.path(),
                   ": line 2: node 12 is beyond the 10 that 'p' declares\n"));
  const TextFile changes("c\nx 1 2\n");
  const CliResult bad_changes =
      RunCli({"solve", "-", "--changes=" + changes.path()}, kProblem);
  EXPECT_EQ(bad_changes.exit_code, kExitUsage);
  EXPECT_EQ(bad_changes.err, StrCat("sluicectl: ", changes.path(),
                                    ": line 2: the lower bound is missing\n"));
  const TextFile huge("s 1 9223372036854775807\n");
  const CliResult overflow =
      RunCli({"solve", "-", "--changes=" + huge.path()}, kProblem);
  EXPECT_EQ(overflow.exit_code, kExitUsage);
  EXPECT_EQ(overflow.err,
            StrCat("sluicectl: ", huge.path(),
                   ": line 1: the supply of node 1 does not fit 64 bits\n"));
}

TEST(SolveCommand, FailsWhereAFileCannotBeRead) {
  for (const std::string path : {"/no/such/file", "/"}) {
    const CliResult result = RunCli({"solve", path});
    EXPECT_EQ(result.exit_code, kExitFailure);
    EXPECT_EQ(result.err, "sluicectl: cannot read " + path + "\n");
    EXPECT_EQ(RunCli({"solve", "-", "--changes", path}, kProblem).exit_code,
              kExitFailure);
  }
}

TEST(SolveCommand, ShowsATable) {
  const CliResult result = RunCli({"solve", "-"}, kProblem);
  EXPECT_EQ(result.exit_code, kExitSuccess);
  EXPECT_THAT(result.out, HasSubstr("nodes        4\n"));
  EXPECT_THAT(result.out, HasSubstr("from scratch  optimal         14  "));
}

TEST(SolveCommand, HelpListsTheAlgorithms) {
  const std::string help = RunCli({"solve", "--help"}).out;
  for (const SolverEntry& entry : Solvers()) {
    EXPECT_THAT(help, HasSubstr(std::string(entry.name)));
    EXPECT_THAT(help, HasSubstr(std::string(entry.summary)));
  }
  EXPECT_THAT(help, HasSubstr(StrCat("The algorithm (", kAutomatic, ")")));
}

TEST(SolveCommand, SolvesAProblemWithGains) {
  // Of six units that leave node 1 half arrive; the loop swallows the rest.
  const std::string text =
      "p min 2 2\nn 1 6\nn 2 -3\na 1 2 0 9 5\nc sluice gain 1 2\n"
      "a 2 2 0 9 0\n";
  const CliResult result = RunCli({"solve", "-", "--output=json"}, text);
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  const Struct json = ParseJson(result.out);
  EXPECT_EQ(Text(json, "algorithm"), "generalized_simplex");
  EXPECT_NEAR(Number(json, "objective"), 30, 1e-6);

  const CliResult refused =
      RunCli({"solve", "-", "--algorithm=cost_scaling"}, text);
  EXPECT_EQ(refused.exit_code, kExitUsage);
  EXPECT_THAT(refused.err, HasSubstr("arc 0: this algorithm knows no gains"));
}

TEST(SolveCommand, SolvesAProblemWithAllOrNoneArcs) {
  // The cheap arc carries five or nothing, and four are to go.
  const std::string text =
      "p min 2 2\nn 1 4\nn 2 -4\na 1 2 0 5 1\nc sluice all-or-none\n"
      "a 1 2 0 9 3\n";
  const CliResult result = RunCli({"solve", "-", "--output=json"}, text);
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  const Struct json = ParseJson(result.out);
  EXPECT_EQ(Text(json, "algorithm"), StrCat("all_or_none(", kAutomatic, ")"));
  EXPECT_EQ(Number(json, "objective"), 12);
  EXPECT_EQ(Number(json, "bound"), 12);
  EXPECT_EQ(Number(json, "gap"), 0);
  EXPECT_GE(Number(json, "search_nodes"), 1);
}

TEST(SolveCommand, PrintsTheFlow) {
  const std::string flow = "\nf 1 2 2\nf 1 3 2\nf 2 3 2\nf 2 4 0\nf 3 4 4\n";
  EXPECT_THAT(RunCli({"solve", "-"}, kProblem).out, Not(HasSubstr("\nf ")));
  const CliResult result = RunCli({"solve", "-", "--flow"}, kProblem);
  EXPECT_TRUE(result.out.ends_with(flow)) << result.out;

  const TextFile changes("x arc 2 3 0 0 0\nx 1 2 0 0 0\nx 1 3 0 4 2\n");
  const CliResult after = RunCli(
      {"solve", "-", "--flow", "--changes", changes.path(), "--output=json"},
      kProblem);
  const Struct json = ParseJson(after.out);
  double into_sink = 0;
  for (const Value& value : json.fields().at("flow").list_value().values()) {
    const Struct& arc = value.struct_value();
    if (Number(arc, "head") == 4) into_sink += Number(arc, "flow");
    if (Number(arc, "tail") == 1 && Number(arc, "head") == 3) {
      EXPECT_EQ(Number(arc, "flow"), 4);
    }
  }
  EXPECT_EQ(into_sink, 4);

  const CliResult infeasible = RunCli(
      {"solve", "-", "--flow"}, "p min 2 1\nn 1 3\nn 2 -3\na 1 2 0 2 1\n");
  EXPECT_THAT(infeasible.out, Not(HasSubstr("\nf ")));

  const CliResult half = RunCli({"solve", "-", "--flow"},
                                "p min 2 2\nn 1 5\nn 2 -2\na 1 2 0 9 5\n"
                                "c sluice gain 1 2\na 2 2 0 9 0\n"
                                "c sluice gain 1 2\n");
  EXPECT_THAT(half.out, HasSubstr("\nf 1 2 5\nf 2 2 1\n"));
}

TEST(SolveCommand, RefusesACommandLineThatMakesNoSense) {
  EXPECT_EQ(RunCli({"solve"}).exit_code, kExitUsage);
  const CliResult unknown = RunCli({"solve", "-", "--algorithm=magic"});
  EXPECT_EQ(unknown.exit_code, kExitUsage);
  EXPECT_THAT(unknown.err, HasSubstr("'magic' is not "));
  EXPECT_EQ(RunCli({"solve", "-", "--repeat=0"}).exit_code, kExitUsage);
  const CliResult twice = RunCli({"solve", "-", "--changes=-"});
  EXPECT_EQ(twice.exit_code, kExitUsage);
  EXPECT_THAT(twice.err, HasSubstr("cannot both be on standard input"));
}

}  // namespace
}  // namespace sluice
