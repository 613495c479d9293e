#include "flow/dimacs_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "util/status_matchers.h"

namespace sluice {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kRange = absl::StatusCode::kOutOfRange;

DimacsLine Line(std::string_view text) { return DimacsLine(&text, 7); }

TEST(DimacsLine, TakesLineAfterLine) {
  std::string_view rest = "a\n\nb c";
  DimacsLine first(&rest, 1);
  EXPECT_EQ(first.Word(), "a");
  EXPECT_TRUE(first.AtEnd());
  DimacsLine second(&rest, 2);
  EXPECT_TRUE(second.AtEnd());
  EXPECT_EQ(second.Word(), "");
  DimacsLine third(&rest, 3);
  EXPECT_EQ(third.Word(), "b");
  EXPECT_EQ(third.Word(), "c");
  EXPECT_TRUE(rest.empty());
}

TEST(DimacsLine, BlanksTabsAndCarriageReturnsSeparate) {
  DimacsLine line = Line("\tn   4 -5 \r");
  EXPECT_EQ(line.Word(), "n");
  EXPECT_EQ(line.Integer("node"), 4);
  EXPECT_EQ(line.Integer("supply"), -5);
  EXPECT_THAT(line.End(), IsOk());
}

TEST(DimacsLine, TakesAWordThatIsThere) {
  DimacsLine line = Line("arcs 1");
  EXPECT_FALSE(line.Take("arc"));
  EXPECT_TRUE(line.Take("arcs"));
  EXPECT_EQ(line.Integer("tail"), 1);
}

TEST(DimacsLine, KeepsItsFirstError) {
  DimacsLine line = Line("x y");
  EXPECT_EQ(line.Integer("node"), 0);
  EXPECT_EQ(line.Integer("supply"), 0);
  EXPECT_THAT(line.End(),
              StatusIs(kInvalid, "line 7: node 'x' is not a whole number"));
}

TEST(DimacsLine, NamesANumberThatIsNone) {
  for (const std::string text :
       {"+1", "1.0", "1e3", "0x1", "1,", "-", "--1", "9223372036854775808x"}) {
    DimacsLine line = Line(text);
    line.Integer("cost");
    EXPECT_THAT(line.End(), StatusIs(kInvalid, "line 7: cost '" + text +
                                                   "' is not a whole number"));
  }
}

TEST(DimacsLine, ReadsAllOf64BitsAndNotMore) {
  DimacsLine line = Line("9223372036854775807 -9223372036854775808 007");
  EXPECT_EQ(line.Integer("cost"), INT64_MAX);
  EXPECT_EQ(line.Integer("cost"), INT64_MIN);
  EXPECT_EQ(line.Integer("cost"), 7);
  EXPECT_THAT(line.End(), IsOk());
  DimacsLine beyond = Line("-9223372036854775809");
  beyond.Integer("cost");
  EXPECT_THAT(
      beyond.End(),
      StatusIs(kRange,
               "line 7: cost '-9223372036854775809' does not fit 64 bits"));
}

TEST(DimacsLine, NamesWhatIsMissingAndWhatIsTooMuch) {
  DimacsLine empty = Line(" ");
  empty.Integer("cost");
  EXPECT_THAT(empty.End(), StatusIs(kInvalid, "line 7: the cost is missing"));
  EXPECT_THAT(
      Line(" 5 more").End(),
      StatusIs(kInvalid, "line 7: '5 more' follows where the line should end"));
}

TEST(DimacsLine, ReadsAnArc) {
  const absl::StatusOr<DimacsArc> arc = Line("1 2 3 4 -5").Arc();
  ASSERT_THAT(arc, IsOk());
  EXPECT_EQ(arc->tail, 1);
  EXPECT_EQ(arc->head, 2);
  EXPECT_EQ(arc->lower, 3);
  EXPECT_EQ(arc->capacity, 4);
  EXPECT_EQ(arc->cost, -5);
}

TEST(DimacsLine, RefusesBoundsThatNoFlowCanKeep) {
  EXPECT_THAT(Line("1 2 0 -1 5").Arc(),
              StatusIs(kInvalid, "line 7: capacity -1 is negative"));
  EXPECT_THAT(Line("1 2 -1 1 5").Arc(),
              StatusIs(kInvalid, "line 7: lower bound -1 is negative"));
  EXPECT_THAT(
      Line("1 2 3 2 5").Arc(),
      StatusIs(kInvalid, "line 7: lower bound 3 is above the capacity 2"));
  EXPECT_THAT(Line("1 2 0 1").Arc(),
              StatusIs(kInvalid, "line 7: the cost is missing"));
  EXPECT_THAT(Line("1 2 0 1 5 6").Arc(), StatusIs(kInvalid));
}

}  // namespace
}  // namespace sluice
