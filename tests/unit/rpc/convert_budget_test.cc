#include "rpc/convert_budget.h"

#include <glog/logging.h>
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "util/rules_builder.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::HasSubstr;

using Limit = DisruptionBudget::Limit;

firmament::DisruptionBudget Parse(const std::string& text) {
  firmament::DisruptionBudget message;
  CHECK(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

absl::StatusOr<DisruptionBudget> BudgetOf(const std::string& text) {
  Faults faults;
  absl::StatusOr<DisruptionBudget> budget = ToBudget(Parse(text), &faults);
  EXPECT_EQ(faults.Text(), "") << text;
  return budget;
}

TEST(ConvertBudget, ReadsNumbersAndParts) {
  const std::vector<std::pair<std::string, DisruptionBudget>> cases = {
      {"min_available: '0'", {.limit = Limit::kMinAvailable, .amount = 0}},
      {"min_available: '3'", {.limit = Limit::kMinAvailable, .amount = 3}},
      {"max_unavailable: '100%'",
       {.limit = Limit::kMaxUnavailable, .amount = 100, .is_percent = true}},
      {"max_unavailable: '1' expected: 9 allowed: 0",
       {.limit = Limit::kMaxUnavailable,
        .amount = 1,
        .expected = 9,
        .allowed = 0}},
  };
  for (const auto& [text, budget] : cases) {
    const absl::StatusOr<DisruptionBudget> read = BudgetOf(text);
    ASSERT_THAT(read, IsOk()) << text;
    EXPECT_EQ(*read, budget) << text;
  }
}

TEST(ConvertBudget, ReadsWhomItMeans) {
  EXPECT_EQ(BudgetOf("min_available: '1' namespace: 'shop'")->tasks,
            std::nullopt);
  const TaskSelector all = {.labels = std::vector<LabelRequirement>(),
                            .namespaces = {"shop"}};
  EXPECT_EQ(
      BudgetOf("min_available: '1' namespace: 'shop' labelSelector {}")->tasks,
      all);
  const TaskSelector web = {
      .labels = std::vector<LabelRequirement>{LabelIn("app", {"web"})},
      .namespaces = {""}};
  EXPECT_EQ(BudgetOf("min_available: '1' labelSelector { match_labels_map { "
                     "key: 'app' value: 'web' } }")
                ->tasks,
            web);
}

TEST(ConvertBudget, NamesWhatMakesNoSense) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "neither min_available nor max_unavailable"},
      {"min_available: '1' max_unavailable: '1'", "both are stated"},
      {"min_available: '-1'", "min_available: '-1' is neither"},
      {"min_available: 'two'", "'two' is neither"},
      {"min_available: '%'", "'%' is neither"},
      {"min_available: '1 %'", "'1 %' is neither"},
      {"max_unavailable: '101%'", "'101%' is more than 100%"},
      {"max_unavailable: '99999999999'", "more than 1000000000"},
      {"max_unavailable: '99999999999999999999'", "is neither"},
      {"min_available: '1' expected: -1", "expected: -1 is not in"},
      {"min_available: '1' allowed: -1", "allowed: -1 is not in"},
      {"min_available: '1' labelSelector {} namespace: '" +
           std::string(5000, 'x') + "'",
       "namespace: 5000 bytes"},
  };
  for (const auto& [text, error] : cases) {
    EXPECT_THAT(BudgetOf(text),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(error)))
        << text;
  }
}

TEST(ConvertBudget, SaysWhichConditionMeansNobody) {
  Faults faults;
  EXPECT_THAT(ToBudget(Parse("min_available: '1' labelSelector { "
                             "matchExpressions { key: 'a' operator: 'Has' } }"),
                       &faults),
              IsOk());
  EXPECT_THAT(faults.Text(), HasSubstr("'Has'"));
}

}  // namespace
}  // namespace sluice
