#include "rpc/convert_requirements.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "util/rules_builder.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

LabelRequirement Converted(const std::string& key, const std::string& op,
                           const std::vector<std::string>& values,
                           RequirementOn on, Faults* faults) {
  const RepeatedText given(values.begin(), values.end());
  const auto requirement = ToRequirement(Given(key, op, given), on, faults);
  EXPECT_THAT(requirement, IsOk());
  return requirement.ok() ? *requirement : LabelRequirement();
}

TEST(ConvertRequirements, KnowTheOperatorsOfWhatTheyAreOn) {
  struct Row {
    std::string op;
    std::vector<std::string> values;
    bool on_label;
    bool on_field;
    bool on_task;
  };
  const std::vector<Row> rows = {{"In", {"7"}, true, true, true},
                                 {"In", {"7", "8"}, true, false, true},
                                 {"NotIn", {"7"}, true, true, true},
                                 {"Exists", {}, true, false, true},
                                 {"DoesNotExist", {}, true, false, true},
                                 {"Gt", {"7"}, true, false, false},
                                 {"Lt", {"7"}, true, false, false},
                                 {"Has", {"7"}, false, false, false},
                                 {"", {"7"}, false, false, false}};
  for (const Row& row : rows) {
    for (const auto& [on, makes_sense] :
         {std::pair(RequirementOn::kMachineLabel, row.on_label),
          std::pair(RequirementOn::kMachineField, row.on_field),
          std::pair(RequirementOn::kTaskLabel, row.on_task)}) {
      Faults faults;
      const LabelRequirement requirement =
          Converted("metadata.name", row.op, row.values, on, &faults);
      EXPECT_EQ(requirement.op != LabelOperator::kInvalid, makes_sense)
          << row.op << " on " << static_cast<int>(on);
      EXPECT_EQ(faults.empty(), makes_sense) << faults.Text();
    }
  }
}

TEST(ConvertRequirements, SayWhatIsWrong) {
  Faults faults;
  EXPECT_EQ(Converted("k", "Gt", {"7"}, RequirementOn::kTaskLabel, &faults),
            LabelInvalid("k", "operator 'Gt' is for machines only"));
  EXPECT_EQ(faults.Text(),
            "requirement on 'k': operator 'Gt' is for machines only");
}

}  // namespace
}  // namespace sluice
