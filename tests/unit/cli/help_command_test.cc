#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cli/application.h"
#include "cli/commands.h"
#include "unit/cli/run_cli.h"

namespace sluice {
namespace {

TEST(HelpCommand, ShowsWhatTheFlagShows) {
  const CliResult result = RunCli({"help"});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_EQ(result.out, RunCli({"--help"}).out);
  for (const auto& command : MakeCommands()) {
    const std::string name(command->text().name);
    EXPECT_EQ(RunCli({"help", name}).out, RunCli({name, "--help"}).out);
  }
}

TEST(HelpCommand, RefusesCommandsThatThereAreNot) {
  const CliResult result = RunCli({"help", "taks"});
  EXPECT_EQ(result.exit_code, kExitUsage);
  EXPECT_EQ(result.err,
            "sluicectl: unknown command 'taks'; did you mean 'tasks'?\n"
            "Try 'sluicectl help --help'.\n");
}

}  // namespace
}  // namespace sluice
