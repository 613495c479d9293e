#include "base/strings.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "absl/strings/string_view.h"

namespace sluice {
namespace {

TEST(StrCat, JoinsEveryKindOfText) {
  const std::string owned = "b";
  EXPECT_EQ(StrCat("a", owned, std::string_view("c"), absl::string_view("d"),
                   std::string("e"), 'f'),
            "abcdef");
}

TEST(StrCat, OfNothingIsEmpty) {
  EXPECT_EQ(StrCat(), "");
  EXPECT_EQ(StrCat("", std::string()), "");
}

TEST(StrCat, WritesTheWidestIntegers) {
  EXPECT_EQ(StrCat(std::numeric_limits<int64_t>::min()),
            "-9223372036854775808");
  EXPECT_EQ(StrCat(std::numeric_limits<uint64_t>::max()),
            "18446744073709551615");
}

TEST(StrCat, WritesSmallIntegersAsNumbersAndNotAsCharacters) {
  EXPECT_EQ(StrCat(int8_t{65}, " ", uint8_t{66}, " ", uint16_t{0}), "65 66 0");
}

TEST(StrCat, WritesBoolsAsWords) {
  EXPECT_EQ(StrCat(true, false), "truefalse");
}

TEST(StrCat, WritesTheShortestFormOfDoubles) {
  EXPECT_EQ(StrCat(0.1, " ", 2.5f, " ", -1e300), "0.1 2.5 -1e+300");
  EXPECT_EQ(StrCat(-std::numeric_limits<double>::denorm_min()), "-5e-324");
  EXPECT_EQ(StrCat(-std::numeric_limits<double>::max()),
            "-1.7976931348623157e+308");
}

TEST(StrCat, KeepsZeroBytes) {
  EXPECT_EQ(StrCat(std::string_view("a\0b", 3), 'c').size(), 4u);
}

TEST(Printable, LeavesPrintableTextAlone) {
  EXPECT_EQ(Printable("zone-a/rack 7 ~", 64), "zone-a/rack 7 ~");
  EXPECT_EQ(Printable("", 64), "");
}

TEST(Printable, EscapesWhatATerminalWouldActOn) {
  EXPECT_EQ(Printable(std::string_view("a\n\t\\\0\x1b\x7f\xc3\xa4", 9), 64),
            "a\\n\\t\\\\\\x00\\x1b\\x7f\\xc3\\xa4");
}

TEST(Printable, CutsOnlyWhatIsLongerThanTheLimit) {
  EXPECT_EQ(Printable("abcd", 4), "abcd");
  EXPECT_EQ(Printable("abcde", 4), "abcd..., 5 bytes");
  EXPECT_EQ(Printable("abcde", 0), "..., 5 bytes");
}

TEST(Printable, IsShortHoweverLongTheText) {
  const std::string huge(10 << 20, '\xff');
  const std::string shown = Printable(huge, 8);
  EXPECT_TRUE(shown.ends_with("\\xff..., 10485760 bytes")) << shown;
  EXPECT_LE(shown.size(), 4u * 8 + 32);
}

}  // namespace
}  // namespace sluice
