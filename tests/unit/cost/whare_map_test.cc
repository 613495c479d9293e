// The whare_map policy (round/policies_test.cc has what rounds make of it).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

#include "cost/policy_set.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

TEST(WhareMapPolicy, ChargesBySteps) {
  const PolicySet policies = *PolicySet::FromNames("whare_map");
  EXPECT_EQ(policies.SpeedCost({200, 200}), 0);
  EXPECT_EQ(policies.SpeedCost({209, 200}), 0) << "within what runs differ by";
  EXPECT_EQ(policies.SpeedCost({210, 200}), 75'000);
  EXPECT_EQ(policies.SpeedCost({250, 200}), 375'000);
  EXPECT_EQ(policies.SpeedCost({400, 200}), 1'500'000);
  EXPECT_EQ(policies.SpeedCost({600, 200}), 3'000'000);
  EXPECT_EQ(policies.SpeedCost({std::numeric_limits<int64_t>::max(), 1}),
            3'000'000);
}

TEST(WhareMapPolicy, SaysHowManyRunsItTakes) {
  EXPECT_EQ(PolicySet::FromNames("whare_map")->SpeedSamplesMin(), 4);
  EXPECT_EQ(
      PolicySet::FromNames("taint,whare_map:samples=1000")->SpeedSamplesMin(),
      1000);
  EXPECT_TRUE(PolicySet::FromNames("whare_map")->Needs().speeds);
  EXPECT_FALSE(PolicySet::FromNames(kDefaultCostModels)->Needs().speeds);
  for (const char* value : {"0", "-1", "1001"}) {
    EXPECT_THAT(PolicySet::FromNames(std::string("whare_map:samples=") + value),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         std::string("cost model 'whare_map': samples: ") +
                             value + " is not a number from 1 to 1000"));
  }
  EXPECT_THAT(PolicySet::FromNames("whare_map:runs=3"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "cost model 'whare_map': there is no parameter 'runs'"));
}

}  // namespace
}  // namespace sluice
