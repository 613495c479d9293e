#include <gtest/gtest.h>

#include "cli/application.h"
#include "unit/cli/run_cli.h"

namespace sluice {
namespace {

TEST(VersionCommand, ShowsWhatTheFlagShows) {
  const CliResult result = RunCli({"version"});
  EXPECT_EQ(result.exit_code, kExitSuccess) << result.err;
  EXPECT_EQ(result.out, RunCli({"--version"}).out);
}

TEST(VersionCommand, PrintsJson) {
  EXPECT_EQ(RunCli({"version", "--output=json"}).out,
            "{\"version\": \"" + std::string(ProgramVersion()) + "\"}\n");
}

}  // namespace
}  // namespace sluice
