#include "server/logging_flags.h"

#include <gflags/gflags.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "glog/logging.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class LoggingFlagsTest : public testing::Test {
 protected:
  LoggingFlagsTest() { AddLoggingFlags(flags_); }

  const gflags::FlagSaver saver_;  // Logging flags are global.
  FlagSet flags_;
};

TEST_F(LoggingFlagsTest, LogToStandardErrorUnlessToldOtherwise) {
  EXPECT_TRUE(FLAGS_logtostderr);
  EXPECT_THAT(flags_.Parse(std::vector<std::string>{"--nologtostderr"}),
              IsOk());
  EXPECT_FALSE(FLAGS_logtostderr);
}

TEST_F(LoggingFlagsTest, TakeEffect) {
  const std::vector<std::string> arguments = {"--minloglevel=1",
                                              "--log_dir",
                                              "/nowhere",
                                              "--log_prefix=false",
                                              "-v=2",
                                              "--vmodule",
                                              "a=1,b=2",
                                              "--logtostderr=0"};
  EXPECT_THAT(flags_.Parse(arguments), IsOk());
  EXPECT_EQ(FLAGS_minloglevel, 1);
  EXPECT_EQ(FLAGS_log_dir, "/nowhere");
  EXPECT_FALSE(FLAGS_log_prefix);
  EXPECT_EQ(FLAGS_v, 2);
  EXPECT_FALSE(FLAGS_logtostderr);
}

TEST_F(LoggingFlagsTest, QuoteInvalidValues) {
  EXPECT_THAT(flags_.Parse(std::vector<std::string>{"--minloglevel=x"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--minloglevel: 'x' is not a valid int32"));
  EXPECT_THAT(flags_.Parse(std::vector<std::string>{"--logtostderr=x"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--logtostderr: 'x' is not a valid bool"));
}

TEST_F(LoggingFlagsTest, AreThoseOfLoggingAlone) {
  EXPECT_THAT(
      flags_.HelpWithDefaults(),
      AllOf(HasSubstr("  --logtostderr (true)\n"),
            HasSubstr("  --minloglevel=VALUE (0)\n"),
            HasSubstr("  --vmodule=VALUE\n"), Not(HasSubstr("--flagfile")),
            Not(HasSubstr("--block_cache"))));
}

}  // namespace
}  // namespace sluice
