#include "cli/base/table.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace sluice {
namespace {

std::string Printed(const Table& table) {
  std::ostringstream out;
  table.Print(out);
  return out.str();
}

TEST(Table, AlignsColumnsToTheWidestCell) {
  Table table({{"NAME"}, {"COUNT", Align::kRight}, {"NOTE"}});
  table.AddRow({"a", "1", "x"});
  table.AddRow({"longer name", "12345678", "y"});
  EXPECT_EQ(Printed(table),
            "NAME            COUNT  NOTE\n"
            "a                   1  x\n"
            "longer name  12345678  y\n");
}

TEST(Table, WritesNoSpacesAtTheEndOfALine) {
  Table table({{"A"}, {"B"}});
  table.AddRow({"wide enough", ""});
  table.AddRow({"", ""});
  EXPECT_EQ(Printed(table), "A            B\nwide enough\n\n");
}

TEST(Table, WithoutRowsIsItsHeadings) {
  EXPECT_EQ(Printed(Table({{"A"}, {"B"}})), "A  B\n");
}

TEST(Table, ShowsControlBytesAndForeignBytesAsEscapes) {
  Table table({{"A"}, {"B"}});
  table.AddRow({"x\x1b[31m\n", "y"});
  EXPECT_EQ(Printed(table), "A            B\nx\\x1b[31m\\n  y\n");
}

TEST(Table, ShowsPicturesAsTheyAre) {
  Table table({{"NAME"}, {"USE", Align::kLeft, /*is_picture=*/true}});
  table.AddRow({"ä", "▁█"});
  EXPECT_EQ(Printed(table), "NAME      USE\n\\xc3\\xa4  ▁█\n");
}

TEST(Table, CutsCellsThatWouldFoldTheLines) {
  Table table({{"A"}});
  table.AddRow({std::string(100'000, 'x')});
  EXPECT_LT(Printed(table).size(), 400u);
}

}  // namespace
}  // namespace sluice
