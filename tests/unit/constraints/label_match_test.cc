#include "constraints/label_match.h"

#include <gtest/gtest.h>

#include "unit/constraints/rule_cases.h"

namespace sluice {
namespace {

TEST(RequirementText, ReadsAsASelector) {
  EXPECT_EQ(RequirementText(LabelIn("disk", {"ssd"})), "disk=ssd");
  EXPECT_EQ(RequirementText(LabelIn("disk", {"hdd", "ssd"})),
            "disk in (hdd,ssd)");
  EXPECT_EQ(RequirementText(LabelIn("disk", {})), "disk in ()");
  EXPECT_EQ(RequirementText(LabelNotIn("disk", {"ssd"})), "disk!=ssd");
  EXPECT_EQ(RequirementText(LabelNotIn("disk", {"hdd", "ssd"})),
            "disk notin (hdd,ssd)");
  EXPECT_EQ(RequirementText(LabelExists("gpu")), "gpu");
  EXPECT_EQ(RequirementText(LabelDoesNotExist("gpu")), "!gpu");
  EXPECT_EQ(RequirementText(LabelAbove("cpus", 8)), "cpus > 8");
  EXPECT_EQ(RequirementText(LabelBelow("cpus", 8)), "cpus < 8");
  EXPECT_EQ(RequirementText(LabelInvalid("disk", "operator 'Near' is unknown")),
            "disk (operator 'Near' is unknown)");
}

TEST(RequirementText, ShowsThreeValuesAtMost) {
  EXPECT_EQ(RequirementText(LabelIn("zone", {"a", "b", "c"})),
            "zone in (a,b,c)");
  EXPECT_EQ(RequirementText(LabelIn("zone", {"a", "b", "c", "d", "e"})),
            "zone in (a,b,c,...)");
}

TEST(RequirementText, ShowsForeignBytesSafelyAndNotWithoutBound) {
  EXPECT_EQ(RequirementText(LabelIn("disk\n", {"\xff"})), "disk\\n=\\xff");
  const std::string huge(1 << 20, 'x');
  const std::string text = RequirementText(
      LabelIn(huge, std::vector<std::string>(1000, huge + huge)));
  EXPECT_LT(text.size(), 1000u);
  EXPECT_NE(text.find("..., 1048576 bytes"), std::string::npos) << text;
}

TEST(Matches, AMachineIdByNameOrUuid) {
  Machine machine = Named("n1");
  machine.uuid = "u1";
  const auto matches = [&](LabelRequirement field) {
    return Matches(Term({}, {std::move(field)}), machine);
  };
  EXPECT_TRUE(matches(LabelIn("machine_id", {"n1"})));
  EXPECT_TRUE(matches(LabelIn("machine_id", {"u1"})));
  EXPECT_FALSE(matches(LabelIn("machine_id", {"n2"})));
  EXPECT_FALSE(matches(LabelIn("machine_id", {"n1", "u1"})));
  EXPECT_FALSE(matches(LabelNotIn("machine_id", {"n2"})));
  EXPECT_FALSE(matches(NameIs("u1")));
}

TEST(TermsText, JoinsTermsByOrAndRequirementsByAnd) {
  const std::vector<NodeTerm> terms = {
      Term({LabelIn("disk", {"ssd"}), LabelDoesNotExist("gpu")}),
      Term({LabelIn("zone", {"b"})}, {NameIs("n1")})};
  EXPECT_EQ(TermsText(terms),
            "disk=ssd and !gpu or zone=b and metadata.name=n1");
}

TEST(TermsText, ShowsThreeOfEachAtMost) {
  const NodeTerm term(Term({LabelExists("a"), LabelExists("b"),
                            LabelExists("c"), LabelExists("d")}));
  EXPECT_EQ(TermsText(std::vector{term}), "a and b and c and ...");
  const std::vector<NodeTerm> terms(1000, Term({LabelExists("a")}));
  EXPECT_EQ(TermsText(terms), "a or a or a or ...");
}

TEST(TermsText, ShowsATermWithoutRequirements) {
  EXPECT_EQ(TermsText(std::vector{Term({}), Term({LabelExists("gpu")})}),
            "(empty term) or gpu");
}

TEST(LacksText, NamesTheLabelWhereThereIsOne) {
  const auto lacks = [](LabelRequirement requirement) {
    const NodeTerm term = Term({std::move(requirement)});
    return LacksText({&term, 1}, Labeled({{"cpus", "4"}, {"disk", "hdd"}}));
  };
  EXPECT_EQ(lacks(LabelIn("disk", {"ssd"})), "lacks the label disk=ssd");
  EXPECT_EQ(lacks(LabelExists("gpu")), "lacks the label gpu");
  EXPECT_EQ(lacks(LabelIn("disk", {"nvme", "ssd"})),
            "lacks a match for disk in (nvme,ssd)");
  EXPECT_EQ(lacks(LabelDoesNotExist("disk")), "lacks a match for !disk");
  EXPECT_EQ(lacks(LabelAbove("cpus", 8)), "lacks a match for cpus > 8");
  EXPECT_EQ(lacks(LabelInvalid("disk", "why")), "lacks a match for disk (why)");
}

TEST(LacksText, LeavesOutWhatTheMachineHas) {
  const std::vector<NodeTerm> terms = {
      Term({LabelIn("disk", {"ssd"}), LabelIn("zone", {"a"})}),
      Term({LabelIn("zone", {"a"}), LabelExists("gpu")}, {NameIs("n1")})};
  Machine machine = Labeled({{"zone", "a"}});
  EXPECT_EQ(LacksText(terms, machine),
            "lacks a match for disk=ssd or gpu and metadata.name=n1");
  machine.name = "n1";
  EXPECT_EQ(LacksText(terms, machine), "lacks a match for disk=ssd or gpu");
}

TEST(LacksText, IsNotALabelAloneWhereTheNameIsWrong) {
  const std::vector by_name = {Term({}, {NameIs("n1")})};
  EXPECT_EQ(LacksText(by_name, Machine()),
            "lacks a match for metadata.name=n1");
  const std::vector by_both = {Term({LabelExists("gpu")}, {NameIs("n1")})};
  EXPECT_EQ(LacksText(by_both, Machine()),
            "lacks a match for gpu and metadata.name=n1");
}

}  // namespace
}  // namespace sluice
