#include "cli/replay/csv.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "util/status_matchers.h"

namespace sluice {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

struct Fixture {
  explicit Fixture(const std::string& text)
      : input(text), csv(CsvReader::Open("f.csv", input)) {}

  std::istringstream input;
  absl::StatusOr<CsvReader> csv;
};

TEST(CsvReader, FindsColumnsByNameInAnyOrder) {
  Fixture f("b,a\n1,2\n");
  ASSERT_THAT(f.csv, IsOk());
  ASSERT_TRUE(*f.csv->Next());
  EXPECT_EQ(f.csv->Text(*f.csv->Column("a")), "2");
  EXPECT_EQ(*f.csv->Integer(*f.csv->Column("b"), {.min = 0, .max = 9}), 1);
  EXPECT_FALSE(*f.csv->Next());
}

TEST(CsvReader, SaysWhichColumnIsMissing) {
  Fixture f("b,a\n");
  EXPECT_THAT(f.csv->Column("c"),
              StatusIs(kInvalid, "f.csv: column c is missing"));
  EXPECT_EQ(f.csv->FindColumn("c"), std::nullopt);
}

TEST(CsvReader, RefusesAFileWithoutAHeader) {
  EXPECT_THAT(Fixture("").csv,
              StatusIs(kInvalid, "f.csv: the header row is missing"));
  EXPECT_THAT(Fixture("\n\r\n").csv,
              StatusIs(kInvalid, "f.csv: the header row is missing"));
}

TEST(CsvReader, RefusesAColumnThatStandsTwice) {
  EXPECT_THAT(Fixture("a,b,a\n").csv,
              StatusIs(kInvalid, "f.csv:1: column a appears twice"));
}

TEST(CsvReader, NamesTheLineOfARowOfTheWrongLength) {
  Fixture f("a,b\n1,2\n\n3\n");
  EXPECT_TRUE(*f.csv->Next());
  EXPECT_THAT(f.csv->Next(),
              StatusIs(kInvalid, "f.csv:4: 1 fields, but the header has 2"));
}

TEST(CsvReader, NamesLineAndColumnOfABadNumber) {
  Fixture f("a,b\n1,2\n3,4.5\n");
  ASSERT_TRUE(*f.csv->Next());
  ASSERT_TRUE(*f.csv->Next());
  EXPECT_THAT(f.csv->Integer(1, {.min = 0, .max = 9}),
              StatusIs(kInvalid,
                       "f.csv:3: column b: '4.5' is not a whole "
                       "number from 0 to 9"));
}

TEST(CsvReader, TakesQuotesAndDosLineEnds) {
  Fixture f("a,b\r\n\"x, \"\"y\"\"\",\"\"\r\n");
  ASSERT_TRUE(*f.csv->Next());
  EXPECT_EQ(f.csv->Text(0), "x, \"y\"");
  EXPECT_EQ(f.csv->Text(1), "");
}

TEST(CsvReader, KeepsEmptyFieldsAtTheEnd) {
  Fixture f("a,b\n1,\n");
  ASSERT_TRUE(*f.csv->Next());
  EXPECT_EQ(f.csv->Text(1), "");
}

TEST(CsvReader, NamesTheFieldWhoseQuoteIsOutOfPlace) {
  for (const std::string row : {"1,\"x", "1,\"x\"y", "1,\"x\"\""}) {
    Fixture f("a,b\n" + row + "\n");
    EXPECT_THAT(f.csv->Next(),
                StatusIs(kInvalid, "f.csv:2: field 2: a quote is out of place"))
        << row;
  }
}

TEST(CsvReader, ReadsALastLineWithoutALineEnd) {
  Fixture f("a\n1");
  EXPECT_TRUE(*f.csv->Next());
  EXPECT_EQ(f.csv->Text(0), "1");
}

}  // namespace
}  // namespace sluice
