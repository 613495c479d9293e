#include "base/flag_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "unit/persist/temporary_directory.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

enum class Size { kSmall, kLarge };

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
    flags.AddSeconds({.name = "wait_time", .value = "SECONDS", .help = "How."},
                     {.min = 0, .max = 60}, &wait_ms);
    flags.AddChoice({.name = "size", .value = "S", .help = "Of what."},
                    {{"small", Size::kSmall}, {"large", Size::kLarge}}, &size);
    flags.AddFile({.name = "from", .value = "FILE", .help = "More flags."});
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
  int64_t wait_ms = 1500;
  Size size = Size::kSmall;
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
  EXPECT_THAT(f.Parse({"--fil=x"}),
              StatusIs(kInvalid, "unknown flag '--fil'; did you mean --file?"));
  EXPECT_THAT(f.Parse({"-x"}), StatusIs(kInvalid, "unknown flag '-x'"));
  EXPECT_THAT(f.Parse({"--=x"}), StatusIs(kInvalid, "unknown flag '--=x'"));
}

TEST(FlagSet, RefusesValuesThatAreMissingOrUnwanted) {
  Fixture f;
  EXPECT_THAT(f.Parse({"--file"}),
              StatusIs(kInvalid, "--file needs a value: --file=FILE"));
  EXPECT_THAT(f.Parse({"--noall=yes"}),
              StatusIs(kInvalid, "--noall takes no value"));
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

TEST(FlagSet, TakesTheLastValue) {
  Fixture f;
  EXPECT_THAT(f.Parse({"--count=2", "--all", "--count=3", "--noall"}), IsOk());
  EXPECT_EQ(f.count, 3);
  EXPECT_FALSE(f.all);
}

TEST(FlagSet, TakesOneDashAndDashesInNames) {
  Fixture f;
  EXPECT_THAT(f.Parse({"-count=2", "-all", "--wait-time", "7"}), IsOk());
  EXPECT_EQ(f.count, 2);
  EXPECT_TRUE(f.all);
  EXPECT_EQ(f.wait_ms, 7000);
}

TEST(FlagSet, TurnsSwitchesOnAndOff) {
  for (const std::string on : {"--all", "--all=true", "--all=1", "--all=YES"}) {
    Fixture f;
    EXPECT_THAT(f.Parse({on}), IsOk());
    EXPECT_TRUE(f.all) << on;
  }
  for (const std::string off : {"--noall", "--all=false", "--all=0"}) {
    Fixture f;
    f.all = true;
    EXPECT_THAT(f.Parse({off}), IsOk());
    EXPECT_FALSE(f.all) << off;
  }
  Fixture f;
  f.all = true;
  EXPECT_THAT(f.Parse({"--all="}),
              StatusIs(kInvalid, "--all: '' is not true or false"));
  EXPECT_TRUE(f.all);
  EXPECT_THAT(f.Parse({"--nofile"}),
              StatusIs(kInvalid, HasSubstr("unknown flag '--nofile'")));
}

TEST(FlagSet, TakesSecondsForMilliseconds) {
  Fixture f;
  EXPECT_THAT(f.Parse({"--wait_time=61"}),
              StatusIs(kInvalid,
                       "--wait_time: '61' is not a whole number from 0 to 60"));
  EXPECT_EQ(f.wait_ms, 1500);
  EXPECT_THAT(f.Parse({"--wait_time=60"}), IsOk());
  EXPECT_EQ(f.wait_ms, 60000);
}

TEST(FlagSet, TakesWordsForValues) {
  Fixture f;
  EXPECT_THAT(f.Parse({"--size=large"}), IsOk());
  EXPECT_EQ(f.size, Size::kLarge);
  EXPECT_THAT(f.Parse({"--size=tiny"}),
              StatusIs(kInvalid, "--size: 'tiny' is not small or large"));
}

TEST(FlagSet, TakesFlagsOfOtherKinds) {
  std::vector<std::string> values;
  FlagSet flags;
  flags.AddOther({"odd", "", "Odd."}, "true", [&](std::string_view value) {
    values.emplace_back(value);
    return value == "x" ? absl::InvalidArgumentError("no") : absl::OkStatus();
  });
  EXPECT_THAT(
      flags.Parse(std::vector<std::string>{"--odd", "--noodd", "--odd=x"}),
      StatusIs(kInvalid, "--odd: no"));
  EXPECT_THAT(values, ElementsAre("true", "false", "x"));
}

TEST(FlagSet, ReadsFiles) {
  const TemporaryDirectory directory;
  Fixture f;
  std::ofstream(directory / "inner") << "--speed=3";
  std::ofstream(directory / "outer")
      << "# a comment\n\n  --count=2\t\r\n--noall\n--file=a b\n--from="
      << directory / "inner"
      << "\n";
  EXPECT_THAT(f.Parse({"--all", "--count=1", "--from", directory / "outer",
                       "--file=c"}),
              IsOk());
  EXPECT_EQ(f.count, 2);
  EXPECT_FALSE(f.all);
  EXPECT_EQ(f.file, "c");
  EXPECT_EQ(f.speed, 3);
}

TEST(FlagSet, SaysWhereAFileIsWrong) {
  const TemporaryDirectory directory;
  const std::string path = directory / "f";
  for (const auto& [text, error] :
       {std::pair("\n--count=9", ":2: --count: '9' is not"),
        std::pair("--cuont=2", ":1: unknown flag '--cuont'; did you mean"),
        std::pair("--count", ":1: --count needs a value: --count=N"),
        std::pair("count=2", ":1: 'count=2' is no flag"),
        std::pair("--", ":1: unknown flag '--'")}) {
    std::ofstream(path) << text;
    Fixture f;
    EXPECT_THAT(
        f.Parse({"--from=" + path}),
        StatusIs(kInvalid, AllOf(StartsWith("--from: "), HasSubstr(error))));
  }
  Fixture f;
  EXPECT_THAT(f.Parse({"--from=" + directory.path()}),
              StatusIs(kInvalid, HasSubstr("cannot be read")));
  EXPECT_THAT(f.Parse({"--from="}),
              StatusIs(kInvalid, "--from: '' cannot be read"));
}

TEST(FlagSet, RefusesFilesThatNameEachOther) {
  const TemporaryDirectory directory;
  const std::string path = directory / "f";
  std::ofstream(path) << "--from=" << path;
  Fixture f;
  EXPECT_THAT(f.Parse({"--from=" + path}),
              StatusIs(kInvalid, HasSubstr("is at the end of too many files")));
}

TEST(FlagSet, HelpShowsEveryFlagWithItsLines) {
  Fixture f;
  EXPECT_THAT(f.flags.Help(), HasSubstr("  --count=N\n"
                                        "      How\n"
                                        "      many.\n"
                                        "  --speed=X\n"));
  EXPECT_THAT(f.flags.Help(), HasSubstr("  --all\n      Everything.\n"));
}

TEST(FlagSet, HelpShowsWhatHoldsWithoutAFlag) {
  Fixture f;
  const std::string help = f.flags.HelpWithDefaults();
  EXPECT_THAT(help, HasSubstr("  --file=FILE (default)\n"));
  EXPECT_THAT(help, HasSubstr("  --count=N (5)\n"));
  EXPECT_THAT(help, HasSubstr("  --wait_time=SECONDS (1)\n"));
  EXPECT_THAT(help, HasSubstr("  --size=S (small)\n"));
  EXPECT_THAT(help, HasSubstr("  --all\n"));
  EXPECT_THAT(help, HasSubstr("  --from=FILE\n"));
}

TEST(FlagSet, HelpBreaksLongLinesBetweenWords) {
  FlagSet flags;
  bool on = true;
  const std::string word(30, 'a');
  const std::string longer(90, 'b');
  const std::string help = word + " " + word + " c " + word + " " + longer;
  flags.AddSwitch("on", help, &on);
  EXPECT_EQ(flags.HelpWithDefaults(), "  --on (true)\n      " + word + " " +
                                          word + " c\n      " + word +
                                          "\n      " + longer + "\n");
}

}  // namespace
}  // namespace sluice
