#include "cli/application.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "cli/commands.h"
#include "unit/cli/run_cli.h"

namespace sluice {
namespace {

using testing::HasSubstr;

// No line of a help text is wider than a terminal.
size_t WidestLine(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  size_t widest = 0;
  while (std::getline(lines, line)) widest = std::max(widest, line.size());
  return widest;
}

TEST(Sluicectl, HelpNamesEveryCommandFlagAndExitCode) {
  const CliResult result = RunCli({"--help"});
  EXPECT_EQ(result.exit_code, kExitSuccess);
  EXPECT_EQ(result.err, "");
  for (const auto& command : MakeCommands()) {
    EXPECT_THAT(result.out, HasSubstr(std::string(command->text().name) + " "));
    EXPECT_THAT(result.out, HasSubstr(std::string(command->text().summary)));
  }
  EXPECT_THAT(result.out, HasSubstr("--server=HOST[:PORT]"));
  EXPECT_THAT(result.out, HasSubstr("Exit codes:\n  0 "));
  EXPECT_LE(WidestLine(result.out), 80u);
}

TEST(Sluicectl, TellsItsVersion) {
  const CliResult result = RunCli({"--version"});
  EXPECT_EQ(result.exit_code, kExitSuccess);
  EXPECT_THAT(result.out, testing::StartsWith("sluicectl version "));
  EXPECT_EQ(RunCli({"status", "--version"}).out, result.out);
}

TEST(Sluicectl, EveryCommandHasHelpOfItsOwn) {
  for (const auto& command : MakeCommands()) {
    const std::string name(command->text().name);
    const CliResult result = RunCli({name, "--help"});
    EXPECT_EQ(result.exit_code, kExitSuccess) << name;
    EXPECT_TRUE(result.out.starts_with("Usage: sluicectl " + name + " "))
        << result.out;
    EXPECT_THAT(result.out, HasSubstr("--server=HOST[:PORT]"));
    EXPECT_LE(WidestLine(result.out), 80u) << name;
    EXPECT_EQ(RunCli({name, "-h"}).out, result.out);
    EXPECT_EQ(RunCli({"--help", name}).out, result.out);
  }
}

TEST(Sluicectl, WithoutACommandShowsTheHelpAsAnError) {
  const CliResult result = RunCli({});
  EXPECT_EQ(result.exit_code, kExitUsage);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, RunCli({"--help"}).out);
}

TEST(Sluicectl, RefusesUnknownCommands) {
  const CliResult result = RunCli({"statsu"});
  EXPECT_EQ(result.exit_code, kExitUsage);
  EXPECT_EQ(result.err,
            "sluicectl: unknown command 'statsu'; did you mean 'status'?\n"
            "Try 'sluicectl --help'.\n");
  EXPECT_EQ(
      RunCli({"frobnicate"}).err,
      "sluicectl: unknown command 'frobnicate'\nTry 'sluicectl --help'.\n");
  EXPECT_THAT(RunCli({"apply"}).err,
              HasSubstr("unknown command 'apply'; did you mean 'inject'?"));
  EXPECT_THAT(RunCli({"nodes"}).err, HasSubstr("did you mean 'machines'?"));
}

TEST(Sluicectl, ShowsAnExampleWhereAnArgumentIsMissing) {
  for (const std::string name :
       {"explain", "inject", "job", "drain", "submit"}) {
    const CliResult result = RunCli({name});
    EXPECT_EQ(result.exit_code, kExitUsage);
    EXPECT_THAT(result.err,
                HasSubstr(" is missing; usage: sluicectl " + name + " "));
    EXPECT_THAT(result.err, HasSubstr("; for example: sluicectl " + name));
    EXPECT_THAT(RunCli({name, "--help"}).out,
                HasSubstr("\nExample:\n  sluicectl " + name + " "));
  }
}

TEST(Sluicectl, GuessesWhichFlagWasMeant) {
  EXPECT_THAT(RunCli({"status", "--outptu=json"}).err,
              HasSubstr("unknown flag '--outptu'; did you mean "
                        "--output?"));
  EXPECT_THAT(RunCli({"--sever=x", "status"}).err,
              HasSubstr("did you mean --server?"));
}

TEST(Sluicectl, RefusesUnknownFlagsBeforeAndAfterTheCommand) {
  EXPECT_EQ(RunCli({"--nope", "status"}).exit_code, kExitUsage);
  const CliResult result = RunCli({"status", "--nope"});
  EXPECT_EQ(result.exit_code, kExitUsage);
  EXPECT_EQ(result.err,
            "sluicectl: unknown flag '--nope'\n"
            "Try 'sluicectl status --help'.\n");
}

TEST(Sluicectl, RefusesFlagsOfOtherCommands) {
  EXPECT_EQ(RunCli({"tasks", "--stop_on_error"}).exit_code, kExitUsage);
}

TEST(Sluicectl, RefusesAnOutputItCannotWrite) {
  const CliResult result = RunCli({"status", "--output=xml"});
  EXPECT_EQ(result.exit_code, kExitUsage);
  EXPECT_THAT(result.err, HasSubstr("--output: 'xml' is not table or json"));
}

TEST(Sluicectl, EveryCommandRefusesArgumentsItDoesNotTake) {
  for (const auto& command : MakeCommands()) {
    const std::string name(command->text().name);
    if (command->text().arguments.ends_with("...")) continue;
    const CliResult result = RunCli({name, "a", "b", "c"});
    EXPECT_EQ(result.exit_code, kExitUsage) << name;
    EXPECT_THAT(result.err, HasSubstr("usage: sluicectl " + name));
  }
}

TEST(Sluicectl, SaysWhichServerItCannotReach) {
  // Port 1 is reserved and nobody listens there.
  for (const std::string command : {"status", "machines", "tasks", "bench"}) {
    const CliResult result = RunCli({"--server=127.0.0.1:1", command});
    EXPECT_EQ(result.exit_code, kExitFailure) << command;
    EXPECT_TRUE(result.err.starts_with("sluicectl: cannot reach 127.0.0.1:1: "))
        << result.err;
    EXPECT_EQ(result.out, "");
  }
}

}  // namespace
}  // namespace sluice
