#include "base/flag_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

struct Fixture {
  Fixture() {
    flags.AddString({.name = "file", .value = "FILE", .help = "A file."},
                    &file);
    flags.AddInteger({.name = "count", .value = "N", .help = "How\nmany."},
                     {.min = 1, .max = 8}, &count);
    flags.AddNumber({.name = "speed", .value = "X", .help = "How fast."},
                    &speed);
    flags.AddChoice({.name = "color", .value = "C", .help = "Which."},
                    {"red", "blue"}, &color);
    flags.AddSwitch("all", "Everything.", &all);
  }

  absl::StatusOr<std::vector<std::string>> Parse(
      const std::vector<std::string>& arguments) {
    return flags.Parse(arguments);
  }

  std::string file = "default";
  int64_t count = 5;
  double speed = 1;
  std::string color = "red";
  bool all = false;
  FlagSet flags;
};

TEST(FlagSet, LeavesTheTargetsOfFlagsThatAreNotGiven) {
  Fixture f;
  EXPECT_THAT(*f.Parse({}), IsEmpty());
  EXPECT_EQ(f.file, "default");
  EXPECT_EQ(f.count, 5);
  EXPECT_FALSE(f.all);
}

TEST(FlagSet, ReadsValuesAfterEqualsSignsAndAsTheNextArgument) {
  Fixture f;
  EXPECT_THAT(f.Parse({"--file=a=b", "--count", "8", "--speed", "2.5",
                       "--color=blue", "--all"}),
              IsOk());
  EXPECT_EQ(f.file, "a=b");
  EXPECT_EQ(f.count, 8);
  EXPECT_EQ(f.speed, 2.5);
  EXPECT_EQ(f.color, "blue");
  EXPECT_TRUE(f.all);
}

TEST(FlagSet, ReturnsTheOtherArgumentsInOrder) {
  Fixture f;
  EXPECT_THAT(*f.Parse({"x", "--all", "-", "y", "--", "--count=3", "-z"}),
              ElementsAre("x", "-", "y", "--count=3", "-z"));
  EXPECT_EQ(f.count, 5);
}

TEST(FlagSet, ParsesLeadingFlagsUpToTheFirstOtherArgument) {
  Fixture f;
  const std::vector<std::string> arguments = {"--count", "2", "x", "--all"};
  EXPECT_EQ(*f.flags.ParseLeading(arguments), 2u);
  EXPECT_EQ(f.count, 2);
  EXPECT_FALSE(f.all);
}

TEST(FlagSet, RefusesUnknownFlags) {
  Fixture f;
  EXPECT_THAT(
      f.Parse({"--fil=x"}),
      StatusIs(kInvalid, "unknown flag '--fil=x'; did you mean --file?"));
  EXPECT_THAT(f.Parse({"-x"}), StatusIs(kInvalid, "unknown flag '-x'"));
  EXPECT_THAT(f.Parse({"--=x"}), StatusIs(kInvalid, "unknown flag '--=x'"));
}

TEST(FlagSet, RefusesValuesThatAreMissingOrUnwanted) {
  Fixture f;
  EXPECT_THAT(f.Parse({"--file"}),
              StatusIs(kInvalid, "--file needs a value: --file=FILE"));
  EXPECT_THAT(f.Parse({"--all=yes"}),
              StatusIs(kInvalid, "--all takes no value"));
}

TEST(FlagSet, RefusesNumbersThatCannotBe) {
  Fixture f;
  for (const std::string bad :
       {"0", "9", "x", "3x", "", " 3", "1.5", "99999999999999999999"}) {
    EXPECT_THAT(f.Parse({"--count=" + bad}),
                StatusIs(kInvalid, "--count: '" + bad +
                                       "' is not a whole number from 1 to 8"));
  }
  for (const std::string bad : {"-1", "nan", "inf", "x", "1e999"}) {
    EXPECT_THAT(
        f.Parse({"--speed=" + bad}),
        StatusIs(kInvalid, "--speed: '" + bad + "' is not a number from 0 up"));
  }
  EXPECT_EQ(f.count, 5);
  EXPECT_EQ(f.speed, 1);
}

TEST(FlagSet, NamesTheChoices) {
  Fixture f;
  EXPECT_THAT(f.Parse({"--color=green"}),
              StatusIs(kInvalid, "--color: 'green' is not red or blue"));
}

TEST(FlagSet, HelpShowsEveryFlagWithItsLines) {
  Fixture f;
  EXPECT_THAT(f.flags.Help(), HasSubstr("  --count=N\n"
                                        "      How\n"
                                        "      many.\n"
                                        "  --speed=X\n"));
  EXPECT_THAT(f.flags.Help(), HasSubstr("  --all\n      Everything.\n"));
}

}  // namespace
}  // namespace sluice
