#include "cli/base/command.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice {
namespace {

constexpr Command::Text kText = {.name = "feed",
                                 .arguments = "NAME FILE|-",
                                 .summary = "",
                                 .description = "",
                                 .example = "sluicectl feed shop -"};

constexpr Command::Text kTasks = {
    .name = "remove", .arguments = "TASK...", .summary = "", .description = ""};

constexpr Command::Text kNothing = {
    .name = "status", .arguments = "", .summary = "", .description = ""};

std::string FaultOf(const Command::Text& text,
                    const std::vector<std::string>& arguments, size_t count) {
  const absl::Status status = CheckArgumentCount(text, arguments, count);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  return std::string(status.message());
}

TEST(CheckArgumentCount, TakesAsManyAsThereShouldBe) {
  EXPECT_TRUE(CheckArgumentCount(kText, {"shop", "-"}, 2).ok());
  EXPECT_TRUE(CheckArgumentCount(kNothing, {}, 0).ok());
}

TEST(CheckArgumentCount, NamesTheFirstArgumentThatIsMissing) {
  const std::string usage =
      "; usage: sluicectl feed NAME FILE|-; for example: sluicectl feed shop -";
  EXPECT_EQ(FaultOf(kText, {}, 2), "NAME is missing" + usage);
  EXPECT_EQ(FaultOf(kText, {"shop"}, 2), "FILE is missing" + usage);
  EXPECT_EQ(FaultOf(kTasks, {}, 1),
            "TASK is missing; usage: sluicectl remove TASK...");
}

TEST(CheckArgumentCount, NamesTheFirstArgumentThatIsTooMany) {
  EXPECT_EQ(FaultOf(kNothing, {"a\n", "b"}, 0),
            "'a\\n' is one argument too many; usage: sluicectl status");
}

}  // namespace
}  // namespace sluice
