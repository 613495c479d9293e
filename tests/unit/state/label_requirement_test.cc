#include "sluice/state/label_requirement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "util/rules_builder.h"

namespace sluice {
namespace {

using testing::IsNull;
using testing::Pointee;

TEST(FindLabel, FindsByTheWholeKey) {
  const LabelPairs labels = {{"a", "1"}, {"b", ""}, {"d", "4"}};
  EXPECT_THAT(FindLabel(labels, "a"), Pointee(std::string("1")));
  EXPECT_THAT(FindLabel(labels, "b"), Pointee(std::string()));
  EXPECT_THAT(FindLabel(labels, "d"), Pointee(std::string("4")));
  for (const char* missing : {"", "A", "aa", "c", "e"}) {
    EXPECT_THAT(FindLabel(labels, missing), IsNull()) << missing;
  }
  EXPECT_THAT(FindLabel({}, "a"), IsNull());
}

// What a requirement says of a missing label, of "7" and of "x".
struct Row {
  LabelRequirement requirement;
  bool missing;
  bool seven;
  bool x;
};

TEST(Holds, IsAsKubernetesHasIt) {
  const Row rows[] = {
      {LabelIn("k", {"7", "8"}), false, true, false},
      {LabelNotIn("k", {"7", "8"}), true, false, true},
      {LabelExists("k"), false, true, true},
      {LabelDoesNotExist("k"), true, false, false},
      {LabelAbove("k", 6), false, true, false},
      {LabelAbove("k", 7), false, false, false},
      {LabelBelow("k", 8), false, true, false},
      {LabelBelow("k", 7), false, false, false},
      {LabelInvalid("k", "no sense"), false, false, false},
      {{"k", LabelOperator::kGreaterThan, {"x"}}, false, false, false},
      {{"k", LabelOperator::kLessThan, {}}, false, false, false}};
  const std::string seven = "7";
  const std::string x = "x";
  for (size_t i = 0; i < std::size(rows); ++i) {
    const Row& row = rows[i];
    EXPECT_EQ(Holds(row.requirement, nullptr), row.missing) << "row " << i;
    EXPECT_EQ(Holds(row.requirement, &seven), row.seven) << "row " << i;
    EXPECT_EQ(Holds(row.requirement, &x), row.x) << "row " << i;
  }
}

TEST(ParseInt64, ReadsDigitsAfterAnOptionalSign) {
  EXPECT_EQ(ParseInt64("0"), 0);
  EXPECT_EQ(ParseInt64("17"), 17);
  EXPECT_EQ(ParseInt64("+17"), 17);
  EXPECT_EQ(ParseInt64("-17"), -17);
  EXPECT_EQ(ParseInt64("-0"), 0);
  EXPECT_EQ(ParseInt64("0017"), 17);
}

TEST(ParseInt64, ReadsAllOf64BitsAndNothingBeyond) {
  EXPECT_EQ(ParseInt64("9223372036854775807"),
            std::numeric_limits<int64_t>::max());
  EXPECT_EQ(ParseInt64("-9223372036854775808"),
            std::numeric_limits<int64_t>::min());
  EXPECT_EQ(ParseInt64("9223372036854775808"), std::nullopt);
  EXPECT_EQ(ParseInt64("-9223372036854775809"), std::nullopt);
}

TEST(ParseInt64, RefusesWhatIsNoNumber) {
  for (const std::string_view text :
       {"", "+", "-", "+-1", "-+1", "--1", "++1", " 1", "1 ", "1\n", "1.0",
        "1e3", "0x1", "1_000", "1,000", "1k", "one"}) {
    EXPECT_EQ(ParseInt64(text), std::nullopt) << "'" << text << "'";
  }
  EXPECT_EQ(ParseInt64(std::string_view("1\0", 2)), std::nullopt);
}

}  // namespace
}  // namespace sluice
