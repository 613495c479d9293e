#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "messages/fields.h"
#include "persist/damage.h"
#include "sluice/state/disruption_budget.h"
#include "sluice/v1/store.pb.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::HasSubstr;

TEST(StoredBudget, ComesBackAsItWas) {
  const DisruptionBudget of_job = {
      .limit = DisruptionBudget::Limit::kMaxUnavailable, .amount = 3};
  DisruptionBudget full = {.limit = DisruptionBudget::Limit::kMinAvailable,
                           .amount = 40,
                           .is_percent = true,
                           .expected = 9,
                           .allowed = 0};
  full.tasks = TaskSelector{.labels = std::vector<LabelRequirement>(),
                            .namespaces = {"shop\xff"}};
  for (const DisruptionBudget& budget : {of_job, full}) {
    v1::StoredBudget stored;
    WriteFields(budget, &stored);
    DisruptionBudget decoded;
    ASSERT_THAT(DecodeFields("budget", stored, &decoded), IsOk());
    EXPECT_EQ(decoded, budget);
  }
}

TEST(StoredBudget, IsRefusedWhereItCannotBe) {
  const std::vector<std::function<void(v1::StoredBudget*)>> damages = {
      [](v1::StoredBudget* stored) { stored->set_amount(-1); },
      [](v1::StoredBudget* stored) { stored->set_expected(-1); },
      [](v1::StoredBudget* stored) { stored->set_allowed(-1); },
      [](v1::StoredBudget* stored) { stored->set_limit(2); },
      [](v1::StoredBudget* stored) {
        stored->mutable_tasks()->add_namespaces("b");
        stored->mutable_tasks()->add_namespaces("a");
      },
  };
  for (const auto& damage : damages) {
    v1::StoredBudget stored;
    damage(&stored);
    DisruptionBudget decoded;
    EXPECT_THAT(DecodeFields("budget", stored, &decoded),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("its budget")));
  }
}

}  // namespace
}  // namespace sluice
