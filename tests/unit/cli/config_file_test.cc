#include "cli/config_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "unit/cli/run_cli.h"
#include "unit/persist/temporary_directory.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ConfigFileTest : public testing::Test {
 protected:
  std::string File(const std::string& text) {
    std::ofstream(directory_ / "config") << text;
    return directory_ / "config";
  }

  const TemporaryDirectory directory_;
};

TEST_F(ConfigFileTest, HasAFlagALine) {
  const auto flags =
      ReadConfigFile(File("# mine\n\n  server=host:1  \r\ntls\n#tls_ca=x\n"));
  ASSERT_THAT(flags, IsOk());
  EXPECT_THAT(*flags, ElementsAre("--server=host:1", "--tls"));
}

TEST_F(ConfigFileTest, ComesBeforeTheCommandLine) {
  const std::string file = File("server=127.0.0.1:1\n");
  EXPECT_THAT(RunCli({"status"}, "", file).err, HasSubstr("127.0.0.1:1: "));
  EXPECT_THAT(RunCli({"status", "--server=127.0.0.1:2"}, "", file).err,
              HasSubstr("127.0.0.1:2: "));
}

TEST_F(ConfigFileTest, IsNamedWhereItIsWrong) {
  for (const auto& [text, why] :
       {std::pair("sever=host:1", "unknown flag '--sever'"),
        std::pair("timeout=soon", "'soon' is not a whole number")}) {
    const std::string file = File(text);
    const CliResult result = RunCli({"status"}, "", file);
    EXPECT_EQ(result.exit_code, kExitUsage);
    EXPECT_THAT(result.err, HasSubstr("sluicectl: " + file + ": "));
    EXPECT_THAT(result.err, HasSubstr(why));
  }
  EXPECT_THAT(RunCli({"status"}, "", directory_ / "missing").err,
              HasSubstr("missing: cannot be read"));
}

TEST_F(ConfigFileTest, IsWhereTheEnvironmentSays) {
  setenv("XDG_CONFIG_HOME", directory_.path().c_str(), 1);
  unsetenv("SLUICE_CONFIG");
  EXPECT_EQ(ConfigFilePath(), "");
  std::filesystem::create_directory(directory_ / "sluice");
  std::ofstream(directory_ / "sluice/config") << "tls\n";
  EXPECT_EQ(ConfigFilePath(), directory_ / "sluice/config");
  setenv("SLUICE_CONFIG", "/elsewhere", 1);
  EXPECT_EQ(ConfigFilePath(), "/elsewhere");
  unsetenv("SLUICE_CONFIG");
  unsetenv("XDG_CONFIG_HOME");
}

}  // namespace
}  // namespace sluice
